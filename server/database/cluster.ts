import { type ChildProcess, spawn } from "node:child_process";
import {
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { basename, dirname, join } from "node:path";
import { StartError } from "../config/errors.ts";
import { sha256 } from "../lib/sha256.ts";
import type { Account } from "./account.ts";
import type { Binaries } from "./binaries.ts";
import { isAlive } from "./processes.ts";

/** Name of the database, and of the role that owns it and may do nothing beyond it. */
export const OWNER = "stile";

/** A folder of PostgreSQL's data, and what it takes to run it. */
export interface Cluster {
  directory: string;
  /** Where PostgreSQL writes what it has to say. */
  logFile: string;
  account: Account | undefined;
  binaries: Binaries;
  /** Of the owner's role and of the superuser; letters and digits. */
  password: string;
}

/** Small in memory, as durable as PostgreSQL is by default. */
const settings: Record<string, string> = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  shared_buffers: "32MB",
  huge_pages: "off",
  io_method: "sync",
  jit: "off",
  max_parallel_workers_per_gather: "0",
  max_logical_replication_workers: "0",
  max_wal_senders: "0",
  wal_level: "minimal",
  max_wal_size: "256MB",
  min_wal_size: "32MB",
  // Errors of statements reach the server, which logs them; here they would fill the disk and show what people typed.
  log_min_messages: "log",
  log_error_verbosity: "terse",
  log_checkpoints: "off",
  timezone: "UTC",
  log_timezone: "UTC",
};

/** Tells the clusters of one machine apart; PostgreSQL reports it to every client. */
export function clusterName(directory: string): string {
  return `stile-${sha256(directory).toString("hex").slice(0, 16)}`;
}

/** Address of a database of a cluster that listens on `port`. */
export function clusterUrl(cluster: Cluster, port: number, role = OWNER, database = OWNER): string {
  return `postgres://${role}:${cluster.password}@127.0.0.1:${port}/${database}`;
}

/**
 * Makes the data folder, with the owner's role and database in it. It is made under another name and moved, so
 * that a folder of the right name is always complete; of two that make it at once, one wins and both use it.
 *
 * @throws StartError with what PostgreSQL's own program said
 */
export async function createCluster(cluster: Cluster): Promise<void> {
  const staging = `${cluster.directory}.${process.pid}`;
  const passwordFile = `${staging}.password`;
  removeLeftovers(cluster.directory);
  try {
    mkdirSync(staging, { recursive: true, mode: 0o700 });
    writeFileSync(passwordFile, cluster.password, { mode: 0o600 });
    if (cluster.account) {
      chownSync(staging, cluster.account.uid, cluster.account.gid);
      chownSync(passwordFile, cluster.account.uid, cluster.account.gid);
    }
    await run(cluster, cluster.binaries.initdb, [
      `--pgdata=${staging}`,
      `--pwfile=${passwordFile}`,
      "--username=postgres",
      "--auth=scram-sha-256",
      "--encoding=UTF8",
      "--locale=C",
      "--locale-provider=builtin",
      "--builtin-locale=C.UTF-8",
      "--no-instructions",
    ]);
    await run(
      cluster,
      cluster.binaries.postgres,
      ["--single", "-D", staging, "postgres"],
      `create role ${OWNER} login password '${cluster.password}'\ncreate database ${OWNER} owner ${OWNER}\n`,
    );
    renameSync(staging, cluster.directory);
  } catch (error) {
    if (!existsSync(join(/* turbopackIgnore: true */ cluster.directory, "PG_VERSION"))) throw error;
  } finally {
    rmSync(staging, { recursive: true, force: true });
    rmSync(passwordFile, { force: true });
  }
}

/**
 * Starts PostgreSQL in a process group of its own, so that an interrupt from the keyboard reaches this process
 * alone, and without this process's environment, which holds secrets.
 *
 * @param overrides settings that differ from the usual ones
 */
export function launch(cluster: Cluster, port: number, overrides: Record<string, string> = {}): ChildProcess {
  const all = { ...settings, cluster_name: clusterName(cluster.directory), port: String(port), ...overrides };
  const log = openSync(cluster.logFile, "w", 0o600);
  try {
    return spawn(
      cluster.binaries.postgres,
      [
        "-D",
        cluster.directory,
        ...Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`]),
      ],
      { ...foreground(cluster), detached: true, stdio: ["ignore", log, log] },
    );
  } finally {
    closeSync(log);
  }
}

/** The last line PostgreSQL wrote, for the one line that tells of a failed start. */
export function lastLogLine(cluster: Cluster): string {
  if (!existsSync(cluster.logFile)) return "no reason given";
  const lines = readFileSync(cluster.logFile, "utf8").trim().split("\n");
  const fatal = lines.findLast((line) => /FATAL|PANIC|error/i.test(line)) ?? lines.at(-1);
  return fatal?.replace(/^.*?(FATAL|PANIC):\s*/, "") || "no reason given";
}

/** A TCP port of the loopback address that was free a moment ago. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string")
    throw new StartError("the loopback address 127.0.0.1 has no free port");
  return address.port;
}

/** What starts that were killed in the middle left beside the place of the data folder. */
function removeLeftovers(directory: string): void {
  const parent = dirname(directory);
  for (const name of readdirSync(parent)) {
    const [, pid] = name.startsWith(`${basename(directory)}.`)
      ? (/\.(\d+)(\.password)?$/.exec(name) ?? [])
      : [];
    if (pid === undefined || (Number(pid) !== process.pid && isAlive(Number(pid)))) continue;
    rmSync(join(parent, name), { recursive: true, force: true });
  }
}

const bareEnvironment: Record<string, string> = { LC_ALL: "C", TZ: "UTC" };

function foreground(cluster: Cluster) {
  // The account may not be able to enter the folder this process was started in.
  return {
    cwd: dirname(cluster.binaries.postgres),
    env: bareEnvironment as NodeJS.ProcessEnv,
    ...cluster.account,
  };
}

async function run(cluster: Cluster, program: string, parameters: string[], input = ""): Promise<void> {
  const child = spawn(program, parameters, { ...foreground(cluster), stdio: ["pipe", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  // A program that ends before it has read everything says why in its output.
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (code === 0 && !/^.*(ERROR|FATAL):/m.test(output)) return;
  const lines = output.trim().split("\n");
  const reason = lines.find((line) => /error|fatal/i.test(line)) ?? lines.at(-1) ?? "";
  throw new StartError(`the embedded PostgreSQL could not be set up: ${reason.trim()}`);
}
