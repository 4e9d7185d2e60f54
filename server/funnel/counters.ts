import type { Logger } from "pino";
import type { Database } from "#db/client";
import { violatedForeignKey } from "#db/errors";
import { BUCKETS, bucketOf } from "./durations.ts";
import { measureCounted } from "./measure-counted.ts";
import { type Counted, hourOf, NONE, OTHER } from "./measures.ts";
import { addRow, type CountRow, keyOfRow, withoutDimensions, writeCounts } from "./write-counts.ts";

/** Counts what happens in this process, and adds it to the counts of all of them now and then. */
export interface Counters {
  /** Counts something of a tenant. Sends no statement, and never fails. */
  count(tenantId: string, counted: Counted): void;
  /** Whether counts wait that are to be written, for processes without a timer. */
  isDue(): boolean;
  /** Writes what was counted. Never fails: what cannot be written is kept for the next time, within bounds. */
  flush(): Promise<void>;
  /** Writes every few seconds. */
  start(): void;
  /** Ends that, and writes what is left. */
  stop(): Promise<void>;
}

/** What counts. */
export interface Counts {
  counters: Counters;
}

/** The time between two writes. */
const FLUSH_INTERVAL_MS = 5_000;

/** Rows that a process keeps with all that they tell apart, and at all. It drops what would need another one. */
const MAX_KEPT_DETAILED = 10_000;
const MAX_KEPT = 12_000;

/** Rows of one statement. */
const MAX_ROWS_AT_ONCE = 2_000;

/** Creates the counters of a process. */
export function createCounters({
  database,
  standing,
  log,
}: {
  database: Pick<Database, "claim" | "prepares">;
  /** Once the database has outgrown this version, nothing more is written. */
  standing: { outgrown: AbortSignal };
  log: Pick<Logger, "warn">;
}): Counters {
  let kept = new Map<string, Map<string, CountRow>>();
  let size = 0;
  let dropped = 0;
  let flushedAt = Number.NEGATIVE_INFINITY;
  let running: Promise<void> | null = null;
  let timer: NodeJS.Timeout | undefined;

  /** Adds a row to those of its tenant, if it is one of them or they may become more. */
  function add(rows: Map<string, CountRow>, row: CountRow, bound: number): boolean {
    const key = keyOfRow(row);
    const known = rows.get(key);
    if (known) addRow(known, row);
    else if (size < bound) {
      rows.set(key, row);
      size += 1;
    } else return false;
    return true;
  }

  function keep(tenantId: string, row: CountRow): void {
    const rows = kept.get(tenantId) ?? new Map<string, CountRow>();
    kept.set(tenantId, rows);
    const isKept = add(rows, row, MAX_KEPT_DETAILED) || add(rows, withoutDimensions(row), MAX_KEPT);
    if (!isKept) dropped += row.count;
  }

  /** Writes the counts of one tenant, and keeps what is not written. Returns the failure, if there was one. */
  async function write(tenantId: string, rows: readonly CountRow[]): Promise<unknown> {
    for (let from = 0; from < rows.length; from += MAX_ROWS_AT_ONCE) {
      const some = rows.slice(from, from + MAX_ROWS_AT_ONCE);
      const { unwritten, failure } = await writeCounts(database, tenantId, some);
      if (failure === undefined) continue;
      // The tenant was deleted.
      if (violatedForeignKey(failure)) return undefined;
      for (const row of [...unwritten, ...rows.slice(from + MAX_ROWS_AT_ONCE)]) keep(tenantId, row);
      return failure;
    }
    return undefined;
  }

  async function flushAll(): Promise<void> {
    flushedAt = performance.now();
    const taken = kept;
    kept = new Map();
    size = 0;
    let failure: unknown;
    for (const [tenantId, rows] of taken) {
      if (standing.outgrown.aborted) return;
      // A database that does not answer is asked once.
      if (failure === undefined) failure = await write(tenantId, [...rows.values()]);
      else for (const row of rows.values()) keep(tenantId, row);
    }
    if (failure !== undefined) log.warn({ err: failure }, "counts could not be written, and are kept");
    if (dropped > 0) log.warn({ dropped }, "more was counted than a process keeps");
    dropped = 0;
  }

  const flush = (): Promise<void> => {
    running ??= flushAll().finally(() => (running = null));
    return running;
  };

  return {
    count(tenantId, counted) {
      keep(tenantId, rowOf(counted));
      measureCounted(counted);
    },
    isDue: () => size > 0 && performance.now() - flushedAt >= FLUSH_INTERVAL_MS,
    flush,
    start() {
      timer ??= setInterval(() => void (size > 0 && flush()), FLUSH_INTERVAL_MS).unref();
    },
    async stop() {
      clearInterval(timer);
      await running;
      await flush();
    },
  };
}

function rowOf({ client, durationMs = null, ...counted }: Counted): CountRow {
  const { measure, at, flowType = NONE, state = NONE, name = NONE, target = NONE, method } = counted;
  return {
    flowType,
    state,
    hour: hourOf(at),
    measure,
    name,
    target,
    method: method ?? NONE,
    platform: client ? (client.platform ?? OTHER) : NONE,
    browser: client ? (client.browser ?? OTHER) : NONE,
    embedding: client?.embedding ?? NONE,
    count: 1,
    durations: durationMs === null ? null : onlyIn(bucketOf(durationMs)),
  };
}

const onlyIn = (bucket: number) => Array.from({ length: BUCKETS }, (_, index) => (index === bucket ? 1 : 0));
