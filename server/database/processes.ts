import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Ends a process and waits until it is gone: as asked, then at once, then by force.
 *
 * @param signal SIGINT for a fast shutdown, SIGQUIT for an immediate one
 */
export async function endProcess(pid: number, signal: "SIGINT" | "SIGQUIT"): Promise<void> {
  for (const step of [signal, "SIGQUIT", "SIGKILL"] as const) {
    try {
      process.kill(pid, step);
    } catch {
      return;
    }
    for (let waited = 0; waited < 10_000; waited += 20) {
      if (!isAlive(pid)) return;
      await sleep(20);
    }
  }
}

/** Whether a process runs; one that has ended and that nobody has waited for yet does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^\d+ \(.*\) Z /.test(
      existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, "utf8") : "",
    );
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** The command line of a process; empty when it cannot be read. */
export function commandOf(pid: number): string {
  try {
    if (existsSync("/proc/self/cmdline"))
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
    return execFileSync("ps", ["-ww", "-o", "command=", "-p", String(pid)], { encoding: "utf8" });
  } catch {
    return "";
  }
}
