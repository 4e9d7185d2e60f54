import { and, asc, count, desc, eq, gt, inArray, isNotNull, like, lt, or, type SQL, sql } from "drizzle-orm";
import { type ReadOnly, schema } from "#db/client";
import { canonicalAddress } from "../lib/ip-address.ts";
import { isUuid } from "../lib/uuid.ts";
import type { AuditedTenant } from "./audit.ts";
import type { AuditRow } from "./audit-entry.ts";
import type { AuditType } from "./audit-types.ts";
import { maskSource } from "./mask.ts";

/** Reading the audit log. */

const { auditLogs: table, emails } = schema;

/** Filters of a query; an absent or empty filter matches every entry. */
export interface AuditFilter {
  /** Both bounds are exclusive. */
  after?: Date | undefined;
  before?: Date | undefined;
  types?: readonly AuditType[] | undefined;
  /** A whole UUID, or a literal part of the user's id. */
  actorUserId?: string | undefined;
  /** A whole email address of an account, or a literal part of one. */
  actorEmail?: string | undefined;
  /** A whole IP address, or a literal part of one. */
  sourceIp?: string | undefined;
  /** Entries about an account, or about an identifier that has these digests (`identifier.ts`). */
  about?: { userId: string | null; digests: readonly string[] } | undefined;
  /** A literal part of any of these three; `email` false: of the user's id or the address. */
  any?: { part: string; email: boolean } | undefined;
}

/** A row of the log, with the present primary email address of its account. */
export type ReadAuditRow = AuditRow & { email: string | null };

/** Matches that are sorted for a page. */
const MAX_SORTED = 10_000;

/** Returns one page of a tenant's entries, the newest first, and the number of all that match. */
export async function listAuditEntries(
  db: ReadOnly,
  tenant: AuditedTenant,
  filter: AuditFilter,
  { number, size }: { number: number; size: number },
): Promise<{ rows: ReadAuditRow[]; total: number }> {
  const where = conditions(tenant, filter);
  const [counted] = await db.select({ total: count() }).from(table).where(where);
  const total = counted?.total ?? 0;
  const offset = (number - 1) * size;
  if (offset >= total) return { rows: [], total };
  // PostgreSQL reads few matches faster by the filters than in the order of an index, and does not know their number.
  const createdAt = total > MAX_SORTED ? table.createdAt : sql`${table.createdAt} + interval '0 seconds'`;
  // Skips the entries of earlier pages in an index, without reading their rows.
  const page = db
    .select({ createdAt: table.createdAt, id: table.id })
    .from(table)
    .where(where)
    .orderBy(desc(createdAt), desc(table.id))
    .offset(offset)
    .limit(size);
  const rows = await entries(db)
    .where(and(eq(table.tenantId, tenant.id), sql`(${table.createdAt}, ${table.id}) in ${page}`))
    .orderBy(desc(table.createdAt), desc(table.id));
  return { rows, total };
}

/** Entries that one query of an export reads. */
const EXPORT_BATCH = 500;

/**
 * Reads all matching entries, the oldest first, in batches. Each batch is a query of its own that continues after the
 * last entry, so a slow reader holds neither a connection nor a transaction, and one batch at most is in memory.
 *
 * @param filter `before` must be set, or an export that is slower than the log grows never ends
 */
export async function* exportAuditEntries(
  db: ReadOnly,
  tenant: AuditedTenant,
  filter: AuditFilter & { before: Date },
): AsyncGenerator<ReadAuditRow[], void> {
  const where = conditions(tenant, filter);
  for (let last: ReadAuditRow | undefined; ; ) {
    const after: SQL | undefined =
      last && sql`(${table.createdAt}, ${table.id}) > (${last.createdAt}::timestamptz, ${last.id}::uuid)`;
    const rows: ReadAuditRow[] = await entries(db)
      .where(and(where, after))
      .orderBy(asc(table.createdAt), asc(table.id))
      .limit(EXPORT_BATCH);
    if (rows.length > 0) yield rows;
    last = rows.at(-1);
    if (rows.length < EXPORT_BATCH) return;
  }
}

/** The user that an entry concerns: an account, or the user of an application of the passkey server. */
const actor = sql<string | null>`coalesce(${table.userId}::text, ${table.details} ->> 'actor_user_id')`;

function entries(db: ReadOnly) {
  return db
    .select({
      tenantId: table.tenantId,
      id: table.id,
      type: table.type,
      userId: table.userId,
      requestId: table.requestId,
      ipAddress: table.ipAddress,
      userAgent: table.userAgent,
      details: table.details,
      createdAt: table.createdAt,
      email: emails.address,
    })
    .from(table)
    .leftJoin(
      emails,
      and(eq(emails.tenantId, table.tenantId), eq(emails.userId, table.userId), emails.isPrimary),
    )
    .$dynamic();
}

function conditions({ id: tenantId, config }: AuditedTenant, filter: AuditFilter): SQL | undefined {
  const { after, before, types, actorUserId, actorEmail, sourceIp, about, any } = filter;
  const byEmail = (part: string) => and(isNotNull(table.userId), ownsEmail(tenantId, part));
  return and(
    eq(table.tenantId, tenantId),
    types && inArray(table.type, [...types]),
    after && gt(table.createdAt, after),
    before && lt(table.createdAt, before),
    actorUserId ? matchesUser(actorUserId) : undefined,
    actorEmail ? byEmail(actorEmail) : undefined,
    sourceIp ? matchesAddress(sourceIp, config) : undefined,
    about && matchesIdentifier(about),
    any?.part
      ? or(
          contains(actor, any.part),
          contains(table.ipAddress, any.part),
          any.email ? byEmail(any.part) : undefined,
        )
      : undefined,
  );
}

/** Whole values are compared for equality, which an index serves. */
function matchesUser(text: string): SQL {
  return isUuid(text) ? sql`${actor} = ${text.toLowerCase()}` : contains(actor, text);
}

/** The index of digests holds only entries that have one. */
function matchesIdentifier({ userId, digests }: NonNullable<AuditFilter["about"]>): SQL {
  const digest = sql`(${table.details} ->> 'identifier_digest')`;
  const named = sql`${digest} is not null and ${digest} = any(${sql.param([...digests])}::text[])`;
  return userId === null ? sql`(${named})` : sql`(${actor} = ${userId} or (${named}))`;
}

function matchesAddress(text: string, { audit_log }: AuditedTenant["config"]): SQL {
  const address = canonicalAddress(text);
  return address === null
    ? contains(table.ipAddress, text)
    : eq(table.ipAddress, maskSource(address, audit_log) ?? address);
}

function ownsEmail(tenantId: string, text: string): SQL {
  const address = text.toLowerCase();
  const matches = /^[^@]+@[^@]+\.[^@.]{2,}$/.test(address)
    ? eq(emails.address, address)
    : contains(emails.address, address);
  return sql`${table.userId} in (select ${emails.userId} from ${emails} where ${emails.tenantId} = ${tenantId} and ${matches})`;
}

/** Matches a substring literally, with the wildcards of LIKE escaped. */
function contains(
  column: SQL<string | null> | typeof table.ipAddress | typeof emails.address,
  part: string,
): SQL {
  return like(column, `%${part.replace(/[\\%_]/g, "\\$&")}%`);
}
