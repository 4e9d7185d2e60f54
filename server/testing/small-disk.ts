import { spawnSync } from "node:child_process";
import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Names the folder of the small file system to the process that sees it. */
const VARIABLE = "STILE_SMALL_DISK";

const SIZE = "256m";

/** The folder of a file system that may be filled; undefined where none can be mounted. */
export const smallDisk = process.env[VARIABLE];

/**
 * Runs this program again where it sees a small file system in memory, mounted in a namespace of its own (namespaces(7)),
 * which ends with it. Any user may mount one in a namespace of users, if the system allows these.
 *
 * @returns the exit code of that run; null in that run, and where nothing can be mounted
 */
export function runWithSmallDisk(): number | null {
  if (smallDisk !== undefined) return null;
  const folder = mkdtempSync(join(tmpdir(), "stile-small-disk-"));
  try {
    const run = (words: readonly string[]) =>
      spawnSync("unshare", [...mounting(folder), ...words], {
        stdio: words[0] === "true" ? "ignore" : "inherit",
        env: { ...process.env, [VARIABLE]: folder },
      }).status;
    if (run(["true"]) !== 0) return null;
    return run([process.execPath, ...process.execArgv, ...process.argv.slice(1)]) ?? 1;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The parameters of `unshare` before those of a program. */
function mounting(folder: string): string[] {
  const mount = `mount -t tmpfs -o size=${SIZE},mode=755 tmpfs "$0"`;
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  return uid === 0
    ? ["--mount", "sh", "-c", `${mount} && exec "$@"`, folder]
    : [
        // The account that may mount is root, as which PostgreSQL does not run: a second namespace has the account back.
        ...["--user", "--map-root-user", "--mount", "sh", "-c"],
        `${mount} && exec unshare --user --map-user=${uid} --map-group=${gid} "$@"`,
        folder,
      ];
}

/**
 * Writes a file until the disk is full.
 *
 * @param path of a file on it
 */
export function fillDisk(path: string): void {
  const some = Buffer.alloc(2 ** 20);
  for (let bytes = some.length; bytes >= 1; bytes /= 2)
    try {
      for (;;) appendFileSync(path, some.subarray(0, bytes));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
    }
}
