import { randomBytes } from "node:crypto";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { StartError } from "../config/errors.ts";
import { sha256 } from "../lib/sha256.ts";
import { findBinaries, requireBinaries, SHARED_FOLDER } from "./binaries.ts";
import { type Cluster, createCluster } from "./cluster.ts";
import { canReach, databaseAccount } from "./system-account.ts";

/**
 * Returns the cluster of a data folder with its password and its account. Creates a missing cluster.
 *
 * @param dataDir created if absent; may contain any characters
 * @throws StartError if there is no embedded PostgreSQL, or if the data cannot be stored or accessed there
 */
export async function prepareCluster(dataDir: string): Promise<Cluster> {
  // An installation without it says so, and not that its file system cannot be written to.
  requireBinaries();
  try {
    return await findOrCreateCluster(dataDir);
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(
      `the embedded PostgreSQL cannot store its data in ${dataDir}: ${(error as Error).message}`,
    );
  }
}

async function findOrCreateCluster(dataDir: string): Promise<Cluster> {
  if (!existsSync(dataDir)) {
    mkdirSync(dataDir, { recursive: true });
    // Other accounts may not list it. The account of PostgreSQL must be able to enter it.
    chmodSync(dataDir, 0o711);
  }
  const folder = realpathSync(dataDir);
  // Such a comment keeps Next's tracer from adding every file of that name to the bundle of a function.
  const path = join(/* turbopackIgnore: true */ folder, "postgres");
  const shared = join(SHARED_FOLDER, sha256(folder).toString("hex").slice(0, 16));
  const clusterAt = (directory: string): Cluster => {
    const account = databaseAccount(directory);
    return {
      directory,
      logFile: join(/* turbopackIgnore: true */ folder, "postgres.log"),
      account,
      binaries: findBinaries(account),
      password: readPassword(join(/* turbopackIgnore: true */ folder, "postgres.password"), directory),
    };
  };
  if (!lstatSync(path, { throwIfNoEntry: false })) await create(path, shared, clusterAt);
  return clusterAt(existingDirectory(path));
}

/**
 * Creates the data directory in the data folder or, if the account of PostgreSQL cannot reach that, in
 * `SHARED_FOLDER` with a symbolic link in the data folder. The choice is permanent, so that a change of permissions
 * never results in a new, empty database.
 */
async function create(
  path: string,
  shared: string,
  clusterAt: (directory: string) => Cluster,
): Promise<void> {
  const account = databaseAccount(path);
  if (!account || canReach(account, dirname(path))) return createCluster(clusterAt(path));
  mkdirSync(shared, { recursive: true });
  for (const folder of [SHARED_FOLDER, shared]) chmodSync(folder, 0o755);
  // A random name, because data of an earlier, deleted data folder may still be there.
  const directory = join(shared, `postgres-${randomBytes(4).toString("hex")}`);
  await createCluster(clusterAt(directory));
  try {
    symlinkSync(directory, path);
  } catch (error) {
    // Another server started on the empty folder concurrently and was first.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    rmSync(directory, { recursive: true });
  }
}

/** Returns the real path of an existing data directory. */
function existingDirectory(path: string): string {
  if (!existsSync(path)) {
    throw new StartError(
      `${path} points to ${readlinkSync(path)}, which does not exist; remove the link to start with an empty database`,
    );
  }
  const directory = realpathSync(path);
  const account = databaseAccount(directory);
  if (account && !canReach(account, dirname(directory))) {
    throw new StartError(
      `${directory} is not accessible to its owner (uid ${account.uid}); change the permissions of its parent folders or choose another DATA_DIR`,
    );
  }
  return directory;
}

/** Reads the password of a cluster, or generates it for a new one. */
function readPassword(file: string, directory: string): string {
  if (existsSync(file)) return readFileSync(file, "utf8").trim();
  if (existsSync(join(/* turbopackIgnore: true */ directory, "PG_VERSION")))
    throw new StartError(`${file} is missing: it contains the password of the database in ${directory}`);
  try {
    writeFileSync(file, randomBytes(24).toString("hex"), { mode: 0o600, flag: "wx" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  return readFileSync(file, "utf8").trim();
}
