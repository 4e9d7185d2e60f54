import type { Databases } from "#db/client";
import type { Tenant } from "../config/tenant.ts";
import type { ObservedStep, StepObserver } from "../flow/observed-step.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { timeOrderedUuid } from "../lib/uuid.ts";
import type { Logs } from "../observability/logger.ts";
import { measure } from "../observability/metrics.ts";
import { recordSteps } from "./record-steps.ts";
import { flowRows, type RecordedStep, recordedStep, settingsRows } from "./recorded-steps.ts";
import { storeSettings } from "./stored-settings.ts";

/** Steps that wait to be written. Each takes a kilobyte of memory. */
const MAX_QUEUED = 4_000;

/** Those of one tenant. */
const MAX_QUEUED_OF_TENANT = 2_000;

/** Steps of one statement. */
const MAX_TOGETHER = 500;

/**
 * Steps wait for others this long, so that one statement writes those of many requests. Longer, and what waits outlives
 * the collections of the engine's young generation, and each statement keeps logins waiting.
 */
const GATHER_MS = 150;

/** Time between two lines about steps that were not recorded. */
const LOG_INTERVAL_MS = 60_000;

/** Steps of one flow that a process records, and those among them that were refused: a client may send them without end. */
const MAX_STEPS_OF_FLOW = 500;
const MAX_REFUSED_OF_FLOW = 20;

/** Flows whose steps a process counts. The oldest is forgotten. */
const MAX_COUNTED_FLOWS = 4_000;

/** Versions of settings that a process knows to be stored. */
const MAX_SETTINGS = 4_000;

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

/**
 * Creates the recorder of a process: an observer that keeps steps in a bounded queue and writes them in bunches, once they
 * are answered. A step is dropped and counted where the queue is full or the database does not take it: a login never waits.
 */
export function createRecorder({ database, platform, log }: Databases & OnPlatform & Logs): Recorder {
  const queue: RecordedStep[] = [];
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
    measure("unrecorded", count, {});
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
    queue.push(recordedStep(step, { id: nextId(), at, expiresAt, settings: storeSettings(config) }));
    queuedOf.set(tenantId, ofTenant + 1);
    timer ??= setTimeout(() => void flush(), GATHER_MS).unref();
  }

  function take(): RecordedStep[] {
    const taken = queue.splice(0, MAX_TOGETHER);
    for (const { row } of taken) {
      const left = (queuedOf.get(row.tenant_id) ?? 1) - 1;
      if (left > 0) queuedOf.set(row.tenant_id, left);
      else queuedOf.delete(row.tenant_id);
    }
    return taken;
  }

  async function writeAll(): Promise<void> {
    while (queue.length > 0) {
      const taken = take();
      try {
        const settings = settingsRows(taken, writtenSettings);
        const steps = taken.map(({ row }) => row);
        await recordSteps(database, steps, flowRows(taken), settings);
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
