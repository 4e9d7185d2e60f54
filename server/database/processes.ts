import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const SIGNAL_TIMEOUT_MS = 10_000;
const POLL_INTERVAL_MS = 20;

/**
 * Ends a PostgreSQL process and waits until it has ended. Sends `signal`, then SIGQUIT, then SIGKILL, each after
 * `SIGNAL_TIMEOUT_MS` without effect.
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
    for (let waited = 0; waited < SIGNAL_TIMEOUT_MS; waited += POLL_INTERVAL_MS) {
      if (!isAlive(pid)) return;
      await sleep(POLL_INTERVAL_MS);
    }
  }
}

/** Returns true if a process runs. A zombie process does not. */
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

/** Returns the command line of a process, or an empty text if it cannot be read. */
export function commandOf(pid: number): string {
  try {
    if (existsSync("/proc/self/cmdline"))
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
    return execFileSync("ps", ["-ww", "-o", "command=", "-p", String(pid)], { encoding: "utf8" });
  } catch {
    return "";
  }
}
