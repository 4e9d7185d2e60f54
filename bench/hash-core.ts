import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** The processor of the hashes, and that of everything else. */
const HASHES = "0";
const OTHERS = "1";

/** A hash at a time: two threads of the pool stay free for other tasks (`server/start/hash-threads.ts`). */
export const oneHashAtOnce = { UV_THREADPOOL_SIZE: "3" };

/**
 * Gives the hashes a processor of their own: the thread pools of the processes run on the one, all their other threads
 * on the other. What the processes start later inherits it. Needs Linux and `taskset`.
 *
 * Call it when the pools have had a task.
 */
export function giveHashesACore(pids: readonly number[]): void {
  for (const pid of pids) {
    execFileSync("taskset", ["--all-tasks", "--cpu-list", "--pid", OTHERS, String(pid)]);
    for (const thread of readdirSync(`/proc/${pid}/task`)) {
      const name = readFileSync(`/proc/${pid}/task/${thread}/comm`, "utf8").trim();
      if (name === "libuv-worker") execFileSync("taskset", ["--cpu-list", "--pid", HASHES, thread]);
    }
  }
}
