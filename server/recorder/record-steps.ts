import type { Database } from "#db/client";
import { runStatements } from "#db/extended-query";

/** A row of `recorded_steps`, with the flow that it belongs to. */
export interface StepRow {
  tenant_id: string;
  flow_id: string;
  id: string;
  at: string;
  from_state: string | null;
  action: string | null;
  verdict: string;
  state: string | null;
  error: string | null;
  reason: string | null;
  milliseconds: number;
  database_ms: number;
  hash_ms: number;
  provider_ms: number;
  statements: number;
  in_state_ms: number | null;
  request_id: string;
  source: string;
  platform: string | null;
  browser: string | null;
  embedding: string;
  capabilities: string | null;
  inputs: [name: string, kind: string, length: number | null][];
  /** In base64. */
  not_offered: string | null;
  /** In base64. */
  decided_by: string | null;
  expires_at: string;
}

/** A row of `recorded_settings`. */
export interface SettingsRow {
  tenant_id: string;
  /** In base64, as `settings` is. */
  digest: string;
  settings: string;
  expires_at: string;
}

/** A row of `recorded_flows`, as some of its steps make it. */
export interface FlowRow {
  tenant_id: string;
  id: string;
  type: string;
  support_number: string;
  user_id: string | null;
  state: string | null;
  outcome: Outcome;
  steps: number;
  started_at: string;
  last_step_at: string;
  expires_at: string;
}

/** What has become of a flow. `rejected`: its last step was not performed. */
export const outcomes = ["under_way", "rejected", "completed"] as const;

export type Outcome = (typeof outcomes)[number];

/** Time that a statement may take, and may wait for a lock of it. */
const STATEMENT_MS = 2_000;
const LOCK_MS = 250;

/** Statements of the same round trip: a lock of the table is taken before a statement can limit the time for it. */
const limitText = `select set_config('statement_timeout', '${STATEMENT_MS}', true), set_config('lock_timeout', '${LOCK_MS}', true)`;

const stepsText = `insert into recorded_steps (tenant_id, flow_id, id, at, from_state, action, verdict, state, error, reason, milliseconds,
      database_ms, hash_ms, provider_ms, statements, in_state_ms, request_id, source, platform, browser, embedding,
      capabilities, inputs, not_offered, decided_by, expires_at)
    select tenant_id, flow_id, id, at, from_state, action, verdict, state, error, reason, milliseconds,
      database_ms, hash_ms, provider_ms, statements, in_state_ms, request_id, source, platform, browser, embedding,
      capabilities, inputs, decode(not_offered, 'base64'), decode(decided_by, 'base64'), expires_at
    from json_to_recordset($1::json) as new(tenant_id uuid, flow_id uuid, id uuid, at timestamptz, from_state text,
      action text, verdict text, state text, error text, reason text, milliseconds real, database_ms real, hash_ms real,
      provider_ms real, statements smallint, in_state_ms real, request_id text, source text, platform text,
      browser text, embedding text, capabilities text, inputs jsonb, not_offered text, decided_by text,
      expires_at timestamptz)
    on conflict do nothing`;

const flowsText = `insert into recorded_flows as flow (tenant_id, id, type, support_number, user_id, state, outcome, steps, started_at,
    last_step_at, expires_at)
  select tenant_id, id, type, support_number, user_id, state, outcome, steps, started_at, last_step_at, expires_at
  from json_to_recordset($1::json) as new(tenant_id uuid, id uuid, type text, support_number text, user_id uuid,
    state text, outcome text, steps integer, started_at timestamptz, last_step_at timestamptz, expires_at timestamptz)
  order by tenant_id, id
  on conflict (tenant_id, id) do update set
    user_id = coalesce(excluded.user_id, flow.user_id),
    state = coalesce(excluded.state, flow.state),
    outcome = case when flow.outcome = 'completed' then flow.outcome else excluded.outcome end,
    steps = flow.steps + excluded.steps,
    started_at = least(flow.started_at, excluded.started_at),
    last_step_at = greatest(flow.last_step_at, excluded.last_step_at)`;

const settingsText = `insert into recorded_settings as known (tenant_id, digest, settings, expires_at)
  select tenant_id, decode(digest, 'base64'), decode(settings, 'base64'), expires_at
  from json_to_recordset($1::json) as new(tenant_id uuid, digest text, settings text, expires_at timestamptz)
  order by tenant_id, digest
  on conflict (tenant_id, digest) do update set expires_at = greatest(known.expires_at, excluded.expires_at)`;

/**
 * Inserts steps and the flows that they belong to. The commit does not wait for the disk.
 *
 * @param flows each once
 * @param settings those that the steps refer to and that may not be stored yet, each once
 * @throws errors of the database, also if it takes too long; nothing was written
 */
export async function recordSteps(
  { claim, prepares }: Pick<Database, "claim" | "prepares">,
  steps: readonly StepRow[],
  flows: readonly FlowRow[],
  settings: readonly SettingsRow[],
): Promise<void> {
  const named = (name: string) => (prepares ? { name } : {});
  await runStatements(claim.$client, [
    { ...named("recorder_limits"), text: limitText, values: [] },
    { ...named("record_steps"), text: stepsText, values: [JSON.stringify(steps)] },
    { ...named("record_flows"), text: flowsText, values: [JSON.stringify(flows)] },
    ...(settings.length > 0 ? [{ text: settingsText, values: [JSON.stringify(settings)] }] : []),
  ]);
}
