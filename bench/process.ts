import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";

/** Processor time and memory of processes, as the operating system counts them. Linux; elsewhere by `ps`. */

const hasProc = existsSync("/proc/self/stat");

/** Milliseconds of a tick of `/proc/<pid>/stat`. Linux reports 100 a second on every platform that Node supports. */
const TICK_MS = 10;

/** Fields of `/proc/<pid>/stat` after the name, which is in brackets and may contain spaces; [0] is the state. */
function statOf(pid: number): string[] | null {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
  } catch {
    // It has ended.
    return null;
  }
}

/** A process with its running descendants. */
export function processTree(pid: number, { except = null }: { except?: number | null } = {}): number[] {
  const parents = hasProc
    ? readdirSync("/proc")
        .filter((name) => /^\d+$/.test(name))
        .map((name) => [Number(name), Number(statOf(Number(name))?.[1])] as const)
    : execFileSync("ps", ["-Ao", "pid=,ppid="], { encoding: "utf8" })
        .trim()
        .split("\n")
        .map((line) => line.trim().split(/\s+/).map(Number) as [number, number]);
  const tree = [pid];
  for (const member of tree)
    tree.push(...parents.filter(([own, parent]) => parent === member && own !== except).map(([own]) => own));
  return tree;
}

/**
 * Processor time, user and system, of processes in milliseconds, over all their threads and the children that they have
 * waited for. To 10 ms.
 */
export function cpuTime(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + (hasProc ? procTime(pid) : psTime(pid)), 0);
}

function procTime(pid: number): number {
  const stat = statOf(pid);
  // utime, stime, cutime and cstime are the 14th to 17th field of the line.
  return stat ? stat.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) * TICK_MS : 0;
}

function psTime(pid: number): number {
  const text = execFileSync("ps", ["-o", "time=", "-p", String(pid)], { encoding: "utf8" }).trim();
  return (
    text
      .split(/[-:]/)
      .map(Number)
      .reduce((sum, part) => sum * 60 + part, 0) * 1000
  );
}

/** Mebibytes of resident memory of processes, shared pages included. */
export function residentMemory(pids: readonly number[]): number {
  const kibibytes = execFileSync("ps", ["-o", "rss=", "-p", pids.join()], { encoding: "utf8" });
  return (
    kibibytes
      .trim()
      .split(/\s+/)
      .map(Number)
      .reduce((sum, size) => sum + size, 0) / 1024
  );
}

/** Mebibytes: the highest resident memory of a process so far, or the present one where that is not counted. */
export function peakMemory(pids: readonly number[]): number {
  if (!hasProc) return residentMemory(pids);
  return pids.reduce((sum, pid) => {
    const [, kibibytes] = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return sum + Number(kibibytes) / 1024;
  }, 0);
}
