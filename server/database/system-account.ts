import { readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { StartError } from "../config/errors.ts";

/** A system account, in the form of `child_process` options. */
export interface SystemAccount {
  uid: number;
  gid: number;
}

/** Accounts to run PostgreSQL under, in order of preference. Every POSIX system has the second one. */
const accountNames = ["stile", "nobody"];

/**
 * Returns the account to run PostgreSQL under, because PostgreSQL refuses to run as root.
 *
 * @param directory the cluster's directory, which may not exist yet; the owner of an existing one is used
 * @returns undefined if this process is not root, so that PostgreSQL runs under the same account
 * @throws StartError if there is no such account, or if another account owns the cluster
 */
export function databaseAccount(directory: string): SystemAccount | undefined {
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
  for (const name of accountNames) {
    const [, , uid, gid] = accounts.find((fields) => fields[0] === name) ?? [];
    if (Number(uid) > 0 && gid !== undefined) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new StartError(
    `PostgreSQL does not run as root, and this system has no account "nobody": set DATABASE_URL, or start as another user`,
  );
}

/**
 * Returns true if an account may enter every directory above `path`, and read and execute the file there. A path that
 * does not exist yet counts as reachable if its parents are.
 */
export function canReach(account: SystemAccount, path: string): boolean {
  const status = statSync(path, { throwIfNoEntry: false });
  if (status) {
    const shift = status.uid === account.uid ? 6 : status.gid === account.gid ? 3 : 0;
    const wanted = status.isDirectory() ? 0o1 : 0o5;
    if (((status.mode >> shift) & wanted) !== wanted) return false;
  }
  const parent = dirname(path);
  return parent === path || canReach(account, parent);
}
