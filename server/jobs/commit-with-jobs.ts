import type { Database, Transaction } from "#db/client";
import { isConnectionLost } from "#db/errors";
import type { Jobs, NamedJob } from "./jobs.ts";

/**
 * Runs a transaction, enqueues jobs in it, and wakes the workers after the commit.
 *
 * @param jobs committed together with the changes of `write`
 * @param write runs before the jobs are enqueued
 * @returns the result of `write`
 * @throws the error of the transaction. Nothing is enqueued then, unless the connection was lost during the commit.
 */
export async function commitWithJobs<Job extends NamedJob, Result>(
  runtime: { database: Pick<Database, "write">; jobs: Pick<Jobs<Job>, "enqueue" | "wake"> },
  jobs: readonly Job[],
  write: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  try {
    const result = await runtime.database.write.transaction(async (tx) => {
      const written = await write(tx);
      for (const job of jobs) await runtime.jobs.enqueue(tx, job);
      return written;
    });
    if (jobs.length > 0) runtime.jobs.wake(jobs);
    return result;
  } catch (error) {
    // The transaction may have been committed, so the workers look for its jobs.
    if (jobs.length > 0 && isConnectionLost(error)) runtime.jobs.wake(jobs);
    throw error;
  }
}
