import type { Transaction } from "#db/client";
import type { Part } from "#db/part";
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
  /** Waits up to `server.shutdown_timeout` for running jobs, then releases the remaining ones and disconnects. */
  stop(): Promise<void>;
  /** Inserts a job in the transaction. It exists if and only if the transaction commits. */
  enqueue(tx: Transaction, job: Job): Promise<void>;
  /** Returns the part of a statement that inserts a job. */
  part(job: Job): Promise<Part>;
  /** Makes the workers of jobs look for due ones. Call it after the commit. Without a worker it does nothing. */
  wake(jobs: readonly Pick<Job, "name">[]): void;
  /**
   * Runs up to `limit` due jobs and waits until they are settled, for processes without a worker.
   *
   * @returns the number of jobs that ran
   */
  runDue(limit: number): Promise<number>;
}
