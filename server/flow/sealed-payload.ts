import type { CookieChanges } from "../client.ts";
import { BrokenSealError, UnknownKeyError } from "../keys/vault.ts";
import type { Runtime } from "../runtime.ts";
import type { FlowKey } from "./store.ts";

const contextOf = ({ tenantId, flowId }: FlowKey) => `flow/${tenantId}/${flowId}/payload`;

/** Parts of an answer that are stored encrypted. */
export interface Sealed {
  /** Secret members of the payload. */
  secrets: Record<string, unknown>;
  /** The new device cookie, so that a lost answer can be repeated; the replaced cookie would look stolen. */
  device?: NonNullable<CookieChanges["device"]>;
}

/** Encrypts them; null if there are none. */
export function sealSecrets({ vault }: Pick<Runtime, "vault">, key: FlowKey, sealed: Sealed): Buffer | null {
  if (Object.keys(sealed.secrets).length === 0 && !sealed.device) return null;
  return vault.seal(Buffer.from(JSON.stringify(sealed)), contextOf(key));
}

/** Decrypts them; returns no secrets if no configured key opens them, and the state is shown without. */
export function openSecrets({ vault }: Pick<Runtime, "vault">, key: FlowKey, sealed: Buffer | null): Sealed {
  if (!sealed) return { secrets: {} };
  try {
    return JSON.parse(vault.unseal(sealed, contextOf(key)).toString());
  } catch (error) {
    if (error instanceof UnknownKeyError || error instanceof BrokenSealError) return { secrets: {} };
    throw error;
  }
}
