import type { Databases } from "#db/client";
import { type AuditEntryJson, auditEntryJson } from "../audit/audit-entry.ts";
import { type AuditFilter, listAuditEntries } from "../audit/audit-log.ts";
import { type PasskeyServerAuditType, passkeyServerAuditTypes } from "../audit/audit-types.ts";
import type { TenantContext } from "../context/context.ts";

/** An entry of the audit log as returned to applications. */
type PasskeyAuditEntryJson = Omit<AuditEntryJson, "details" | "actor_email"> & {
  transaction_id: string | null;
  /** Why it failed; entries of earlier versions have none. */
  reason?: string;
};

/** Returns one page of the entries about a tenant's passkey server, the newest first, and the total count. */
export async function listPasskeyAuditEntries(
  { runtime, tenant }: TenantContext<Databases>,
  filter: AuditFilter & { types?: readonly PasskeyServerAuditType[] | undefined },
  page: { number: number; size: number },
): Promise<{ entries: PasskeyAuditEntryJson[]; total: number }> {
  const types = filter.types ?? passkeyServerAuditTypes;
  const { rows, total } = await listAuditEntries(runtime.database.read, tenant, { ...filter, types }, page);
  const entries = rows.map((row) => {
    const { details, actor_email: _, ...entry } = auditEntryJson(row, tenant.config);
    const { transaction_id, reason } = details;
    return {
      ...entry,
      ...(typeof reason === "string" ? { reason } : {}),
      transaction_id: typeof transaction_id === "string" ? transaction_id : null,
    };
  });
  return { entries, total };
}
