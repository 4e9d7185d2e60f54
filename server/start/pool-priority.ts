import { readdirSync, readFileSync } from "node:fs";
import { setPriority } from "node:os";
import type { Logger } from "pino";

/** Name that libuv gives to the threads of its pool. */
const POOL_THREAD = "libuv-worker";

/** A nice value at which a thread gets about a tenth of the time of one with the usual priority. */
const LOWERED = 10;

/**
 * Lets the threads that hash passwords give way to the one that answers requests, where all processors are busy: a
 * session is checked at once however many passwords wait. Linux alone has a priority for each thread.
 *
 * Call it after the pool was used: its threads begin with their first task.
 */
export function lowerPoolPriority(log: Pick<Logger, "warn">): void {
  if (process.platform !== "linux") return;
  try {
    const tasks = "/proc/self/task";
    for (const thread of readdirSync(tasks)) {
      if (readFileSync(`${tasks}/${thread}/comm`, "utf8").trim() === POOL_THREAD)
        setPriority(Number(thread), LOWERED);
    }
  } catch (error) {
    log.warn({ err: error }, "the priority of the threads that hash passwords stays as it is");
  }
}
