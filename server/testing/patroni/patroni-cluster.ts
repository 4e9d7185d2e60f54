import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  closeSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { programEnvironment } from "../../../scripts/test-programs.ts";
import { type Binaries, findBinaries } from "../../database/binaries.ts";
import { type Cluster, clusterUrl, createCluster } from "../../database/cluster.ts";
import { endProcess } from "../../database/processes.ts";
import { databaseAccount } from "../../database/system-account.ts";
import { eventually } from "../eventually.ts";
import { freePort } from "../free-port.ts";
import { type SeverableProxy, severableProxy } from "../severable-proxy.ts";

/** Debian's Patroni over two PostgreSQL with synchronous replication, and one etcd, in a temporary folder. */
export interface PatroniCluster {
  /** The address of both members, as Stile is given it. */
  url: string;
  members: readonly [PatroniMember, PatroniMember];
  /** Returns the address of the primary itself. */
  primaryUrl(): Promise<string>;
  /** Returns the member that leads, and the one that may take its place. Throws if that is not clear. */
  roles(): Promise<{ leader: PatroniMember; candidate: PatroniMember }>;
  /** Has the standby become the primary, and waits until Patroni says that it is. */
  switchOver(): Promise<void>;
  /** Waits until one member leads and the other one follows it synchronously. */
  synchronized(): Promise<void>;
  stop(): Promise<void>;
}

/** A machine of the cluster: a Patroni, and the PostgreSQL that it runs. */
export interface PatroniMember {
  name: string;
  /** The address of its PostgreSQL, which leads there even if the member is cut off. */
  ownUrl: string;
  /** Whether Patroni says that it is the primary. */
  leads(): Promise<boolean>;
  /** Kills all of its processes, as a crash of the machine does. */
  kill(): void;
  /** Stops all of its processes where they are (SIGSTOP). */
  pause(): void;
  /** Neither etcd, nor the other member, nor Stile reach it from now on, nor it them. It goes on running. */
  cutOff(): void;
  /** Ends `cutOff`. */
  connect(): void;
}

/** The least that Patroni accepts (its manual, "Dynamic configuration settings"), so that tests are quick. */
export const patroniTimes = { ttl: 20, loop_wait: 1, retry_timeout: 3 } as const;

const SCOPE = "stile";

const ASK_TIMEOUT_MS = 1_000;

const dynamicConfiguration = {
  ...patroniTimes,
  synchronous_mode: true,
  postgresql: {
    use_pg_rewind: false,
    parameters: { max_connections: 200, wal_level: "replica", hot_standby: "on" },
  },
};

const parameters = {
  shared_buffers: "64MB",
  unix_socket_directories: "",
  huge_pages: "off",
  jit: "off",
  log_min_messages: "log",
  timezone: "UTC",
};

/** In place of programs of PostgreSQL that the package of the tests lacks. */
const ownPrograms = ["pg_controldata", "pg_isready", "clone_member"];

export async function startPatroniCluster(): Promise<PatroniCluster> {
  const folder = mkdtempSync(join(tmpdir(), "stile-patroni-"));
  const account = databaseAccount(join(folder, "data"));
  const give = (path: string) => {
    if (account) execFileSync("chown", ["-R", `${account.uid}:${account.gid}`, path]);
  };
  give(folder);
  const binaries = findBinaries(account);
  const programs = join(folder, "bin");
  collectPrograms(programs, binaries);

  const run = (program: string, words: readonly string[], log: string): ChildProcess => {
    const output = openSync(join(folder, log), "a");
    try {
      return spawn(program, words, {
        cwd: folder,
        env: { NODE_ENV: "test", PATH: programEnvironment.PATH, HOME: folder, LC_ALL: "C.UTF-8", TZ: "UTC" },
        stdio: ["ignore", output, output],
        ...account,
      });
    } finally {
      closeSync(output);
    }
  };

  const etcdUrl = `http://127.0.0.1:${await freePort()}`;
  const peerUrl = `http://127.0.0.1:${await freePort()}`;
  const etcd = run(
    "etcd",
    [
      ["--name", "one"],
      ["--data-dir", join(folder, "etcd")],
      ["--listen-client-urls", etcdUrl],
      ["--advertise-client-urls", etcdUrl],
      ["--listen-peer-urls", peerUrl],
      ["--initial-advertise-peer-urls", peerUrl],
      ["--initial-cluster", `one=${peerUrl}`],
    ].flat(),
    "etcd.log",
  );
  // Patroni takes what an existing cluster has to be like from here.
  await eventually(() => put(etcdUrl, `/service/${SCOPE}/config`, JSON.stringify(dynamicConfiguration)));

  const first: Cluster = {
    directory: join(folder, "one"),
    logFile: join(folder, "one.log"),
    account,
    binaries,
    password: "test",
  };
  await createCluster(first);
  const second = { ...first, directory: join(folder, "two") };
  cpSync(first.directory, second.directory, { recursive: true });
  chmodSync(second.directory, 0o700);
  give(second.directory);

  const startMember = async (name: string, cluster: Cluster) => {
    const [port, restPort] = [await freePort(), await freePort()];
    const links = {
      etcd: await severableProxy(etcdUrl),
      postgres: await severableProxy(clusterUrl(cluster, port)),
      rest: await severableProxy(`http://127.0.0.1:${restPort}`),
    };
    const configuration = {
      scope: SCOPE,
      name,
      restapi: { listen: `127.0.0.1:${restPort}`, connect_address: hostOf(links.rest) },
      // A list of machines is what etcd itself would name, which no link leads to.
      etcd3: { hosts: [hostOf(links.etcd)], use_proxies: true },
      postgresql: {
        listen: `127.0.0.1:${port}`,
        connect_address: hostOf(links.postgres),
        data_dir: cluster.directory,
        bin_dir: programs,
        pgpass: join(folder, `${name}.pgpass`),
        authentication: {
          superuser: { username: "postgres", password: cluster.password },
          replication: { username: "postgres", password: cluster.password },
        },
        parameters,
        // A former primary may have written what its standby has not got: following, it would confirm commits of the new
        // one that it lacks, and Patroni would take it for the synchronous standby.
        remove_data_directory_on_diverged_timelines: true,
        create_replica_methods: ["clone_member"],
        clone_member: { command: join(programs, "clone_member") },
      },
    };
    const file = join(folder, `${name}.yml`);
    // JSON is YAML.
    writeFileSync(file, JSON.stringify(configuration));
    give(file);
    const patroni = run("patroni", [file], `${name}.patroni.log`);
    return member(name, { cluster, port, restPort, links, patroni });
  };
  const one = await startMember("one", first);
  await eventually(async () => {
    if (!(await one.leads())) throw new Error("the first member does not lead");
  });
  const two = await startMember("two", second);
  const members = [one, two] as const;

  const synchronized = () =>
    eventually(async () => {
      const roles = await rolesOf(members);
      if (!roles.includes("leader") || !roles.includes("sync_standby"))
        throw new Error(`the members are ${roles.join(", ")}`);
    });
  await synchronized();
  const roles = async () => {
    const leads = await Promise.all(members.map((each) => each.leads()));
    const leader = members[leads.indexOf(true)];
    const candidate = members[leads.indexOf(false)];
    if (!leader || !candidate) throw new Error("no member leads, or both");
    return { leader, candidate };
  };
  return {
    url: one.url.replace(/@([^/]+)/, (_, host: string) => `@${host},${hostOf({ url: two.url })}`),
    members,
    synchronized,
    roles,
    primaryUrl: () => eventually(async () => (await roles()).leader.ownUrl),
    async switchOver() {
      const { leader, candidate } = await roles();
      const answer = await fetch(`${leader.restUrl}/switchover`, {
        method: "POST",
        body: JSON.stringify({ leader: leader.name, candidate: candidate.name }),
      });
      if (!answer.ok) throw new Error(`Patroni answered ${answer.status}: ${await answer.text()}`);
    },
    async stop() {
      for (const each of members) await each.end();
      await endChild(etcd);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

interface Links {
  etcd: SeverableProxy;
  postgres: SeverableProxy;
  rest: SeverableProxy;
}

function member(
  name: string,
  {
    cluster,
    port,
    restPort,
    links,
    patroni,
  }: { cluster: Cluster; port: number; restPort: number; links: Links; patroni: ChildProcess },
) {
  const restUrl = `http://127.0.0.1:${restPort}`;
  const parents = () => [
    ...(patroni.pid === undefined ? [] : [patroni.pid]),
    ...processesOf(` -D ${cluster.directory} `),
  ];
  const signal = (kind: NodeJS.Signals) => {
    // One that runs on would start others.
    for (const pid of parents()) process.kill(pid, "SIGSTOP");
    for (const pid of parents().flatMap((parent) => [parent, ...childrenOf(parent)])) process.kill(pid, kind);
  };
  let isPaused = false;
  const resume = () => {
    if (isPaused) signal("SIGCONT");
    isPaused = false;
  };
  return {
    name,
    restUrl,
    url: links.postgres.url,
    ownUrl: clusterUrl(cluster, port),
    async leads() {
      const answer = await ask(`${restUrl}/primary`);
      return answer?.status === 200;
    },
    kill() {
      signal("SIGKILL");
      isPaused = false;
    },
    pause() {
      signal("SIGSTOP");
      isPaused = true;
    },
    cutOff() {
      for (const link of Object.values(links)) link.sever();
    },
    connect() {
      for (const link of Object.values(links)) link.mend();
    },
    async end() {
      resume();
      await endChild(patroni);
      // It may just have started PostgreSQL, or be about to copy a data directory.
      for (const pid of processesOf(cluster.directory)) await endProcess(pid, "SIGQUIT");
      for (const link of Object.values(links)) await link.close();
    },
  };
}

async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}

/** Asks Patroni, which may hang. */
const ask = (url: string) => fetch(url, { signal: AbortSignal.timeout(ASK_TIMEOUT_MS) }).catch(() => null);

/** Roles of the members, as Patroni names them. */
async function rolesOf(members: readonly { restUrl: string }[]): Promise<string[]> {
  for (const { restUrl } of members) {
    const answer = await ask(`${restUrl}/cluster`);
    if (!answer?.ok) continue;
    const { members: all } = (await answer.json()) as { members: { role: string; state: string }[] };
    return all.map(({ role }) => role);
  }
  return [];
}

function collectPrograms(folder: string, { postgres }: Binaries): void {
  mkdirSync(folder, { mode: 0o755 });
  for (const name of ["initdb", "pg_ctl", "postgres"])
    symlinkSync(join(dirname(postgres), name), join(folder, name));
  for (const name of ownPrograms) {
    cpSync(join(import.meta.dirname, name), join(folder, name));
    chmodSync(join(folder, name), 0o755);
  }
}

/** Stores a value in etcd (etcd manual, "gRPC gateway"). */
async function put(url: string, key: string, value: string): Promise<void> {
  const base64 = (text: string) => Buffer.from(text).toString("base64");
  const answer = await fetch(`${url}/v3/kv/put`, {
    method: "POST",
    body: JSON.stringify({ key: base64(key), value: base64(value) }),
  });
  if (!answer.ok) throw new Error(`etcd answered ${answer.status}`);
}

/** The processes whose command line has a text. */
function processesOf(text: string): number[] {
  const all = execFileSync("ps", ["-eo", "pid=,args=", "-ww"], { encoding: "utf8" });
  return all
    .split("\n")
    .filter((line) => `${line} `.includes(text))
    .map((line) => Number.parseInt(line, 10));
}

function childrenOf(pid: number): number[] {
  // It fails if there are none.
  const { stdout } = spawnSync("ps", ["-o", "pid=", "--ppid", String(pid)], { encoding: "utf8" });
  return stdout.trim().split(/\s+/).filter(Boolean).map(Number);
}

const hostOf = ({ url }: { url: string }) => new URL(url).host;
