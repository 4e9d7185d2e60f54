import { afterCommit } from "#db/after-commit";
import type { Transaction } from "#db/client";
import { collect } from "#db/collected";
import { addedText, type CountingText, countedText } from "#db/counters";
import { executeParts, type Part } from "#db/part";
import type { WriteOfParts } from "#db/write";
import type { Config } from "../config/schema.ts";
import type { Actor, Client } from "../context/client.ts";
import type { ClientContext } from "../context/context.ts";
import { entriesPart, writeRecords } from "../events/write-records.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { storable, storableUserAgent } from "../lib/storable-text.ts";
import { counterRow, counters, emptyRateCounter } from "../limits/rate-limits.ts";
import { type AuditRow, auditEntryJson } from "./audit-entry.ts";
import type { AuditOutputs } from "./audit-output.ts";
import type { AttemptFailureType, AttemptType, AuditType, FailureType } from "./audit-types.ts";
import type { FailureReason } from "./failure-reasons.ts";
import { maskDetails, maskSource } from "./mask.ts";

/**
 * Flat facts. They contain no secret and no credential. An identifier that a visitor entered stands only as
 * `identifier.ts` masks it, email addresses and usernames of accounts only in the members that `mask.ts` names.
 */
export type AuditDetails = Record<string, AuditValue | readonly AuditValue[]>;
type AuditValue = string | number | boolean | null;

/** The facts of a failure, and why it failed. */
export type FailureDetails<Type extends FailureType> = AuditDetails & { reason: FailureReason<Type> };

/** An operator who uses the `stile` command. */
export const commandLine: Actor = { ip: null, userAgent: "stile", requestId: null };

/** The tenant whose log an entry belongs to. How it is written is a setting of the server, the same for all. */
export interface AuditedTenant {
  id: string;
  config: Pick<Config, "audit_log">;
}

/** What an entry is written with: a request or a command, and the tenant whose log it belongs to. */
export interface AuditContext extends Pick<ClientContext<unknown>, "now"> {
  tenant: AuditedTenant;
  runtime: OnPlatform & AuditOutputs;
  client: Actor;
}

/**
 * Returns the write of an audit log entry, which belongs into the transaction of the change that it records. All
 * entries and events of a transaction are inserted by one statement at its end.
 *
 * @param details a failure needs its `reason`
 * @param userId the account that the event concerns, if any
 */
export function audit<Type extends RecordedType>(
  context: AuditContext,
  type: Type,
  ...[details = {}, userId = null]: Type extends FailureType
    ? [details: FailureDetails<Type>, userId?: string | null]
    : [details?: AuditDetails, userId?: string | null]
): WriteOfParts {
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
type RecordedType = Exclude<AuditType, AttemptFailureType | "audit_limit_reached">;

const WINDOW_SECONDS = 3600;

/** Who causes an attempt: a source, a user at a source who has proved a factor, or a user with a session. */
export type AttemptCause = { source: string } | { account: string; source: string } | { account: string };

type AttemptContext = AuditContext & { client: Pick<Client, "source"> };

/**
 * Returns the write of an entry for an event that changed nothing, so that a client can cause it without end. In an
 * hour, `audit_log.attempts_per_hour` such entries of one cause are written, then one of the type `audit_limit_reached`,
 * then none. Entry and count are one statement, so concurrent events on any number of servers cannot exceed the limit.
 *
 * @param details a failure needs its `reason`
 * @param about `userId`: the account that the event concerns, if any; `cause`: by default the source of the request
 */
export function auditAttempt<Type extends AttemptType>(
  context: AttemptContext,
  type: Type,
  details: Type extends FailureType ? FailureDetails<Type> : AuditDetails,
  about: { userId?: string | null; cause?: AttemptCause } = {},
): WriteOfParts {
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
  const isStored = tenant.config.audit_log.storage.enabled;
  const recorded = [
    entry.tenantId,
    key,
    limit,
    entry.id,
    entry.requestId,
    entry.ipAddress,
    entry.userAgent,
    entry.createdAt,
    entry.type,
    entry.userId,
    JSON.stringify(entry.details),
    last.type,
    last.userId,
    JSON.stringify(last.details),
  ];
  const part: Part = {
    name: isStored ? "entry_of_attempt" : "count_of_attempt",
    text: isStored ? entryText : countText(countedText),
    values: [...recorded, now.getTime() + WINDOW_SECONDS * 1000, now.getTime()],
    returns: "(select type from attempt_recorded)",
    distributed: {
      text: countText(addedText),
      before: [emptyRateCounter(entry.tenantId, key)],
      ...(isStored
        ? { after: [{ name: "entry_of_attempt_at_node", text: entryAtNodeText, values: recorded }] }
        : {}),
    },
  };
  const print = (returned: { [name: string]: unknown }) => {
    const type = returned[part.name];
    if (type) printEntry(context, type === last.type ? { ...entry, ...last } : entry);
  };
  const write = async (tx: Transaction) => {
    const returned = await executeParts<{ [name: string]: unknown }>(tx, [part]);
    afterCommit(tx, () => print(returned));
  };
  const reason = typeof details.reason === "string" ? { reason: details.reason } : {};
  return Object.assign(write, { parts: [part], committed: print, ...reason });
}

const isOver = "counter.expire <= $16::bigint";

const whichOf = (recorded: string, instead: string) =>
  `case when points <= $3::int then ${recorded} else ${instead} end`;

/** What is written: the entry, the note that the limit is reached, or nothing. */
const recordedColumns = `$1::uuid as tenant_id, $4::uuid as id, $5::text as request_id, $6::text as ip_address,
  $7::text as user_agent, $8::timestamptz as created_at, ${whichOf("$9::text", "$12::text")} as type,
  ${whichOf("$10::uuid", "$13::uuid")} as user_id, ${whichOf("$11::jsonb", "$14::jsonb")} as details`;

/** Counts up to the second event beyond the limit: the note is of the first. */
const isRecorded = "points <= $3::int + 1";

const countText = (form: CountingText) => `attempt_counted as (${form({
  ...counters,
  tenant: "$1",
  rows: "select $2::text as key, 1 as points, $15::bigint as expire",
  changes: {
    points: `case when ${isOver} then 1 else counter.points + 1 end`,
    expire: `case when ${isOver} then excluded.expire else counter.expire end`,
  },
  condition: `${isOver} or counter.${isRecorded}`,
  returning: ["points"],
})}),
  attempt_recorded as (select ${recordedColumns} from attempt_counted where ${isRecorded})`;

const insertionText =
  "insert into audit_logs (tenant_id, id, request_id, ip_address, user_agent, created_at, type, user_id, details)";

const entryText = `${countText(countedText)},
  attempt_entry as (
    ${insertionText}
    select * from attempt_recorded)`;

const entryAtNodeText = `${insertionText}
    select ${recordedColumns} from rate_counters where tenant_id = $1 and key = $2 and ${isRecorded}
    returning type as entry_of_attempt`;

/** Writes a committed entry to the console, if it is to be there. */
function printEntry({ runtime, tenant }: AuditContext, entry: AuditRow): void {
  runtime.auditOutput?.(auditEntryJson(entry, tenant.config));
}

function entryOf(
  { runtime, tenant, client, now }: AuditContext,
  type: AuditType,
  details: AuditDetails,
  userId: string | null,
): AuditRow {
  const { audit_log } = tenant.config;
  const facts = { ...details, ...actorFacts(client, tenant) };
  return {
    tenantId: tenant.id,
    id: runtime.platform.uuid(),
    type,
    userId,
    requestId: client.requestId,
    ipAddress: maskSource(client.ip, audit_log),
    userAgent: storableUserAgent(client.userAgent),
    details: maskDetails(
      Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, storableValue(value)])),
      audit_log,
    ),
    createdAt: now,
  };
}

/** Who has caused an event that no visitor caused: the API key, or the account of the console and its tenant. */
function actorFacts({ apiKey, operator }: Actor, { id }: AuditedTenant): AuditDetails {
  if (apiKey !== undefined) return { api_key: apiKey };
  if (!operator) return {};
  const { userId, tenantId } = operator;
  return { operator: userId, ...(tenantId === id ? {} : { operator_tenant: tenantId }) };
}

function storableValue(value: AuditDetails[string]): unknown {
  if (typeof value === "string") return storable(value);
  return Array.isArray(value) ? value.map(storableValue) : value;
}
