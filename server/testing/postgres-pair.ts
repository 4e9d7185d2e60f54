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

/** A PostgreSQL and its standby. */
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
  /** Has the standby replay nothing, though it goes on to receive the log (`pg_wal_replay_pause`). */
  pauseReplay(): Promise<void>;
  resumeReplay(): Promise<void>;
  /** Kills the standby, as a crash of its machine does. */
  killStandby(): void;
  /** Starts it again, at the same address, with more settings. */
  restartStandby(more?: Record<string, string>): Promise<void>;
  /** Stops the standby where it is (SIGSTOP). */
  pauseStandby(): void;
  resumeStandby(): void;
  /** Starts the killed primary again as a standby without a primary: it has what it had, and takes no writes. */
  restartPrimaryAsStandby(): Promise<void>;
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

/**
 * @param isSynchronous whether what is committed on one is on the other (PostgreSQL manual, 26.2.8); then the primary
 *   commits nothing without its standby
 * @param ofStandby more settings of the standby
 */
export async function startPostgresPair({
  isSynchronous = true,
  ofStandby = {},
}: {
  isSynchronous?: boolean;
  ofStandby?: Record<string, string>;
} = {}): Promise<PostgresPair> {
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

  const primary = start(first, port, {
    synchronous_standby_names: isSynchronous ? "standby" : "",
    synchronous_commit: "on",
  });
  await answering(admin, first, primary);
  const standbyAdmin = clusterUrl(second, standbyPort, "postgres", "postgres");
  const startStandby = async (more: Record<string, string> = {}) => {
    const started = start(second, standbyPort, {
      primary_conninfo: `host=127.0.0.1 port=${port} user=${REPLICATOR} password=${first.password} application_name=standby`,
      ...ofStandby,
      ...more,
    });
    await answering(standbyAdmin, second, started);
    return started;
  };
  let standby = await startStandby();
  await eventually(() =>
    withClient(admin, async (client) => {
      const { rows } = await client.query("select sync_state from pg_stat_replication");
      if (!rows.some(({ sync_state }) => !isSynchronous || sync_state === "sync"))
        throw new Error("the standby does not follow");
    }),
  );
  const onStandby = (statement: string) =>
    withClient(standbyAdmin, async (client) => void (await client.query(statement)));

  const signal = (name: NodeJS.Signals, { pid: parent } = primary) => {
    const pids = execFileSync("ps", ["-A", "-o", "ppid=,pid="], { encoding: "utf8" });
    const pairs = pids
      .trim()
      .split("\n")
      .map((line) => line.trim().split(/\s+/).map(Number));
    const children = pairs.flatMap(([ppid, pid]) => (ppid === parent ? [pid] : []));
    for (const pid of [parent, ...children]) {
      try {
        if (pid) process.kill(pid, name);
      } catch (error) {
        // It has ended meanwhile.
        if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
      }
    }
  };
  const isRunning = ({ exitCode, signalCode }: ChildProcess) => exitCode === null && signalCode === null;
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
    async restartPrimaryAsStandby() {
      if (isRunning(primary)) await once(primary, "exit");
      writeFileSync(join(first.directory, "standby.signal"), "");
      await answering(admin, first, start(first, port));
    },
    pauseReplay: () => onStandby("select pg_wal_replay_pause()"),
    resumeReplay: () => onStandby("select pg_wal_replay_resume()"),
    killStandby: () => signal("SIGKILL", standby),
    async restartStandby(more) {
      if (isRunning(standby)) await once(standby, "exit");
      standby = await startStandby(more);
    },
    pauseStandby: () => signal("SIGSTOP", standby),
    resumeStandby: () => signal("SIGCONT", standby),
    promote: () => onStandby("select pg_promote()"),
    async stop() {
      resumePrimary();
      for (const one of running.filter(isRunning)) {
        signal("SIGCONT", one);
        one.kill("SIGQUIT");
        await once(one, "exit");
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
