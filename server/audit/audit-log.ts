import { and, asc, count, desc, eq, gt, inArray, isNotNull, like, lt, or, type SQL, sql } from "drizzle-orm";
import { type Database, type ReadOnly, schema } from "#db/client";
import { canonicalAddress } from "../lib/ip-address.ts";
import { isUuid } from "../lib/uuid.ts";
import { channelNames } from "../messages/channels.ts";
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
  /** What a message is for, such as `login`. */
  message?: string | undefined;
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
  const { after, before, types, actorUserId, actorEmail, sourceIp, about, message, any } = filter;
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
    message === undefined ? undefined : matchesMessage(message),
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

function matchesMessage(kind: string): SQL {
  const kinds = channelNames.map((channel) => sql`${table.details} ->> ${channel} = ${kind}`);
  return sql`(${sql.join(kinds, sql` or `)})`;
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

/** Entries that a search by a mask passes. They are read in the order of an index. */
const MAX_SEARCHED = 50_000;

/** Entries that a search by a mask lists. */
const MAX_FITTING = 200;

/** Types of entries that name an identifier of no account. */
const unknownIdentifierTypes = [
  "login_failure",
  "mail_withheld",
  "sms_withheld",
] as const satisfies readonly AuditType[];

/**
 * Finds failures about an identifier that had no account, newest first: those whose digest is its own, and those whose mask
 * alone fits.
 *
 * @param identifier its mask, and its digests (`identifier.ts`)
 * @param since the time of the oldest entry to pass
 * @returns `isComplete`: whether all entries since then were passed and are listed
 */
export async function failuresOfUnknown(
  db: Database["read"],
  tenant: AuditedTenant,
  { mask, digests }: { mask: string; digests: readonly string[] },
  since: Date,
): Promise<{ failures: { row: AuditRow; isExact: boolean }[]; isComplete: boolean }> {
  const named = sql`(details ->> 'identifier_digest')`;
  const { rows } = await db.execute<{ passed: number; fitting: StoredFailure[] }>(sql`
    with passed as materialized (
      select * from audit_logs
      where tenant_id = ${tenant.id} and type = any (${sql.param([...unknownIdentifierTypes])}::text[])
        and user_id is null and created_at > ${since}
      order by created_at desc, id desc limit ${MAX_SEARCHED}),
    fitting as (
      select id, type, request_id, ip_address, user_agent, details, created_at,
        coalesce(${named} = any (${sql.param([...digests])}::text[]), false) as is_exact
      from passed
      where coalesce(details ->> 'identifier', details ->> 'recipient') = ${mask}
      order by created_at desc, id desc limit ${MAX_FITTING})
    select (select count(*)::int from passed) as passed,
      (select coalesce(json_agg(f order by created_at desc, id desc), '[]') from fitting f) as fitting`);
  const { passed = 0, fitting = [] } = rows[0] ?? {};
  return {
    failures: fitting.map(({ is_exact, ...row }) => ({
      isExact: is_exact,
      row: {
        id: row.id,
        type: row.type,
        details: row.details,
        tenantId: tenant.id,
        userId: null,
        requestId: row.request_id,
        ipAddress: row.ip_address,
        userAgent: row.user_agent,
        createdAt: new Date(row.created_at),
      },
    })),
    isComplete: passed < MAX_SEARCHED && fitting.length < MAX_FITTING,
  };
}

interface StoredFailure {
  is_exact: boolean;
  id: string;
  type: string;
  request_id: string | null;
  ip_address: string | null;
  user_agent: string | null;
  details: Record<string, unknown>;
  created_at: string;
}
