import { createWaitingLine } from "./waiting-line.ts";

/** Weight of the last task in the average duration. */
const NEWEST = 0.1;

/**
 * Makes a queue that runs at most `running` tasks concurrently and lets at most `waiting` more wait, first in, first out.
 * A task that would wait too long, as recent tasks took, is rejected at once instead of late.
 *
 * @param limits `maxWaitMs`: how long a task waits for its turn; `overloaded`: the error of one that does not get it
 */
export function taskQueue({
  overloaded,
  ...limits
}: {
  running: number;
  waiting: number;
  maxWaitMs: number;
  overloaded: () => Error;
}) {
  const { running, waiting, maxWaitMs } = limits;
  const line = createWaitingLine();

  /** Average duration of recent tasks, in milliseconds; 0 before the first one has ended. */
  let taskMs = 0;

  const isFull = () =>
    line.held >= running && (line.waiting >= waiting || ((line.waiting + 1) * taskMs) / running > maxWaitMs);

  /** Runs a task. A patient one waits for its turn however long that takes, and however many others wait. */
  async function run<Result>(
    task: () => Promise<Result>,
    signal?: AbortSignal,
    { isPatient = false } = {},
  ): Promise<Result> {
    signal?.throwIfAborted();
    if (!isPatient && isFull()) throw overloaded();
    const patience = { waiting: Number.POSITIVE_INFINITY, maxWaitMs: null };
    const end = await line.take({ ...limits, ...(isPatient ? patience : {}) }, signal);
    if (!end) throw overloaded();
    const startedAt = performance.now();
    try {
      return await task();
    } finally {
      const took = performance.now() - startedAt;
      taskMs = taskMs === 0 ? took : taskMs + (took - taskMs) * NEWEST;
      end();
    }
  }

  return {
    run,
    isFull,
    /** Tasks that wait for their turn. */
    get waiting() {
      return line.waiting;
    },
  };
}
