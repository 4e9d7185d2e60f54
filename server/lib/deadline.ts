/**
 * Starts a time limit that ends with the work it limits: `signal` aborts with a `TimeoutError` when the time is over,
 * unless `end` was called. `AbortSignal.timeout()` would abort, with an exception and its stack, long after each request
 * that was in time.
 */
export function startDeadline(milliseconds: number) {
  const controller = new AbortController();
  const timer = setTimeout(() => {
    controller.abort(new DOMException("The operation was aborted due to timeout", "TimeoutError"));
  }, milliseconds);
  timer.unref();
  return { signal: controller.signal, end: () => clearTimeout(timer) };
}
