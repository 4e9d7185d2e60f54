import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  appendFileSync,
  chownSync,
  closeSync,
  cpSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { databaseAccount } from "../database/system-account.ts";
import { eventually } from "./eventually.ts";
import { freePort } from "./free-port.ts";
import { withClient } from "./postgres-cluster.ts";

/** A Citus cluster: a coordinator without shards, and workers. Each node knows where all shards are. */
export interface CitusCluster {
  /** Addresses of the database of the owner, the coordinator's first. */
  urls: readonly string[];
  /** The same of a superuser. */
  adminUrls: readonly string[];
  /** The processes of the nodes, in the order of their addresses. */
  pids(): number[];
  /** What PostgreSQL has logged on all nodes. */
  logs(): string;
  /** Kills a node, as a machine that is gone. The coordinator is node 0. */
  kill(node: number): Promise<void>;
  /** Starts a killed node again. */
  revive(node: number): Promise<void>;
  stop(): Promise<void>;
}

const settings = {
  shared_preload_libraries: "citus",
  listen_addresses: "127.0.0.1",
  unix_socket_directories: "",
  shared_buffers: "64MB",
  max_connections: "200",
  max_prepared_transactions: "200",
  wal_level: "logical",
  fsync: "off",
  jit: "off",
  timezone: "UTC",
  log_min_messages: "error",
  "citus.shard_count": "8",
  "citus.node_conninfo": "sslmode=prefer",
};

/** The folder of the programs of a PostgreSQL with Citus, which `scripts/citus.sh` builds; null if there is none. */
export function findCitus(): string | null {
  const debian = "/usr/lib/postgresql";
  const versions = existsSync(debian) ? readdirSync(debian).toSorted().reverse() : [];
  const programs = versions.map((version) => join(debian, version, "bin/pg_config"));
  for (const program of [process.env.PG_CONFIG ?? "pg_config", ...programs]) {
    try {
      const [bin = "", share = ""] = execFileSync(program, ["--bindir", "--sharedir"], {
        encoding: "utf8",
        stdio: ["ignore", "pipe", "ignore"],
      }).split("\n");
      if (existsSync(join(share, "extension/citus.control"))) return bin;
    } catch {
      // This one is not installed.
    }
  }
  return null;
}

/**
 * @param programs as `findCitus` found them
 * @param workers 0: the coordinator alone, whose database cannot be distributed
 */
export async function startCitusCluster(programs: string, workers = 2): Promise<CitusCluster> {
  const folder = mkdtempSync(join(tmpdir(), "stile citus "));
  const account = databaseAccount(join(folder, "data"));
  if (account) chownSync(folder, account.uid, account.gid);
  const run = { cwd: folder, env: { LC_ALL: "C", TZ: "UTC" } as unknown as NodeJS.ProcessEnv, ...account };
  const directoryOf = (node: number) => join(folder, `node-${node}`);
  const logOf = (node: number) => join(folder, `node-${node}.log`);

  const template = directoryOf(0);
  const options = ["--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync", "-U", "postgres"];
  execFileSync(join(programs, "initdb"), [`--pgdata=${template}`, ...options], { ...run, stdio: "ignore" });
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`);
  appendFileSync(join(template, "postgresql.conf"), lines.join(""));
  const nodes: { port: number; child: ChildProcess }[] = [];
  const spawnNode = (node: number, port: number) => {
    const log = openSync(logOf(node), "a", 0o600);
    const child = spawn(join(programs, "postgres"), ["-D", directoryOf(node), "-p", String(port)], {
      ...run,
      detached: true,
      stdio: ["ignore", log, log],
    });
    closeSync(log);
    return { port, child };
  };
  for (let node = 0; node <= workers; node += 1) {
    if (node > 0) {
      cpSync(template, directoryOf(node), { recursive: true, preserveTimestamps: true });
      if (account) execFileSync("chown", ["-R", `${account.uid}:${account.gid}`, directoryOf(node)]);
      execFileSync("chmod", ["700", directoryOf(node)]);
    }
  }
  for (let node = 0; node <= workers; node += 1) {
    nodes.push(spawnNode(node, await freePort()));
  }
  const end = () => {
    for (const { child } of nodes) if (child.exitCode === null && !child.signalCode) child.kill("SIGQUIT");
  };
  // A run that is interrupted skips its tear-down.
  process.once("exit", end);
  const urlOf = ({ port }: { port: number }, role: string, database: string) =>
    `postgres://${role}@127.0.0.1:${port}/${database}`;
  for (const node of nodes) {
    const admin = urlOf(node, "postgres", "postgres");
    await eventually(() => withClient(admin, async () => {}));
    await withClient(admin, async (client) => {
      await client.query("set citus.enable_create_role_propagation to off");
      await client.query("create role stile login");
      await client.query("set citus.enable_create_database_propagation to off");
      await client.query("create database stile owner stile");
    });
    await withClient(urlOf(node, "postgres", "stile"), (client) => client.query("create extension citus"));
  }
  const adminUrls = nodes.map((node) => urlOf(node, "postgres", "stile"));
  await withClient(adminUrls[0] ?? "", async (client) => {
    await client.query("select citus_set_coordinator_host('127.0.0.1', $1)", [nodes[0]?.port]);
    for (const { port } of nodes.slice(1))
      await client.query("select citus_add_node('127.0.0.1', $1)", [port]);
  });
  return {
    urls: nodes.map((node) => urlOf(node, "stile", "stile")),
    adminUrls,
    pids: () => nodes.flatMap(({ child: { pid } }) => pid ?? []),
    logs: () => nodes.map((_, node) => readFileSync(logOf(node), "utf8")).join("\n"),
    async kill(node) {
      const child = nodes[node]?.child;
      if (child?.pid === undefined) return;
      // The processes of its connections are of its group.
      process.kill(-child.pid, "SIGKILL");
      await once(child, "exit");
    },
    async revive(node) {
      const { port = 0 } = nodes[node] ?? {};
      const revived = spawnNode(node, port);
      nodes[node] = revived;
      await eventually(() => withClient(urlOf(revived, "stile", "stile"), async () => {}));
    },
    async stop() {
      process.removeListener("exit", end);
      end();
      for (const { child } of nodes)
        if (child.exitCode === null && !child.signalCode) await once(child, "exit");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
