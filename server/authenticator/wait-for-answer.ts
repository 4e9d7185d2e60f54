import { sql } from "drizzle-orm";
import { type Databases, schema } from "#db/client";
import type { Tenant } from "../config/tenant.ts";
import { onceFor } from "../lib/once-for.ts";
import type { OnPlatform } from "../lib/platform.ts";
import type { Logs } from "../observability/logger.ts";
import { isAnswerable } from "./requests.ts";

/** What this module takes of the process. */
type Process = OnPlatform & Databases & Logs & Waiting;

/** A process whose requests wait for answers. */
export interface Waiting {
  /** Aborts when the process begins to stop. */
  closing?: AbortSignal;
  /** Tells the other processes of this server. Absent where one process does everything. */
  tellOthers?(notice: { kind: "answered"; tenantId: string; id: string }): void;
}

/**
 * Waits for answers to requests. While a process has waits, it polls the database twice a second, with one query for all
 * of them, and holds no connection between queries.
 */

const { authenticatorRequests } = schema;

/** Limits of concurrent waits in one process; further calls return null. */
const MAX_WAITS = 2_000;
const MAX_WAITS_PER_REQUEST = 20;
/** A source is an address that many browsers may share. Applications, which have a key, are not limited by it. */
const MAX_WAITS_PER_SOURCE = 100;

const POLL_INTERVAL_MS = 500;

interface WatchedRequest {
  tenantId: string;
  id: string;
  /** Callbacks that each end one wait. */
  ends: Set<() => void>;
}

interface Watcher {
  watched: Map<string, WatchedRequest>;
  waits: number;
  /** Waits by source; sources without any are absent. */
  waitsBySource: Map<string, number>;
  /** The next poll; undefined without waits. */
  timer: NodeJS.Timeout | undefined;
}

/** Returns the watcher of a process. */
const watcherOf = onceFor(
  (_runtime: object): Watcher => ({
    watched: new Map(),
    waits: 0,
    waitsBySource: new Map(),
    timer: undefined,
  }),
);

/**
 * Waits until a request can no longer be answered: it was answered, has expired or no longer exists.
 *
 * @param signal ends the wait, as the shutdown of the process does
 * @param source of the caller; null for an application
 * @returns `ended`; `aborted` by the signal or the shutdown; null if there are too many waits
 */
export function waitForAnswer(
  runtime: Process,
  { id: tenantId }: Pick<Tenant, "id">,
  id: string,
  signal: AbortSignal,
  source: string | null,
): Promise<"ended" | "aborted"> | null {
  const watcher = watcherOf(runtime);
  const key = `${tenantId} ${id}`;
  const known = watcher.watched.get(key);
  if (watcher.waits >= MAX_WAITS || (known && known.ends.size >= MAX_WAITS_PER_REQUEST)) return null;
  if (source !== null && (watcher.waitsBySource.get(source) ?? 0) >= MAX_WAITS_PER_SOURCE) return null;
  // Not AbortSignal.any: Node retains signals that depend on one that lives as long as the process.
  const signals = runtime.closing ? [signal, runtime.closing] : [signal];
  if (signals.some(({ aborted }) => aborted)) return Promise.resolve("aborted");

  const one = known ?? { tenantId, id, ends: new Set() };
  watcher.watched.set(key, one);
  countWait(watcher, source, 1);
  watcher.timer ??= schedulePoll(runtime, watcher);

  return new Promise((resolve) => {
    const end = (how: "ended" | "aborted") => {
      one.ends.delete(ended);
      for (const each of signals) each.removeEventListener("abort", aborted);
      countWait(watcher, source, -1);
      if (one.ends.size === 0 && watcher.watched.get(key) === one) watcher.watched.delete(key);
      resolve(how);
    };
    const ended = () => end("ended");
    const aborted = () => end("aborted");
    one.ends.add(ended);
    for (const each of signals) each.addEventListener("abort", aborted, { once: true });
  });
}

function countWait(watcher: Watcher, source: string | null, change: 1 | -1): void {
  watcher.waits += change;
  if (source === null) return;
  const count = (watcher.waitsBySource.get(source) ?? 0) + change;
  if (count === 0) watcher.waitsBySource.delete(source);
  else watcher.waitsBySource.set(source, count);
}

/** Returns the number of waits in this process. */
export function countWaits(runtime: object): number {
  return watcherOf(runtime).waits;
}

/** Ends the waits for a request that was answered in this process, here and in the other processes of this server. */
export function notifyAnswered(runtime: Waiting, { id: tenantId }: Pick<Tenant, "id">, id: string): void {
  endWaitsFor(runtime, tenantId, id);
  runtime.tellOthers?.({ kind: "answered", tenantId, id });
}

/** Ends the waits of this process for a request that was answered, without waiting for the next poll. */
export function endWaitsFor(runtime: object, tenantId: string, id: string): void {
  endWaits(watcherOf(runtime).watched.get(`${tenantId} ${id}`));
}

function endWaits(one: WatchedRequest | undefined): void {
  for (const end of [...(one?.ends ?? [])]) end();
}

function schedulePoll(runtime: Process, watcher: Watcher): NodeJS.Timeout {
  const timer = setTimeout(async () => {
    try {
      await poll(runtime, watcher);
    } catch (error) {
      runtime.log.warn({ err: error }, "authenticator requests could not be polled");
    }
    watcher.timer = watcher.watched.size > 0 ? schedulePoll(runtime, watcher) : undefined;
  }, POLL_INTERVAL_MS);
  return timer.unref();
}

/** Ends the waits for all requests that have ended. */
async function poll(runtime: Process, { watched }: Watcher): Promise<void> {
  const asked = [...watched.values()];
  if (asked.length === 0) return;
  const tenantIds = sql.param(asked.map(({ tenantId }) => tenantId));
  const ids = sql.param(asked.map(({ id }) => id));
  const { rows } = await runtime.database.read.execute<{ tenant_id: string; id: string }>(sql`
    select ${authenticatorRequests.tenantId}, ${authenticatorRequests.id} from ${authenticatorRequests}
    join unnest(${tenantIds}::uuid[], ${ids}::text[]) as wanted (tenant_id, id)
      on ${authenticatorRequests.tenantId} = wanted.tenant_id and ${authenticatorRequests.id} = wanted.id
    where ${isAnswerable(runtime)}`);
  const open = new Set(rows.map(({ tenant_id, id }) => `${tenant_id} ${id}`));
  for (const one of asked) if (!open.has(`${one.tenantId} ${one.id}`)) endWaits(one);
}
