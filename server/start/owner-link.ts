import type { Notice } from "../runtime.ts";
import type { ToOwner, Wakeable } from "./messages.ts";

/** A worker's connection to the process that owns the server. */
export interface OwnerLink {
  /** Id of this worker in the table of instances, chosen by the owner, which releases its claims if it dies. */
  instanceId: string;
  /** Processes that serve. */
  workers: number;
  /** Makes the owner look for due jobs or deliveries. All calls of a moment are one message. */
  wake(of: Wakeable): void;
  /** Tells the owner and the other workers. */
  tellOthers(notice: Notice): void;
}

/** @param tell sends a message to the owner */
export function ownerLink({
  instanceId,
  workers,
  tell,
}: Pick<OwnerLink, "instanceId" | "workers"> & { tell(message: ToOwner): void }): OwnerLink {
  const waking = new Set<Wakeable>();
  return {
    instanceId,
    workers,
    wake(of) {
      if (waking.has(of)) return;
      waking.add(of);
      setImmediate(() => {
        waking.delete(of);
        tell({ kind: "wake", of });
      });
    },
    tellOthers: tell,
  };
}
