import { sql } from "drizzle-orm";
import { type MigrationMeta, readMigrationFiles } from "drizzle-orm/migrator";
import { drizzle } from "drizzle-orm/node-postgres";
import pg from "pg";
import { type Queryable, schema } from "#db/client";
import { StartError } from "../config/errors.ts";
import { projectPath } from "../lib/project-path.ts";

/** Key of the advisory lock that a migration holds. Any number that no other lock uses. */
const MIGRATION_LOCK = 0x57_11_1e;

/** `server_version_num` of PostgreSQL 15. */
const MIN_SERVER_VERSION = 150_000;

/**
 * Migrates a database and creates or renames the default tenant. If several servers start concurrently, one migrates
 * and the others wait for it.
 *
 * @param url a database of PostgreSQL 15 or newer
 * @param tenant the default tenant with its configured name
 * @throws StartError if the database cannot be reached or is too old
 */
export async function migrateDatabase(url: string, tenant: { id: string; name: string }): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
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
    const migrations = readMigrationFiles({ migrationsFolder: migrationsFolder() });
    await drizzle({ client, schema }).transaction(async (tx) => {
      await tx.execute(sql`select pg_advisory_xact_lock(${MIGRATION_LOCK})`);
      await applyMigrations(tx, migrations);
      await tx
        .insert(schema.tenants)
        .values(tenant)
        .onConflictDoUpdate({ target: schema.tenants.id, set: { name: tenant.name } });
    });
  } finally {
    await client.end();
  }
}

/**
 * Applies the migrations that are missing, in the transaction that holds the lock: a pooler in transaction mode may run
 * the next one in another session. The table is that of drizzle-kit.
 */
async function applyMigrations(tx: Pick<Queryable, "execute">, migrations: MigrationMeta[]): Promise<void> {
  await tx.execute(sql`create schema if not exists drizzle`);
  await tx.execute(sql`create table if not exists drizzle.__drizzle_migrations
    (id serial primary key, hash text not null, created_at bigint)`);
  const { rows } = await tx.execute<{ newest: string | null }>(
    sql`select max(created_at) as newest from drizzle.__drizzle_migrations`,
  );
  const newest = Number(rows[0]?.newest ?? -1);
  for (const { sql: statements, hash, folderMillis } of migrations) {
    if (folderMillis <= newest) continue;
    for (const statement of statements) await tx.execute(sql.raw(statement));
    await tx.execute(
      sql`insert into drizzle.__drizzle_migrations (hash, created_at) values (${hash}, ${folderMillis})`,
    );
  }
}

/** Returns the folder of the migrations that `npm run migration` generates. */
function migrationsFolder(): string {
  const folder = projectPath("db", "migrations");
  if (folder === null) throw new StartError("the folder db/migrations is missing");
  return folder;
}

function messageOf(error: unknown): string {
  // Node tries every address of a host and reports all errors together, with an empty message.
  const first = error instanceof AggregateError ? error.errors[0] : error;
  return first instanceof Error ? first.message : String(first);
}
