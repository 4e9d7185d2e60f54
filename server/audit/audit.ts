import { type SQL, sql } from "drizzle-orm";
import { afterCommit } from "#db/after-commit";
import { schema, type Transaction } from "#db/client";
import { collect } from "#db/collected";
import type { Write } from "#db/write";
import type { Client } from "../client.ts";
import type { Config } from "../config/schema.ts";
import { entriesPart, writeRecords } from "../events/write-records.ts";
import { storable } from "../lib/storable-text.ts";
import { counterRow } from "../limits/rate-limits.ts";
import type { ClientContext, Runtime } from "../runtime.ts";
import { type AuditRow, auditEntryJson } from "./audit-entry.ts";
import type { AttemptType, AuditType, SignInFailureType } from "./audit-types.ts";
import { maskDetails, maskSource } from "./mask.ts";

/**
 * Flat facts. They contain no secret, no credential and no identifier that a visitor entered. Email addresses and
 * usernames of accounts stand only in the members that `mask.ts` names.
 */
export type AuditDetails = Record<string, AuditValue | readonly AuditValue[]>;
type AuditValue = string | number | boolean | null;

/** The party that acts: the client of a request, or `commandLine`. */
export type Actor = Pick<Client, "apiKey"> & {
  ip: string | null;
  userAgent: string;
  requestId: string | null;
};

/** An operator who uses the `stile` command. */
export const commandLine: Actor = { ip: null, userAgent: "stile", requestId: null };

/** The tenant whose log an entry belongs to. How it is written is a setting of the server, the same for all. */
export interface AuditedTenant {
  id: string;
  config: Pick<Config, "audit_log">;
}

/** What an entry is written with: a request or a command, and the tenant whose log it belongs to. */
export interface AuditContext extends Pick<ClientContext, "now"> {
  tenant: AuditedTenant;
  runtime: Pick<Runtime, "platform" | "auditOutput">;
  client: Actor;
}

const { auditLogs, rateLimits } = schema;

/**
 * Returns the write of an audit log entry, which belongs into the transaction of the change that it records. All
 * entries and events of a transaction are inserted by one statement at its end.
 *
 * @param userId the account that the event concerns, if any
 */
export function audit(
  context: AuditContext,
  type: RecordedType,
  details: AuditDetails = {},
  userId: string | null = null,
): Write {
  const entry = entryOf(context, type, details, userId);
  const isStored = context.tenant.config.audit_log.storage.enabled;
  const write = async (tx: Transaction) => {
    if (isStored) collect(tx, writeRecords, { audit: entry });
    afterCommit(tx, print);
  };
  const print = () => printEntry(context, entry);
  return Object.assign(write, { parts: isStored ? [entriesPart([entry])] : [], committed: print });
}

/** Events that changed something, or that an API key caused. */
type RecordedType = Exclude<AuditType, SignInFailureType | "api_key_rejected" | "audit_limit_reached">;

const WINDOW_SECONDS = 3600;

/** Who causes an attempt: a source, a user at a source who has proved a factor, or a user with a session. */
export type AttemptCause = { source: string } | { account: string; source: string } | { account: string };

/**
 * Returns the write of an entry for an event that changed nothing, so that a client can cause it without end. In an
 * hour, `audit_log.attempts_per_hour` such entries of one cause are written, then one of the type `audit_limit_reached`,
 * then none. Entry and count are one statement, so concurrent events on any number of servers cannot exceed the limit.
 *
 * @param about `userId`: the account that the event concerns, if any; `cause`: by default the source of the request
 */
export function auditAttempt(
  context: AuditContext & { client: Pick<Client, "source"> },
  type: AttemptType,
  details: AuditDetails,
  about: { userId?: string | null; cause?: AttemptCause } = {},
): Write {
  const { tenant, client, now } = context;
  const limit = tenant.config.audit_log.attempts_per_hour;
  const { userId = null, cause = { source: client.source } } = about;
  const key = counterRow("audit", WINDOW_SECONDS, JSON.stringify([tenant.id, cause]));
  const entry = entryOf(context, type, details, userId);
  const by = "account" in cause ? cause.account : null;
  const last = {
    type: "audit_limit_reached",
    userId: by,
    details: maskDetails({ ...cause, per_hour: limit }, tenant.config.audit_log),
  };
  const windowIsOver = sql`counter.expire <= ${now.getTime()}::bigint`;
  const whichOf = (recorded: unknown, instead: unknown, type: "text" | "uuid" | "jsonb") =>
    sql`case when points <= ${limit}::int then ${recorded}::${sql.raw(type)} else ${instead}::${sql.raw(type)} end`;
  const columns = sql`${entry.tenantId}::uuid, ${entry.id}::uuid, ${entry.requestId}::text, ${entry.ipAddress}::text,
      ${entry.userAgent}::text, ${entry.createdAt}::timestamptz, ${whichOf(entry.type, last.type, "text")} as type,
      ${whichOf(entry.userId, last.userId, "uuid")},
      ${whichOf(JSON.stringify(entry.details), JSON.stringify(last.details), "jsonb")}`;
  const written: SQL = tenant.config.audit_log.storage.enabled
    ? sql`
    insert into ${auditLogs}
      (tenant_id, id, request_id, ip_address, user_agent, created_at, type, user_id, details)
    select ${columns} from counted
    returning type`
    : sql`
    select ${whichOf(entry.type, last.type, "text")} as type from counted`;
  const statement = sql`
    with counted as (
      insert into ${rateLimits} as counter (key, points, expire)
      values (${key}, 1, ${now.getTime() + WINDOW_SECONDS * 1000}::bigint)
      on conflict (key) do update set
        points = case when ${windowIsOver} then 1 else counter.points + 1 end,
        expire = case when ${windowIsOver} then excluded.expire else counter.expire end
      where ${windowIsOver} or counter.points <= ${limit}::int
      returning points)${written}`;
  return async (tx) => {
    const { rows } = await tx.execute<{ type: string }>(statement);
    for (const row of rows)
      afterCommit(tx, () => printEntry(context, row.type === last.type ? { ...entry, ...last } : entry));
  };
}

/** Writes a committed entry to the console, if it is to be there. */
function printEntry({ runtime, tenant }: AuditContext, entry: AuditRow): void {
  runtime.auditOutput?.(JSON.stringify(auditEntryJson(entry, tenant.config)));
}

/** Characters of a user agent that are stored. */
const MAX_USER_AGENT_LENGTH = 512;

function entryOf(
  { runtime, tenant, client, now }: AuditContext,
  type: AuditType,
  details: AuditDetails,
  userId: string | null,
): AuditRow {
  const { audit_log } = tenant.config;
  const facts = { ...details, ...(client.apiKey === undefined ? {} : { api_key: client.apiKey }) };
  return {
    tenantId: tenant.id,
    id: runtime.platform.uuid(),
    type,
    userId,
    requestId: client.requestId,
    ipAddress: maskSource(client.ip, audit_log),
    userAgent: storable(client.userAgent.slice(0, MAX_USER_AGENT_LENGTH)),
    details: maskDetails(
      Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, storableValue(value)])),
      audit_log,
    ),
    createdAt: now,
  };
}

function storableValue(value: AuditDetails[string]): unknown {
  if (typeof value === "string") return storable(value);
  return Array.isArray(value) ? value.map(storableValue) : value;
}
