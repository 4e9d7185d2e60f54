import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { type Cluster, clusterName, clusterUrl } from "./cluster.ts";
import { commandOf, endProcess, isAlive } from "./processes.ts";

/** A PostgreSQL that runs on a cluster, as its `postmaster.pid` tells. */
export interface Postmaster {
  pid: number;
  port: number;
}

/** A connection to a cluster's own database, and the process at its other end. */
export interface Attached extends Postmaster {
  client: pg.Client;
}

/** How long PostgreSQL may take to recover from a crash, or to come to its end, before it is replaced. */
export const PATIENCE_MS = 60_000;

/**
 * Reads who runs on a cluster. The file that a dead process left, or one whose process id now belongs to another
 * program, counts as nobody and is handed over to the next PostgreSQL.
 */
export function runningPostmaster(directory: string): Postmaster | undefined {
  const file = join(directory, "postmaster.pid");
  if (!existsSync(file)) return undefined;
  const lines = readFileSync(file, "utf8").split("\n");
  const pid = Number(lines[0]);
  if (!(pid > 0)) {
    // A loss of power came between the making of the file and its first byte.
    rmSync(file);
    return undefined;
  }
  if (isAlive(pid) && commandOf(pid).includes(directory)) return { pid, port: Number(lines[3]) };
  // PostgreSQL takes its parent's id for a left-over, and goes on to check that no process still uses the shared
  // memory that the file names. Removing the file would skip that check; leaving it would make a process that has
  // ended, but that nobody has waited for yet, look alive.
  writeFileSync(file, [process.pid, ...lines.slice(1)].join("\n"));
  return undefined;
}

/**
 * Waits until a process that runs on the cluster answers, and gives the connection; undefined when there is none,
 * or none any more. One that neither answers nor ends within a minute is made to end.
 */
export async function attach(cluster: Cluster): Promise<Attached | undefined> {
  const deadline = Date.now() + PATIENCE_MS;
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

/** Connects as the owner; undefined while PostgreSQL is not ready, or when another cluster answers on that port. */
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
    // Not ready yet, or on its way out; the caller looks again.
  }
  await client.end().catch(() => {});
  return undefined;
}
