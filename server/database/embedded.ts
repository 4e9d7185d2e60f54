import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import type { Logger } from "pino";
import { StartError } from "../config/errors.ts";
import { type Cluster, clusterUrl, freePort, lastLogLine, launch } from "./cluster.ts";
import { prepareCluster } from "./data-folder.ts";
import { attach, connect, PATIENCE_MS } from "./postmaster.ts";
import { endProcess } from "./processes.ts";

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
        await sleep(1_000);
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
    if (round > 0) await sleep(100 * 2 ** round);
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
  throw new StartError(`the embedded PostgreSQL did not start: ${lastLogLine(cluster)}`);
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
    await sleep(10);
  }
  return undefined;
}
