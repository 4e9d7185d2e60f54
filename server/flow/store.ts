import type { QueryResult, QueryResultRow } from "pg";
import type { Database } from "#db/client";
import { clockText } from "#db/clock";
import type { Part } from "#db/part";
import { factColumns, factsOfColumns, type UserFacts } from "../identity/facts.ts";
import { sha256 } from "../lib/sha256.ts";
import type { FlowRecord } from "./data.ts";
import type { StepError } from "./errors.ts";
import type { FlowType } from "./names.ts";
import { STEP_POINTS } from "./step-points.ts";
import { readStoredData, toStoredData } from "./stored-data/stored-flow-data.ts";
import { UnreadableFlowError } from "./stored-data/unreadable-flow-error.ts";

/** Window of the budgets of steps, and a bound of their counters. */
const BUDGET_SECONDS = 60;
const MAX_POINTS = 1_000_000_000;

/** Lifetime of a claim that is not released; longer than a step may take to judge. */
const CLAIM_SECONDS = 15;

/** How long a statement outside of steps waits for a save that is still in progress. */
const PATIENCE_SECONDS = 5;

export interface FlowKey {
  tenantId: string;
  flowId: string;
  type: FlowType;
}

/** A flow as stored in the database: its record and its storage metadata. */
export interface StoredFlow {
  /** Without its sealed members. */
  record: FlowRecord;
  sealedPayload: Buffer | null;
  /** Whether its secret members are not shown any more. */
  hidesSecrets: boolean;
  error: StepError | null;
  user: UserFacts | null;
  /** The database's clock, shifted by the platform's clock shift. */
  now: Date;
  expiresAt: Date;
  finishedAt: Date | null;
  sessionId: string | null;
  /** Whether the tenant has stored webhooks, so that a step writes events. */
  hasStoredWebhooks: boolean;
  /** Whether a step in progress holds the claim of the flow. */
  claimed: boolean;
  /** The end of the budget of steps that this step exceeds; null within the budgets. */
  exhaustedUntil: Date | null;
  resume: ResumeHashes;
}

/** Hashes of the resume secrets that a flow accepts. */
export interface ResumeHashes {
  /** Of the secret in the newest answer. */
  current: Buffer;
  /** Of the secret in the answer before it; null if it is no longer accepted. */
  previous: Buffer | null;
}

/** Budgets of steps, in points a minute, and what a step is charged. */
export interface StepCharge {
  /** The client's source; its budget is the tenant's. */
  source: string;
  /** Cost of the action by state, as JSON. */
  costs: string;
  perSource: number;
  perAccount: number;
}

/** Content of a flow to save at the end of a step. */
export interface SavedFlow {
  record: FlowRecord;
  /** The record's sealed members. */
  sealedPayload: Buffer | null;
  error: StepError | null;
  tokenHash: Buffer;
  resume: ResumeHashes;
  finishedAt: Date | null;
  sessionId: string | null;
}

/** The exclusive right to perform one step of a flow. */
export interface Claim {
  id: string;
  tokenHash: Buffer;
}

const columns = `flow.id, flow.type, flow.state, flow.version, flow.data, flow.history, flow.payload, flow.sealed_payload,
  flow.problem, flow.resume_hash, flow.previous_resume_hash,
  flow.expires_at, flow.finished_at, flow.session_id, coalesce(flow.claimed_until > clock_timestamp(), false) as claimed,
  ${factColumns("f")},
  exists (select from webhooks w where w.tenant_id = flow.tenant_id and w.enabled) as has_webhooks`;

const withFacts = "left join user_facts f on f.tenant_id = flow.tenant_id and f.user_id = flow.user_id";

/** SQL for the database's clock in milliseconds since 1970. */
const milliseconds = (shift: string) => `(extract(epoch from ${clockText(shift)}) * 1000)::bigint`;

const claimUpdate = `update flows set claim = $1, claimed_by = $2,
        claimed_until = clock_timestamp() + interval '${CLAIM_SECONDS} seconds'
      where tenant_id = $3 and id = $4 and type = $5 and token_hash = $6
        and finished_at is null and expires_at >= ${clockText("$7")}
        and (claimed_until is null or claimed_until < clock_timestamp())
      returning *`;

/** Limits how long the statement that reads from it waits for a row (`lock_timeout`). */
const patience = `patience as materialized (select set_config('lock_timeout', '${PATIENCE_SECONDS}s', true))`;

const saveText = `update flows set state = $1, version = $2, token_hash = $3, user_id = $4, data = $5, history = $6, payload = $7,
      problem = $8, finished_at = $9, session_id = $10, sealed_payload = $11, resume_hash = $12,
      previous_resume_hash = $13, claim = null, claimed_by = null, claimed_until = null
    where tenant_id = $14 and id = $15 and claim = $16 and token_hash = $17`;

/** The flow alone, or the account before it. A count is never negative: the condition only locks, before the update does. */
const saveTexts = {
  save: `saved as (${saveText} returning 1)`,
  save_of_account: `saved as (${saveText}
      and (select count(*) from
        (select from users where tenant_id = $14 and id = $4 for no key update) account) >= 0
      returning 1)`,
};

/** SQL statements as text; building them at each step would double the cost of the step. */
const statements = {
  flow_claim: `
    with flow as (
      ${claimUpdate})
    select ${columns}, ${clockText("$7")} as now from flow ${withFacts}`,
  flow_claim_charged: `
    with flow as (
      ${claimUpdate}),
    charge as (
      select 'step_source:' || $8::text as key, $10::int as budget from flow
      union all
      select 'step_account:' || tenant_id || '/' || user_id, $11::int from flow where type = 'profile'),
    budget as (
      insert into rate_limits as counter (key, points, expire)
      select key, coalesce(($9::jsonb ->> flow.state)::int, ${STEP_POINTS}), ${milliseconds("$7")} + ${BUDGET_SECONDS * 1000}
        from charge, flow order by key
      on conflict (key) do update set
        points = case when counter.expire <= ${milliseconds("$7")} then excluded.points
          else least(counter.points + excluded.points, ${MAX_POINTS}) end,
        expire = case when counter.expire <= ${milliseconds("$7")} then excluded.expire else counter.expire end
      returning key, points, expire)
    select ${columns}, ${clockText("$7")} as now,
      (select max(budget.expire) from budget join charge using (key) where budget.points > charge.budget)
        as exhausted_until
    from flow ${withFacts}`,
  flow_release: `
    with free as (
      select from flows where tenant_id = $1 and id = $2 and claim = $3 for update skip locked)
    update flows set claim = null, claimed_by = null, claimed_until = null
    where tenant_id = $1 and id = $2 and claim = $3 and exists (select from free)`,
  flow_expired: `
    select 1 from flows where tenant_id = $1 and id = $2 and type = $3 and expires_at < ${clockText("$4")}`,
  flow_settle: `
    with ${patience}
    update flows set claim = null, claimed_by = null, claimed_until = null from patience
    where tenant_id = $1 and id = $2 and claim = $3`,
  flow_has_token: "select 1 from flows where tenant_id = $1 and id = $2 and token_hash = $3",
  flow_insert: `
    insert into flows
      (tenant_id, id, type, state, version, token_hash, resume_hash, data, history, payload, expires_at, user_id)
    values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, ${clockText("$11")} + $12::int * interval '1 second', $13)`,
  flow_read: `
    select ${columns}, ${clockText("$5")} as now from flows flow ${withFacts}
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

type StatementName = keyof typeof statements;

/**
 * Claims a flow for one step. A single statement, so that exactly one of many requests with the same token succeeds, on
 * any server.
 *
 * @param charge charged by the same statement: to the source, and to the account in profile flows
 * @returns the flow and its user's facts; null if the flow has ended, the token differs or another step holds the claim
 * @throws UnreadableFlowError if this version cannot read it; then it is as it was
 */
export async function claimFlow(
  database: Database,
  { tenantId, flowId, type }: FlowKey,
  claim: Claim & { instanceId: string },
  clockShift: number,
  charge: StepCharge | null,
): Promise<StoredFlow | null> {
  const values = [claim.id, claim.instanceId, tenantId, flowId, type, claim.tokenHash, clockShift];
  const { rows } = charge
    ? await run(database, "claim", "flow_claim_charged", [
        ...values,
        sha256(`${tenantId}/${charge.source}`).toString("base64url"),
        charge.costs,
        charge.perSource,
        charge.perAccount,
      ])
    : await run(database, "claim", "flow_claim", values);
  if (!rows[0]) return null;
  try {
    return toStored(rows[0]);
  } catch (error) {
    // The claim would expire by itself; until then another version could not step the flow.
    await releaseFlow(database, { tenantId, flowId, type }, claim.id).catch(() => {});
    throw error;
  }
}

/**
 * Releases a claim; the token does not change. Does not wait for a save that is still in progress, whose connection was
 * lost: it ends the claim itself, or the claim expires.
 */
export async function releaseFlow(
  database: Database,
  { tenantId, flowId }: FlowKey,
  claimId: string,
): Promise<void> {
  await run(database, "claim", "flow_release", [tenantId, flowId, claimId]);
}

/** Returns the reason of a failed claim; every reason but expiry is reported as `not_permitted`. */
export async function claimFailureReason(
  database: Database,
  { tenantId, flowId, type }: FlowKey,
  clockShift: number,
): Promise<"expired" | "not_permitted"> {
  const { rows } = await run(database, "read", "flow_expired", [tenantId, flowId, type, clockShift]);
  return rows.length > 0 ? "expired" : "not_permitted";
}

/**
 * Saves a flow after a step. It refuses with `claim` if the claim does not hold any more.
 *
 * @param locksAccount locks the account first and then the flow: in this order a change of the account, such as a block,
 *   locks them too, so that neither waits for the other
 */
export function savedFlow(
  { tenantId, flowId }: FlowKey,
  claim: Claim,
  saved: SavedFlow,
  locksAccount: boolean,
): Part {
  const { state, version, payload } = saved.record;
  const { data, history } = toStoredData(saved.record);
  const values = [
    state,
    version,
    saved.tokenHash,
    saved.record.data.userId ?? null,
    JSON.stringify(data),
    JSON.stringify(history),
    JSON.stringify(payload),
    saved.error && JSON.stringify(saved.error),
    saved.finishedAt,
    saved.sessionId,
    saved.sealedPayload,
    saved.resume.current,
    saved.resume.previous,
    tenantId,
    flowId,
    claim.id,
    claim.tokenHash,
  ];
  const name = locksAccount ? "save_of_account" : "save";
  const refuses = "case when not exists (select from saved) then 'claim' end";
  return { name, text: saveTexts[name], values, refuses };
}

/**
 * Returns whether a save was committed whose connection was lost. PostgreSQL may still be at work on it, or not have
 * read it yet: this waits for the lock that the save holds on the flow, and releases the claim, so that a save that comes
 * later refuses.
 *
 * @param tokenHash of the token that the save issued
 * @throws lock_not_available (55P03) if the save holds the flow for longer than five seconds: its outcome is unknown
 */
export async function wasSaved(
  database: Database,
  { tenantId, flowId }: FlowKey,
  claim: Claim,
  tokenHash: Buffer,
): Promise<boolean> {
  await run(database, "claim", "flow_settle", [tenantId, flowId, claim.id]);
  const { rows } = await run(database, "read", "flow_has_token", [tenantId, flowId, tokenHash]);
  return rows.length > 0;
}

/** Inserts a new flow. Its lifetime starts at the database's clock. */
export async function insertFlow(
  database: Database,
  { tenantId, flowId, type }: FlowKey,
  flow: { record: FlowRecord; tokenHash: Buffer; resumeHash: Buffer; lifetimeSeconds: number },
  clockShift: number,
): Promise<void> {
  const { state, version, payload } = flow.record;
  const { data, history } = toStoredData(flow.record);
  const contents = [data, history, payload].map((content) => JSON.stringify(content));
  const secrets = [flow.tokenHash, flow.resumeHash];
  const values = [
    tenantId,
    flowId,
    type,
    state,
    version,
    ...secrets,
    ...contents,
    clockShift,
    flow.lifetimeSeconds,
    flow.record.data.userId ?? null,
  ];
  await run(database, "write", "flow_insert", values);
}

/**
 * Reads a flow by a resume secret that it accepts, whether or not it has ended.
 *
 * @throws UnreadableFlowError if this version cannot read it
 */
export async function readFlow(
  database: Database,
  { tenantId, flowId, type }: FlowKey,
  resumeHash: Buffer,
  clockShift: number,
): Promise<StoredFlow | null> {
  const { rows } = await run(database, "read", "flow_read", [tenantId, flowId, type, resumeHash, clockShift]);
  return rows[0] ? toStored(rows[0]) : null;
}

/**
 * Replaces the token and the resume secret of a flow. A step that is being judged under the old token loses its claim
 * and writes nothing.
 *
 * @param resume hashes of the presented resume secret, which stays accepted as the preceding one, and of the current one
 *   as it was read
 * @param issued `sealedPayload`: replaces what is stored sealed
 * @returns false if the flow does not accept the presented secret, or another one has become the current one
 * @throws lock_not_available (55P03) if a save holds the flow for longer than five seconds
 */
export async function rotateSecrets(
  database: Database,
  { tenantId, flowId, type }: FlowKey,
  resume: { presented: Buffer; current: Buffer },
  issued: { tokenHash: Buffer; resumeHash: Buffer; sealedPayload?: Buffer | null },
): Promise<boolean> {
  const { presented, current } = resume;
  const { tokenHash, resumeHash, sealedPayload } = issued;
  const sealed = [sealedPayload !== undefined, sealedPayload ?? null];
  const values = [tokenHash, resumeHash, presented, tenantId, flowId, type, current, ...sealed];
  const { rowCount } = await run(database, "write", "flow_rotate", values);
  return rowCount === 1;
}

/** Runs a statement alone, prepared under its name if connections support that. */
function run(
  database: Database,
  pool: "read" | "write" | "claim",
  name: StatementName,
  values: unknown[],
): Promise<QueryResult> {
  const text = statements[name];
  return database[pool].$client.query(database.prepares ? { name, text, values } : { text, values });
}

/** @throws UnreadableFlowError if this version cannot read it */
function toStored(row: QueryResultRow): StoredFlow {
  const read = readStoredData(row as Parameters<typeof readStoredData>[0]);
  if (!read.ok) throw new UnreadableFlowError(row.id, read);
  return {
    record: {
      id: row.id,
      type: row.type as FlowType,
      state: read.state,
      version: row.version,
      data: read.data,
      history: read.history,
      payload: read.payload,
      secrets: {},
      wanted: null,
    },
    sealedPayload: row.sealed_payload,
    hidesSecrets: read.hidesSecrets,
    error: read.error,
    user: factsOfColumns(row),
    now: row.now,
    expiresAt: row.expires_at,
    finishedAt: row.finished_at,
    sessionId: row.session_id,
    hasStoredWebhooks: row.has_webhooks,
    claimed: row.claimed,
    exhaustedUntil: row.exhausted_until ? new Date(Number(row.exhausted_until)) : null,
    resume: { current: row.resume_hash, previous: row.previous_resume_hash },
  };
}
