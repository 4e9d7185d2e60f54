/** One attempt at a job. */
export interface Attempt {
  /** The job's identifier, the same in every attempt: what makes doing it twice noticeable. */
  id: string;
  /** Aborts when the attempt has taken too long or the process ends. */
  signal: AbortSignal;
}

/**
 * How one sort of job rests in the database and how it is done. What lies in its row is read back as `unknown`,
 * because an older version may have written it.
 */
export interface JobKind<Job> {
  /** How many are done at once in one process. */
  concurrency: number;
  /** Seconds after which an attempt is broken off; 30 where nothing is said. */
  attemptSeconds?: number;
  /** Seconds after which doing it is pointless; they count from the commit, by the database's clock. */
  lifetimeSeconds(job: Job): number;
  /** Attempts lie 1, 2, 4 … seconds apart, and never longer than this. */
  longestPauseSeconds(job: Job): number;
  /** What lies in the row, as JSON; secrets are sealed, bound to the job's identifier. */
  store(job: Job, id: string): object;
  /** What may be logged of it: no secret, not even a sealed one, and no personal data. */
  describe(stored: unknown): Record<string, unknown>;
  /** Whom or what it was for; kept with a dead letter, never logged. */
  recipient(stored: unknown): string | undefined;
  /**
   * Does it. May be called again for the same job, after a failure or a crash.
   *
   * @throws PermanentFailure when another attempt cannot help; anything else is tried again
   */
  run(stored: unknown, attempt: Attempt): Promise<void>;
}

/** Trying again will not help. `message` is for the operator and repeats nothing from the job. */
export class PermanentFailure extends Error {
  override name = "PermanentFailure";
}
