import { createHash } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

const INTERVAL_MS = 200;

/**
 * Runs a build of a folder once no other one of it runs. A build begins with the removal of what was built, which would
 * take away what another one has just written.
 */
export async function alone(folder: string, build: () => Promise<void>): Promise<void> {
  const name = createHash("sha256").update(folder).digest("hex").slice(0, 16);
  const lock = join(tmpdir(), `stile-build-${name}`);
  while (!take(lock)) {
    if (isAbandoned(lock)) rmSync(lock, { force: true });
    await pause(INTERVAL_MS);
  }
  try {
    await build();
  } finally {
    rmSync(lock, { force: true });
  }
}

function take(lock: string): boolean {
  try {
    writeFileSync(lock, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Whether the process that holds the lock was killed. */
function isAbandoned(lock: string): boolean {
  try {
    process.kill(Number(readFileSync(lock, "utf8")), 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ESRCH";
  }
}
