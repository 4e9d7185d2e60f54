import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import type { Logger } from "pino";
import { StartError } from "../config/errors.ts";
import { type Cluster, freePort, lastLogLine, launch, nearestUrl, socketFolder } from "./cluster.ts";
import { prepareCluster } from "./data-folder.ts";
import { attach, connect, RECOVERY_TIMEOUT_MS } from "./postmaster.ts";
import { endProcess } from "./processes.ts";

/** The running embedded database. */
export interface EmbeddedDatabase {
  url: string;
  port: number;
  /** Its data directory, which is outside the data folder if its account cannot enter that. */
  directory: string;
  /** Whether it was still running because an earlier server was killed. */
  adopted: boolean;
  /** Stops it with a fast shutdown, which closes every connection. Committed data is on disk. */
  stop(): Promise<void>;
}

/** Key of the advisory lock that a server holds while it runs. PostgreSQL releases it with the connection. */
const OWNER_LOCK = 0x57_11_1f;

const MAX_START_ATTEMPTS = 5;

/**
 * Starts the embedded PostgreSQL on the data below `dataDir`, or adopts the one that a killed server left running. It
 * listens on the loopback address and on a socket in its data directory only, and has a random password. If PostgreSQL crashes while the server runs, it is
 * restarted on the same port.
 *
 * @param dataDir created if absent; may contain any characters
 * @param connections minimum for `max_connections`
 * @throws StartError if another server uses the data, or if PostgreSQL cannot start
 */
export async function startEmbedded(
  dataDir: string,
  connections: number,
  log: Logger,
): Promise<EmbeddedDatabase> {
  const cluster = await prepareCluster(dataDir);
  const running = await run(cluster, connections, undefined);
  const owner = { ...running, stopping: false };

  const restart = async () => {
    while (!owner.stopping) {
      log.error("the embedded PostgreSQL ended unexpectedly; restarting it");
      try {
        Object.assign(owner, await run(cluster, connections, owner.port));
        watch();
        return;
      } catch (error) {
        log.error({ err: error }, "restarting the embedded PostgreSQL failed");
        await sleep(1_000);
      }
    }
  };
  const watch = () => owner.client.once("end", () => owner.stopping || restart());
  watch();
  // Also ends PostgreSQL if this process exits without calling `stop`. A killed process cannot.
  const onExit = () => interrupt(owner.pid);
  process.once("exit", onExit);

  return {
    url: nearestUrl(cluster, running.port),
    port: running.port,
    directory: cluster.directory,
    adopted: running.adopted,
    async stop() {
      owner.stopping = true;
      process.removeListener("exit", onExit);
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

interface OwnedPostmaster {
  client: pg.Client;
  pid: number;
  port: number;
  adopted: boolean;
}

async function run(
  cluster: Cluster,
  connections: number,
  port: number | undefined,
): Promise<OwnedPostmaster> {
  // An attempt fails if another server starts PostgreSQL concurrently, if the port is taken, or while processes of a
  // killed PostgreSQL are still ending.
  for (let attempt = 0; attempt < MAX_START_ATTEMPTS; attempt++) {
    if (attempt > 0) await sleep(100 * 2 ** attempt);
    const found = await attach(cluster);
    if (found) {
      await lockCluster(found.client, cluster);
      return { ...found, adopted: true };
    }
    const started = await start(cluster, connections, port ?? (await freePort()));
    if (started) {
      await lockCluster(started.client, cluster);
      return { ...started, adopted: false };
    }
  }
  throw new StartError(`the embedded PostgreSQL did not start: ${lastLogLine(cluster)}`);
}

/** @throws StartError if another server holds the lock */
async function lockCluster(client: pg.Client, cluster: Cluster): Promise<void> {
  const { rows } = await client.query<{ acquired: boolean }>("select pg_try_advisory_lock($1) as acquired", [
    OWNER_LOCK,
  ]);
  if (rows[0]?.acquired) return;
  await client.end();
  throw new StartError(
    `another server uses the data in ${cluster.directory}; stop it, or choose another DATA_DIR`,
  );
}

async function start(cluster: Cluster, connections: number, port: number) {
  const child = launch(cluster, port, {
    max_connections: String(Math.max(connections, 120)),
    unix_socket_directories: socketFolder(cluster),
  });
  let exited = false;
  const onEnd = () => {
    exited = true;
  };
  child.once("exit", onEnd);
  child.once("error", onEnd);
  // PostgreSQL outlives this process if that is killed, and must not keep it from exiting.
  child.unref();
  const deadline = Date.now() + RECOVERY_TIMEOUT_MS;
  while (!exited && child.pid !== undefined) {
    const client = await connect(cluster, port);
    if (client) return { client, pid: child.pid, port };
    if (Date.now() > deadline) await endProcess(child.pid, "SIGQUIT");
    await sleep(10);
  }
  return undefined;
}
