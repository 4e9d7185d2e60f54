import { SpanKind, SpanStatusCode } from "@opentelemetry/api";
import { sql } from "drizzle-orm";
import { fromDrizzle, type JobWithMetadata, PgBoss } from "pg-boss";
import type { Logger } from "pino";
import { claimWork } from "#db/claim";
import type { Database, Transaction } from "#db/client";
import { entersAtWorker, isDistributed } from "#db/distribution";
import { executePart, executeParts, type Part } from "#db/part";
import { runTogether } from "#db/together";
import type { WriteOfParts } from "#db/write";
import type { Config } from "../config/schema.ts";
import { isOutage, outlastOutage } from "../database/outlast-outage.ts";
import type { Standing } from "../database/standing.ts";
import { isUnknownKey } from "../keys/unknown-key.ts";
import { startDeadline } from "../lib/deadline.ts";
import type { Platform } from "../lib/platform.ts";
import { measure } from "../observability/metrics.ts";
import { beginCaused, traceparent, within } from "../observability/spans.ts";
import { createBunches } from "./bunches.ts";
import { describeFailure, type Failure, summaryOf } from "./failure.ts";
import { causeIn, type JobCause, storedCauseOf } from "./job-cause.ts";
import { EXPIRED, type GivenUp, type JobKind, PermanentFailure, Unfinished } from "./job-kind.ts";
import type { JobKinds, Jobs, NamedJob, WaitingJobs } from "./jobs.ts";
import { type NewJob, newJobPart, takeNewJobs } from "./new-jobs.ts";
import { startWorker, type Worker } from "./worker.ts";

interface JobsOptions<Job extends NamedJob> {
  database: Database;
  config: Config;
  kinds: JobKinds<Job>;
  platform: Platform;
  /** Once the database has outgrown this version, no more jobs are begun. */
  standing: Pick<Standing, "outgrown">;
  log: Logger;
}

/** A job as it was claimed. */
interface Row extends JobWithMetadata<unknown> {
  /**
   * Time of the claim, in microseconds of the database's clock: it identifies the claim. The number of attempts does not: of
   * a claim that a failover loses, and of the next one, it is the same.
   */
  claimedAt: string;
}

/** A job that succeeded. */
interface Ended {
  row: Row;
  writes: readonly WriteOfParts[];
  /** What its line in the log says. */
  facts: Record<string, unknown>;
}

/** What an attempt has come to. */
type Verdict =
  | { kind: "done"; writes: readonly WriteOfParts[]; facts: Record<string, unknown> }
  | { kind: "continued"; error: Unfinished }
  | { kind: "retried"; error: unknown; failure: Failure }
  | { kind: "given_up"; reason: string; now: () => Date };

const NOT_SETTLED = "settling a job failed; it will run again";

/**
 * Deletes ended jobs, so that nothing of them stays in the database. One that was taken anew after its lease is left. One
 * that is due again was not: its lease has ended during an outage, or a failover has lost that it was taken.
 */
const endingPart = (name: string, bunch: readonly Pick<Ended, "row">[]): Part => ({
  name: `end_${name}`,
  text: `jobs_ended as (
    delete from pgboss.job where name = $1 and id = any ($2::uuid[]) and (state in ('retry', 'created')
      or state = 'active' and (id, started_on) in (select * from unnest($2::uuid[], $3::timestamptz[])))
    returning id)`,
  values: [name, bunch.map(({ row }) => row.id), bunch.map(({ row }) => row.claimedAt)],
  returns: "(select count(*)::int from jobs_ended)",
});

/** What an earlier attempt failed with: `boss.fail` stores it. */
function lastFailureOf({ output }: Row): string | undefined {
  const { failure } = (output ?? {}) as { failure?: Failure };
  return failure && summaryOf(failure);
}

/** Queue of the dead letters: jobs that are not retried any more. Its rows contain the reason and no secret. */
export const deadLetters = "dead_letters";

/** Default time limit of an attempt. */
const ATTEMPT_TIMEOUT_SECONDS = 30;

/** After this time an active job of an unresponsive process is released. Must exceed the time limit of every kind. */
const RELEASE_SECONDS = 40;

/** Interval of the search for jobs of killed processes. */
export const SUPERVISION_INTERVAL_SECONDS = 15;

/** Default interval in which a worker looks for due jobs without being woken. */
export const POLL_INTERVAL_MS = 2_000;

/** Interval in which new jobs of a distributed database are looked for that other processes have made. */
const NEW_JOBS_INTERVAL_MS = 500;

/**
 * While jobs run, how long a due job waits for others that are taken with it, and a finished one for others that are ended
 * with it. After a crash the jobs that finished within this time run again.
 */
export const GATHER_MS = 100;

/** Finished jobs that are ended in one statement. */
const MAX_ENDED = 10;

/** A job is kept for this time after its lifetime, so that a worker can turn it into a dead letter. */
const GRACE_SECONDS = 600;

const DEAD_LETTER_RETENTION_DAYS = 30;

/** The lifetime of a job limits its retries, so their number is practically unlimited. */
const MAX_RETRIES = 10_000;

/** Jobs that `waiting` looks at. */
const MAX_COUNTED = 10_000;

/** How pg-boss treats a job. */
const optionsOf = ({
  lifetimeSeconds,
  maxPauseSeconds,
}: Pick<NewJob, "lifetimeSeconds" | "maxPauseSeconds">) => ({
  retryLimit: MAX_RETRIES,
  retryDelay: 1,
  retryBackoff: true,
  retryDelayMax: maxPauseSeconds,
  expireInSeconds: RELEASE_SECONDS,
  retentionSeconds: lifetimeSeconds + GRACE_SECONDS,
});

/** Creates the job queue on pg-boss. Connects to the database in `start`. */
export function createJobs<Job extends NamedJob>(options: JobsOptions<Job>): Jobs<Job> {
  const { database, config, kinds, platform, log } = options;
  const { outgrown } = options.standing;
  const names = Object.keys(kinds) as Job["name"][];

  const boss = new PgBoss({
    // A text without values may be several statements.
    db: { executeSql: (text, values) => database.jobs.query(text, values?.length ? values : undefined) },
    schedule: false,
    supervise: false,
    monitorVacuum: false,
    monitorIntervalSeconds: SUPERVISION_INTERVAL_SECONDS,
    maintenanceIntervalSeconds: 300,
    bamIntervalSeconds: 3_600,
  });
  boss.on("error", (error) =>
    log.warn({ failure: describeFailure(error) }, "accessing the job tables failed"),
  );
  boss.on("warning", ({ message }) => log.warn({ warning: message }, "pg-boss reported a warning"));

  const ending = new AbortController();
  const workers = new Map<string, Worker>();
  const bunches = new Map(
    names.map((name) => [
      name,
      createBunches<Ended>({
        max: MAX_ENDED,
        waitMs: GATHER_MS,
        write: (bunch) => end(name, bunch),
      }),
    ]),
  );
  /**
   * The attempts in hand. A job is taken again if a failover has lost that it was taken, or its lease ended during an outage:
   * it is not run again, and the later claim gets the same verdict.
   */
  const inHand = new Map<string, Promise<Verdict>>();
  let supervisor: NodeJS.Timeout | undefined;
  let supervised = 0;
  let ready: Promise<void> | undefined;
  let hasWorkers = false;
  /** Whether the queue is seen here; see `entersAtWorker`. */
  let hasQueue = true;
  /** Of a distributed database: takes new jobs into the queue. */
  let taker: Worker | undefined;
  /** Without a worker: the kinds whose jobs wait for `runDue`. */
  const woken = new Set<Job["name"]>();

  async function prepare(): Promise<void> {
    hasQueue = !(await entersAtWorker(database));
    if (!hasQueue) return;
    await boss.start();
    const existing = new Set((await boss.getQueues()).map((queue) => queue.name));
    for (const name of [deadLetters, ...names]) if (!existing.has(name)) await boss.createQueue(name);
  }

  /** Takes up to a thousand new jobs into the queue, and returns their kinds. */
  const takeNew = (): Promise<string[]> =>
    takeNewJobs(database, names, async (tx, taken) => {
      const db = fromDrizzle(tx, sql);
      for (const [name, jobs] of Map.groupBy(taken, (job) => job.name))
        await boss.insert(
          name,
          jobs.map(({ id, data, ...job }) => ({ id, data, ...optionsOf(job) })),
          { db },
        );
    });

  async function startWorkers(): Promise<void> {
    if (await isDistributed(database))
      taker = startWorker({
        concurrency: 1,
        intervalMs: NEW_JOBS_INTERVAL_MS,
        take: async () => (outgrown.aborted ? [] : takeNew()),
        perform: async (name) => workers.get(name)?.wake(),
        onOutage: (error) =>
          error === undefined
            ? log.info("taking new jobs into the queue works again")
            : log.warn({ failure: describeFailure(error) }, "taking new jobs into the queue failed"),
      });
    // A backup of a distributed database may have been restored into this one.
    else while ((await takeNew()).length > 0);
    for (const name of names) {
      workers.set(
        name,
        startWorker({
          concurrency: kinds[name].concurrency,
          intervalMs: kinds[name].searchIntervalMs ?? POLL_INTERVAL_MS,
          gatherMs: GATHER_MS,
          take: (limit) => take(name, limit),
          perform: (row) => perform(name, row),
          onOutage: (error) =>
            error === undefined
              ? log.info({ job: name }, "claiming jobs works again")
              : log.warn({ job: name, failure: describeFailure(error) }, "claiming jobs failed"),
        }),
      );
    }
    supervisor = setInterval(supervise, SUPERVISION_INTERVAL_SECONDS * 1_000);
    void supervise();
  }

  async function stopWorkers(): Promise<void> {
    await ready?.catch(() => {});
    clearInterval(supervisor);
    await taker?.stop();
    await Promise.all([...workers.values()].map((worker) => worker.stop()));
  }

  /** Releases the jobs of killed processes and deletes expired rows of the job tables. */
  async function supervise(): Promise<void> {
    if (Date.now() - supervised < (SUPERVISION_INTERVAL_SECONDS - 1) * 1_000) return;
    supervised = Date.now();
    await boss.supervise().catch((error: unknown) => {
      if (!ending.signal.aborted) log.warn({ failure: describeFailure(error) }, "supervising jobs failed");
    });
  }

  async function take(name: Job["name"], limit: number): Promise<Row[]> {
    if (outgrown.aborted) return [];
    const db = {
      // Planned once per connection: planning it costs more than running it. The limit is part of the text, which ends with the
      // columns that it returns.
      executeSql: async (text: string, values: unknown[] = []) => ({
        rows: await claimWork(database, {
          name: `claim_${name}_${limit}`,
          text: `${text}, j.started_on::text as "claimedAt"`,
          values,
        }),
      }),
    };
    const options = { batchSize: limit, includeMetadata: true, db } as const;
    const rows = (await boss.fetch<unknown>(name, options)) as Row[];
    if (!outgrown.aborted) return rows;
    await giveBack(name, rows);
    return [];
  }

  /** Makes jobs due at once elsewhere, as if they had not been taken: a failure would count as an attempt. */
  async function giveBack(name: Job["name"], rows: readonly Row[]): Promise<void> {
    const ids = rows.map(({ id }) => id);
    await database.claim.execute(sql`
      update pgboss.job set state = 'created', started_on = null, heartbeat_on = null
      where name = ${name} and id = any (${sql.param(ids)}::uuid[]) and state = 'active'`);
  }

  /** Runs a job and settles it. */
  async function perform(name: Job["name"], row: Row): Promise<void> {
    const earlier = inHand.get(row.id);
    const attempting = earlier ?? attempt(name, row);
    if (!earlier) inHand.set(row.id, attempting);
    await bunches.get(name)?.run(async () => {
      const verdict = await attempting;
      // The earlier claim has settled its own row, and has the records.
      if (earlier) await settle(name, row, verdict);
      return verdict.kind === "done"
        ? { row, writes: earlier ? [] : verdict.writes, facts: verdict.facts }
        : null;
    });
    if (!earlier) inHand.delete(row.id);
  }

  /** Runs a job, and settles it unless it was done: then it is to be ended. Never rejects. */
  async function attempt(name: Job["name"], row: Row): Promise<Verdict> {
    const startedAt = performance.now();
    const { traceparent } = Object(row.data) as { traceparent?: string };
    const attributes = { "stile.job": name, "stile.job.attempt": row.retryCount + 1 };
    const span = beginCaused(`job ${name}`, SpanKind.CONSUMER, traceparent, attributes);
    const [verdict, isSettled] = await within(span, async () => {
      const found = await run(name, row);
      return [found, await settle(name, row, found)] as const;
    });
    const outcome = isSettled ? verdict.kind : "unsettled";
    measure("jobs", (performance.now() - startedAt) / 1_000, { "stile.job": name, "stile.outcome": outcome });
    span?.setAttribute("stile.outcome", outcome);
    if (outcome !== "done" && outcome !== "continued") span?.setStatus({ code: SpanStatusCode.ERROR });
    span?.end();
    return verdict;
  }

  /** What the log says of an attempt. */
  const contextOf = (name: Job["name"], row: Row) => ({
    job: name,
    jobId: row.id,
    ...causeIn(row.data),
    attempt: row.retryCount + 1,
  });

  async function run(name: Job["name"], row: Row): Promise<Verdict> {
    const number = row.retryCount + 1;
    const cause = causeIn(row.data);
    const takenAt = performance.now();
    const now = () => new Date(row.startedOn.getTime() + performance.now() - takenAt);
    // Both times are from the database's clock.
    if (row.startedOn.getTime() >= row.keepUntil.getTime() - GRACE_SECONDS * 1_000)
      return { kind: "given_up", reason: EXPIRED, now };
    const { attemptSeconds = ATTEMPT_TIMEOUT_SECONDS } = kinds[name];
    const deadline = startDeadline(attemptSeconds * 1_000);
    const signal = AbortSignal.any([ending.signal, deadline.signal]);
    try {
      const attempt = { id: row.id, isFirst: number === 1, number, cause, now, signal };
      const writes = await kinds[name].run(row.data, attempt);
      return {
        kind: "done",
        writes,
        facts: { ...contextOf(name, row), ...kinds[name].describe(row.data) },
      };
    } catch (error) {
      if (error instanceof PermanentFailure) return { kind: "given_up", reason: error.message, now };
      if (error instanceof Unfinished) return { kind: "continued", error };
      return { kind: "retried", error, failure: describeFailure(error) };
    } finally {
      deadline.end();
    }
  }

  /** Settles a claimed job that was not done, and returns whether it could. */
  async function settle(name: Job["name"], row: Row, verdict: Verdict): Promise<boolean> {
    const context = contextOf(name, row);
    try {
      switch (verdict.kind) {
        case "done":
          break;
        case "given_up":
          await moveToDeadLetters(name, row, verdict);
          break;
        case "continued": {
          const { error } = verdict;
          const described = kinds[name].describe(row.data);
          log.info({ ...context, ...described, reason: error.message }, "job goes on in another attempt");
          await outlastOutage(() => postpone(name, row, verdict), ending.signal);
          break;
        }
        case "retried": {
          const { error, failure } = verdict;
          if (!isUnknownKey(error, log)) {
            const described = kinds[name].describe(row.data);
            log.warn({ ...context, ...described, failure }, "job failed and will be retried");
          }
          await outlastOutage(() => postpone(name, row, verdict), ending.signal);
        }
      }
      return true;
    } catch (error) {
      log.warn({ ...context, failure: describeFailure(error) }, NOT_SETTLED);
      return false;
    }
  }

  /**
   * Ends jobs and writes what they resulted in, in one statement, once the database takes it. If it fails otherwise, each is
   * ended alone, and then without its writes: what was done must not be done again for want of a record.
   */
  async function end(name: Job["name"], bunch: readonly Ended[]): Promise<void> {
    const writes = bunch.flatMap((one) => one.writes);
    const parts = [endingPart(name, bunch), ...writes.flatMap((write) => write.parts)];
    let returned: Record<string, unknown>;
    try {
      returned = await outlastOutage(
        // Lost with a primary, it would leave what was sent to be sent again.
        () => runTogether<Record<string, unknown>>(database, parts),
        ending.signal,
      );
    } catch (error) {
      const line = { ...bunch[0]?.facts, failure: describeFailure(error) };
      if (isOutage(error) || writes.length + bunch.length === 1) log.warn(line, NOT_SETTLED);
      else if (bunch.length > 1) await Promise.all(bunch.map((one) => end(name, [one])));
      else {
        log.warn(line, "recording what became of a job failed");
        const withoutWrites = bunch.map((one) => ({ ...one, writes: [] }));
        await end(name, withoutWrites);
      }
      return;
    }
    for (const { committed } of writes) committed?.(returned);
    for (const { facts } of bunch) log.info(facts, "job done");
  }

  /**
   * Makes a claimed job due again: after a pause that doubles with each attempt, and not before what its error asks for, or
   * then if the attempt ended as intended; at the latest when the job expires.
   */
  async function postpone(
    name: Job["name"],
    { id, claimedAt }: Row,
    { kind, error, ...rest }: Extract<Verdict, { kind: "continued" | "retried" }>,
  ): Promise<void> {
    const { retryAfterSeconds } = Object(error) as { retryAfterSeconds?: unknown };
    const asked = typeof retryAfterSeconds === "number" && retryAfterSeconds > 0 ? retryAfterSeconds : null;
    const output = "failure" in rest ? JSON.stringify({ failure: rest.failure }) : null;
    const doubled = sql`least(retry_delay_max, retry_delay * 2 ^ least(16, retry_count) * (1 + random()))`;
    await database.claim.execute(sql`
      update pgboss.job set state = 'retry', heartbeat_on = null, output = ${output}::jsonb,
        start_after = least(
          now() + make_interval(secs => greatest(${kind === "continued" && asked !== null ? sql`null` : doubled}, ${asked}::float8)),
          keep_until - make_interval(secs => ${GRACE_SECONDS}))
      where name = ${name} and id = ${id}::uuid and state = 'active' and started_on = ${claimedAt}::timestamptz`);
  }

  /** Replaces a job with a dead letter, in one transaction. */
  async function moveToDeadLetters(
    name: Job["name"],
    row: Row,
    { reason, now }: Pick<GivenUp, "reason" | "now">,
  ): Promise<void> {
    const attempts = row.retryCount + (reason === EXPIRED ? 0 : 1);
    const cause = causeIn(row.data);
    const lastFailure = lastFailureOf(row);
    const end: GivenUp = { reason, attempts, cause, now, ...(lastFailure ? { lastFailure } : {}) };
    const last = lastFailure ? { last_failure: lastFailure } : {};
    const facts = { job: name, reason, attempts, ...last, ...cause, ...kinds[name].describe(row.data) };
    const deadLetter = { ...facts, recipient: kinds[name].recipient(row.data), enqueuedAt: row.createdOn };
    const isMoved = await database.write.transaction(async (tx) => {
      const part = endingPart(name, [{ row }]);
      const { [part.name]: ended } = await executeParts<Record<string, number>>(tx, [part]);
      if (ended === 0) return false;
      const db = fromDrizzle(tx, sql);
      await boss.send(deadLetters, deadLetter, {
        db,
        id: row.id,
        retentionSeconds: DEAD_LETTER_RETENTION_DAYS * 86_400,
      });
      await kinds[name].recordsEnd?.(row.data, end)(tx);
      return true;
    });
    if (isMoved) log.error({ ...facts, jobId: row.id }, "job failed permanently");
  }

  async function insertion(job: Job, cause: JobCause | null): Promise<WriteOfParts> {
    const kind = kinds[job.name as Job["name"]] as unknown as JobKind<Job>;
    const inserted = await part(job, cause);
    const records = cause === null ? undefined : kind.records?.(job, cause);
    const write = async (tx: Transaction) => {
      await executePart(tx, inserted);
      await records?.(tx);
    };
    const parts = [inserted, ...(records?.parts ?? [])];
    return Object.assign(write, { parts, ...(records?.committed ? { committed: records.committed } : {}) });
  }

  /** The statement with which pg-boss would insert the job; in a distributed database, that of a new job. */
  async function part(job: Job, cause: JobCause | null): Promise<Part> {
    if (!ready) throw new Error("the job queue was not started");
    await ready;
    const kind = kinds[job.name as Job["name"]] as unknown as JobKind<Job>;
    const id = platform.uuid();
    // A job is a part of the trace of what has made it.
    const data = { ...kind.store(job, id), cause: storedCauseOf(cause), traceparent: traceparent() };
    const limits = { lifetimeSeconds: kind.lifetimeSeconds(job), maxPauseSeconds: kind.maxPauseSeconds(job) };
    if (await isDistributed(database)) {
      const { tenantId = config.tenant.id } = job as { tenantId?: string };
      return newJobPart({ tenantId, id, name: job.name, data, ...limits });
    }
    let inserted: Part | undefined;
    const executeSql = async (text: string, values: unknown[] = []) => {
      inserted = { name: `job_${job.name}`, text: `job_${job.name} as (${text})`, values };
      return { rows: [{ id }] };
    };
    await boss.send(job.name, data, { db: { executeSql }, id, ...optionsOf(limits) });
    if (!inserted) throw new Error("pg-boss inserted nothing");
    return inserted;
  }

  return {
    start({ worker }) {
      ready ??= prepare().then(async () => {
        hasWorkers = worker && hasQueue;
        if (hasWorkers && !ending.signal.aborted) await startWorkers();
      });
      return ready;
    },
    stopWorkers,
    async stop() {
      const deadline = setTimeout(() => ending.abort(), config.server.shutdown_timeout * 1_000);
      await stopWorkers();
      clearTimeout(deadline);
      ending.abort();
      if (hasQueue) await boss.stop({ graceful: false });
    },
    async enqueue(tx, job, cause) {
      await (await insertion(job, cause))(tx);
    },
    insertion,
    wake(jobs) {
      for (const { name } of jobs)
        if (hasWorkers) (taker ?? workers.get(name))?.wake();
        else if (hasQueue) woken.add(name);
    },
    isWoken: () => woken.size > 0,
    async runDue(limit, which = "all") {
      if (!ready) throw new Error("the job queue was not started");
      await ready;
      if (outgrown.aborted || !hasQueue) return 0;
      await supervise();
      if (!taker && (await isDistributed(database))) await takeNew();
      let taken = 0;
      const searched = which === "all" ? names : [...woken];
      for (const [index, name] of searched.entries()) {
        woken.delete(name);
        const rows = await take(name, limit - taken);
        taken += rows.length;
        await Promise.all(rows.map((row) => perform(name, row)));
        if (taken < limit) continue;
        // More may be due of this kind, and those after it were not looked for.
        if (!hasWorkers) for (const left of searched.slice(index)) woken.add(left);
        break;
      }
      return taken;
    },
    async waiting(tenantId) {
      if (!ready) throw new Error("the job queue was not started");
      await ready;
      const counts: WaitingJobs<Job>["counts"] = {};
      if (await isDistributed(database)) {
        const { rows } = await database.read.execute<{ name: Job["name"]; own: number }>(sql`
          select name, count(*)::int as own from new_jobs where tenant_id = ${tenantId}::uuid group by name`);
        for (const { name, own } of rows) counts[name] = own;
        if (!hasQueue) return { counts, more: true };
      }
      // One queue has the jobs of all tenants. Those that succeeded are deleted, so that only what waits is read.
      const { rows } = await database.read.execute<{ name: Job["name"]; own: number; all: number }>(sql`
        select name, (count(*) filter (where tenant = ${tenantId}))::int as own, count(*)::int as all from (
          select name, data ->> 'tenantId' as tenant from pgboss.job
          where name = any (${sql.param(names)}) and state in ('created', 'retry', 'active')
          limit ${MAX_COUNTED + 1}) waiting
        group by name`);
      for (const { name, own } of rows) counts[name] = (counts[name] ?? 0) + own;
      return { counts, more: rows.reduce((sum, { all }) => sum + all, 0) > MAX_COUNTED };
    },
  };
}
