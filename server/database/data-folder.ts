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
import { canReach, databaseAccount } from "./account.ts";
import { findBinaries, SHELTER } from "./binaries.ts";
import { type Cluster, createCluster } from "./cluster.ts";

/**
 * Finds the cluster of a data folder, or makes it: its data, its password and who runs it.
 *
 * @param dataDir made when absent; a path of any characters
 * @throws StartError when the data cannot be kept or reached there
 */
export async function prepareCluster(dataDir: string): Promise<Cluster> {
  try {
    return await findOrCreateCluster(dataDir);
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(
      `the embedded PostgreSQL cannot keep its data in ${dataDir}: ${(error as Error).message}`,
    );
  }
}

async function findOrCreateCluster(dataDir: string): Promise<Cluster> {
  if (!existsSync(dataDir)) {
    mkdirSync(dataDir, { recursive: true });
    // Nobody else may list it; the account that PostgreSQL runs under passes through.
    chmodSync(dataDir, 0o711);
  }
  const folder = realpathSync(dataDir);
  // Such a comment keeps Next's tracer from packing every file of that name into the bundle of a function.
  const path = join(/* turbopackIgnore: true */ folder, "postgres");
  const shelter = join(SHELTER, sha256(folder).toString("hex").slice(0, 16));
  const clusterAt = (directory: string): Cluster => {
    const account = databaseAccount(directory);
    return {
      directory,
      logFile: join(/* turbopackIgnore: true */ folder, "postgres.log"),
      account,
      binaries: findBinaries(account),
      password: password(join(/* turbopackIgnore: true */ folder, "postgres.password"), directory),
    };
  };
  if (!lstatSync(path, { throwIfNoEntry: false })) await create(path, shelter, clusterAt);
  return clusterAt(existing(path));
}

/**
 * Makes the data where it can be reached: in the data folder, or in the shelter with a symbolic link to it in the
 * data folder. What was decided once holds, so that a change of permissions never looks like an empty database.
 */
async function create(
  path: string,
  shelter: string,
  clusterAt: (directory: string) => Cluster,
): Promise<void> {
  const account = databaseAccount(path);
  if (!account || canReach(account, dirname(path))) return createCluster(clusterAt(path));
  mkdirSync(shelter, { recursive: true });
  for (const folder of [SHELTER, shelter]) chmodSync(folder, 0o755);
  // A name of its own: what an earlier data folder, since deleted, kept here is not ours.
  const directory = join(shelter, `postgres-${randomBytes(4).toString("hex")}`);
  await createCluster(clusterAt(directory));
  try {
    symlinkSync(directory, path);
  } catch (error) {
    // Two servers started on an empty folder at once; the other one was first.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    rmSync(directory, { recursive: true });
  }
}

function existing(path: string): string {
  if (!existsSync(path)) {
    throw new StartError(
      `${path} points to ${readlinkSync(path)}, which is gone; remove the link to start with an empty database`,
    );
  }
  const directory = realpathSync(path);
  const account = databaseAccount(directory);
  if (account && !canReach(account, dirname(directory))) {
    throw new StartError(
      `${directory} cannot be reached by its own account (uid ${account.uid}); open the way to it or choose another DATA_DIR`,
    );
  }
  return directory;
}

function password(file: string, directory: string): string {
  if (existsSync(file)) return readFileSync(file, "utf8").trim();
  if (existsSync(join(/* turbopackIgnore: true */ directory, "PG_VERSION")))
    throw new StartError(`${file} is missing: without it the data in ${directory} cannot be opened`);
  try {
    writeFileSync(file, randomBytes(24).toString("hex"), { mode: 0o600, flag: "wx" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  return readFileSync(file, "utf8").trim();
}
