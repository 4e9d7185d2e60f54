import type { Transaction } from "#db/client";
import type { WriteOfParts } from "#db/write";
import type { JobCause } from "./job-cause.ts";
import type { JobKind } from "./job-kind.ts";

/** A job. `name` identifies its kind, which defines the other members. */
export interface NamedJob {
  name: string;
}

/** The kind of each job by name. A missing kind does not compile. */
export type JobKinds<Job extends NamedJob> = {
  [Name in Job["name"]]: JobKind<Extract<Job, { name: Name }>>;
};

/** The job queue. A job is committed together with a change and runs after it, at least once. */
export interface Jobs<Job extends NamedJob> {
  /**
   * Creates the job tables (schema `pgboss`) and, with `worker`, starts to run jobs. `enqueue` waits for it, so a
   * caller need not.
   */
  start(options: { worker: boolean }): Promise<void>;
  /** Claims no more jobs, and waits for the running ones. `enqueue` goes on. */
  stopWorkers(): Promise<void>;
  /** Waits up to `server.shutdown_timeout` for running jobs, then releases the remaining ones and disconnects. */
  stop(): Promise<void>;
  /** Inserts a job in the transaction, as `insertion` does. It exists if and only if the transaction commits. */
  enqueue(tx: Transaction, job: Job, cause: JobCause | null): Promise<void>;
  /**
   * Returns the write that inserts a job, with the audit entries of its kind.
   *
   * @param cause what makes the job; without one it has no audit entry
   */
  insertion(job: Job, cause: JobCause | null): Promise<WriteOfParts>;
  /** Makes the workers of jobs look for due ones. Call it after the commit. Without a worker, `isWoken` tells it. */
  wake(jobs: readonly Pick<Job, "name">[]): void;
  /** Whether jobs wait for `runDue`: `wake` was called, or more were due than it ran. Always false with a worker. */
  isWoken(): boolean;
  /**
   * Runs up to `limit` due jobs and waits until they are settled, for processes without a worker.
   *
   * @param which `woken`: only those of the kinds that `wake` was called for, since each kind costs a statement
   * @returns the number of jobs that ran
   */
  runDue(limit: number, which?: "all" | "woken"): Promise<number>;
  /** Counts the jobs of a tenant that have not succeeded and are not given up. */
  waiting(tenantId: string): Promise<WaitingJobs<Job>>;
}

/** Jobs that wait, by name. `more`: there are more of all tenants than are looked at, so that some are not counted. */
export interface WaitingJobs<Job extends NamedJob> {
  counts: { [Name in Job["name"]]?: number };
  more: boolean;
}

/** What makes jobs that commit with a change. */
export interface Enqueuing<Job extends NamedJob> {
  jobs: Pick<Jobs<Job>, "enqueue" | "insertion" | "wake">;
}
