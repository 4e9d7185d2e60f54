import { sql } from "drizzle-orm";
import { schema } from "#db/client";
import type { Runtime } from "../runtime.ts";
import type { Tenant } from "../tenants/tenant.ts";
import { mayBeAnswered } from "./requests.ts";

/**
 * Waiting for an answer. However many wait in a process, one query asks for all of them twice a second, and none while
 * nobody does; no connection to the database is held meanwhile.
 */

const { authenticatorRequests } = schema;

/** Waits under way in one process: beyond these, and beyond those for one request, people are told to ask again. */
const mostWaits = 2_000;
const mostForOne = 20;

const pauseMilliseconds = 500;

interface Watched {
  tenantId: string;
  id: string;
  /** Each ends one wait. */
  ends: Set<() => void>;
}

interface Watcher {
  watched: Map<string, Watched>;
  waits: number;
  /** The next look; undefined while nobody waits. */
  timer: NodeJS.Timeout | undefined;
}

const watchers = new WeakMap<Runtime, Watcher>();

/** One for all who wait in a process. */
function watcherOf(runtime: Runtime): Watcher {
  const watcher = watchers.get(runtime) ?? { watched: new Map(), waits: 0, timer: undefined };
  watchers.set(runtime, watcher);
  return watcher;
}

/**
 * Waits until a request cannot be answered any more: it was, it ran out, or it is gone.
 *
 * @param signal ends the wait, as the end of the process does
 * @returns `over`; `given up` by the signal or the process; null when too many wait already
 */
export function waitForAnswer(
  runtime: Runtime,
  { id: tenantId }: Pick<Tenant, "id">,
  id: string,
  signal: AbortSignal,
): Promise<"over" | "given up"> | null {
  const watcher = watcherOf(runtime);
  const key = `${tenantId} ${id}`;
  const known = watcher.watched.get(key);
  if (watcher.waits >= mostWaits || (known && known.ends.size >= mostForOne)) return null;
  // Not combined: Node keeps what is made of a combined signal and of one that lives as long as the process.
  const signals = runtime.closing ? [signal, runtime.closing] : [signal];
  if (signals.some(({ aborted }) => aborted)) return Promise.resolve("given up");

  const one = known ?? { tenantId, id, ends: new Set() };
  watcher.watched.set(key, one);
  watcher.waits += 1;
  watcher.timer ??= nextLook(runtime, watcher);

  return new Promise((resolve) => {
    const end = (how: "over" | "given up") => {
      one.ends.delete(over);
      for (const each of signals) each.removeEventListener("abort", givenUp);
      watcher.waits -= 1;
      if (one.ends.size === 0 && watcher.watched.get(key) === one) watcher.watched.delete(key);
      resolve(how);
    };
    const over = () => end("over");
    const givenUp = () => end("given up");
    one.ends.add(over);
    for (const each of signals) each.addEventListener("abort", givenUp, { once: true });
  });
}

/** How many wait in this process. */
export function countWaits(runtime: Runtime): number {
  return watcherOf(runtime).waits;
}

/** Ends the waits for a request that was answered in this process, so that they need not be found out by a look. */
export function tellAnswered(runtime: Runtime, { id: tenantId }: Pick<Tenant, "id">, id: string): void {
  endWaits(watcherOf(runtime).watched.get(`${tenantId} ${id}`));
}

function endWaits(one: Watched | undefined): void {
  for (const end of [...(one?.ends ?? [])]) end();
}

function nextLook(runtime: Runtime, watcher: Watcher): NodeJS.Timeout {
  const timer = setTimeout(async () => {
    try {
      await look(runtime, watcher);
    } catch (error) {
      runtime.log.warn({ err: error }, "authenticator requests could not be looked at");
    }
    watcher.timer = watcher.watched.size > 0 ? nextLook(runtime, watcher) : undefined;
  }, pauseMilliseconds);
  return timer.unref();
}

/** Ends the waits for all that is over. */
async function look(runtime: Runtime, { watched }: Watcher): Promise<void> {
  const asked = [...watched.values()];
  if (asked.length === 0) return;
  const tenantIds = sql.param(asked.map(({ tenantId }) => tenantId));
  const ids = sql.param(asked.map(({ id }) => id));
  const { rows } = await runtime.database.read.execute<{ tenant_id: string; id: string }>(sql`
    select ${authenticatorRequests.tenantId}, ${authenticatorRequests.id} from ${authenticatorRequests}
    join unnest(${tenantIds}::uuid[], ${ids}::text[]) as wanted (tenant_id, id)
      on ${authenticatorRequests.tenantId} = wanted.tenant_id and ${authenticatorRequests.id} = wanted.id
    where ${mayBeAnswered(runtime)}`);
  const open = new Set(rows.map(({ tenant_id, id }) => `${tenant_id} ${id}`));
  for (const one of asked) if (!open.has(`${one.tenantId} ${one.id}`)) endWaits(one);
}
