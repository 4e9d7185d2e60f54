import { drizzle } from "drizzle-orm/node-postgres";
import { migrate as applyMigrations } from "drizzle-orm/node-postgres/migrator";
import pg from "pg";
import { schema } from "#db/client";
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
    await client.query("select pg_advisory_lock($1)", [MIGRATION_LOCK]);
    const database = drizzle({ client, schema });
    await applyMigrations(database, { migrationsFolder: migrationsFolder() });
    await database
      .insert(schema.tenants)
      .values(tenant)
      .onConflictDoUpdate({ target: schema.tenants.id, set: { name: tenant.name } });
  } finally {
    await client.end();
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
