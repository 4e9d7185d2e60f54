import { readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { StartError } from "../config/errors.ts";

/** A system account, as `child_process` takes it. */
export interface Account {
  uid: number;
  gid: number;
}

/** Accounts to run PostgreSQL under, best first: an operator's own, or the one that every system has. */
const names = ["stile", "nobody"];

/**
 * The account that PostgreSQL has to run under, because it refuses to run as root.
 *
 * @param directory an existing cluster, whose owner is kept; may be absent
 * @returns undefined when this process is not root, and PostgreSQL runs under the same account
 * @throws StartError when there is no account to run under, or the cluster belongs to somebody else
 */
export function databaseAccount(directory: string): Account | undefined {
  const self = process.getuid?.();
  const owner = statSync(directory, { throwIfNoEntry: false });
  if (self !== 0) {
    if (owner && self !== undefined && owner.uid !== self) {
      throw new StartError(
        `${directory} belongs to another account (uid ${owner.uid}); start as that account or choose another DATA_DIR`,
      );
    }
    return undefined;
  }
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  const accounts = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"));
  for (const name of names) {
    const [, , uid, gid] = accounts.find((fields) => fields[0] === name) ?? [];
    if (Number(uid) > 0 && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new StartError(
    "PostgreSQL does not run as root and this system has no account «nobody»: set DATABASE_URL, or start as another user",
  );
}

/**
 * Whether an account may pass through every directory above `path`, and read and run what lies there.
 * What does not exist yet counts as reachable when its parents are.
 */
export function canReach(account: Account, path: string): boolean {
  const status = statSync(path, { throwIfNoEntry: false });
  if (status) {
    const shift = status.uid === account.uid ? 6 : status.gid === account.gid ? 3 : 0;
    const wanted = status.isDirectory() ? 0o1 : 0o5;
    if (((status.mode >> shift) & wanted) !== wanted) return false;
  }
  const parent = dirname(path);
  return parent === path || canReach(account, parent);
}
