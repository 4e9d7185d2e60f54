import { chownSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { configSchema } from "../config/schema.ts";
import { databaseAccount } from "../database/account.ts";
import { findBinaries } from "../database/binaries.ts";
import {
  type Cluster,
  clusterUrl,
  createCluster,
  freePort,
  lastLogLine,
  launch,
  OWNER,
} from "../database/cluster.ts";
import { migrateDatabase } from "../database/migrate.ts";

/** What a test needs to make a database of its own; see `postgres.ts`. */
export interface TestCluster {
  adminUrl: string;
  ownerUrl: string;
  template: string;
}

declare module "vitest" {
  interface ProvidedContext {
    postgres: TestCluster;
  }
}

const template = "stile_template";

/** Crashes lose nothing that a test run would miss, so nothing waits for the disk. */
const hasty = {
  fsync: "off",
  synchronous_commit: "off",
  full_page_writes: "off",
  max_connections: "400",
  shared_buffers: "128MB",
  max_wal_size: "2GB",
};

/** Vitest's global set-up: one PostgreSQL for the whole run, with a migrated database to copy. */
export default async function setup(project: {
  provide: (key: "postgres", value: TestCluster) => void;
}): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), "stile test "));
  const account = databaseAccount(join(folder, "data"));
  if (account) chownSync(folder, account.uid, account.gid);
  const cluster: Cluster = {
    directory: join(folder, "data"),
    logFile: join(folder, "postgres.log"),
    account,
    binaries: findBinaries(account),
    password: "test",
  };
  await createCluster(cluster);
  const port = await freePort();
  const child = launch(cluster, port, hasty);
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const stop = async () => {
    child.kill("SIGINT");
    await exited;
    rmSync(folder, { recursive: true, force: true });
  };
  // A run that is interrupted skips its tear-down.
  process.once("exit", () => child.kill("SIGQUIT"));
  try {
    const adminUrl = clusterUrl(cluster, port, "postgres", "postgres");
    await answering(adminUrl, cluster, () => child.exitCode !== null);
    await withClient(adminUrl, (client) => client.query(`create database ${template} owner ${OWNER}`));
    const config = configSchema.parse({});
    await migrateDatabase(clusterUrl(cluster, port, OWNER, template), {
      id: config.tenant.id,
      name: config.service.name,
    });
    project.provide("postgres", { adminUrl, ownerUrl: clusterUrl(cluster, port), template });
  } catch (error) {
    await stop();
    throw error;
  }
  return stop;
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
