import type { Write, WriteOfParts } from "#db/write";
import type { JobCause, StoredCause } from "./job-cause.ts";

/** One attempt at a job. */
export interface Attempt {
  /** Identifier of the job. It is the same in every attempt, which makes repetitions detectable. */
  id: string;
  /** Whether no attempt was made before, as far as known: a crash may have ended one. */
  isFirst: boolean;
  /** Number of the attempt, from 1, likewise as far as known. */
  number: number;
  /** What made the job. */
  cause: StoredCause;
  /** Returns the time, by the database's clock. */
  now(): Date;
  /** Aborts when the attempt times out or the process shuts down. */
  signal: AbortSignal;
}

/** The reason of a job whose lifetime ended before it succeeded. */
export const EXPIRED = "expired";

/** A job that is not tried again. */
export interface GivenUp extends Pick<Attempt, "cause" | "now"> {
  /** For the operator: `EXPIRED`, or the message of a `PermanentFailure`. */
  reason: string;
  attempts: number;
  /** What the attempt before it failed with, if one failed. */
  lastFailure?: string;
}

/**
 * Defines how jobs of one kind are stored and run. Stored jobs are read as `unknown`, because an older version may have
 * written them.
 */
export interface JobKind<Job> {
  /** Jobs of this kind that one process runs concurrently. */
  concurrency: number;
  /** Milliseconds between searches for due jobs; 2000 by default. A new job of the same process is found at once. */
  searchIntervalMs?: number;
  /** Time limit of an attempt in seconds; 30 by default. */
  attemptSeconds?: number;
  /** Seconds from the commit after which the job is discarded, by the database's clock. */
  lifetimeSeconds(job: Job): number;
  /** Limit of the pause between attempts in seconds. Pauses are 1, 2, 4, … seconds long. */
  maxPauseSeconds(job: Job): number;
  /** Returns the JSON to store. Secrets in it are sealed and bound to the job's identifier. */
  store(job: Job, id: string): object;
  /** Returns the entries of the audit log that belong to the change which makes the job. */
  records?(job: Job, cause: JobCause): WriteOfParts;
  /** Returns what is written when the job is given up. */
  recordsEnd?(stored: unknown, end: GivenUp): Write;
  /** Returns what may be logged: no secret, not even a sealed one, and no personal data. */
  describe(stored: unknown): Record<string, unknown>;
  /** Returns the recipient, which is stored with a dead letter and never logged. */
  recipient(stored: unknown): string | undefined;
  /**
   * Runs the job. It may run again after a failure or a crash.
   *
   * @returns what is written with the end of the job, together with that of others; a failure to write it is logged
   * @throws PermanentFailure if a retry cannot succeed, and Unfinished if the next attempt goes on. Any other error causes a
   *   retry, not before its `retryAfterSeconds` if it has them.
   */
  run(stored: unknown, attempt: Attempt): Promise<readonly WriteOfParts[]>;
}

/** The attempt ended as intended before the job was done: the next attempt goes on. `message` is for the log. */
export class Unfinished extends Error {
  override name = "Unfinished";
  /** The pause before the next attempt. */
  readonly retryAfterSeconds: number;

  constructor(message: string, retryAfterSeconds: number) {
    super(message);
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** A retry cannot succeed. `message` is for the operator and contains no data of the job. */
export class PermanentFailure extends Error {
  override name = "PermanentFailure";
}
