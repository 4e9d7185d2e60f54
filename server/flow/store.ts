import { type SQL, sql } from "drizzle-orm";
import { PgDialect } from "drizzle-orm/pg-core";
import type { QueryResult, QueryResultRow } from "pg";
import type { Database, Transaction } from "#db/client";
import type { UserFacts } from "../identity/users.ts";
import { type FlowRecord, flowData, historyEntry } from "./data.ts";
import type { Problem } from "./errors.ts";
import type { FlowType, StateName } from "./names.ts";

/** How long a claim holds when nobody gives it back; longer than any step may be judged. */
const claimSeconds = 15;

export interface FlowKey {
  tenantId: string;
  flowId: string;
  type: FlowType;
}

/** A flow as it was read: the pure record and what belongs to its storage. */
export interface StoredFlow {
  record: FlowRecord;
  problem: Problem | null;
  user: UserFacts | null;
  /** The database's clock, shifted as the environment says. */
  now: Date;
  expiresAt: Date;
  finishedAt: Date | null;
  sessionId: string | null;
}

/** What a step makes of a flow. */
export interface SavedFlow {
  record: FlowRecord;
  problem: Problem | null;
  tokenHash: Buffer;
  finishedAt: Date | null;
  sessionId: string | null;
}

/** The right to step a flow once: nobody else writes it while it holds. */
export interface Claim {
  id: string;
  tokenHash: Buffer;
}

const columns = sql`flow.id, flow.type, flow.state, flow.version, flow.data, flow.history, flow.payload, flow.problem,
  flow.expires_at, flow.finished_at, flow.session_id,
  f.user_id, f.has_password, f.has_passkey, f.credential_count, f.username, f.email, f.email_verified`;

const withFacts = sql`left join user_facts f on f.tenant_id = flow.tenant_id and f.user_id = flow.user_id`;

const clock = (shift: number) => sql`clock_timestamp() + ${shift}::float8 * interval '1 millisecond'`;

/**
 * Takes the right to step a flow. One statement, so of many requests with one token exactly one gets it.
 *
 * @returns the flow and its user's facts, or null: no such live flow, another token, or claimed by somebody else
 */
export async function claimFlow(
  database: Database,
  key: FlowKey,
  claim: Claim & { instanceId: string },
  clockShift: number,
): Promise<StoredFlow | null> {
  const found = await run(
    database.claim.$client,
    database.prepares && "flow_claim",
    sql`with flow as (
      update flows set claim = ${claim.id}, claimed_by = ${claim.instanceId},
        claimed_until = clock_timestamp() + ${claimSeconds}::int * interval '1 second'
      where tenant_id = ${key.tenantId} and id = ${key.flowId} and type = ${key.type} and token_hash = ${claim.tokenHash}
        and finished_at is null and expires_at >= ${clock(clockShift)}
        and (claimed_until is null or claimed_until < clock_timestamp())
      returning *)
    select ${columns}, ${clock(clockShift)} as now from flow ${withFacts}`,
  );
  return found.rows[0] ? toStored(found.rows[0]) : null;
}

/** Gives a claim back; the token stays as it was. */
export async function releaseFlow(database: Database, key: FlowKey, claimId: string): Promise<void> {
  await run(
    database.claim.$client,
    database.prepares && "flow_release",
    sql`update flows set claim = null, claimed_by = null, claimed_until = null
      where tenant_id = ${key.tenantId} and id = ${key.flowId} and claim = ${claimId}`,
  );
}

/** Why a claim failed, as far as a client may know. */
export async function whyNotClaimed(
  database: Database,
  key: FlowKey,
  clockShift: number,
): Promise<"expired" | "not_permitted"> {
  const found = await run(
    database.read.$client,
    database.prepares && "flow_expired",
    sql`select 1 from flows where tenant_id = ${key.tenantId} and id = ${key.flowId} and type = ${key.type}
      and expires_at < ${clock(clockShift)}`,
  );
  return found.rows.length > 0 ? "expired" : "not_permitted";
}

/**
 * Writes what a step made of a flow, if the claim still holds.
 *
 * @param tx the step's transaction; without one the statement stands alone
 * @returns false when somebody overtook the claim: nothing was written
 */
export async function saveFlow(
  database: Database,
  key: FlowKey,
  claim: Claim,
  saved: SavedFlow,
  tx?: Transaction,
): Promise<boolean> {
  const { record } = saved;
  const statement = sql`update flows set state = ${record.state}, version = ${record.version}, token_hash = ${saved.tokenHash},
      user_id = ${record.data.userId ?? null}::uuid, data = ${JSON.stringify(record.data)}, history = ${JSON.stringify(record.history)},
      payload = ${JSON.stringify(record.payload)}, problem = ${saved.problem && JSON.stringify(saved.problem)}::jsonb,
      claim = null, claimed_by = null, claimed_until = null,
      finished_at = ${saved.finishedAt?.toISOString() ?? null}::timestamptz, session_id = ${saved.sessionId}::uuid
    where tenant_id = ${key.tenantId} and id = ${key.flowId} and claim = ${claim.id} and token_hash = ${claim.tokenHash}`;
  const result = tx
    ? await tx.execute(statement)
    : await run(database.write.$client, database.prepares && "flow_save", statement);
  return result.rowCount === 1;
}

/** Replaces the payload of a flow that this transaction has just saved. */
export async function savePayload(
  tx: Transaction,
  key: FlowKey,
  payload: Record<string, unknown>,
): Promise<void> {
  await tx.execute(sql`update flows set payload = ${JSON.stringify(payload)}
    where tenant_id = ${key.tenantId} and id = ${key.flowId}`);
}

/** Whether a flow now answers to this token: tells, after a cut connection, if a commit went through. */
export async function answersTo(database: Database, key: FlowKey, tokenHash: Buffer): Promise<boolean> {
  const found = await run(
    database.read.$client,
    false,
    sql`select 1 from flows where tenant_id = ${key.tenantId} and id = ${key.flowId} and token_hash = ${tokenHash}`,
  );
  return found.rows.length > 0;
}

/** Writes a new flow. Its life is counted from the database's clock. */
export async function insertFlow(
  database: Database,
  key: FlowKey,
  flow: { record: FlowRecord; tokenHash: Buffer; resumeHash: Buffer; lifetimeSeconds: number },
  clockShift: number,
): Promise<void> {
  const { record } = flow;
  await run(
    database.write.$client,
    database.prepares && "flow_insert",
    sql`insert into flows (tenant_id, id, type, state, version, token_hash, resume_hash, data, history, payload, expires_at)
      values (${key.tenantId}, ${key.flowId}, ${key.type}, ${record.state}, ${record.version}, ${flow.tokenHash},
        ${flow.resumeHash}, ${JSON.stringify(record.data)}, ${JSON.stringify(record.history)}, ${JSON.stringify(record.payload)},
        ${clock(clockShift)} + ${flow.lifetimeSeconds}::int * interval '1 second')`,
  );
}

/** Reads a flow by its resume secret, whether or not it has ended. */
export async function readFlow(
  database: Database,
  key: FlowKey,
  resumeHash: Buffer,
  clockShift: number,
): Promise<StoredFlow | null> {
  const found = await run(
    database.read.$client,
    database.prepares && "flow_read",
    sql`select ${columns}, ${clock(clockShift)} as now from flows flow ${withFacts}
      where flow.tenant_id = ${key.tenantId} and flow.id = ${key.flowId} and flow.type = ${key.type} and flow.resume_hash = ${resumeHash}`,
  );
  return found.rows[0] ? toStored(found.rows[0]) : null;
}

/**
 * Gives a flow a new token, to be claimed by it. A step that is being judged under the old one is thereby overtaken
 * and will write nothing.
 */
export async function rotateToken(
  database: Database,
  key: FlowKey,
  resumeHash: Buffer,
  tokenHash: Buffer,
): Promise<boolean> {
  const result = await run(
    database.write.$client,
    database.prepares && "flow_rotate",
    sql`update flows set token_hash = ${tokenHash}, claim = null, claimed_by = null, claimed_until = null
      where tenant_id = ${key.tenantId} and id = ${key.flowId} and type = ${key.type} and resume_hash = ${resumeHash}
        and finished_at is null`,
  );
  return result.rowCount === 1;
}

const dialect = new PgDialect();

/** Runs a statement on a pool, prepared under a name where it has one. */
function run(
  pool: { query(config: { name?: string; text: string; values: unknown[] }): Promise<QueryResult> },
  name: string | false,
  statement: SQL,
): Promise<QueryResult> {
  const { sql: text, params: values } = dialect.sqlToQuery(statement);
  return pool.query(name ? { name, text, values } : { text, values });
}

function toStored(row: QueryResultRow): StoredFlow {
  const user: UserFacts | null = row.user_id
    ? {
        userId: row.user_id,
        hasPassword: row.has_password,
        hasPasskey: row.has_passkey,
        credentialCount: row.credential_count,
        username: row.username,
        email: row.email,
        emailVerified: row.email_verified,
      }
    : null;
  return {
    record: {
      id: row.id,
      type: row.type as FlowType,
      state: row.state as StateName,
      version: row.version,
      data: flowData.parse(row.data),
      history: historyEntry.array().parse(row.history),
      payload: row.payload,
    },
    problem: row.problem,
    user,
    now: row.now,
    expiresAt: row.expires_at,
    finishedAt: row.finished_at,
    sessionId: row.session_id,
  };
}
