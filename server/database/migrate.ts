import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type MigrationMeta, readMigrationFiles } from "drizzle-orm/migrator";
import pg from "pg";
import type { Logger } from "pino";
import { isDiskFull, isLockTimeout, isRetryable } from "#db/errors";
import { StartError } from "../config/errors.ts";
import { projectPath } from "../lib/project-path.ts";
import { sha256 } from "../lib/sha256.ts";
import {
  buildIndex,
  claimBuild,
  createBuildClaims,
  forgetBuild,
  isLongBuild,
  isValidIndex,
  type NewIndex,
  newIndex,
} from "./index-builds.ts";
import { unitsOf } from "./migration-units.ts";
import { refuseMoved } from "./moved.ts";
import { ReadOnlyError } from "./read-only.ts";
import { OutgrownError, outgrownBy, type Release, readReleases, thisRelease } from "./releases.ts";

/** Key of the advisory lock of a migration. Any number that no other lock uses. */
const MIGRATION_LOCK = 0x57_11_1e;

/** `server_version_num` of PostgreSQL 15. */
const MIN_SERVER_VERSION = 150_000;

/** How long a statement waits for a lock, and with it every later statement on the table, such as a login's. */
const LOCK_TIMEOUT_MS = 2_000;

/** Pauses between attempts to get a lock: they double up to a limit, and half of each is random. */
const FIRST_PAUSE_MS = 250;
const MAX_PAUSE_MS = 5_000;

/** The time after which a lock that is not obtained ends the migration. */
const GIVE_UP_MS = 600_000;

/** Longest wait for the lease of a server of release 0.2 to end: longer than one that was killed has left. */
const LEASE_OF_02_MS = 70_000;

/** The pause before looking again whether it has ended. */
const LEASE_PAUSE_MS = 1_000;

/** The pause before looking again whether another process has finished its migration, or the index that it builds. */
const BUSY_PAUSE_MS = 100;
const BUILD_PAUSE_MS = 1_000;

/** A migration, with the name of its file. */
interface Migration extends MigrationMeta {
  name: string;
}

export interface MigrationOptions {
  log?: Pick<Logger, "info" | "warn">;
  /** How long the migration tries to get one lock, in milliseconds. Default: ten minutes. */
  giveUpMs?: number;
  /** Replaces this version, for tests. */
  release?: Release;
}

/**
 * Migrates a database while servers use it, creates or renames the default tenant, and states which versions may run
 * beside this one. If several servers start concurrently, they take turns.
 *
 * Each step of a migration is a transaction that waits two seconds for its lock, then lets others through and tries
 * again. One that is interrupted goes on where it stopped (decision 63).
 *
 * If nothing is to be done, nothing is written: a read-only database is accepted as it is, the former name of its default
 * tenant included.
 *
 * @param url a database of PostgreSQL 15 or newer
 * @param tenant the default tenant with its configured name
 * @throws StartError if the database cannot be reached, is too old or a worker of a cluster, or a lock cannot be obtained; ReadOnlyError if it
 *   is read-only and has to be migrated; OutgrownError if a later release has used it that this version may not run beside
 */
export async function migrateDatabase(
  url: string,
  tenant: { id: string; name: string },
  options: MigrationOptions = {},
): Promise<void> {
  await withConnection(url, (client) => migrate(client, url, readMigrations(), tenant, options));
}

/**
 * Runs work on a connection of its own.
 *
 * @param url a database of PostgreSQL 15 or newer
 * @throws StartError if the database cannot be reached, or is too old
 */
export async function withConnection<Result>(
  url: string,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000, keepAlive: true });
  // A failed connection also rejects the statement that is running.
  client.on("error", () => {});
  try {
    await client.connect();
  } catch (error) {
    throw new StartError(`the database cannot be reached: ${messageOf(error)}`);
  }
  try {
    const { rows } = await client.query<{ version: number }>(
      "select current_setting('server_version_num')::int as version",
    );
    if ((rows[0]?.version ?? 0) < MIN_SERVER_VERSION)
      throw new StartError("the database is older than PostgreSQL 15");
    return await work(client);
  } finally {
    await client.end();
  }
}

/** A step of the whole migration, in one transaction. */
interface Step {
  /** For the log and for errors. */
  name: string;
  /** What has to be built before, outside of a transaction. */
  index?: NewIndex | undefined;
  run(): Promise<void>;
}

async function migrate(
  client: pg.Client,
  url: string,
  migrations: Migration[],
  tenant: { id: string; name: string },
  { log, giveUpMs = GIVE_UP_MS, release = thisRelease() }: MigrationOptions,
): Promise<void> {
  await refuseMoved(client);
  let isDone = await isMigrated(client, migrations, tenant, release);
  const finish = async () => {
    await client.query(
      `insert into tenants (id, name) values ($1, $2)
      on conflict (id) do update set name = excluded.name where tenants.name <> excluded.name`,
      [tenant.id, tenant.name],
    );
    isDone = true;
  };

  const builder = randomUUID();
  /** Since when the current step has not obtained its lock. */
  let waitingSince: number | null = null;
  let attempts = 0;
  while (!isDone) {
    let step: Step | null = null;
    let isBuilding = false;
    // Before each step, because one may take hours.
    await outliveRelease02(client, log);
    await client.query("begin");
    try {
      const { rows } = await client.query(`select pg_try_advisory_xact_lock(${MIGRATION_LOCK}) as locked`);
      if (rows[0]?.locked) {
        const by = outgrownBy(release.version, await readReleases(client));
        if (by) throw new OutgrownError(release, by);
        const next = await nextStep(client, migrations);
        step = next ?? { name: "the default tenant", run: finish };
        if (step.index) isBuilding = await claimBuild(client, step.index, builder);
        else {
          await client.query(`set local lock_timeout = '${LOCK_TIMEOUT_MS}ms'`);
          await step.run();
          if (next) log?.info({ migration: step.name }, "migrated");
        }
      }
      await client.query("commit");
      if (!step) await pause(BUSY_PAUSE_MS);
      else if (step.index && !isBuilding) await pause(BUILD_PAUSE_MS);
      else if (step.index)
        await buildIndex(client, step.index, builder, (work) => withConnection(url, work), log);
      waitingSince = null;
      attempts = 0;
    } catch (error) {
      await client.query("rollback").catch(() => {});
      isDone = false;
      if (isDiskFull(error))
        throw new StartError(
          `the disk of the database is full${step ? ` (${step.name})` : ""}: make room and start again, the migration goes on where it stopped`,
        );
      if (!step || !(isLockTimeout(error) || isRetryable(error))) throw error;
      waitingSince ??= performance.now();
      if (performance.now() - waitingSince > giveUpMs)
        throw new StartError(
          `the migration ${step.name} got no lock in ${Math.round(giveUpMs / 1000)} s: end the transaction that holds it (pg_stat_activity)`,
        );
      const longest = Math.min(FIRST_PAUSE_MS * 2 ** attempts++, MAX_PAUSE_MS);
      const pauseMs = Math.round(longest * (0.5 + Math.random() / 2));
      log?.warn(
        { migration: step.name, reason: messageOf(error), pause_ms: pauseMs },
        "a migration did not get its lock and tries again",
      );
      await pause(pauseMs);
    }
  }
}

/**
 * Waits until no server of release 0.2 runs. It does not know the table of releases, so it would go on, beside a version that
 * it does not understand.
 *
 * @throws StartError if one goes on to run
 */
async function outliveRelease02(client: pg.Client, log: MigrationOptions["log"]): Promise<void> {
  const { rows: tables } = await client.query<{ found: string | null }>(
    "select to_regclass('instances') as found",
  );
  if (tables[0]?.found === null) return;
  const began = performance.now();
  for (;;) {
    // Its leases name no version: the column is of a later migration.
    const { rows } = await client.query(
      `select 1 from instances
      where to_jsonb(instances) ->> 'version' is null and leased_until > statement_timestamp() limit 1`,
    );
    if (rows.length === 0) return;
    if (performance.now() - began > LEASE_OF_02_MS)
      throw new StartError(
        "a server of release 0.2 uses this database: replace it by release 0.3 first, as docs/upgrades.md says, or stop it",
      );
    log?.warn({ reason: "a server of release 0.2 runs, or was killed a minute ago" }, "the migration waits");
    await pause(LEASE_PAUSE_MS);
  }
}

/**
 * Whether nothing is to be done, found out by reading alone.
 *
 * @throws ReadOnlyError if something is to be done on a read-only database, and StartError if it is to be done at another node
 */
async function isMigrated(
  client: pg.Client,
  migrations: readonly Migration[],
  tenant: { id: string; name: string },
  release: Release,
): Promise<boolean> {
  const by = outgrownBy(release.version, await readReleases(client));
  if (by) throw new OutgrownError(release, by);
  const { rows: found } = await client.query<{ isReadOnly: boolean; hasMigrations: boolean }>(
    `select current_setting('transaction_read_only')::boolean as "isReadOnly",
      to_regclass('drizzle.__drizzle_migrations') is not null as "hasMigrations"`,
  );
  const { isReadOnly = false, hasMigrations = false } = found[0] ?? {};
  const newest = hasMigrations ? await newestMigration(client) : NONE;
  if (migrations.every(({ folderMillis }) => folderMillis <= newest)) {
    const { rows } = await client.query<{ name: string }>("select name from tenants where id = $1", [
      tenant.id,
    ]);
    if (rows[0] && (isReadOnly || rows[0].name === tenant.name)) return true;
  } else await refuseWorker(client);
  if (isReadOnly)
    throw new ReadOnlyError("migrate it where it takes writes, with stile migrate of this version");
  return false;
}

/** A worker of a Citus cluster makes tables that no other node knows: tables are changed at the coordinator. */
async function refuseWorker(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ hasCitus: boolean }>(
    `select to_regproc('pg_catalog.citus_is_coordinator') is not null as "hasCitus"`,
  );
  if (!rows[0]?.hasCitus) return;
  const { rows: nodes } = await client.query<{ isCoordinator: boolean }>(
    `select citus_is_coordinator() as "isCoordinator"`,
  );
  if (!nodes[0]?.isCoordinator)
    throw new StartError(
      "this node is a worker of a cluster: run stile migrate, and then stile database distribute, at the coordinator",
    );
}

/** The time of a database without migrations. */
const NONE = -1;

/** Returns the time of the newest migration that a database has. */
async function newestMigration(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ newest: string | null }>(
    "select max(created_at) as newest from drizzle.__drizzle_migrations",
  );
  return Number(rows[0]?.newest ?? NONE);
}

/**
 * Returns the next step of the migrations that are missing; null if there is none. An empty database is migrated in one
 * step. The table of migrations is that of drizzle-kit; another one beside it names the units of a migration that has
 * begun.
 */
async function nextStep(client: pg.Client, migrations: Migration[]): Promise<Step | null> {
  await createRecords(client);
  const newest = await newestMigration(client);
  const missing = migrations.filter(({ folderMillis }) => folderMillis > newest);
  const [migration] = missing;
  if (!migration) return null;
  if (newest === NONE) return { name: "all", run: () => applyAll(client, missing) };

  const { rows: done } = await client.query<{ unit: string }>(
    "select unit from drizzle.__stile_migration_units where migration = $1",
    [migration.hash],
  );
  const units = unitsOf(migration.sql).map((statements) => ({ statements, id: idOf(statements) }));
  const unit = units.find(({ id }) => !done.some((one) => one.unit === id));
  const index = unit?.statements.length === 1 ? newIndex(unit.statements[0] as string) : null;
  return {
    name: `${migration.name}${unit ? ` (${units.indexOf(unit) + 1} of ${units.length})` : ""}`,
    index: index && (await isLongBuild(client, index)) ? index : undefined,
    async run() {
      const isBuilt = index !== null && (await isValidIndex(client, index.name));
      if (index && isBuilt) await forgetBuild(client, index);
      for (const statement of isBuilt ? [] : (unit?.statements ?? [])) await client.query(statement);
      if (unit && unit !== units.at(-1))
        await client.query("insert into drizzle.__stile_migration_units values ($1, $2)", [
          migration.hash,
          unit.id,
        ]);
      else await complete(client, migration);
    },
  };
}

async function createRecords(client: pg.Client): Promise<void> {
  await client.query("create schema if not exists drizzle");
  await client.query(`create table if not exists drizzle.__drizzle_migrations
    (id serial primary key, hash text not null, created_at bigint)`);
  await client.query(`create table if not exists drizzle.__stile_migration_units
    (migration text not null, unit text not null, primary key (migration, unit))`);
  await createBuildClaims(client);
}

/** A migration as the database records it. */
export interface MigrationName {
  name: string;
  /** Milliseconds since 1970. */
  time: number;
}

/** The migrations of this version, oldest first. */
export const knownMigrations = (): MigrationName[] =>
  readMigrations().map(({ name, folderMillis }) => ({ name, time: folderMillis }));

/**
 * Returns the time of the newest migration of a database; null if it has none, or one that has begun is not complete.
 *
 * @throws errors of the database
 */
export async function completeMigration(client: pg.Client): Promise<number | null> {
  const { rows } = await client.query<{ hasMigrations: boolean }>(
    `select to_regclass('drizzle.__drizzle_migrations') is not null as "hasMigrations"`,
  );
  if (!rows[0]?.hasMigrations) return null;
  const { rows: begun } = await client.query("select 1 from drizzle.__stile_migration_units limit 1");
  const newest = await newestMigration(client);
  return begun.length > 0 || newest === NONE ? null : newest;
}

/**
 * Migrates an empty database within the transaction of the caller. Servers that start meanwhile wait for its end.
 *
 * @param until time of the last migration to apply
 * @throws StartError if another process migrates the database
 */
export async function createTables(client: pg.Client, until: number): Promise<void> {
  const { rows } = await client.query(`select pg_try_advisory_xact_lock(${MIGRATION_LOCK}) as locked`);
  if (!rows[0]?.locked) throw new StartError("another process migrates this database");
  await createRecords(client);
  await applyAll(
    client,
    readMigrations().filter(({ folderMillis }) => folderMillis <= until),
  );
}

async function applyAll(client: pg.Client, migrations: Migration[]): Promise<void> {
  for (const migration of migrations) {
    for (const statement of migration.sql) await client.query(statement);
    await complete(client, migration);
  }
}

async function complete(client: pg.Client, { hash, folderMillis }: Migration): Promise<void> {
  await client.query("delete from drizzle.__stile_migration_units where migration = $1", [hash]);
  await client.query("insert into drizzle.__drizzle_migrations (hash, created_at) values ($1, $2)", [
    hash,
    folderMillis,
  ]);
}

const idOf = (statements: readonly string[]) => sha256(statements.join("\n;\n")).toString("hex");

/** Reads the migrations that `npm run migration` generates. */
function readMigrations(): Migration[] {
  const folder = projectPath("db", "migrations");
  if (folder === null) throw new StartError("the folder db/migrations is missing");
  const journal = JSON.parse(readFileSync(join(folder, "meta", "_journal.json"), "utf8")) as {
    entries: { tag: string }[];
  };
  return readMigrationFiles({ migrationsFolder: folder }).map((migration, index) => ({
    ...migration,
    name: journal.entries[index]?.tag ?? String(index),
  }));
}

function messageOf(error: unknown): string {
  // Node tries every address of a host and reports all errors together, with an empty message.
  const first = error instanceof AggregateError ? error.errors[0] : error;
  return first instanceof Error ? first.message : String(first);
}
