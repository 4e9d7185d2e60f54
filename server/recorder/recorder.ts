import type { Databases } from "#db/client";
import type { Tenant } from "../config/tenant.ts";
import type { ObservedStep, StepObserver } from "../flow/observed-step.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { timeOrderedUuid } from "../lib/uuid.ts";
import type { Logs } from "../observability/logger.ts";
import { type FlowRow, type Outcome, recordSteps, type SettingsRow, type StepRow } from "./record-steps.ts";
import { storeReasons } from "./stored-reasons.ts";
import { type StoredSettings, storeSettings } from "./stored-settings.ts";
import { storeSkeleton } from "./stored-skeletons.ts";
import { supportNumber } from "./support-number.ts";

/** Steps that wait to be written. Each takes about a kilobyte of memory. */
const MAX_QUEUED = 4_000;

/** Those of one tenant. */
const MAX_QUEUED_OF_TENANT = 2_000;

/** Steps of one statement. */
const MAX_TOGETHER = 500;

/** Steps wait for others this long, so that one statement writes those of many requests. */
const GATHER_MS = 500;

/** Time between two lines about steps that were not recorded. */
const LOG_INTERVAL_MS = 60_000;

/** Steps of one flow that a process records, and those among them that were refused: a client may send them without end. */
const MAX_STEPS_OF_FLOW = 500;
const MAX_REFUSED_OF_FLOW = 20;

/** Flows whose steps a process counts. The oldest is forgotten. */
const MAX_COUNTED_FLOWS = 4_000;

/** Versions of settings that a process knows to be stored. */
const MAX_SETTINGS = 4_000;

/** Settings are stored this much longer than the step that writes them, so that those after it need not. */
const SETTINGS_MARGIN_MS = 86_400_000;

/** Sub-milliseconds of an id (RFC 9562, 6.2, method 1). */
const ID_COUNTER = 0x1000;

export interface Recorder {
  /** Queues a step. It returns at once, and never fails. */
  observe: StepObserver;
  /** Whether steps wait to be written. */
  isWaiting(): boolean;
  /** Writes the steps that wait. What cannot be written is dropped. */
  flush(): Promise<void>;
  /** Writes the steps that wait, and takes no more. */
  stop(): Promise<void>;
  /** Steps that were not recorded since the process was started. */
  readonly dropped: number;
}

interface QueuedStep {
  step: ObservedStep;
  decidedBy: Buffer | null;
  settings: StoredSettings;
  id: string;
  at: Date;
  expiresAt: Date;
}

/**
 * Creates the recorder of a process: an observer that keeps steps in a bounded queue and writes them in bunches, once they
 * are answered. A step is dropped and counted where the queue is full or the database does not take it: a login never waits.
 */
export function createRecorder({ database, platform, log }: Databases & OnPlatform & Logs): Recorder {
  const queue: QueuedStep[] = [];
  const queuedOf = new Map<string, number>();
  /** Until when the settings are stored that this process has written, in milliseconds since 1970. */
  const writtenSettings = new Map<string, number>();
  const counted = new Map<string, { steps: number; refused: number }>();
  let timer: NodeJS.Timeout | null = null;
  let running: Promise<void> | null = null;
  let stopped = false;
  let counter = 0;
  let dropped = 0;
  let loggedAt = Number.NEGATIVE_INFINITY;
  let logged = 0;

  const drop = (count: number, error?: unknown) => {
    dropped += count;
    const now = performance.now();
    if (now - loggedAt < LOG_INTERVAL_MS) return;
    loggedAt = now;
    log.warn(
      { dropped: dropped - logged, ...(error === undefined ? {} : { err: error }) },
      "steps of flows were not recorded",
    );
    logged = dropped;
  };

  /** Counts a step of a flow. Returns whether it is still recorded. */
  const countStep = ({ tenantId, flowId, verdict, isEnd }: ObservedStep): boolean => {
    const key = `${tenantId}/${flowId}`;
    const count = counted.get(key) ?? { steps: 0, refused: 0 };
    count.steps += 1;
    if (verdict === "refused") count.refused += 1;
    const [oldest] = counted.size >= MAX_COUNTED_FLOWS && !counted.has(key) ? counted.keys() : [];
    if (oldest !== undefined) counted.delete(oldest);
    if (isEnd && count.refused === 0) counted.delete(key);
    else counted.set(key, count);
    return (
      count.steps <= MAX_STEPS_OF_FLOW && (verdict !== "refused" || count.refused <= MAX_REFUSED_OF_FLOW)
    );
  };

  const nextId = () => {
    counter = (counter + 1) % ID_COUNTER;
    const id = timeOrderedUuid(platform);
    return `${id.slice(0, 15)}${counter.toString(16).padStart(3, "0")}${id.slice(18)}`;
  };

  function observe(step: ObservedStep, { id: tenantId, config }: Tenant): void {
    if (stopped || !config.recorder.enabled || !countStep(step)) return;
    const ofTenant = queuedOf.get(tenantId) ?? 0;
    if (queue.length >= MAX_QUEUED || ofTenant >= MAX_QUEUED_OF_TENANT) {
      drop(1);
      return;
    }
    const at = new Date(Date.now() + platform.clockShift());
    const expiresAt = new Date(at.getTime() + config.recorder.retention * 1000);
    const settings = storeSettings(config);
    const skeleton = step.decidedBy();
    const decidedBy = skeleton && storeSkeleton(skeleton, settings.digest);
    // What it was computed from would be held as long as the step waits.
    const kept = { ...step, decidedBy: () => null };
    queue.push({ step: kept, decidedBy, settings, id: nextId(), at, expiresAt });
    queuedOf.set(tenantId, ofTenant + 1);
    timer ??= setTimeout(() => void flush(), GATHER_MS).unref();
  }

  function take(): QueuedStep[] {
    const taken = queue.splice(0, MAX_TOGETHER);
    for (const { step } of taken) {
      const left = (queuedOf.get(step.tenantId) ?? 1) - 1;
      if (left > 0) queuedOf.set(step.tenantId, left);
      else queuedOf.delete(step.tenantId);
    }
    return taken;
  }

  async function writeAll(): Promise<void> {
    while (queue.length > 0) {
      const taken = take();
      try {
        const settings = settingsRows(taken, writtenSettings);
        await recordSteps(database, taken.map(stepRow), flowRows(taken), settings);
        for (const { tenant_id, digest, expires_at } of settings) {
          const [oldest] = writtenSettings.size >= MAX_SETTINGS ? writtenSettings.keys() : [];
          if (oldest !== undefined) writtenSettings.delete(oldest);
          writtenSettings.set(`${tenant_id}/${digest}`, Date.parse(expires_at));
        }
      } catch (error) {
        // What waits behind them would wait as long.
        drop(taken.length + queue.length, error);
        queue.length = 0;
        queuedOf.clear();
      }
    }
  }

  async function flush(): Promise<void> {
    if (timer) clearTimeout(timer);
    timer = null;
    running ??= writeAll().finally(() => {
      running = null;
    });
    await running;
  }

  return {
    observe,
    flush,
    isWaiting: () => queue.length > 0,
    async stop() {
      stopped = true;
      await flush();
    },
    get dropped() {
      return dropped;
    },
  };
}

/** Milliseconds, to a hundredth. */
const rounded = (milliseconds: number) => Math.round(milliseconds * 100) / 100;

/** The most that the column takes. */
const MAX_STATEMENTS = 32_767;

function stepRow({ step, decidedBy, id, at, expiresAt }: QueuedStep): StepRow {
  const { waits, client } = step;
  const { capabilities } = client;
  return {
    tenant_id: step.tenantId,
    flow_id: step.flowId,
    id,
    at: at.toISOString(),
    from_state: step.from,
    action: step.action,
    verdict: step.verdict,
    state: shownState(step),
    error: step.error,
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
    decided_by: decidedBy?.toString("base64") ?? null,
    expires_at: expiresAt.toISOString(),
  };
}

/**
 * The rows of the settings that some steps refer to, each once.
 *
 * @param written until when those are stored that need not be written again
 */
function settingsRows(steps: readonly QueuedStep[], written: ReadonlyMap<string, number>): SettingsRow[] {
  const rows = new Map<string, SettingsRow>();
  for (const { step, decidedBy, settings, expiresAt } of steps) {
    if (decidedBy === null) continue;
    const digest = settings.digest.toString("base64");
    const key = `${step.tenantId}/${digest}`;
    if ((written.get(key) ?? 0) >= expiresAt.getTime() || rows.has(key)) continue;
    rows.set(key, {
      tenant_id: step.tenantId,
      digest,
      settings: settings.settings.toString("base64"),
      expires_at: new Date(expiresAt.getTime() + SETTINGS_MARGIN_MS).toISOString(),
    });
  }
  return [...rows.values()];
}

const shownState = ({ to }: ObservedStep) => (to === "error" ? null : to);

/** The rows of the flows of some steps, each once. */
function flowRows(steps: readonly QueuedStep[]): FlowRow[] {
  const flows = new Map<string, FlowRow>();
  for (const { step, at, expiresAt } of steps) {
    const key = `${step.tenantId}/${step.flowId}`;
    const known = flows.get(key);
    flows.set(key, {
      tenant_id: step.tenantId,
      id: step.flowId,
      type: step.type,
      support_number: supportNumber(step.flowId),
      user_id: step.userId ?? known?.user_id ?? null,
      state: shownState(step) ?? known?.state ?? null,
      outcome: known?.outcome === "completed" ? "completed" : outcomeOf(step),
      steps: (known?.steps ?? 0) + 1,
      started_at: known?.started_at ?? at.toISOString(),
      last_step_at: at.toISOString(),
      expires_at: known?.expires_at ?? expiresAt.toISOString(),
    });
  }
  return [...flows.values()];
}

function outcomeOf({ verdict, isEnd }: ObservedStep): Outcome {
  if (isEnd) return "completed";
  return verdict === "started" || verdict === "performed" ? "under_way" : "rejected";
}
