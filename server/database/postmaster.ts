import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { type Cluster, clusterName, clusterUrl } from "./cluster.ts";
import { commandOf, endProcess, isAlive } from "./processes.ts";

/** A PostgreSQL process that runs on a cluster, as its `postmaster.pid` states. */
export interface Postmaster {
  pid: number;
  port: number;
}

/** A running PostgreSQL with a connection to its database. */
export interface Attached extends Postmaster {
  client: pg.Client;
}

/** Time limit for PostgreSQL to recover from a crash or to shut down. After it the process is ended. */
export const RECOVERY_TIMEOUT_MS = 60_000;

/**
 * Returns the PostgreSQL process that runs on a cluster, or undefined. A `postmaster.pid` of a dead process, or with
 * a process id that another program has now, counts as none; it is rewritten so that the next PostgreSQL can start.
 */
export function runningPostmaster(directory: string): Postmaster | undefined {
  const file = join(directory, "postmaster.pid");
  if (!existsSync(file)) return undefined;
  const lines = readFileSync(file, "utf8").split("\n");
  const pid = Number(lines[0]);
  if (!(pid > 0)) {
    // The file was created but not written, for instance because of a power failure.
    rmSync(file);
    return undefined;
  }
  if (isAlive(pid) && commandOf(pid).includes(directory)) return { pid, port: Number(lines[3]) };
  // PostgreSQL treats the id of its parent process as stale, and then checks that no process uses the shared memory
  // that the file names. Removing the file would skip that check. An unchanged file would make PostgreSQL take a
  // zombie process for a running one.
  writeFileSync(file, [process.pid, ...lines.slice(1)].join("\n"));
  return undefined;
}

/**
 * Connects to the PostgreSQL that runs on the cluster, and waits until it answers. Ends it after
 * `RECOVERY_TIMEOUT_MS`.
 *
 * @returns undefined if none runs, or if it ended
 */
export async function attach(cluster: Cluster): Promise<Attached | undefined> {
  const deadline = Date.now() + RECOVERY_TIMEOUT_MS;
  for (;;) {
    const postmaster = runningPostmaster(cluster.directory);
    if (!postmaster) return undefined;
    const client = await connect(cluster, postmaster.port);
    if (client) return { ...postmaster, client };
    if (Date.now() > deadline) {
      await endProcess(postmaster.pid, "SIGQUIT");
      return undefined;
    }
    await sleep(50);
  }
}

/** Connects as the owner. Returns undefined if PostgreSQL is not ready or another cluster answers on that port. */
export async function connect(cluster: Cluster, port: number): Promise<pg.Client | undefined> {
  if (!Number.isInteger(port) || port < 1) return undefined;
  const client = new pg.Client({
    connectionString: clusterUrl(cluster, port),
    connectionTimeoutMillis: 5_000,
  });
  client.on("error", () => {});
  try {
    await client.connect();
    const { rows } = await client.query<{ name: string }>("select current_setting('cluster_name') as name");
    if (rows[0]?.name === clusterName(cluster.directory)) return client;
  } catch {
    // Starting or shutting down: the caller retries.
  }
  await client.end().catch(() => {});
  return undefined;
}
