import type { CookieChanges } from "../client.ts";
import { BrokenSealError, UnknownKeyError } from "../keys/vault.ts";
import type { Runtime } from "../runtime.ts";
import type { FlowKey } from "./store.ts";

const contextOf = ({ tenantId, flowId }: FlowKey) => `flow/${tenantId}/${flowId}/payload`;

/** What of an answer must not rest in the clear. */
export interface Sealed {
  /** Members of the payload. */
  secrets: Record<string, unknown>;
  /** What a trusted browser is to keep: who lost the answer would else show what it replaced, as a thief does. */
  device?: NonNullable<CookieChanges["device"]>;
}

/** Seals it; null where there is nothing of the kind. */
export function sealSecrets({ vault }: Pick<Runtime, "vault">, key: FlowKey, sealed: Sealed): Buffer | null {
  if (Object.keys(sealed.secrets).length === 0 && !sealed.device) return null;
  return vault.seal(Buffer.from(JSON.stringify(sealed)), contextOf(key));
}

/** Opens it again. What no configured key opens is gone, and the state is shown without it. */
export function openSecrets({ vault }: Pick<Runtime, "vault">, key: FlowKey, sealed: Buffer | null): Sealed {
  if (!sealed) return { secrets: {} };
  try {
    return JSON.parse(vault.unseal(sealed, contextOf(key)).toString());
  } catch (error) {
    if (error instanceof UnknownKeyError || error instanceof BrokenSealError) return { secrets: {} };
    throw error;
  }
}
