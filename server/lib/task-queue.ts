/** Weight of the last task in the average duration. */
const NEWEST = 0.1;

/**
 * Makes a queue that runs at most `running` tasks concurrently and lets at most `waiting` more wait, first in, first out.
 * A task that would wait too long, as recent tasks took, is rejected at once instead of late.
 *
 * @param limits `maxWaitMs`: how long a task waits for its turn; `overloaded`: the error of one that does not get it
 */
export function taskQueue({
  running,
  waiting,
  maxWaitMs,
  overloaded,
}: {
  running: number;
  waiting: number;
  maxWaitMs: number;
  overloaded: () => Error;
}) {
  let active = 0;
  const waitingTasks: (() => void)[] = [];

  /** Average duration of recent tasks, in milliseconds; 0 before the first one has ended. */
  let taskMs = 0;

  const isFull = () =>
    active >= running &&
    (waitingTasks.length >= waiting || ((waitingTasks.length + 1) * taskMs) / running > maxWaitMs);

  /** Runs a task. A patient one waits for its turn however long that takes, and however many others wait. */
  async function run<Result>(
    task: () => Promise<Result>,
    signal?: AbortSignal,
    { isPatient = false } = {},
  ): Promise<Result> {
    signal?.throwIfAborted();
    if (!isPatient && isFull()) throw overloaded();
    if (active >= running) await waitForTurn(signal, isPatient);
    else active += 1;
    const startedAt = performance.now();
    try {
      return await task();
    } finally {
      const took = performance.now() - startedAt;
      taskMs = taskMs === 0 ? took : taskMs + (took - taskMs) * NEWEST;
      // The next task takes this slot, so `active` does not change.
      const next = waitingTasks.shift();
      if (next) next();
      else active -= 1;
    }
  }

  function waitForTurn(signal: AbortSignal | undefined, isPatient: boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const settle = () => {
        clearTimeout(timeout);
        signal?.removeEventListener("abort", abort);
      };
      const start = () => {
        settle();
        resolve();
      };
      const leave = (reason: unknown) => {
        settle();
        waitingTasks.splice(waitingTasks.indexOf(start), 1);
        reject(reason);
      };
      const abort = () => leave(signal?.reason);
      const timeout = isPatient ? undefined : setTimeout(() => leave(overloaded()), maxWaitMs);
      waitingTasks.push(start);
      signal?.addEventListener("abort", abort, { once: true });
    });
  }

  return { run, isFull };
}
