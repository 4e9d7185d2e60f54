import type { QueryResult, QueryResultRow } from "pg";
import type { Database } from "#db/client";
import type { Part, Statement } from "#db/part";
import { runTogether } from "#db/together";
import { factsOfColumns, type UserFacts } from "../identity/facts.ts";
import { sha256 } from "../lib/sha256.ts";
import type { FlowRecord, ResumeHashes } from "./data.ts";
import type { StepError } from "./errors.ts";
import {
  emptyAccountBudget,
  emptyBudgetOfOwner,
  emptySourceBudget,
  insertTexts,
  openingTexts,
  type StatementName,
  savedChargedText,
  saveTexts,
  statements,
  textsAtNode,
} from "./flow-statements.ts";
import type { FlowType } from "./names.ts";
import { STEP_POINTS } from "./step-points.ts";
import { readStoredData, toStoredData } from "./stored-data/stored-flow-data.ts";
import { UnreadableFlowError } from "./stored-data/unreadable-flow-error.ts";

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
  /** Whether its row is in the format that this version writes. */
  hasPresentFormat: boolean;
  /** Whether its secret members are not shown any more. */
  hidesSecrets: boolean;
  error: StepError | null;
  user: UserFacts | null;
  /** The database's clock, shifted by the platform's clock shift. */
  now: Date;
  /** Milliseconds by which that clock is ahead of the process's. */
  clockAhead: number;
  expiresAt: Date;
  finishedAt: Date | null;
  sessionId: string | null;
  /** Whether the tenant has stored webhooks, so that a step writes events. */
  hasStoredWebhooks: boolean;
  /** Whether a step in progress holds the claim of the flow. */
  claimed: boolean;
  /** What the parts have returned that were asked together with the claim, by their names. */
  asked: object;
  /** The end of the budget of steps that this step exceeds; null within the budgets. */
  exhaustedUntil: Date | null;
  resume: ResumeHashes;
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
  /** The record that the row holds in the present format, if it does: its history and payload are not written again. */
  before: Pick<FlowRecord, "history" | "payload"> | null;
  /** The record's sealed members. */
  sealedPayload: Buffer | null;
  error: StepError | null;
  tokenHash: Buffer;
  resume: ResumeHashes;
  finishedAt: Date | null;
  sessionId: string | null;
}

/** What a step is judged and written by. */
export type StepFlow = Pick<
  StoredFlow,
  "record" | "hasPresentFormat" | "user" | "now" | "clockAhead" | "hasStoredWebhooks" | "resume"
>;

/** The exclusive right to perform one step of a flow. */
export interface Claim {
  id: string;
  tokenHash: Buffer;
}

/** A flow that is saved without a claim before, if it has this token and version and no step has claimed it since. */
export interface UnclaimedFlow {
  id: null;
  tokenHash: Buffer;
  version: number;
  clockShift: number;
  /** Charged by the statement that saves it; it refuses if a budget is exceeded, and charges nothing then. */
  charge: StepCharge | null;
}

/**
 * Claims a flow for one step. A single statement, so that exactly one of many requests with the same token succeeds, on
 * any server.
 *
 * @param claim `version`: only of the flow in this version
 * @param charge charged by the same statement: to the source, and to the account in profile flows
 * @param asking parts to run in the same statement; `isAdmitted` is the condition of what they write
 * @returns the flow and its user's facts; null if the flow has ended, the token or the version differs, or another step holds
 *   the claim
 * @throws UnreadableFlowError if this version cannot read it; then it is as it was
 */
export async function claimFlow(
  database: Database,
  { tenantId, flowId, type }: FlowKey,
  claim: Claim & { instanceId: string; version?: number | undefined },
  clockShift: number,
  charge: StepCharge | null,
  asking: readonly Part[] = [],
): Promise<StoredFlow | null> {
  const { version = null } = claim;
  const values = [claim.id, claim.instanceId, tenantId, flowId, type, claim.tokenHash, clockShift];
  const ofOwner = { name: "empty_budget_of_owner", text: emptyBudgetOfOwner, values: [tenantId, flowId] };
  const opening = charge
    ? chargedPart(
        "flow_claim_charged",
        [...values, sourceKey(tenantId, charge), charge.costs, charge.perSource, charge.perAccount, version],
        [emptySourceBudget(tenantId, sourceKey(tenantId, charge)), ...(type === "profile" ? [ofOwner] : [])],
      )
    : openingPart("flow_claim", [...values, version]);
  const row = await runTogether<QueryResultRow>(database, [opening, ...asking], "claim");
  if (row.id === undefined) return null;
  try {
    return toStored(row);
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

/** Returns the reason of a failed claim; every reason but expiry is reported as `not_permitted`. `unknown`: there is no such flow. */
export async function claimFailureReason(
  database: Database,
  { tenantId, flowId, type }: FlowKey,
  clockShift: number,
): Promise<"expired" | "not_permitted" | "unknown"> {
  const { rows } = await run(database, "read", "flow_expired", [tenantId, flowId, type, clockShift]);
  if (!rows[0]) return "unknown";
  return rows[0].expired ? "expired" : "not_permitted";
}

/** Saves a flow after a step that has not claimed it. It refuses with `claim` if the step has to claim it. */
export function savedUnclaimedFlow(
  { tenantId, flowId, type }: FlowKey,
  { tokenHash, version, clockShift, charge }: UnclaimedFlow,
  saved: SavedFlow,
): Part {
  const { current, previous } = saved.resume;
  const own = [current, previous, tenantId, flowId, tokenHash, version, clockShift, type];
  const refuses = "case when not exists (select 1 from saved) then 'claim' end";
  const values = [...contentOf(saved), ...own];
  if (!charge) return { name: "save_unclaimed", text: saveTexts.save_unclaimed, values, refuses };
  const source = sourceKey(tenantId, charge);
  return {
    name: "save_unclaimed_charged",
    text: savedChargedText,
    values: [...values, source, charge.perSource],
    refuses,
    distributed: {
      text: textsAtNode.save_unclaimed_charged,
      before: [emptySourceBudget(tenantId, source)],
    },
  };
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
  const values = [
    ...contentOf(saved),
    saved.resume.current,
    saved.resume.previous,
    tenantId,
    flowId,
    claim.id,
    claim.tokenHash,
  ];
  const name = locksAccount ? "save_of_account" : "save";
  const refuses = "case when not exists (select 1 from saved) then 'claim' end";
  return { name, text: saveTexts[name], values, refuses };
}

/**
 * Returns what the first step of a flow is judged by. Nothing is stored of the flow yet.
 *
 * @param record of the flow
 * @param charge as for `claimFlow`
 * @param asking as for `claimFlow`
 * @returns the flow as the first step meets it; `resume` is the secret that the step gives out
 */
export async function prepareFlow(
  database: Database,
  { tenantId }: FlowKey,
  { record, resume, lifetimeSeconds }: { record: FlowRecord; resume: string; lifetimeSeconds: number },
  clockShift: number,
  charge: StepCharge | null,
  asking: readonly Part[],
): Promise<StoredFlow> {
  const values = [tenantId, record.data.userId ?? null, clockShift];
  const { userId } = record.data;
  const opening = charge
    ? chargedPart(
        "flow_begin_charged",
        [
          ...values,
          sourceKey(tenantId, charge),
          (JSON.parse(charge.costs) as Record<string, number>)[record.state] ?? STEP_POINTS,
          charge.perSource,
          charge.perAccount,
        ],
        [
          emptySourceBudget(tenantId, sourceKey(tenantId, charge)),
          ...(userId ? [emptyAccountBudget(tenantId, userId)] : []),
        ],
      )
    : openingPart("flow_begin", values);
  const row: QueryResultRow = await runTogether(database, [opening, ...asking], "claim");
  return {
    record,
    sealedPayload: null,
    hasPresentFormat: false,
    hidesSecrets: false,
    error: null,
    user: factsOfColumns(row),
    now: row.now,
    clockAhead: row.now.getTime() - Date.now(),
    expiresAt: new Date(row.now.getTime() + lifetimeSeconds * 1000),
    finishedAt: null,
    sessionId: null,
    hasStoredWebhooks: row.has_webhooks,
    claimed: true,
    asked: row,
    exhaustedUntil: exhaustedIn(row),
    resume: { current: sha256(resume), previous: null },
  };
}

/**
 * Stores a flow with its first step, which nothing was stored of before.
 *
 * @param locksAccount as for `savedFlow`
 */
export function insertedFlow(
  { tenantId, flowId, type }: FlowKey,
  saved: SavedFlow,
  lifetime: { seconds: number; clockShift: number },
  locksAccount: boolean,
): Part {
  const name = locksAccount ? "begin_of_account" : "begin";
  const own = [tenantId, flowId, type, lifetime.clockShift, lifetime.seconds];
  return { name, text: insertTexts[name], values: [...contentOf(saved), saved.resume.current, ...own] };
}

/** As `wasSaved`, for a flow that its first step was to store. */
export async function wasInserted(
  database: Database,
  { tenantId, flowId, type }: FlowKey,
  { record: { state }, tokenHash }: Pick<SavedFlow, "record" | "tokenHash">,
): Promise<boolean> {
  await run(database, "claim", "flow_settle_insert", [tenantId, flowId, type, state]);
  return hasToken(database, { tenantId, flowId }, tokenHash);
}

/** The values of the columns that a step writes; null for a history or a payload that stays as it is. */
function contentOf({ record, before, ...saved }: SavedFlow): unknown[] {
  const { data, history } = toStoredData(record);
  return [
    record.state,
    record.version,
    saved.tokenHash,
    record.data.userId ?? null,
    JSON.stringify(data),
    record.history === before?.history ? null : JSON.stringify(history),
    record.payload === before?.payload ? null : JSON.stringify(record.payload),
    saved.error && JSON.stringify(saved.error),
    saved.finishedAt,
    saved.sessionId,
    saved.sealedPayload,
  ];
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
  claim: Claim | UnclaimedFlow,
  tokenHash: Buffer,
): Promise<boolean> {
  await run(database, "claim", "flow_settle", [tenantId, flowId, claim.id, claim.tokenHash]);
  return hasToken(database, { tenantId, flowId }, tokenHash);
}

async function hasToken(
  database: Database,
  { tenantId, flowId }: Pick<FlowKey, "tenantId" | "flowId">,
  tokenHash: Buffer,
): Promise<boolean> {
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

/** The part that begins a statement, which what an action asks for joins. */
const openingPart = (name: keyof typeof openingTexts, values: unknown[]): Part => ({
  name,
  ...openingTexts[name],
  values,
});

/** The same of a step that is charged. @param before the counters that a distributed database makes before */
const chargedPart = (
  name: "flow_claim_charged" | "flow_begin_charged",
  values: unknown[],
  before: readonly Statement[],
): Part => ({ ...openingPart(name, values), distributed: { text: textsAtNode[name], before } });

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
    hasPresentFormat: read.hasPresentFormat,
    hidesSecrets: read.hidesSecrets,
    error: read.error,
    user: factsOfColumns(row),
    now: row.now,
    clockAhead: row.now.getTime() - Date.now(),
    expiresAt: row.expires_at,
    finishedAt: row.finished_at,
    sessionId: row.session_id,
    hasStoredWebhooks: row.has_webhooks,
    claimed: row.claimed,
    asked: row,
    exhaustedUntil: exhaustedIn(row),
    resume: { current: row.resume_hash, previous: row.previous_resume_hash },
  };
}

/** The source in the key of its budget: tenants share no counter, and the table has no addresses. */
function sourceKey(tenantId: string, { source }: StepCharge): string {
  return sha256(`${tenantId}/${source}`).toString("base64url");
}

function exhaustedIn({ exhausted_until }: QueryResultRow): Date | null {
  return exhausted_until ? new Date(Number(exhausted_until)) : null;
}
