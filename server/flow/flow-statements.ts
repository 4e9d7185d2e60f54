import { clockText } from "#db/clock";
import { addedText, type CountingText, countedText } from "#db/counters";
import { userFactsText } from "#db/schema/users";
import { endOfClaim } from "../database/instances.ts";
import { factColumns } from "../identity/facts.ts";
import { type Condition, counters, emptyRateCounter } from "../limits/rate-limits.ts";
import { STEP_POINTS } from "./step-points.ts";

/** Window of the budgets of steps, and a bound of their counters. */
const BUDGET_SECONDS = 60;
const MAX_POINTS = 1_000_000_000;

/** Lifetime of a claim that is not released; longer than a step may take to judge. */
const CLAIM_SECONDS = 15;

/** How long a statement outside of steps waits for a save that is still in progress. */
const PATIENCE_SECONDS = 5;

/** @param tenant SQL of the id of the tenant, a parameter */
const columns = (
  tenant: string,
) => `flow.id, flow.type, flow.state, flow.version, flow.data, flow.history, flow.payload, flow.sealed_payload,
  flow.problem, flow.resume_hash, flow.previous_resume_hash,
  flow.expires_at, flow.finished_at, flow.session_id, coalesce(flow.claimed_until > statement_timestamp(), false) as claimed,
  ${factColumns("f")},
  exists (select 1 from webhooks w where w.tenant_id = ${tenant} and w.enabled) as has_webhooks`;

const withFacts = (tenant: string) => `left join ${userFactsText(tenant)} f on f.user_id = flow.user_id`;

/** SQL for the database's clock in milliseconds since 1970. */
const milliseconds = (shift: string) => `(extract(epoch from ${clockText(shift)}) * 1000)::bigint`;

/** @param version SQL of the version that the caller displays, or null */
const claimUpdate = (version: string) => `update flows set claim = $1, claimed_by = $2,
        claimed_until = statement_timestamp() + interval '${CLAIM_SECONDS} seconds'
      where tenant_id = $3 and id = $4 and type = $5 and token_hash = $6
        and (${version}::int is null or version = ${version}::int) and finished_at is null and expires_at >= ${clockText("$7")}
        and (claimed_until is null or claimed_until < statement_timestamp())
      returning *`;

/** Limits how long the statement that reads from it waits for a row (`lock_timeout`). */
const patience = `patience as materialized (select set_config('lock_timeout', '${PATIENCE_SECONDS}s', true))`;

/** The values of a saved step; the claim that it may have had ends. */
const savedColumns = `update flows set state = $1, version = $2, token_hash = $3, user_id = $4, data = $5,
      history = coalesce($6, history), payload = coalesce($7, payload),
      problem = $8, finished_at = $9, session_id = $10, sealed_payload = $11, resume_hash = $12,
      previous_resume_hash = $13, claim = null, claimed_by = null, claimed_until = null
    where tenant_id = $14 and id = $15`;

/** Saves a step, if its claim holds. */
const saveText = `${savedColumns} and claim = $16 and token_hash = $17`;

/** The flow of a step that has not claimed it, if no step has since the last save. */
const unclaimed = `type = $19 and token_hash = $16 and version = $17 and finished_at is null and expires_at >= ${clockText("$18")}
      and claim is null`;

/** The flow alone, or the account before it. A count is never negative: the condition only locks, before the update does. */
export const saveTexts = {
  save: `saved as (${saveText} returning 1)`,
  save_of_account: `saved as (${saveText}
      and (select count(*) from
        (select 1 from users where tenant_id = $14 and id = $4 for no key update) account) >= 0
      returning 1)`,
  save_unclaimed: `saved as (${savedColumns} and ${unclaimed} returning 1)`,
};

/** Stores a flow with its first step. */
const insertText = `insert into flows (state, version, token_hash, user_id, data, history, payload, problem, finished_at,
      session_id, sealed_payload, resume_hash, tenant_id, id, type, expires_at)
    select $1, $2::int, $3::bytea, $4::uuid, $5::jsonb, $6::jsonb, $7::jsonb, $8::jsonb, $9::timestamptz,
      $10::uuid, $11::bytea, $12::bytea, $13::uuid, $14::uuid, $15, ${clockText("$16")} + $17::int * interval '1 second'`;

export const insertTexts = {
  begin: `begun as (${insertText} returning 1)`,
  begin_of_account: `begun as (${insertText}
      where (select count(*) from
        (select 1 from users where tenant_id = $13 and id = $4 for no key update) account) >= 0
      returning 1)`,
};

/**
 * Charges the budgets of `charge`, which has a key and a budget for each.
 *
 * @param tenant SQL of the id of the tenant, a parameter
 * @param points SQL of what is charged
 * @param clock SQL of the clock's shift
 * @param more tables that `points` reads
 */
const budgetText = (form: CountingText, tenant: string, points: string, clock: string, more = "") => {
  // Without the clock, because Citus takes no function of time here.
  const isOver = `counter.expire <= excluded.expire - ${BUDGET_SECONDS * 1000}`;
  return form({
    ...counters,
    tenant,
    rows: `select key, ${points} as points, ${milliseconds(clock)} + ${BUDGET_SECONDS * 1000} as expire from charge${more}`,
    changes: {
      points: `case when ${isOver} then excluded.points
        else least(counter.points + excluded.points, ${MAX_POINTS}) end`,
      expire: `case when ${isOver} then excluded.expire else counter.expire end`,
    },
    returning: ["key", "points", "expire"],
  });
};

const OF_SOURCE = "step_source:";
const OF_ACCOUNT = "step_account:";

/** SQL of the key of the budget of a source, and of that of an account, among the counters of their tenant. */
const sourceBudget = (source: string) => `'${OF_SOURCE}' || ${source}`;
const accountBudget = (tenant: string, user: string) => `'${OF_ACCOUNT}' || ${tenant} || '/' || ${user}`;

/** The counters of both, as statements that make them in a distributed database. */
export const emptySourceBudget = (tenantId: string, source: string) =>
  emptyRateCounter(tenantId, `${OF_SOURCE}${source}`);
export const emptyAccountBudget = (tenantId: string, userId: string) =>
  emptyRateCounter(tenantId, `${OF_ACCOUNT}${tenantId}/${userId}`);

/** The same for the account of a flow of its owner. */
export const emptyBudgetOfOwner = `
  insert into rate_counters (tenant_id, key, points, expire)
  select tenant_id, ${accountBudget("tenant_id", "user_id")}, 0, 0 from flows
  where tenant_id = $1 and id = $2 and type = 'profile' and user_id is not null
  on conflict do nothing`;

const exceeded = "from budget join charge using (key) where budget.points > charge.budget";

/** Saves a step that has not claimed its flow, and charges it. The flow is locked before the budget, as by a claim. */
const saveChargedText = (form: CountingText) => `flow as (
      select 1 from flows where tenant_id = $14 and id = $15 and ${unclaimed} for no key update),
    charge as (select ${sourceBudget("$20::text")} as key, $21::int as budget from flow),
    budget as (${budgetText(form, "$14", `${STEP_POINTS}`, "$18")}),
    saved as (${savedColumns} and exists (select 1 from flow) and not exists (select ${exceeded}) returning 1)`;

export const savedChargedText = saveChargedText(countedText);

const exhaustedText = `(select max(budget.expire) ${exceeded}) as exhausted_until`;

/**
 * Whether the step may be judged, for what is asked together with the claim: the claim was obtained, and no budget is
 * exceeded.
 */
export const isAdmitted: Condition = { name: "admitted", sql: "exists (select 1 from admitted)" };

/** What is read before the first step of a flow that is not stored yet. */
const beginning = (clock: string) => `${factColumns("f")}, ${clockText(clock)} as now,
      exists (select 1 from webhooks w where w.tenant_id = $1 and w.enabled) as has_webhooks`;

const ofNewFlow = `(select) flow left join ${userFactsText("$1")} f on f.user_id = $2`;

/** What a step reads before it is judged, as parts that begin a statement: what its action asks for follows them. */
const openings = (form: CountingText) => ({
  flow_claim: {
    text: `flow as (
      ${claimUpdate("$8")}),
    admitted as (select 1 from flow)`,
    selects: { columns: `${columns("$3")}, ${clockText("$7")} as now`, from: `flow ${withFacts("$3")}` },
  },
  flow_claim_charged: {
    text: `flow as (
      ${claimUpdate("$12")}),
    charge as (
      select ${sourceBudget("$8::text")} as key, $10::int as budget from flow
      union all
      select ${accountBudget("tenant_id", "user_id")}, $11::int from flow where type = 'profile'),
    budget as (${budgetText(form, "$3", `coalesce(($9::jsonb ->> flow.state)::int, ${STEP_POINTS})`, "$7", ", flow")}),
    admitted as (select 1 from flow where not exists (select ${exceeded}))`,
    selects: {
      columns: `${columns("$3")}, ${clockText("$7")} as now, ${exhaustedText}`,
      from: `flow ${withFacts("$3")}`,
    },
  },
  flow_begin: {
    text: "admitted as (select)",
    selects: { columns: beginning("$3"), from: ofNewFlow },
  },
  flow_begin_charged: {
    text: `charge as (
      select ${sourceBudget("$4::text")} as key, $6::int as budget
      union all
      select ${accountBudget("$1::uuid", "$2::uuid")}, $7::int where $2::uuid is not null),
    budget as (${budgetText(form, "$1", "$5::int", "$3")}),
    admitted as (select where not exists (select ${exceeded}))`,
    selects: { columns: `${beginning("$3")}, ${exhaustedText}`, from: ofNewFlow },
  },
});

export const openingTexts = openings(countedText);

/** The texts of those that charge, by their names, for a distributed database. */
export const textsAtNode = {
  flow_claim_charged: openings(addedText).flow_claim_charged.text,
  flow_begin_charged: openings(addedText).flow_begin_charged.text,
  save_unclaimed_charged: saveChargedText(addedText),
};

/** The other statements of flows, by the names under which they are prepared. */
export const statements = {
  flow_release: `
    with free as (
      select 1 from flows where tenant_id = $1 and id = $2 and claim = $3 for update skip locked)
    update flows set ${endOfClaim}
    where tenant_id = $1 and id = $2 and claim = $3 and exists (select 1 from free)`,
  flow_expired: `
    select expires_at < ${clockText("$4")} as expired from flows where tenant_id = $1 and id = $2 and type = $3`,
  flow_settle: `
    with ${patience}
    update flows set ${endOfClaim} from patience
    where tenant_id = $1 and id = $2 and (claim = $3 or claim is null) and token_hash = $4`,
  // The row of a begun flow that arrives later violates the primary key; one that is being written is waited for.
  flow_settle_insert: `
    with ${patience}
    insert into flows (tenant_id, id, type, state, version, token_hash, resume_hash, data, history, payload, expires_at)
    select $1, $2, $3, $4, 0, '', '', '{}', '[]', '{}', statement_timestamp() from patience
    on conflict do nothing`,
  flow_has_token: "select 1 from flows where tenant_id = $1 and id = $2 and token_hash = $3",
  flow_insert: `
    insert into flows
      (tenant_id, id, type, state, version, token_hash, resume_hash, data, history, payload, expires_at, user_id)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, ${clockText("$11")} + $12::int * interval '1 second', $13)`,
  flow_read: `
    select ${columns("$1")}, ${clockText("$5")} as now from flows flow ${withFacts("$1")}
    where flow.tenant_id = $1 and flow.id = $2 and flow.type = $3
      and (flow.resume_hash = $4 or flow.previous_resume_hash = $4)`,
  flow_rotate: `
    with ${patience}
    update flows set token_hash = $1, resume_hash = $2, previous_resume_hash = $3,
      sealed_payload = case when $8::boolean then $9::bytea else sealed_payload end,
      claim = null, claimed_by = null, claimed_until = null
    from patience
    where tenant_id = $4 and id = $5 and type = $6 and resume_hash = $7
      and (resume_hash = $3 or previous_resume_hash = $3)`,
};

export type StatementName = keyof typeof statements;
