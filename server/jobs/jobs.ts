import type { Transaction } from "#db/client";
import type { JobKind } from "./job-kind.ts";

/** A job: its name tells the kind, the rest is the kind's own. */
export interface NamedJob {
  name: string;
}

/** The kind of each job, by name. The compiler asks for those that are missing. */
export type JobKinds<Job extends NamedJob> = {
  [Name in Job["name"]]: JobKind<Extract<Job, { name: Name }>>;
};

/** Work that is committed together with a change and done after it, at least once. */
export interface Jobs<Job extends NamedJob> {
  /**
   * Prepares the job tables (their own schema, `pgboss`) and, with `worker`, starts doing jobs. `enqueue` waits
   * for it; nothing else has to.
   */
  start(options: { worker: boolean }): Promise<void>;
  /** Lets running jobs end, at most `server.shutdown_timeout`, then gives back what is left and disconnects. */
  stop(): Promise<void>;
  /** Writes a job into the transaction: it exists when, and only when, the transaction commits. */
  enqueue(tx: Transaction, job: Job): Promise<void>;
  /** Call after the commit: the worker takes due jobs at once. Without a worker this does nothing. */
  wake(): void;
  /**
   * Does up to `limit` due jobs and resolves when they are settled: for processes without a worker.
   *
   * @returns how many were taken
   */
  runDue(limit: number): Promise<number>;
}
