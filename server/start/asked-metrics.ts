import { readdir } from "node:fs/promises";
import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import { getHeapSpaceStatistics } from "node:v8";
import { getTableName, type SQL, sql } from "drizzle-orm";
import type { Database } from "#db/client";
import { entersAtWorker, isDistributed } from "#db/distribution";
import { tables } from "#db/tables";
import type { Readiness } from "../database/readiness.ts";
import type { ReplicaReads } from "../database/replicas.ts";
import type { PasswordHasher } from "../methods/password/password-hasher.ts";
import { type AskedMetric, answerFor, isMeasured, type Value } from "../observability/metrics.ts";

/** Time for which what the database said is repeated: a scraper may ask each second. */
const HOLDS_MS = 10_000;

/** The same for whether it accepts writes. */
const READY_HOLDS_MS = 1_000;

/** Time for the first answer, and after which an answer tells nothing any more. */
const FIRST_ANSWER_MS = 1_000;
const FORGOTTEN_MS = 30_000;

/** Time over which the event loop is judged. */
const LOOP_MS = 10_000;

/** Waiting jobs or deliveries that are counted. */
const MAX_COUNTED = 10_000;

interface Source {
  database: Database;
  passwordHasher: PasswordHasher;
  readiness: Readiness;
  replicas: ReplicaReads;
  /** Kinds of jobs, of the process that speaks for the database too, which one of a server does; null for the others. */
  jobNames: readonly string[] | null;
}

/**
 * Answers for the metrics of a process that are asked for, where metrics are measured.
 *
 * @returns what ends that
 */
export function answerForProcess({
  database,
  passwordHasher,
  readiness,
  replicas,
  jobNames,
}: Source): () => void {
  if (!isMeasured()) return () => {};
  const loop = watchLoop();
  const { write, read, claim, jobs } = database;
  const pools = Object.entries({
    write: write.$client,
    read: read.$client,
    claim: claim.$client,
    jobs,
  }).map(([name, pool]) => ({ name, pool }));
  const ends = [
    loop.end,
    answerFor("hashesWaiting", () => [[passwordHasher.waiting, {}]]),
    answerFor("connections", () =>
      pools.flatMap(({ name, pool: { idleCount, totalCount } }): Value<"connections">[] => [
        [idleCount, ofPool(name, { "db.client.connection.state": "idle" })],
        [totalCount - idleCount, ofPool(name, { "db.client.connection.state": "used" })],
      ]),
    ),
    answerFor("maxConnections", () => pools.map(({ name, pool }) => [pool.options.max, ofPool(name, {})])),
    answerFor("waitingForConnection", () =>
      pools.map(({ name, pool }) => [pool.waitingCount, ofPool(name, {})]),
    ),
    answerFor("replicaUsed", () =>
      replicas.states.map(({ place, fault }) => [fault === null ? 1 : 0, { "stile.replica": place }]),
    ),
    answerFor("replicaLag", () =>
      replicas.states
        .filter(({ fault }) => fault !== "unreachable")
        .map(({ place, lagMs }) => [lagMs / 1000, { "stile.replica": place }]),
    ),
    answerFor("eventLoopDelay", () => [[loop.delaySeconds, {}]]),
    answerFor("eventLoopUse", () => [[loop.utilization, {}]]),
    answerFor("memory", () => [[process.memoryUsage.rss(), {}]]),
    answerFor("heap", () =>
      getHeapSpaceStatistics()
        .filter(({ space_used_size: used }) => used > 0)
        .map(({ space_name: name, space_used_size: used }) => [used, { "v8js.heap.space.name": name }]),
    ),
    answerFor("processorTime", () => {
      const { user, system } = process.cpuUsage();
      return [
        [user / 1e6, { "cpu.mode": "user" }],
        [system / 1e6, { "cpu.mode": "system" }],
      ];
    }),
    answerFor("openFiles", async () => {
      const open = await readdir("/proc/self/fd").catch(() => null);
      return open ? [[open.length, {}]] : [];
    }),
    ...(jobNames ? answerForDatabase(database, readiness, jobNames) : []),
  ];
  return () => {
    for (const end of ends) end();
  };
}

const ofPool = <More extends object>(name: string, more: More) => ({
  "db.client.connection.pool.name": name,
  ...more,
});

function answerForDatabase(
  database: Database,
  readiness: Readiness,
  jobNames: readonly string[],
): (() => void)[] {
  const { read } = database;
  const names = sql.param([...jobNames]);
  /** @param jobs a query of their names and ages in seconds */
  const countJobs = async (jobs: SQL) => {
    const { rows } = await read.execute<{ name: string; waiting: number; oldest: number }>(sql`
      select kind as name, count(age)::int as waiting, coalesce(max(age), 0)::float8 as oldest
      from unnest(${names}::text[]) as kind left join (${jobs} limit ${MAX_COUNTED}) as job on job.name = kind
      group by kind`);
    return rows;
  };
  // A job that is tried again is due since it was made.
  const inQueue = sql`
    select name, extract(epoch from now() - case state when 'retry' then created_on else start_after end) as age
    from pgboss.job where name = any (${names}::text[]) and state in ('created', 'retry', 'active')`;
  const beforeQueue = sql`select name, extract(epoch from now() - created_at) as age from new_jobs`;
  const waiting = held(async () => {
    const [queued, made] = await Promise.all([
      (await entersAtWorker(database)) ? [] : countJobs(inQueue),
      (await isDistributed(database)) ? countJobs(beforeQueue) : [],
    ]);
    return jobNames.map((name) => {
      const own = [...queued, ...made].filter((one) => one.name === name);
      return {
        name,
        waiting: own.reduce((sum, one) => sum + one.waiting, 0),
        // Those that are due later have a negative age, as deliveries have.
        oldest: Math.max(0, ...own.map(({ oldest }) => oldest)),
      };
    });
  });
  const undelivered = held(async () => {
    const { rows } = await read.execute<{ waiting: number; oldest: number }>(sql`
      select count(*)::int as waiting, coalesce(max(age), 0)::float8 as oldest from (
        select extract(epoch from now() - due_at) as age from webhook_deliveries
        where state = 'waiting' limit ${MAX_COUNTED}) as delivery`);
    return rows;
  });
  const estimated = held(async () => {
    const { rows } = await read.execute<{ table: string; rows: number }>(sql`
      select relname as table, reltuples::float8 as rows from pg_class
      where relkind = 'r' and reltuples >= 0 and relnamespace = current_schema()::regnamespace
        and relname = any (${sql.param(tables.map(getTableName))})`);
    return rows;
  });
  const difference = held(async () => {
    const before = Date.now();
    const { rows } = await read.execute<{ now: number }>(
      sql`select extract(epoch from clock_timestamp())::float8 as now`,
    );
    const here = (before + Date.now()) / 2_000;
    return rows.map(({ now }) => now - here);
  });
  const ready = held(async () => ((await readiness.check()).ok ? 1 : 0), READY_HOLDS_MS);
  const ofJob = (name: string) => ({ "stile.job": name });
  return [
    answerFor("ready", async () => [[(await ready()) ?? 0, {}]]),
    answerFor("clockDifference", async () => ((await difference()) ?? []).map((seconds) => [seconds, {}])),
    answerFor("jobsWaiting", async () =>
      ((await waiting()) ?? []).map((job) => [job.waiting, ofJob(job.name)]),
    ),
    answerFor("oldestJob", async () => ((await waiting()) ?? []).map((job) => [job.oldest, ofJob(job.name)])),
    answerFor("deliveriesWaiting", async () => ((await undelivered()) ?? []).map((all) => [all.waiting, {}])),
    answerFor("oldestDelivery", async () =>
      ((await undelivered()) ?? []).map((all) => [Math.max(0, all.oldest), {}]),
    ),
    answerFor("rows", async () =>
      ((await estimated()) ?? []).map(({ table, rows }) => [rows, { "db.collection.name": table }]),
    ),
  ] satisfies ReturnType<typeof answerFor<AskedMetric>>[];
}

/**
 * Makes a question to the database that keeps no scrape waiting: it is answered by what was said last, and asked anew
 * beside that. Only the first answer is waited for, for a second.
 *
 * @param holdsMs after which time it is asked anew
 * @returns undefined while nothing is known, or what is known is half a minute old
 */
function held<Answer>(ask: () => Promise<Answer>, holdsMs = HOLDS_MS): () => Promise<Answer | undefined> {
  let known: { answer: Answer; at: number } | undefined;
  let asking: Promise<void> | undefined;
  const askAnew = () => {
    asking ??= ask()
      .then((answer) => {
        known = { answer, at: performance.now() };
      })
      // A database that cannot be reached is told by `ready`.
      .catch(() => {})
      .finally(() => {
        asking = undefined;
      });
    return asking;
  };
  return async () => {
    const isOld = !known || performance.now() - known.at >= holdsMs;
    const asked = isOld ? askAnew() : undefined;
    if (!known) await Promise.race([asked, pause(FIRST_ANSWER_MS, undefined, { ref: false })]);
    return known && performance.now() - known.at < FORGOTTEN_MS ? known.answer : undefined;
  };
}

/** Watches the event loop, and keeps what it saw in the last period that has ended. */
function watchLoop() {
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  const loop = {
    delaySeconds: 0,
    utilization: 0,
    end() {
      clearInterval(timer);
      delay.disable();
    },
  };
  let before = performance.eventLoopUtilization();
  const timer = setInterval(() => {
    loop.delaySeconds = delay.percentile(99) / 1e9;
    delay.reset();
    const now = performance.eventLoopUtilization();
    loop.utilization = performance.eventLoopUtilization(now, before).utilization;
    before = now;
  }, LOOP_MS).unref();
  return loop;
}
