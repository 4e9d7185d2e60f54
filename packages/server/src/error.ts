/** An answer that is no success, or no answer. */
export class StileError extends Error {
  override readonly name = "StileError";
  /** The status of the answer; 0 if there was none. */
  readonly status: number;
  /** Seconds to wait, if the answer says so. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    message: string,
    {
      status = 0,
      retryAfterSeconds,
      cause,
    }: { status?: number; retryAfterSeconds?: number; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.status = status;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}
