import { type SQL, sql } from "drizzle-orm";
import { PgDialect } from "drizzle-orm/pg-core";
import type { Database } from "#db/client";
import { databaseNow } from "#db/clock";
import { isDistributed } from "#db/distribution";
import { isNodeUnreachable } from "#db/errors";
import { runStatements } from "#db/extended-query";
import { executePrepared } from "#db/prepared";
import type { AuditRow } from "../audit/audit-entry.ts";
import type { AuditType } from "../audit/audit-types.ts";
import type { Config } from "../config/schema.ts";
import type { Platform } from "../lib/platform.ts";
import type { ClaimedDelivery } from "./claim.ts";
import type { ReceiverAnswer } from "./receiver-client.ts";

/** What results are written with. */
interface ResultContext {
  database: Pick<Database, "write" | "claim" | "prepares">;
  platform: Pick<Platform, "clockShift">;
  config: Pick<Config, "audit_log">;
}

/** An audit entry of a webhook that was disabled. */
type DisabledEntry = AuditRow & { details: { webhook: string } };

/** What became of a claimed delivery. */
export type Outcome =
  /** An attempt was made; `pauseSeconds` until the next one, null if there is none. */
  | { kind: "attempted"; answer: ReceiverAnswer; pauseSeconds: number | null }
  /** No attempt was possible here and now. It counts as none. */
  | { kind: "postponed"; pauseSeconds: number }
  /** The webhook is disabled or not configured any more. */
  | { kind: "refused" }
  /** The webhook or its event was deleted. */
  | { kind: "obsolete" };

/** A stored webhook is disabled when more deliveries in a row than this were given up. */
const MAX_FAILURES = 5;

/** With `webhooks.allow_time_expiration`: days until a webhook without a successful delivery expires. */
export const WEBHOOK_LIFETIME_DAYS = 30;

function stateOf(outcome: Outcome): "waiting" | "delivered" | "failed" | "obsolete" {
  if (outcome.kind === "obsolete") return "obsolete";
  if (outcome.kind === "refused") return "failed";
  if (outcome.kind === "postponed") return "waiting";
  if (outcome.answer.error === undefined) return "delivered";
  return outcome.pauseSeconds === null ? "failed" : "waiting";
}

/**
 * Writes the outcomes of claimed deliveries in one statement: their state and attempts, the failures of their webhooks,
 * an audit entry for each webhook that this disables, and the erasure of sealed data that no delivery waits for. An
 * outcome whose claim was taken over is ignored, and one of a claim that a failover has lost is not. The commit waits for the
 * disk: if it was lost with a primary, the event would be delivered again.
 *
 * @returns `disabled`: the audit entries of stored webhooks that were disabled now; `hasReleased`: whether later events of
 *   the same users waited for one of these first attempts at the same webhooks
 */
export async function writeOutcomes(
  context: ResultContext,
  outcomes: readonly AttemptedDelivery[],
): Promise<WrittenOutcomes> {
  if (!(await isDistributed(context.database))) return writeTogether(context, outcomes, null);
  const written: WrittenOutcomes = { disabled: [], hasReleased: false };
  for (const [tenantId, ofTenant] of Map.groupBy(outcomes, ({ delivery }) => delivery.tenantId)) {
    try {
      const { disabled, hasReleased } = await writeTogether(context, ofTenant, tenantId);
      written.disabled.push(...disabled);
      written.hasReleased ||= hasReleased;
    } catch (error) {
      // The claim ends, and the event is delivered again once the node is up.
      if (!isNodeUnreachable(error)) throw error;
    }
  }
  return written;
}

/** A claimed delivery, and what became of it. */
export interface AttemptedDelivery {
  delivery: ClaimedDelivery;
  outcome: Outcome;
}

interface WrittenOutcomes {
  disabled: DisabledEntry[];
  hasReleased: boolean;
}

/** Returns SQL of the tenant of a row. @param row its name */
type TenantOf = (row: string) => SQL;

/** @param tenantId of all deliveries; null for those of several tenants */
async function writeTogether(
  { database, platform, config }: ResultContext,
  outcomes: readonly AttemptedDelivery[],
  tenantId: string | null,
): Promise<WrittenOutcomes> {
  const tenantOf: TenantOf = (row) =>
    tenantId === null ? sql`${sql.identifier(row)}.tenant_id` : sql`${tenantId}::uuid`;
  const clockShift = platform.clockShift();
  const now = databaseNow(clockShift);
  // A delivery in hand that was claimed again has one outcome.
  const claims = Map.groupBy(outcomes, ({ delivery }) => delivery.id);
  const latest = new Map(outcomes.map((one) => [one.delivery.id, one]));
  const rows = [...latest.values()].map(({ delivery, outcome }) => ({
    tenant_id: delivery.tenantId,
    id: delivery.id,
    attempts: delivery.attempts,
    claims: claims.get(delivery.id)?.map((claim) => claim.delivery.claimedUntil),
    state: stateOf(outcome),
    pause_seconds: ("pauseSeconds" in outcome ? outcome.pauseSeconds : null) ?? 0,
    ...(outcome.kind === "attempted"
      ? {
          attempt: true,
          duration_ms: outcome.answer.durationMs,
          status: outcome.answer.status ?? null,
          error: outcome.answer.error ?? null,
          answer: outcome.answer.answer ?? null,
        }
      : { attempt: false }),
  }));
  const given = JSON.stringify(rows);
  // An insert of what another expression returns would need all nodes: only one that disables a webhook has it.
  const storesEntries =
    config.audit_log.storage.enabled && (tenantId === null || rows.some(({ state }) => state === "failed"));
  const parts = [
    claimedOutcomes(given, now, tenantId === null ? sql`held_id` : tenantOf("r")),
    deliveries(tenantOf),
    ...(tenantId === null ? [attempts(now)] : []),
    erasedEvents(tenantOf),
    webhookFailures(now, tenantOf),
    disabledWebhooks(now),
    ...(tenantId === null || storesEntries ? [entries(storesEntries)] : []),
  ];
  const statement = sql`with ${sql.join(parts, sql`, `)}
      select exists (${released(tenantOf)}) as "hasReleased", tenant_id as "tenantId", id, type, null as "userId",
        null as "requestId", null as "ipAddress", null as "userAgent", details, created_at as "createdAt"
      from (select) one left join disabled on true`;
  const written =
    tenantId === null
      ? await executePrepared<WrittenRow, "write">(database, "write", "write_outcomes", statement)
      : await executeAtNode<WrittenRow>(database, [attemptsOfOne(given, now, tenantId), statement]);
  return {
    disabled: written.flatMap(({ hasReleased, ...entry }) => (entry.id === null ? [] : entry)),
    hasReleased: written.some(({ hasReleased }) => hasReleased),
  };
}

type WrittenRow = { hasReleased: boolean } & (DisabledEntry | { id: null });

/** Runs statements as one transaction in one round trip, and returns the rows of the last. */
async function executeAtNode<Row>(
  { write }: Pick<Database, "write">,
  statements: readonly SQL[],
): Promise<Row[]> {
  const queries = statements.map((statement) => dialect.sqlToQuery(statement));
  const results = await runStatements(
    write.$client,
    queries.map(({ sql: text, params: values }) => ({ text, values })),
  );
  return (results.at(-1)?.rows ?? []) as Row[];
}

const dialect = new PgDialect();

const outcomesText = (rows: string) => sql`
    select * from jsonb_to_recordset(${rows}::jsonb) as r (
      tenant_id uuid, id uuid, attempts int, claims timestamptz[], state text, pause_seconds float8, attempt boolean,
      duration_ms int, status int, error text, answer text)`;

/** Whether no other claim makes or has made the attempt `r` at a delivery `d`. */
const isOwned = (now: SQL) => sql`d.state = 'waiting' and d.attempts = r.attempts
  and (d.claimed_until = any (r.claims) or d.claimed_until is null or d.claimed_until < ${now})`;

/**
 * `owned`: the outcomes of attempts that no other claim makes or has made meanwhile, each with its delivery, locked.
 *
 * @param rows JSON of the outcomes
 * @param locked SQL of the tenant of a row, once that is locked
 */
const claimedOutcomes = (rows: string, now: SQL, locked: SQL) => sql`
  r as (${outcomesText(rows)}),
  -- Locked before the deliveries, as by the deletion of a tenant: attempts refer to it.
  -- What is locked beside another expression is selected once more: Citus would read it in another format than it wrote.
  held as materialized (
    select held_id from (
      select t.id as held_id from tenants t where t.id in (select tenant_id from r) order by t.id for key share) locked),
  -- Each is looked up by its key. A join would read a young table as a whole, for the planner expects more outcomes, and
  -- an old one by an index of what waits, which has the deliveries of months while receivers are down.
  owned as (
    select r.tenant_id, r.id, r.state, r.attempt, r.duration_ms, r.status, r.error, r.answer,
      ${now} + r.pause_seconds * interval '1 second' as next_at,
      case when r.state <> 'waiting' then ${now} end as ended_at, d.webhook, d.event_id, d.sequence, d.subject_id, d.attempts + 1 as number
    from r join held on held_id = r.tenant_id cross join lateral (
      select * from webhook_deliveries where tenant_id = ${locked} and id = r.id limit 1 for update) d
    where ${isOwned(now)})`;

/** Deletes obsolete deliveries, and settles the others or lets them wait for their next attempt. */
const deliveries = (tenantOf: TenantOf) => sql`
  deleted as (
    delete from webhook_deliveries d using owned o
    where o.state = 'obsolete' and d.tenant_id = ${tenantOf("o")} and d.id = o.id),
  settled as (
    update webhook_deliveries d set
      state = o.state,
      attempts = case when o.attempt then o.number else d.attempts end,
      due_at = o.next_at,
      claimed_until = null,
      finished_at = o.ended_at
    from owned o where o.state <> 'obsolete' and d.tenant_id = ${tenantOf("o")} and d.id = o.id)`;

const attemptColumns = sql`webhook_attempts (tenant_id, delivery_id, number, at, duration_ms, status, error, answer)`;

/** Records attempts. */
const attempts = (now: SQL) => sql`
  recorded as (
    insert into ${attemptColumns}
    select tenant_id, id, number, ${now} - duration_ms * interval '1 millisecond', duration_ms, status, error, answer
    from owned where attempt)`;

/** The same of one tenant as a statement before the others, which reads what they settle. */
const attemptsOfOne = (rows: string, now: SQL, tenantId: string) => sql`
  insert into ${attemptColumns}
  select ${tenantId}::uuid, d.id, d.attempts + 1, ${now} - r.duration_ms * interval '1 millisecond', r.duration_ms, r.status,
    r.error, r.answer
  from (${outcomesText(rows)}) r join webhook_deliveries d on d.id = r.id
  where d.tenant_id = ${tenantId}::uuid and r.attempt and ${isOwned(now)}`;

/** Deliveries that first attempts held back, as `claim.ts` says. Limited, so that each probes the index of their order. */
const released = (tenantOf: TenantOf) => sql`
  select 1 from owned o cross join lateral (
    select 1 from webhook_deliveries d
    where d.tenant_id = ${tenantOf("o")} and d.webhook = o.webhook and d.subject_id = o.subject_id
      and d.sequence > o.sequence and d.state = 'waiting' and d.attempts = 0
    order by d.sequence limit 1) later
  where o.number = 1 and (o.attempt or o.state <> 'waiting')`;

/** Erases the sealed data of events that no delivery waits for any more. */
const erasedEvents = (tenantOf: TenantOf) => sql`
  erased as (
    update events e set sealed_data = null
    from (select distinct tenant_id, event_id from owned where state <> 'waiting') o
    where e.tenant_id = ${tenantOf("o")} and e.id = o.event_id and e.sealed_data is not null and not exists (
      select 1 from webhook_deliveries d
      where d.tenant_id = ${tenantOf("e")} and d.event_id = e.id and d.state || '' = 'waiting'
        and d.id not in (select id from owned where state <> 'waiting')))`;

/**
 * Counts the failures in a row of stored webhooks, begins anew with a success, and extends their life then. `before` has
 * the webhooks as they were, with the new number of failures.
 */
const webhookFailures = (now: SQL, tenantOf: TenantOf) => sql`
  counted as (
    select tenant_id, webhook::uuid as id, bool_or(state = 'delivered') as delivered,
      count(*) filter (where state = 'failed' and attempt) as failed
    from owned where webhook not like 'config:%' and state in ('delivered', 'failed') group by tenant_id, webhook),
  -- Locked, so that of two processes one sees that it disables.
  before as (select * from (
    select w.tenant_id, w.id, w.enabled, (case when c.delivered then 0 else w.failures end) + c.failed as failures,
      case when c.delivered then ${now} + ${WEBHOOK_LIFETIME_DAYS}::int * interval '1 day' else w.expires_at end as expires_at
    from counted c join webhooks w on w.tenant_id = ${tenantOf("c")} and w.id = c.id
    where not w.is_listener
      -- Most deliveries succeed, and an update of one row for each of them would queue.
      and (c.failed > 0 or w.failures > 0
        or w.expires_at < ${now} + (${WEBHOOK_LIFETIME_DAYS}::int * interval '1 day' - interval '1 hour'))
    order by w.tenant_id, w.id
    for update of w) locked),
  updated as (
    update webhooks w set
      failures = b.failures,
      enabled = b.enabled and b.failures <= ${MAX_FAILURES}::int,
      expires_at = b.expires_at
    from before b
    where w.tenant_id = ${tenantOf("b")} and w.id = b.id)`;

/** `disabled`: the audit entries of webhooks that are disabled now. */
const disabledWebhooks = (now: SQL) => sql`
  disabled as materialized (
    select tenant_id, gen_random_uuid() as id, ${"webhook_disabled" satisfies AuditType}::text as type,
      jsonb_build_object('webhook', id, 'failures', failures) as details, ${now} as created_at
    from before where enabled and failures > ${MAX_FAILURES}::int)`;

const entries = (areStored: boolean) => sql`
  entry as (
    insert into audit_logs (tenant_id, id, type, details, created_at)
    select * from disabled where ${areStored}::boolean)`;
