import { z } from "zod";
import { flows } from "#db/schema/flows";
import { sealContext } from "#db/schema/table";
import type { CookieChanges } from "../context/client.ts";
import { BrokenSealError } from "../keys/vault.ts";
import type { Runtime } from "../runtime.ts";
import type { WantedAction } from "./data.ts";
import type { FlowKey } from "./store.ts";

const contextOf = ({ tenantId, flowId }: FlowKey) =>
  sealContext(flows, "sealedPayload", { tenantId, id: flowId });

/** Parts of a flow that are stored encrypted. */
export interface Sealed {
  /** Secret members of the payload. */
  secrets: Record<string, unknown>;
  /** The action that the user reauthenticates for. */
  wanted?: WantedAction;
  /** The new device cookie, to repeat it after a lost answer: reuse of the replaced cookie is treated as theft. */
  device?: NonNullable<CookieChanges["device"]>;
}

/** The sealed members, as this version and release 0.2 store them. A malformed one is left out. */
const stored = z.object({
  secrets: z.record(z.string(), z.unknown()).catch({}),
  wanted: z
    .object({ action: z.string(), input: z.record(z.string(), z.unknown()), sessionId: z.string() })
    .optional()
    .catch(undefined),
  device: z.object({ value: z.string(), seconds: z.number() }).optional().catch(undefined),
});

/** Encrypts the sealed parts of a flow; null if there are none. */
export function seal({ vault }: Pick<Runtime, "vault">, key: FlowKey, sealed: Sealed): Buffer | null {
  const { secrets, device, wanted } = sealed;
  if (Object.keys(secrets).length === 0 && !device && !wanted) return null;
  return vault.seal(Buffer.from(JSON.stringify(sealed)), contextOf(key));
}

/**
 * Decrypts the sealed parts of a flow; returns none if they are damaged.
 *
 * @throws UnknownKeyError if the key that sealed them is not configured
 */
export function unseal({ vault }: Pick<Runtime, "vault">, key: FlowKey, sealed: Buffer | null): Sealed {
  if (!sealed) return { secrets: {} };
  try {
    const { secrets, wanted, device } = stored.parse(
      JSON.parse(vault.unseal(sealed, contextOf(key)).toString()),
    );
    return { secrets, ...(wanted ? { wanted } : {}), ...(device ? { device } : {}) };
  } catch (error) {
    if (error instanceof BrokenSealError) return { secrets: {} };
    throw error;
  }
}
