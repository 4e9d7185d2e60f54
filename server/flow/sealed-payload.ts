import type { CookieChanges } from "../client.ts";
import { BrokenSealError } from "../keys/vault.ts";
import type { Runtime } from "../runtime.ts";
import type { FlowKey } from "./store.ts";

const contextOf = ({ tenantId, flowId }: FlowKey) => `flow/${tenantId}/${flowId}/payload`;

/** Parts of an answer that are stored encrypted. */
export interface Sealed {
  /** Secret members of the payload. */
  secrets: Record<string, unknown>;
  /** The new device cookie, to repeat it after a lost answer: reuse of the replaced cookie is treated as theft. */
  device?: NonNullable<CookieChanges["device"]>;
}

/** Encrypts the parts of an answer; null if there are none. */
export function sealSecrets({ vault }: Pick<Runtime, "vault">, key: FlowKey, sealed: Sealed): Buffer | null {
  if (Object.keys(sealed.secrets).length === 0 && !sealed.device) return null;
  return vault.seal(Buffer.from(JSON.stringify(sealed)), contextOf(key));
}

/**
 * Decrypts the parts of an answer; returns no secrets if they are damaged.
 *
 * @throws UnknownKeyError if the key that sealed them is not configured
 */
export function openSecrets({ vault }: Pick<Runtime, "vault">, key: FlowKey, sealed: Buffer | null): Sealed {
  if (!sealed) return { secrets: {} };
  try {
    return JSON.parse(vault.unseal(sealed, contextOf(key)).toString());
  } catch (error) {
    if (error instanceof BrokenSealError) return { secrets: {} };
    throw error;
  }
}
