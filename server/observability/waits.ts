import { AsyncLocalStorage } from "node:async_hooks";
import { SpanKind } from "@opentelemetry/api";
import { isMeasured, measure } from "./metrics.ts";
import { beginSpan, untraced } from "./spans.ts";

/** What a piece of work waits for. */
export const waitedFor = ["database", "hash", "provider"] as const;

export type WaitedFor = (typeof waitedFor)[number];

/** What a piece of work has waited for, in milliseconds. Waits for one thing that overlap count once. */
export interface Waits extends Record<WaitedFor, number> {
  /** Statements that were sent to the database. */
  statements: number;
}

/** A measurement in progress: the waits that have ended, and those that have not. */
interface Measurement {
  waits: Waits;
  open: Record<WaitedFor, { count: number; since: number }>;
}

/** The same in every copy of this module: Next bundles copies of it, and one may query for work that another measures. */
const slot = Symbol.for("stile.waits");

const holder = globalThis as { [slot]?: AsyncLocalStorage<Measurement | undefined> };

const measurements = holder[slot] ?? new AsyncLocalStorage<Measurement | undefined>();
holder[slot] = measurements;

export const noWaits = (): Waits => ({ database: 0, hash: 0, provider: 0, statements: 0 });

/** Runs work, and adds to `waits` what it waits for. */
export function measuringWaits<Result>(waits: Waits, work: () => Promise<Result>): Promise<Result> {
  const none = () => ({ count: 0, since: 0 });
  return measurements.run({ waits, open: { database: none(), hash: none(), provider: none() } }, work);
}

/** Runs work that others share, so that it counts for none of them. */
export function unmeasured<Result>(work: () => Result): Result {
  return untraced(() => measurements.run(undefined, work));
}

/** The spans of waits (OpenTelemetry, semantic conventions for database client spans). */
const spans: Record<WaitedFor, [name: string, kind: SpanKind, attributes: Record<string, string>]> = {
  database: ["postgresql", SpanKind.CLIENT, { "db.system.name": "postgresql" }],
  hash: ["hash", SpanKind.INTERNAL, {}],
  provider: ["provider", SpanKind.CLIENT, {}],
};

/** Measures how long a wait took, in seconds. */
const measureWait: Record<WaitedFor, (seconds: number) => void> = {
  database: (seconds) => measure("databaseWaits", seconds, { "db.system.name": "postgresql" }),
  hash: (seconds) => measure("hashWaits", seconds, {}),
  provider: (seconds) => measure("providerWaits", seconds, {}),
};

const noWait = () => {};

/** Begins the span and the measurement of a wait; returns what ends them. */
function observeWait(on: WaitedFor, statements: number): () => void {
  const span = beginSpan(...spans[on]);
  if (span && statements > 1) span.setAttribute("db.operation.batch.size", statements);
  if (!isMeasured()) return span ? () => span.end() : noWait;
  const startedAt = performance.now();
  return () => {
    span?.end();
    measureWait[on]((performance.now() - startedAt) / 1_000);
  };
}

/**
 * Begins a wait of the work in progress, with its span.
 *
 * @param statements those that it waits for
 * @returns ends it
 */
export function beginWait(on: WaitedFor, statements = 0): () => void {
  const observed = observeWait(on, statements);
  const measurement = measurements.getStore();
  if (!measurement) return observed;
  const { waits, open } = measurement;
  const wait = open[on];
  waits.statements += statements;
  if (wait.count++ === 0) wait.since = performance.now();
  return () => {
    if (--wait.count === 0) waits[on] += performance.now() - wait.since;
    observed();
  };
}

/** Waits for work, as `beginWait`. */
export async function waitingFor<Result>(on: WaitedFor, work: () => Promise<Result>): Promise<Result> {
  const end = beginWait(on);
  try {
    return await work();
  } finally {
    end();
  }
}
