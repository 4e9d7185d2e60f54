import { pino } from "pino";
import { openDatabase } from "#db/client";
import type { DatabaseHosts } from "#db/hosts";
import { createAuditOutput } from "../audit/audit-output.ts";
import type { Config } from "../config/schema.ts";
import { clusterUrl } from "../database/cluster.ts";
import { prepareCluster } from "../database/data-folder.ts";
import { startEmbedded } from "../database/embedded.ts";
import { locateDatabase } from "../database/locate.ts";
import { type MigrationOptions, migrateDatabase } from "../database/migrate.ts";
import { attach } from "../database/postmaster.ts";
import { asReadOnly } from "../database/read-only.ts";
import { secretKeys } from "../keys/secret-keys.ts";
import { createVault } from "../keys/vault.ts";
import type { Runtime } from "../runtime.ts";
import { systemPlatform } from "../start/platform.ts";
import { createTenants } from "../tenants/tenants.ts";

/** The parts of a runtime that commands use. */
export type CliRuntime = Pick<
  Runtime,
  "config" | "tenant" | "tenants" | "database" | "vault" | "platform" | "auditOutput"
>;

/** Connections of each pool. */
const POOL_SIZE = 3;

/**
 * Migrates the configured database and runs `work` on it. An embedded database that a server runs is shared with it;
 * otherwise one is started until the work is done.
 *
 * @param tell is told of what a migration waits for
 * @throws StartError with one line that says what failed; ReadOnlyError if the work writes and the database takes no
 *   writes
 */
export async function withCliRuntime<Result>(
  config: Config,
  tell: (line: string) => void,
  work: (runtime: CliRuntime) => Promise<Result>,
): Promise<Result> {
  return atDatabase(config, async ({ hosts }) => {
    const tenant = { id: config.tenant.id, name: config.service.name };
    await migrateDatabase(hosts.url, tenant, { log: waitsTold(tell) });
    const { prepared_statements } = config.database;
    const database = openDatabase(hosts, POOL_SIZE, () => {}, prepared_statements);
    try {
      const vault = createVault(secretKeys(config));
      const tenant = { id: config.tenant.id, config };
      const tenants = createTenants({ defaultTenant: tenant, database, vault });
      // Standard output is for the command's own output.
      const auditOutput = createAuditOutput(config, "stderr");
      return await work({ config, tenant, tenants, database, vault, platform: systemPlatform, auditOutput });
    } finally {
      await database.close();
    }
  });
}

/** The log of a migration as lines: of what it waits for and of what takes long, not of each step. */
function waitsTold(tell: (line: string) => void): NonNullable<MigrationOptions["log"]> {
  const line = (fields: object, message?: string) => {
    const said = Object.entries(fields).flatMap(([name, value]) =>
      value === null ? [] : [`${name} ${value}`],
    );
    tell(`${message} (${said.join(", ")})`);
  };
  return {
    info: (fields: object, message?: string) => "index" in fields && line(fields, message),
    warn: line,
  };
}

/** The configured database, as it is: nothing has migrated it. */
export interface ReachedDatabase {
  hosts: DatabaseHosts;
  /** Address of the embedded PostgreSQL as its superuser; null for any other database. */
  adminUrl: string | null;
}

/** Runs `work` on the configured database, which it does not migrate. Errors as of `withCliRuntime`. */
export async function atDatabase<Result>(
  config: Config,
  work: (database: ReachedDatabase) => Promise<Result>,
): Promise<Result> {
  const { url, adminUrl, release } = await reachDatabase(config);
  try {
    return await work({ hosts: await locateDatabase(url), adminUrl });
  } catch (error) {
    throw asReadOnly(error);
  } finally {
    await release();
  }
}

async function reachDatabase(
  config: Config,
): Promise<{ url: string; adminUrl: string | null; release(): Promise<void> }> {
  if (config.database_url) return { url: config.database_url, adminUrl: null, release: async () => {} };
  const cluster = await prepareCluster(config.data_dir);
  const adminUrl = (port: number) => clusterUrl(cluster, port, "postgres", "postgres");
  const running = await attach(cluster);
  if (running) {
    // The server that started it keeps it running.
    await running.client.end();
    return {
      url: clusterUrl(cluster, running.port),
      adminUrl: adminUrl(running.port),
      release: async () => {},
    };
  }
  const silent = pino({ level: "silent" });
  const embedded = await startEmbedded(config.data_dir, 3 * POOL_SIZE, silent);
  return { url: embedded.url, adminUrl: adminUrl(embedded.port), release: () => embedded.stop() };
}
