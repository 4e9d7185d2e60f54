/** A time limit that ends with the work it limits. */
export interface Deadline {
  /** Aborts with a `TimeoutError` when the time is over. */
  signal: AbortSignal;
  /** The work is done: the signal aborts no more. */
  end(): void;
}

/**
 * Starts a time limit. `AbortSignal.timeout()` would abort, with an exception and its stack, long after each request
 * that was in time.
 */
export function startDeadline(milliseconds: number): Deadline {
  const controller = new AbortController();
  const timer = setTimeout(() => {
    controller.abort(new DOMException("The operation was aborted due to timeout", "TimeoutError"));
  }, milliseconds);
  timer.unref();
  return { signal: controller.signal, end: () => clearTimeout(timer) };
}
