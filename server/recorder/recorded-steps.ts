import type { ObservedStep } from "../flow/observed-step.ts";
import type { FlowRow, Outcome, SettingsRow, StepRow } from "./record-steps.ts";
import { storeReasons } from "./stored-reasons.ts";
import type { StoredSettings } from "./stored-settings.ts";
import { storeSkeleton } from "./stored-skeletons.ts";
import { supportNumber } from "./support-number.ts";

/** What is written of a step. It holds nothing of the request, which waits for no write. */
export interface RecordedStep {
  row: StepRow;
  /** What the step makes of its flow. */
  flow: Pick<FlowRow, "type" | "user_id" | "outcome">;
  /** Those that the step refers to; null if it refers to none. */
  settings: StoredSettings | null;
}

/** Milliseconds, to a hundredth. */
const rounded = (milliseconds: number) => Math.round(milliseconds * 100) / 100;

/** The most that the column takes. */
const MAX_STATEMENTS = 32_767;

/** Settings are stored this much longer than the step that writes them, so that those after it need not. */
const SETTINGS_MARGIN_MS = 86_400_000;

/** Turns a step into what is written of it. */
export function recordedStep(
  step: ObservedStep,
  { id, at, expiresAt, settings }: { id: string; at: Date; expiresAt: Date; settings: StoredSettings },
): RecordedStep {
  const { waits, client } = step;
  const { capabilities } = client;
  const skeleton = step.decidedBy();
  return {
    row: {
      tenant_id: step.tenantId,
      flow_id: step.flowId,
      id,
      at: at.toISOString(),
      from_state: step.from,
      action: step.action,
      verdict: step.verdict,
      state: step.to === "error" ? null : step.to,
      error: step.error,
      reason: step.reason,
      milliseconds: rounded(step.milliseconds),
      database_ms: rounded(waits.database),
      hash_ms: rounded(waits.hash),
      provider_ms: rounded(waits.provider),
      statements: Math.min(waits.statements, MAX_STATEMENTS),
      in_state_ms: step.inStateMs,
      request_id: step.requestId,
      source: step.source,
      platform: client.platform,
      browser: client.browser,
      embedding: client.embedding,
      capabilities:
        capabilities &&
        Object.entries(capabilities)
          .flatMap(([name, has]) => (has ? name : []))
          .join(" "),
      inputs: step.inputs.map(({ name, kind, length }) => [name, kind, length]),
      not_offered: storeReasons(step.notOffered)?.toString("base64") ?? null,
      decided_by: skeleton && storeSkeleton(skeleton, settings.digest).toString("base64"),
      expires_at: expiresAt.toISOString(),
    },
    flow: { type: step.type, user_id: step.userId, outcome: outcomeOf(step) },
    settings: skeleton && settings,
  };
}

function outcomeOf({ verdict, isEnd }: ObservedStep): Outcome {
  if (isEnd) return "completed";
  return verdict === "started" || verdict === "performed" ? "under_way" : "rejected";
}

/** The rows of the flows of some steps, each once. */
export function flowRows(steps: readonly RecordedStep[]): FlowRow[] {
  const flows = new Map<string, FlowRow>();
  for (const { row, flow } of steps) {
    const key = `${row.tenant_id}/${row.flow_id}`;
    const known = flows.get(key);
    flows.set(key, {
      tenant_id: row.tenant_id,
      id: row.flow_id,
      type: flow.type,
      support_number: known?.support_number ?? supportNumber(row.flow_id),
      user_id: flow.user_id ?? known?.user_id ?? null,
      state: row.state ?? known?.state ?? null,
      outcome: known?.outcome === "completed" ? "completed" : flow.outcome,
      steps: (known?.steps ?? 0) + 1,
      started_at: known?.started_at ?? row.at,
      last_step_at: row.at,
      expires_at: known?.expires_at ?? row.expires_at,
    });
  }
  return [...flows.values()];
}

/**
 * The rows of the settings that some steps refer to, each once.
 *
 * @param written until when those are stored that need not be written again, in milliseconds since 1970
 */
export function settingsRows(
  steps: readonly RecordedStep[],
  written: ReadonlyMap<string, number>,
): SettingsRow[] {
  const rows = new Map<string, SettingsRow>();
  for (const { row, settings } of steps) {
    if (settings === null) continue;
    const digest = settings.digest.toString("base64");
    const key = `${row.tenant_id}/${digest}`;
    const expiresAt = Date.parse(row.expires_at);
    if (rows.has(key) || (written.get(key) ?? 0) >= expiresAt) continue;
    rows.set(key, {
      tenant_id: row.tenant_id,
      digest,
      settings: settings.settings.toString("base64"),
      expires_at: new Date(expiresAt + SETTINGS_MARGIN_MS).toISOString(),
    });
  }
  return [...rows.values()];
}
