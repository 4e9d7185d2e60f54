import type { Pool } from "pg";
import type { Database } from "#db/client";
import { OverloadedError } from "../lib/overloaded-error.ts";
import { taskQueue } from "../lib/task-queue.ts";

/** Part of the connections for reading that heavy reads may hold; the others stay free for sign-ins. */
const SHARE = 1 / 4;

/** Heavy reads that wait for their turn. */
const MAX_WAITING = 32;

const MAX_WAIT_MS = 3_000;

const queues = new WeakMap<Pool, ReturnType<typeof taskQueue>>();

/**
 * Runs a read whose cost grows with the number of users or entries. Few of them run at once, so that the calls of one
 * tenant do not hold all connections that the sign-ins of every tenant need.
 *
 * @throws OverloadedError if too many wait, or this one has waited for three seconds
 */
export function heavyRead<Result>(read: SharedPool, task: () => Promise<Result>): Promise<Result> {
  return queueOf(read).run(task);
}

/**
 * Runs a part of a read whose answer has begun, as `heavyRead` does. It waits for its turn until the signal aborts: the
 * client could not tell a rejection from the end of the connection.
 *
 * @throws the signal's reason
 */
export function nextHeavyRead<Result>(
  read: SharedPool,
  task: () => Promise<Result>,
  signal: AbortSignal,
): Promise<Result> {
  return queueOf(read).run(task, signal, { isPatient: true });
}

/** The pool whose connections heavy reads share. */
type SharedPool = Pick<Database["read"], "$client">;

function queueOf({ $client: pool }: SharedPool) {
  const queue =
    queues.get(pool) ??
    taskQueue({
      running: Math.max(1, Math.floor(pool.options.max * SHARE)),
      waiting: MAX_WAITING,
      maxWaitMs: MAX_WAIT_MS,
      overloaded: () => new OverloadedError("too many reads of many rows are waiting"),
    });
  queues.set(pool, queue);
  return queue;
}
