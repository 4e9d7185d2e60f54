import type { Vault } from "../keys/vault.ts";

/** Seals and unseals the codes of jobs. Each is bound to its row: it cannot be unsealed in another one. */
export interface SealedCodes {
  /** @returns base64 */
  seal(code: string, tenantId: string, jobId: string): string;
  unseal(sealed: string, tenantId: string, jobId: string): string;
}

/** @param queue part of the context, so that a code of one kind of jobs cannot be unsealed in another */
export function sealedCodes(vault: Pick<Vault, "seal" | "unseal">, queue: string): SealedCodes {
  const context = (tenantId: string, jobId: string) => `job/${queue}/${tenantId}/${jobId}`;
  return {
    seal: (code, tenantId, jobId) =>
      vault.seal(Buffer.from(code), context(tenantId, jobId)).toString("base64"),
    unseal: (sealed, tenantId, jobId) =>
      vault.unseal(Buffer.from(sealed, "base64"), context(tenantId, jobId)).toString(),
  };
}
