import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism, setPriority } from "node:os";
import process from "node:process";
import type { Logger } from "pino";

/** The threads of libuv's pool, in which passwords are hashed. Files, DNS look-ups and WebCrypto use it too. */

/** libuv's own number of threads. */
const USUAL_THREADS = 4;

/** Threads that no hash takes, so that a look-up or the verification of a passkey does not wait for one. */
const FREE_THREADS = 2;

/**
 * Gives the pool a thread for each hash and some for other tasks. The operator's `UV_THREADPOOL_SIZE` is kept.
 *
 * Call it before the pool has its first task, which starts its threads.
 *
 * @param workers processes of the server that hash
 */
export function sizePool(workers: number, cores = availableParallelism()): void {
  process.env.UV_THREADPOOL_SIZE ??= String(Math.max(USUAL_THREADS, share(workers, cores) + FREE_THREADS));
}

/**
 * Hashes that a process computes at once: all processes of the server together as many as there are cores, but each
 * at least one, and as many as the pool has threads for.
 */
export function hashesAtOnce(workers: number, cores = availableParallelism()): number {
  const threads = Number(process.env.UV_THREADPOOL_SIZE) || USUAL_THREADS;
  return Math.max(1, Math.min(share(workers, cores), threads - FREE_THREADS));
}

const share = (workers: number, cores: number) => Math.max(1, Math.floor(cores / workers));

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
