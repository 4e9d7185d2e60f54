import { sql } from "drizzle-orm";
import { fromDrizzle, type JobWithMetadata, PgBoss } from "pg-boss";
import type { Logger } from "pino";
import type { Database } from "#db/client";
import type { Config } from "../config/schema.ts";
import type { Platform } from "../lib/platform.ts";
import { describeFailure } from "./failure.ts";
import { type JobKind, PermanentFailure } from "./job-kind.ts";
import type { JobKinds, Jobs, NamedJob } from "./jobs.ts";
import { startWorker, type Worker } from "./worker.ts";

interface JobsOptions<Job extends NamedJob> {
  databaseUrl: string;
  database: Database;
  config: Config;
  /** How each job is stored and done. */
  kinds: JobKinds<Job>;
  platform: Platform;
  log: Logger;
}

type Row = JobWithMetadata<unknown>;

/** Where jobs end that could not be done; rows hold what happened and no secret. */
export const deadLetters = "dead_letters";

/** A job that never ends is given up, and its process's place is taken, after these. No kind may take longer. */
const ATTEMPT_SECONDS = 30;
const EXPIRE_SECONDS = 40;
/** How often jobs of killed processes are looked for. */
const SUPERVISE_SECONDS = 15;
/** How often the worker looks unasked, in milliseconds. */
const POLL_INTERVAL = 2_000;
/** How long a job outlives its lifetime, so that a worker can still make a dead letter of it. */
const GRACE_SECONDS = 600;
const DEAD_LETTER_DAYS = 30;

/** Jobs on pg-boss. Makes no connection before `start`. */
export function createJobs<Job extends NamedJob>(options: JobsOptions<Job>): Jobs<Job> {
  const { databaseUrl, database, config, kinds, platform, log } = options;
  const names = Object.keys(kinds) as Job["name"][];

  const boss = new PgBoss({
    connectionString: databaseUrl,
    // Losing the last claims in a crash of the database means doing a job twice, which can happen anyway.
    options: "-c synchronous_commit=off",
    application_name: "stile-jobs",
    max: 3,
    connectionTimeoutMillis: 5_000,
    schedule: false,
    supervise: false,
    monitorVacuum: false,
    monitorIntervalSeconds: SUPERVISE_SECONDS,
    maintenanceIntervalSeconds: 300,
    bamIntervalSeconds: 3_600,
  });
  boss.on("error", (error) =>
    log.warn({ failure: describeFailure(error) }, "the job tables cannot be reached"),
  );
  boss.on("warning", ({ message }) => log.warn({ warning: message }, "the job tables need attention"));

  const ending = new AbortController();
  const workers: Worker[] = [];
  let supervisor: NodeJS.Timeout | undefined;
  let supervised = 0;
  let ready: Promise<void> | undefined;

  async function prepare(): Promise<void> {
    await boss.start();
    const existing = new Set((await boss.getQueues()).map((queue) => queue.name));
    for (const name of [deadLetters, ...names]) if (!existing.has(name)) await boss.createQueue(name);
  }

  function startWorkers(): void {
    for (const name of names) {
      workers.push(
        startWorker({
          concurrency: kinds[name].concurrency,
          interval: POLL_INTERVAL,
          take: (limit) => take(name, limit),
          perform: (row) => perform(name, row),
          onOutage: (error) =>
            error === undefined
              ? log.info({ job: name }, "jobs can be taken again")
              : log.warn({ job: name, failure: describeFailure(error) }, "jobs cannot be taken"),
        }),
      );
    }
    supervisor = setInterval(supervise, SUPERVISE_SECONDS * 1_000);
    void supervise();
  }

  /** Gives back the jobs of killed processes and deletes what has outlived its time. */
  async function supervise(): Promise<void> {
    if (Date.now() - supervised < (SUPERVISE_SECONDS - 1) * 1_000) return;
    supervised = Date.now();
    await boss.supervise().catch((error: unknown) => {
      if (!ending.signal.aborted) log.warn({ failure: describeFailure(error) }, "jobs cannot be supervised");
    });
  }

  const take = (name: Job["name"], limit: number): Promise<Row[]> =>
    boss.fetch<unknown>(name, { batchSize: limit, includeMetadata: true });

  async function perform(name: Job["name"], row: Row): Promise<void> {
    const context = { job: name, jobId: row.id, attempt: row.retryCount + 1 };
    try {
      // Both moments are the database's.
      if (row.startedOn.getTime() >= row.keepUntil.getTime() - GRACE_SECONDS * 1_000) {
        return await bury(name, row, "expired");
      }
      const { attemptSeconds = ATTEMPT_SECONDS } = kinds[name];
      const signal = AbortSignal.any([ending.signal, AbortSignal.timeout(attemptSeconds * 1_000)]);
      try {
        await kinds[name].run(row.data, { id: row.id, signal });
      } catch (error) {
        const failure = describeFailure(error);
        if (error instanceof PermanentFailure) return await bury(name, row, error.message);
        log.warn({ ...context, failure }, "job failed and will be tried again");
        await boss.fail(name, row, { failure });
        return;
      }
      // Done is gone: nothing of it stays in the database.
      await boss.deleteJob(name, row);
      log.info({ ...context, ...kinds[name].describe(row.data) }, "job done");
    } catch (error) {
      log.warn(
        { ...context, failure: describeFailure(error) },
        "job cannot be settled and will be done again",
      );
    }
  }

  /** Replaces a job by a dead letter, in one transaction. */
  async function bury(name: Job["name"], row: Row, reason: string): Promise<void> {
    const attempts = row.retryCount + (reason === "expired" ? 0 : 1);
    const facts = { job: name, reason, attempts, ...kinds[name].describe(row.data) };
    const letter = { ...facts, recipient: kinds[name].recipient(row.data), enqueuedAt: row.createdOn };
    await database.write.transaction(async (tx) => {
      const db = fromDrizzle(tx, sql);
      await boss.send(deadLetters, letter, { db, id: row.id, retentionSeconds: DEAD_LETTER_DAYS * 86_400 });
      await boss.deleteJob(name, row, { db });
    });
    log.error({ ...facts, jobId: row.id }, "job given up");
  }

  return {
    start({ worker }) {
      ready ??= prepare().then(() => {
        if (worker && !ending.signal.aborted) startWorkers();
      });
      return ready;
    },
    async stop() {
      const deadline = setTimeout(() => ending.abort(), config.server.shutdown_timeout * 1_000);
      await ready?.catch(() => {});
      clearInterval(supervisor);
      await Promise.all(workers.map((worker) => worker.stop()));
      clearTimeout(deadline);
      ending.abort();
      await boss.stop({ graceful: false });
    },
    async enqueue(tx, job) {
      if (!ready) throw new Error("the jobs were not started");
      await ready;
      const kind = kinds[job.name as Job["name"]] as unknown as JobKind<Job>;
      const id = platform.uuid();
      await boss.send(job.name, kind.store(job, id), {
        db: fromDrizzle(tx, sql),
        id,
        // A lifetime ends the tries, not their number.
        retryLimit: 10_000,
        retryDelay: 1,
        retryBackoff: true,
        retryDelayMax: kind.longestPauseSeconds(job),
        expireInSeconds: EXPIRE_SECONDS,
        retentionSeconds: kind.lifetimeSeconds(job) + GRACE_SECONDS,
      });
    },
    wake() {
      for (const worker of workers) worker.wake();
    },
    async runDue(limit) {
      if (!ready) throw new Error("the jobs were not started");
      await ready;
      await supervise();
      let taken = 0;
      for (const name of names) {
        const rows = await take(name, limit - taken);
        taken += rows.length;
        await Promise.all(rows.map((row) => perform(name, row)));
        if (taken >= limit) break;
      }
      return taken;
    },
  };
}
