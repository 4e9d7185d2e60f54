import { existsSync, readdirSync, readFileSync } from "node:fs";

/** Processor time and memory of processes, as Linux counts them in `/proc`; elsewhere not a number. */

const hasProc = existsSync("/proc/self/stat");

/** Milliseconds of a tick of `/proc/<pid>/stat`. Linux reports 100 a second on every platform that Node supports. */
const TICK_MS = 10;

/** A file of a process; empty if the process has ended. */
function read(pid: number, file: "stat" | "status"): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8");
  } catch {
    return "";
  }
}

/** Fields of `/proc/<pid>/stat` after the name, which is in brackets and may contain spaces; [0] is the state. */
const statOf = (pid: number) =>
  read(pid, "stat")
    .replace(/^.*\) /s, "")
    .split(" ");

/** A process with its running descendants. */
export function processTree(pid: number, { except = null }: { except?: number | null } = {}): number[] {
  const running = hasProc ? readdirSync("/proc").map(Number).filter(Number.isInteger) : [];
  const parents = running.map((own) => [own, Number(statOf(own)[1])] as const);
  const tree = [pid];
  for (const member of tree)
    tree.push(...parents.filter(([own, parent]) => parent === member && own !== except).map(([own]) => own));
  return tree;
}

const sumOf = (pids: readonly number[], figure: (pid: number) => number) =>
  hasProc ? pids.reduce((sum, pid) => sum + figure(pid), 0) : Number.NaN;

/**
 * Processor time, user and system, of processes in milliseconds, over all their threads and the children that they have
 * waited for. To 10 ms.
 */
export function cpuTime(pids: readonly number[]): number {
  // utime, stime, cutime and cstime are the 14th to 17th field of the line.
  const ticks = (pid: number) => statOf(pid).slice(11, 15).map(Number);
  return sumOf(pids, (pid) => ticks(pid).reduce((sum, one) => sum + one, 0) * TICK_MS);
}

/** Mebibytes of resident memory of processes, shared pages included: now, or the most that each has had. */
export function residentMemory(pids: readonly number[], field: "VmRSS" | "VmHWM" = "VmRSS"): number {
  const line = new RegExp(`^${field}:\\s+(\\d+)`, "m");
  return sumOf(pids, (pid) => Number(line.exec(read(pid, "status"))?.[1] ?? 0) / 1024);
}
