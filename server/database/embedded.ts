import { createHash, randomBytes } from "node:crypto";
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
import type pg from "pg";
import type { Logger } from "pino";
import { StartError } from "../start-error.ts";
import { canReach, databaseAccount } from "./account.ts";
import { findBinaries, SHELTER } from "./binaries.ts";
import { type Cluster, clusterUrl, createCluster, freePort, lastWords, launch } from "./cluster.ts";
import { attach, connect, PATIENCE_MS } from "./postmaster.ts";
import { endProcess, pause } from "./processes.ts";

/** The database that comes with the service, running. */
export interface EmbeddedDatabase {
  url: string;
  /** Where its data lies; outside of the data folder when the account it runs under cannot enter that. */
  directory: string;
  /** Whether it was already running, left by a server that was killed. */
  adopted: boolean;
  /** Ends it, and every connection to it; what was committed is on disk. */
  stop(): Promise<void>;
}

/** A server holds this lock as long as it lives; its connection goes with it, however it dies. */
const OWNER_LOCK = 0x57_11_1f;

/**
 * Starts the embedded PostgreSQL on the data below `dataDir`, or takes over the one that a killed server left.
 * Listens on the loopback address only, with a password made at random. A crash of PostgreSQL is mended while the
 * server runs: it is started anew on the same port.
 *
 * @param dataDir made when absent; a path of any characters
 * @param connections how many it has to take at once, at least
 * @throws StartError when another server uses the data, or PostgreSQL cannot start
 */
export async function startEmbedded(
  dataDir: string,
  connections: number,
  log: Logger,
): Promise<EmbeddedDatabase> {
  const cluster = await prepareCluster(dataDir);
  const running = await run(cluster, connections, undefined);
  const owner = { ...running, stopping: false };

  const mend = async () => {
    while (!owner.stopping) {
      log.error("the embedded PostgreSQL went away; starting it again");
      try {
        Object.assign(owner, await run(cluster, connections, owner.port));
        watch();
        return;
      } catch (error) {
        log.error({ err: error }, "the embedded PostgreSQL does not start");
        await pause(1_000);
      }
    }
  };
  const watch = () => owner.client.once("end", () => owner.stopping || mend());
  watch();
  // A process that ends without stopping it leaves nothing running, unless it was killed.
  const abandon = () => interrupt(owner.pid);
  process.once("exit", abandon);

  return {
    url: clusterUrl(cluster, running.port),
    directory: cluster.directory,
    adopted: running.adopted,
    async stop() {
      owner.stopping = true;
      process.removeListener("exit", abandon);
      // The lock is held until PostgreSQL itself cuts the connection.
      await endProcess(owner.pid, "SIGINT");
      await owner.client.end().catch(() => {});
    },
  };
}

function interrupt(pid: number): void {
  try {
    process.kill(pid, "SIGINT");
  } catch {
    // It has ended already.
  }
}

interface Owned {
  client: pg.Client;
  pid: number;
  port: number;
  adopted: boolean;
}

async function run(cluster: Cluster, connections: number, port: number | undefined): Promise<Owned> {
  // A round that fails met another server's PostgreSQL, a port that was taken, or processes of a killed PostgreSQL
  // that are about to end.
  for (let round = 0; round < 5; round++) {
    if (round > 0) await pause(100 * 2 ** round);
    const found = await attach(cluster);
    if (found) {
      await own(found.client, cluster);
      return { ...found, adopted: true };
    }
    const started = await start(cluster, connections, port ?? (await freePort()));
    if (started) {
      await own(started.client, cluster);
      return { ...started, adopted: false };
    }
  }
  throw new StartError(`the embedded PostgreSQL did not start: ${lastWords(cluster)}`);
}

async function own(client: pg.Client, cluster: Cluster): Promise<void> {
  const { rows } = await client.query<{ mine: boolean }>("select pg_try_advisory_lock($1) as mine", [
    OWNER_LOCK,
  ]);
  if (rows[0]?.mine) return;
  await client.end();
  throw new StartError(
    `another server is running on the data in ${cluster.directory}; stop it, or choose another DATA_DIR`,
  );
}

async function start(cluster: Cluster, connections: number, port: number) {
  const child = launch(cluster, port, { max_connections: String(Math.max(connections, 120)) });
  let exited = false;
  const gone = () => {
    exited = true;
  };
  child.once("exit", gone);
  child.once("error", gone);
  // The process outlives this one when this one is killed, and must not keep it from ending.
  child.unref();
  const deadline = Date.now() + PATIENCE_MS;
  while (!exited && child.pid !== undefined) {
    const client = await connect(cluster, port);
    if (client) return { client, pid: child.pid, port };
    if (Date.now() > deadline) await endProcess(child.pid, "SIGQUIT");
    await pause(10);
  }
  return undefined;
}

async function prepareCluster(dataDir: string): Promise<Cluster> {
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
  const shelter = join(SHELTER, createHash("sha256").update(folder).digest("hex").slice(0, 16));
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
