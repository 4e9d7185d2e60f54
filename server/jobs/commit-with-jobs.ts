import type { Database, Transaction } from "#db/client";
import { isConnectionLost } from "#db/errors";
import { runTogether } from "#db/together";
import type { Write, WriteOfParts } from "#db/write";
import type { JobCause } from "./job-cause.ts";
import type { Jobs, NamedJob } from "./jobs.ts";

/**
 * Runs a transaction, enqueues jobs in it, and wakes the workers after the commit.
 *
 * @param jobs committed together with the changes of `write`
 * @param cause what makes the jobs
 * @param write runs before the jobs are enqueued
 * @returns the result of `write`
 * @throws the error of the transaction. Nothing is enqueued then, unless the connection was lost during the commit.
 */
export async function commitWithJobs<Job extends NamedJob, Result>(
  runtime: { database: Pick<Database, "write">; jobs: Pick<Jobs<Job>, "enqueue" | "wake"> },
  jobs: readonly Job[],
  cause: JobCause,
  write: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return waking(runtime, jobs, () =>
    runtime.database.write.transaction(async (tx) => {
      const written = await write(tx);
      for (const job of jobs) await runtime.jobs.enqueue(tx, job, cause);
      return written;
    }),
  );
}

/**
 * Commits a write and jobs, in one round trip if the write has parts, and wakes the workers. For writes without events.
 *
 * @throws ConflictError if the write conflicts with a concurrent change, and any other error of the database. Nothing is
 *   enqueued then, unless the connection was lost during the commit.
 */
export async function commitWrite<Job extends NamedJob>(
  runtime: {
    database: Pick<Database, "write" | "claim" | "prepares">;
    jobs: Pick<Jobs<Job>, "enqueue" | "insertion" | "wake">;
  },
  jobs: readonly Job[],
  cause: JobCause,
  write: Write,
): Promise<void> {
  if (!write.parts) return commitWithJobs(runtime, jobs, cause, write);
  const insertions: WriteOfParts[] = [];
  for (const job of jobs) insertions.push(await runtime.jobs.insertion(job, cause));
  const parts = [...write.parts, ...insertions.flatMap((insertion) => insertion.parts)];
  const returned = await waking(runtime, jobs, () =>
    runTogether<{ [name: string]: unknown }>(runtime.database, parts),
  );
  for (const { committed } of [write, ...insertions]) committed?.(returned);
}

/** Wakes the workers after a commit. */
async function waking<Job extends NamedJob, Result>(
  runtime: { jobs: Pick<Jobs<Job>, "wake"> },
  jobs: readonly Job[],
  commit: () => Promise<Result>,
): Promise<Result> {
  try {
    const result = await commit();
    if (jobs.length > 0) runtime.jobs.wake(jobs);
    return result;
  } catch (error) {
    // The transaction may have been committed, so the workers look for its jobs.
    if (jobs.length > 0 && isConnectionLost(error)) runtime.jobs.wake(jobs);
    throw error;
  }
}
