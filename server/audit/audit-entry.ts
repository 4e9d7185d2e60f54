import { z } from "zod";
import type { schema } from "#db/client";
import type { Config } from "../config/schema.ts";
import { maskDetails, maskName, maskSource } from "./mask.ts";

const time = z.iso.datetime({ precision: 3 });

/** An entry of the audit log as operators see it, in the API, in an export and on the console. */
export const auditEntrySchema = z.strictObject({
  id: z.guid(),
  type: z.string(),
  error: z.string().optional().describe("What failed."),
  meta_http_request_id: z.string(),
  meta_source_ip: z.string().describe("Empty for the `stile` command."),
  meta_user_agent: z.string(),
  actor_user_id: z
    .string()
    .optional()
    .describe(
      "The account that the event concerns. For the passkey server, the application's id of the user.",
    ),
  actor_email: z.string().optional().describe("The account's primary email address at present."),
  details: z
    .record(z.string(), z.unknown())
    .describe("Of a failure, `reason` says why, from a closed list; entries of version 0.2 may have none."),
  tenant_id: z.guid(),
  created_at: time,
  updated_at: time.describe("The same as `created_at`: entries are never changed."),
});

export type AuditEntryJson = z.output<typeof auditEntrySchema>;

/** A row of the audit log. */
export type AuditRow = typeof schema.auditLogs.$inferSelect;

/**
 * Converts a row to JSON, masked as the settings say now, whatever they said when it was written.
 *
 * @param row `email`: of its account, if it is known
 */
export function auditEntryJson(
  row: AuditRow & { email?: string | null },
  { audit_log }: Pick<Config, "audit_log">,
): AuditEntryJson {
  const { error, actor_user_id, ...details } = maskDetails(row.details, audit_log);
  const actor = row.userId ?? actor_user_id;
  const moment = row.createdAt.toISOString();
  return {
    id: row.id,
    type: row.type,
    ...(typeof error === "string" ? { error } : {}),
    meta_http_request_id: row.requestId ?? "",
    meta_source_ip: maskSource(row.ipAddress, audit_log) ?? "",
    meta_user_agent: row.userAgent ?? "",
    ...(typeof actor === "string" ? { actor_user_id: actor } : {}),
    ...(row.email ? { actor_email: audit_log.mask ? maskName(row.email) : row.email } : {}),
    details,
    tenant_id: row.tenantId,
    created_at: moment,
    updated_at: moment,
  };
}
