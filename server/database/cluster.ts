import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
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
import { type AddressInfo, createServer } from "node:net";
import { basename, dirname, join } from "node:path";
import { StartError } from "../config/errors.ts";
import { sha256 } from "../lib/sha256.ts";
import type { Binaries } from "./binaries.ts";
import { isAlive } from "./processes.ts";
import type { SystemAccount } from "./system-account.ts";

/** Name of the database, and of the role that owns it and has no other rights. */
export const OWNER = "stile";

/** A PostgreSQL data directory, and what is needed to run it. */
export interface Cluster {
  directory: string;
  /** Standard output and standard error of PostgreSQL. */
  logFile: string;
  account: SystemAccount | undefined;
  binaries: Binaries;
  /** Password of the owner's role and of the superuser. Letters and digits only. */
  password: string;
}

/** Settings that save memory and keep PostgreSQL's default durability. */
const settings: Record<string, string> = {
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  shared_buffers: "128MB",
  huge_pages: "off",
  io_method: "sync",
  jit: "off",
  max_parallel_workers_per_gather: "0",
  max_logical_replication_workers: "0",
  max_wal_senders: "0",
  wal_level: "minimal",
  max_wal_size: "1GB",
  min_wal_size: "32MB",
  // The server logs errors of statements. Here they would fill the disk and contain input of users.
  log_min_messages: "log",
  log_error_verbosity: "terse",
  log_checkpoints: "off",
  timezone: "UTC",
  log_timezone: "UTC",
};

/** Returns a name that is unique to the directory. PostgreSQL reports it to every client. */
export function clusterName(directory: string): string {
  return `stile-${sha256(directory).toString("hex").slice(0, 16)}`;
}

/** Returns the URL of a database of a cluster that listens on `port`. */
export function clusterUrl(cluster: Cluster, port: number, role = OWNER, database = OWNER): string {
  return `postgres://${role}:${cluster.password}@127.0.0.1:${port}/${database}`;
}

/** Bytes of a socket's path that every platform allows (104 with a terminator on macOS, 108 on Linux). */
const MAX_SOCKET_PATH_BYTES = 103;

/**
 * Returns the folder of the cluster's Unix socket: its data directory, which only its account and root can enter. A
 * connection by it costs less than one over TCP.
 *
 * @returns "" where there is none: on Windows, or if the path is too long or has a character of the list in which
 *   PostgreSQL expects it
 */
export function socketFolder({ directory }: Pick<Cluster, "directory">, platform = process.platform): string {
  const isLong = Buffer.byteLength(socketPath(directory, 65_535)) > MAX_SOCKET_PATH_BYTES;
  return platform === "win32" || isLong || /[",]/.test(directory) ? "" : directory;
}

const socketPath = (folder: string, port: number) => `${folder}/.s.PGSQL.${port}`;

/** Returns the URL of the owner's database by the Unix socket if PostgreSQL has one, else over TCP. */
export function nearestUrl(cluster: Cluster, port: number): string {
  const url = clusterUrl(cluster, port);
  const folder = socketFolder(cluster);
  const path = socketPath(folder, port);
  return folder && existsSync(/* turbopackIgnore: true */ path)
    ? `${url}?host=${encodeURIComponent(folder)}`
    : url;
}

/**
 * Creates the data directory with the owner's role and database. It is created under another name and renamed, so
 * that a directory with the final name is always complete. If two processes create it concurrently, both use the one
 * that was renamed first.
 *
 * @throws StartError with the error message of PostgreSQL's program
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
 * Starts PostgreSQL in its own process group, so that an interrupt from the keyboard reaches only this process, and
 * without the environment of this process, which contains secrets.
 *
 * @param overrides settings that replace the default ones
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
      { ...spawnOptions(cluster), detached: true, stdio: ["ignore", log, log] },
    );
  } finally {
    closeSync(log);
  }
}

/** Returns the last error that PostgreSQL wrote, to report a failed start in one line. */
export function lastLogLine(cluster: Cluster): string {
  if (!existsSync(cluster.logFile)) return "PostgreSQL gave no reason";
  const lines = readFileSync(cluster.logFile, "utf8").trim().split("\n");
  const fatal = lines.findLast((line) => /FATAL|PANIC|error/i.test(line)) ?? lines.at(-1);
  return fatal?.replace(/^.*?(FATAL|PANIC):\s*/, "") || "PostgreSQL gave no reason";
}

/** Returns a TCP port of the loopback address that is currently free. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await once(server.close(), "close");
  return port;
}

/** Removes the files that interrupted starts left beside the data directory. */
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

function spawnOptions(cluster: Cluster) {
  // The account may lack access to the working directory of this process.
  return {
    cwd: dirname(cluster.binaries.postgres),
    env: bareEnvironment as NodeJS.ProcessEnv,
    ...cluster.account,
  };
}

async function run(cluster: Cluster, program: string, parameters: string[], input = ""): Promise<void> {
  const child = spawn(program, parameters, { ...spawnOptions(cluster), stdio: ["pipe", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => (output += chunk.toString()));
  // A program that ends before it has read its input reports the reason in its output.
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  const [code] = await once(child, "close");
  if (code === 0 && !/^.*(ERROR|FATAL):/m.test(output)) return;
  const lines = output.trim().split("\n");
  const reason = lines.find((line) => /error|fatal/i.test(line)) ?? lines.at(-1) ?? "";
  throw new StartError(`setting up the embedded PostgreSQL failed: ${reason.trim()}`);
}
