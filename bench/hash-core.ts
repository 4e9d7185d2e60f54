import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { setPriority } from "node:os";
import type { Round } from "./figures.ts";

/** The processor of the hashes, and that of everything else. */
const HASHES = "0";
const OTHERS = "1";

/** A hash at a time: two threads of the pool stay free for other tasks (`server/start/hash-threads.ts`). */
export const oneHashAtOnce = { UV_THREADPOOL_SIZE: "3" };

/**
 * Gives the hashes a processor of their own, with the usual priority: the thread pools of the processes run on the one,
 * all their other threads on the other. What the processes start later inherits it. Needs Linux and `taskset`.
 *
 * Call it when the pools have had a task.
 */
export function giveHashesACore(pids: readonly number[]): void {
  for (const pid of pids)
    if (isRunning(pid)) execFileSync("taskset", ["--all-tasks", "--cpu-list", "--pid", OTHERS, String(pid)]);
  for (const folder of poolThreads(pids)) {
    const thread = folder.split("/").at(-1) ?? "";
    execFileSync("taskset", ["--cpu-list", "--pid", HASHES, thread]);
    setPriority(Number(thread), 0);
  }
}

/** Milliseconds of processor time that the thread pools of the processes have had. */
export function poolTime(pids: readonly number[]): number {
  // Nanoseconds on a processor are the first number of the file (Linux, sched-stats).
  const times = poolThreads(pids).map((folder) =>
    Number.parseInt(readFileSync(`${folder}/schedstat`, "utf8"), 10),
  );
  return times.reduce((sum, time) => sum + time, 0) / 1e6;
}

/** A worker of PostgreSQL, such as one of autovacuum, may have ended since the processes were listed. */
const isRunning = (pid: number) => existsSync(`/proc/${pid}`);

function poolThreads(pids: readonly number[]): string[] {
  const threads = pids
    .filter(isRunning)
    .flatMap((pid) => readdirSync(`/proc/${pid}/task`).map((id) => `/proc/${pid}/task/${id}`));
  return threads.filter((folder) => readFileSync(`${folder}/comm`, "utf8").trim() === "libuv-worker");
}

/**
 * What the processor time of a task goes into, and which rates it allows: where a core does all but the hashes, and
 * where two do everything.
 *
 * @param hashMs of the thread pools, for all tasks of the round
 */
export function sharesText({ done, cpuMs, postgresCpuMs, generatorCpuMs }: Round, hashMs: number): string {
  const parts = [hashMs, cpuMs - hashMs, postgresCpuMs, generatorCpuMs].map((time) => time / done);
  const [hash = 0, ...others] = parts;
  const rest = others.reduce((sum, time) => sum + time, 0);
  const [own, postgres, generator] = others.map((time) => time.toFixed(2));
  const bounds = `a core for the rest allows ${(1000 / rest).toFixed(0)} a second, two for all ${(2000 / (hash + rest)).toFixed(0)}`;
  return `  CPU ms: hashes ${hash.toFixed(2)}, Stile beside them ${own}, PostgreSQL ${postgres}, generator ${generator}; ${bounds}`;
}
