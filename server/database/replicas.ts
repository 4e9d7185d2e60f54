import type { Logger } from "pino";
import type { Database } from "#db/client";
import { isOfStandby } from "#db/errors";
import { AddressError } from "#db/hosts";
import { positionOf } from "#db/log-position";
import type { Reads, ReplicaFault } from "#db/replica";
import { type ReplicaState, Replicas } from "#db/replicas";
import { StartError } from "../config/errors.ts";
import { measure } from "../observability/metrics.ts";
import type { Lease } from "./instances.ts";

/** Reads at standbys, which show what was committed before a position of the primary. */
export interface ReplicaReads {
  /** Whether there are any, so that the position is worth to be asked for. */
  readonly areConfigured: boolean;
  readonly states: readonly ReplicaState[];
  /**
   * Runs a task whose reads may be done at a replica. If one fails there because of the replica, the task is run again with
   * the primary's.
   *
   * @param position of the primary when the caller was authenticated, as `positionText` returned it; without one the
   *   primary is read
   * @param task changes nothing, and may run twice
   */
  reading<Result>(
    position: string | null | undefined,
    task: (read: Reads) => Promise<Result> | Result,
  ): Promise<Result>;
}

/** What may read at replicas. */
export interface Replicated {
  replicas: ReplicaReads;
}

interface OpenedReplicas extends ReplicaReads {
  /**
   * Looks at them from now on.
   *
   * @throws StartError if the primary does not say what they are compared with
   */
  watch(): Promise<void>;
  close(): Promise<void>;
}

interface Options {
  database: Pick<Database, "read" | "prepares">;
  /** Maximum connections to each. */
  size: number;
  maxLagSeconds: number;
  processId: string;
  lease: Pick<Lease, "renew">;
  log: Pick<Logger, "info" | "warn" | "error">;
}

/** What the log says of a replica that is not used. */
const reasons: Readonly<Record<ReplicaFault, string>> = {
  unreachable: "it does not answer",
  promoted: "it is no standby any more",
  other_system: "it is a standby of another database cluster",
  behind: "it is too far behind the primary",
  astray: "it does not follow the primary that is used",
};

/**
 * Opens the replicas of a database. None is read at before they are watched.
 *
 * @throws StartError if an address cannot be used
 */
export function createReplicas(
  addresses: readonly string[],
  { database, size, maxLagSeconds, processId, lease, log }: Options,
): OpenedReplicas {
  const replicas = opened(addresses, database, {
    size,
    maxLagMs: maxLagSeconds * 1000,
    processId,
    renew: lease.renew,
    onChange({ host, fault, lagMs }) {
      if (fault === null) log.info({ replica: host }, "a replica is used");
      else
        log[fault === "other_system" ? "error" : "warn"](
          { replica: host, reason: fault, lag_ms: Math.round(lagMs) },
          `a replica is not used: ${reasons[fault]}`,
        );
    },
  });
  return {
    areConfigured: addresses.length > 0,
    get states() {
      return replicas.states;
    },
    async reading(text, task) {
      const position = addresses.length > 0 ? positionOf(text ?? null) : null;
      if (!position) return task(database.read);
      const found = await replicas.reaching(position);
      if (typeof found === "string") {
        measure("replicaReads", 1, { "stile.outcome": found });
        return task(database.read);
      }
      try {
        const result = await task(found);
        measure("replicaReads", 1, { "stile.outcome": "replica" });
        return result;
      } catch (error) {
        if (!isOfStandby(error)) throw error;
        measure("replicaReads", 1, { "stile.outcome": "failed" });
        log.warn({ err: error }, "a read failed at a replica; it is repeated at the primary");
        return task(database.read);
      }
    },
    async watch() {
      if (addresses.length === 0) return;
      await replicas.watch().catch((error: Error) => {
        throw new StartError(
          `STILE_DATABASE_REPLICAS cannot be used: the primary does not say how far its log is: ${error.message}`,
        );
      });
    },
    close: () => replicas.close(),
  };
}

function opened(...given: ConstructorParameters<typeof Replicas>): Replicas {
  try {
    return new Replicas(...given);
  } catch (error) {
    if (error instanceof AddressError)
      throw new StartError(`STILE_DATABASE_REPLICAS cannot be used: ${error.message}`);
    throw error;
  }
}
