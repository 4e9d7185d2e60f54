import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

/**
 * Processor time of a process in milliseconds, over all its threads. Linux: to 10 ms; elsewhere as `ps` reports
 * it.
 */
export function cpuTime(pid: number): number {
  if (existsSync("/proc/self/stat")) {
    // The name, in brackets, may contain spaces; user and system time are the 12th and 13th field after it.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    return (Number(fields[11]) + Number(fields[12])) * 10;
  }
  const parts = execFileSync("ps", ["-o", "time=", "-p", String(pid)], { encoding: "utf8" })
    .trim()
    .split(/[-:]/)
    .map(Number);
  return parts.reduce((sum, part) => sum * 60 + part, 0) * 1000;
}

/** Mebibytes of memory of a process, shared pages included. */
export function residentMemory(pid: number): number {
  return Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" })) / 1024;
}
