import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { chownSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { configSchema } from "../config/schema.ts";
import { findBinaries } from "../database/binaries.ts";
import { type Cluster, clusterUrl, createCluster, lastLogLine, launch, OWNER } from "../database/cluster.ts";
import { migrateDatabase } from "../database/migrate.ts";
import { databaseAccount } from "../database/system-account.ts";
import { freePort } from "./free-port.ts";

/** Access to the shared PostgreSQL, in which each test makes its database. */
export interface TestCluster {
  adminUrl: string;
  ownerUrl: string;
  template: string;
  /** Each entry begins with the time, the process and the database. */
  logFile: string;
}

declare module "vitest" {
  interface ProvidedContext {
    postgres: TestCluster;
  }
}

const template = "stile_template";

/** A PostgreSQL that a test has started. */
export interface StartedCluster {
  cluster: TestCluster;
  /** Stops all of its processes where they are (SIGSTOP), until they are resumed. It is resumed before it is stopped. */
  pause(): void;
  resume(): void;
  /** Starts it again as a standby, which takes no writes from then on, and has no primary. */
  becomeStandby(): Promise<void>;
  stop(): Promise<void>;
}

/** Test data need not survive a crash, so no write waits for the disk. */
const crashUnsafeSettings = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  max_connections: "400",
  shared_buffers: "128MB",
  max_wal_size: "2GB",
  log_line_prefix: "%m [%p] %d ",
  // A standby needs its log of writes.
  wal_level: "replica",
};

/** Vitest's global set-up: starts one PostgreSQL for the whole run. */
export default async function setup(project: {
  provide: (key: "postgres", value: TestCluster) => void;
}): Promise<() => Promise<void>> {
  const { cluster, stop } = await startTestCluster();
  project.provide("postgres", cluster);
  return stop;
}

/**
 * Starts one PostgreSQL for a whole run, with a migrated database to copy.
 *
 * @param parent folder for its own folder
 * @param program makes a program that is run in place of PostgreSQL's, of the path of that and the cluster's folder
 */
export async function startTestCluster(
  parent = tmpdir(),
  program: (postgres: string, folder: string) => string = (postgres) => postgres,
): Promise<StartedCluster> {
  const folder = mkdtempSync(join(parent, "stile test "));
  const account = databaseAccount(join(folder, "data"));
  if (account) chownSync(folder, account.uid, account.gid);
  const binaries = findBinaries(account);
  const cluster: Cluster = {
    directory: join(folder, "data"),
    logFile: join(folder, "postgres.log"),
    account,
    binaries: { ...binaries, postgres: program(binaries.postgres, folder) },
    password: "test",
  };
  await createCluster(cluster);
  const port = await freePort();
  let child = launch(cluster, port, crashUnsafeSettings);
  const signal = (name: NodeJS.Signals) => {
    for (const pid of [Number(child.pid), ...childrenOf(Number(child.pid))]) process.kill(pid, name);
  };
  let isPaused = false;
  const resume = () => {
    if (isPaused) signal("SIGCONT");
    isPaused = false;
  };
  const end = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    resume();
    child.kill("SIGINT");
    await once(child, "exit");
  };
  const stop = async () => {
    await end();
    rmSync(folder, { recursive: true, force: true });
  };
  // A run that is interrupted skips its tear-down.
  process.once("exit", () => {
    resume();
    child.kill("SIGQUIT");
  });
  try {
    const adminUrl = clusterUrl(cluster, port, "postgres", "postgres");
    await answering(adminUrl, cluster, () => child.exitCode !== null);
    await withClient(adminUrl, (client) => client.query(`create database ${template} owner ${OWNER}`));
    const config = configSchema.parse({});
    await migrateDatabase(clusterUrl(cluster, port, OWNER, template), {
      id: config.tenant.id,
      name: config.service.name,
    });
    return {
      cluster: { adminUrl, ownerUrl: clusterUrl(cluster, port), template, logFile: cluster.logFile },
      pause() {
        isPaused = true;
        signal("SIGSTOP");
      },
      resume,
      async becomeStandby() {
        await end();
        writeFileSync(join(cluster.directory, "standby.signal"), "");
        child = launch(cluster, port, crashUnsafeSettings);
        await answering(adminUrl, cluster, () => child.exitCode !== null);
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The processes that a process has started. */
function childrenOf(parent: number): number[] {
  const lines = execFileSync("ps", ["-A", "-o", "ppid=,pid="], { encoding: "utf8" }).trim().split("\n");
  const pairs = lines.map((line) => line.trim().split(/\s+/).map(Number));
  return pairs.flatMap(([ppid, pid]) => (ppid === parent && pid !== undefined ? [pid] : []));
}

/**
 * Makes a fresh, migrated database with the default tenant in it, in some ten milliseconds. One that is not dropped goes
 * with the run.
 */
export async function copyTemplate({
  adminUrl,
  ownerUrl,
  template,
}: TestCluster): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `test_${randomUUID().replaceAll("-", "")}`;
  const asAdmin = (statement: string) => withClient(adminUrl, (client) => client.query(statement));
  // Copying the files takes half the time that logging their content does.
  await asAdmin(`create database ${name} template ${template} owner ${OWNER} strategy file_copy`);
  return {
    url: ownerUrl.replace(/[^/]+$/, name),
    drop: async () => void (await asAdmin(`drop database ${name} with (force)`)),
  };
}

export async function withClient<Result>(
  url: string,
  use: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await use(client);
  } finally {
    await client.end();
  }
}

async function answering(url: string, cluster: Cluster, gone: () => boolean): Promise<void> {
  for (;;) {
    try {
      return await withClient(url, async () => {});
    } catch {
      if (gone()) throw new Error(`the tests' PostgreSQL did not start: ${lastLogLine(cluster)}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
