import { type ChildProcess, execFileSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findBinaries } from "../database/binaries.ts";
import { type Cluster, clusterUrl, createCluster, lastLogLine, launch } from "../database/cluster.ts";
import { databaseAccount } from "../database/system-account.ts";
import { eventually } from "./eventually.ts";
import { freePort } from "./free-port.ts";
import { withClient } from "./postgres-cluster.ts";

/** A PostgreSQL and its synchronous standby: what is committed on one is on the other (PostgreSQL manual, 26.2.8). */
export interface PostgresPair {
  /** The address of both, the first primary first. */
  url: string;
  /** Their addresses, one by one. */
  urls: readonly [string, string];
  /** Kills the primary, as a crash of its machine does. */
  killPrimary(): void;
  /** Stops the primary where it is (SIGSTOP). It is resumed when the pair is stopped. */
  pausePrimary(): void;
  resumePrimary(): void;
  /** Makes the standby the primary, which waits for no standby. */
  promote(): Promise<void>;
  stop(): Promise<void>;
}

const settings = {
  shared_buffers: "64MB",
  wal_level: "replica",
  max_wal_senders: "4",
  max_connections: "200",
  hot_standby: "on",
  wal_receiver_timeout: "5s",
};

const REPLICATOR = "replicator";

export async function startPostgresPair(): Promise<PostgresPair> {
  const folder = mkdtempSync(join(tmpdir(), "stile pair "));
  const account = databaseAccount(join(folder, "data"));
  if (account) chownSync(folder, account.uid, account.gid);
  const clusterAt = (name: string): Cluster => ({
    directory: join(folder, name),
    logFile: join(folder, `${name}.log`),
    account,
    binaries: findBinaries(account),
    password: "test",
  });
  const [first, second] = [clusterAt("first"), clusterAt("second")];
  const [port, standbyPort] = [await freePort(), await freePort()];
  const running: ChildProcess[] = [];
  const start = (cluster: Cluster, at: number, more: Record<string, string> = {}) => {
    const child = launch(cluster, at, { ...settings, ...more });
    running.push(child);
    return child;
  };
  const answering = async (url: string, cluster: Cluster, child: ChildProcess) => {
    const ended = once(child, "exit").then(() => {
      throw new Error(`PostgreSQL did not start: ${lastLogLine(cluster)}`);
    });
    await Promise.race([eventually(() => withClient(url, async () => {})), ended]);
    ended.catch(() => {});
  };

  await createCluster(first);
  const child = start(first, port);
  const admin = clusterUrl(first, port, "postgres", "postgres");
  await answering(admin, first, child);
  await withClient(admin, (client) =>
    client.query(`create role ${REPLICATOR} login replication password '${first.password}'`),
  );
  child.kill("SIGINT");
  await once(child, "exit");
  cpSync(first.directory, second.directory, { recursive: true });
  chmodSync(second.directory, 0o700);
  if (account) execFileSync("chown", ["-R", `${account.uid}:${account.gid}`, second.directory]);
  writeFileSync(join(second.directory, "standby.signal"), "");

  const primary = start(first, port, { synchronous_standby_names: "standby", synchronous_commit: "on" });
  await answering(admin, first, primary);
  const standby = start(second, standbyPort, {
    primary_conninfo: `host=127.0.0.1 port=${port} user=${REPLICATOR} password=${first.password} application_name=standby`,
  });
  const standbyAdmin = clusterUrl(second, standbyPort, "postgres", "postgres");
  await answering(standbyAdmin, second, standby);
  await eventually(() =>
    withClient(admin, async (client) => {
      const { rows } = await client.query("select from pg_stat_replication where sync_state = 'sync'");
      if (rows.length === 0) throw new Error("the standby does not follow");
    }),
  );

  const signal = (name: NodeJS.Signals) => {
    const pids = execFileSync("ps", ["-o", "pid=", "--ppid", String(primary.pid)], { encoding: "utf8" });
    for (const pid of [primary.pid, ...pids.trim().split(/\s+/).map(Number)])
      if (pid) process.kill(pid, name);
  };
  let isPaused = false;
  const urls = [clusterUrl(first, port), clusterUrl(second, standbyPort)] as const;
  const resumePrimary = () => {
    if (isPaused) signal("SIGCONT");
    isPaused = false;
  };
  return {
    url: urls[0].replace(`:${port}`, `:${port},127.0.0.1:${standbyPort}`),
    urls,
    killPrimary: () => signal("SIGKILL"),
    pausePrimary() {
      signal("SIGSTOP");
      isPaused = true;
    },
    resumePrimary,
    async promote() {
      await withClient(standbyAdmin, (client) => client.query("select pg_promote()"));
    },
    async stop() {
      resumePrimary();
      for (const one of running) {
        if (one.exitCode !== null || one.signalCode !== null) continue;
        one.kill("SIGQUIT");
        await once(one, "exit");
      }
      if (standby.exitCode === null && standby.signalCode === null) standby.kill("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
