import { and, count, desc, eq, gt, inArray, like, lt, or, type SQL, sql } from "drizzle-orm";
import { type ReadOnly, schema } from "#db/client";
import { type PasskeyServerAuditType, passkeyServerAuditTypes } from "../audit/audit-types.ts";

/** Reading the audit log of the passkey server. */

const { auditLogs: table } = schema;

/** Filters of a query; an absent filter matches every entry. */
export interface AuditQuery {
  /** Both bounds are exclusive. */
  after?: Date | undefined;
  before?: Date | undefined;
  types?: readonly PasskeyServerAuditType[] | undefined;
  /** Substrings of the application's user id, and of the source IP address. */
  actorUserId?: string | undefined;
  sourceIp?: string | undefined;
  /** A substring of either. */
  either?: string | undefined;
  offset: number;
  limit: number;
}

/** An entry as returned to applications. */
export interface AuditEntryJson {
  id: string;
  type: string;
  error?: string;
  meta_http_request_id: string;
  meta_source_ip: string;
  meta_user_agent: string;
  actor_user_id?: string;
  created_at: string;
  updated_at: string;
  tenant_id: string;
  transaction_id: string | null;
}

const actor = sql<string | null>`${table.details} ->> 'actor_user_id'`;

/** Returns one page of a tenant's entries, the newest first, and the total count. */
export async function listAuditLogs(
  db: ReadOnly,
  tenantId: string,
  query: AuditQuery,
): Promise<{ entries: AuditEntryJson[]; total: number }> {
  const where = and(
    eq(table.tenantId, tenantId),
    inArray(table.type, [...(query.types ?? passkeyServerAuditTypes)]),
    query.after && gt(table.createdAt, query.after),
    query.before && lt(table.createdAt, query.before),
    contains(actor, query.actorUserId),
    contains(table.ipAddress, query.sourceIp),
    or(contains(actor, query.either), contains(table.ipAddress, query.either)),
  );
  const rows = await db
    .select()
    .from(table)
    .where(where)
    .orderBy(desc(table.createdAt), desc(table.id))
    .offset(query.offset)
    .limit(query.limit);
  const [counted] = await db.select({ total: count() }).from(table).where(where);
  return { entries: rows.map(toJson), total: counted?.total ?? 0 };
}

/** Matches a substring literally, with the wildcards of LIKE escaped. */
function contains(column: SQL<string | null> | typeof table.ipAddress, part: string | undefined) {
  if (!part) return undefined;
  return like(column, `%${part.replace(/[\\%_]/g, "\\$&")}%`);
}

function toJson(row: typeof table.$inferSelect): AuditEntryJson {
  const { details } = row;
  const moment = row.createdAt.toISOString();
  return {
    id: row.id,
    type: row.type,
    ...(typeof details.error === "string" ? { error: details.error } : {}),
    meta_http_request_id: row.requestId ?? "",
    meta_source_ip: row.ipAddress ?? "",
    meta_user_agent: row.userAgent ?? "",
    ...(typeof details.actor_user_id === "string" ? { actor_user_id: details.actor_user_id } : {}),
    created_at: moment,
    // Entries are never changed.
    updated_at: moment,
    tenant_id: row.tenantId,
    transaction_id: typeof details.transaction_id === "string" ? details.transaction_id : null,
  };
}
