import { drizzle } from "drizzle-orm/node-postgres";
import { migrate as applyMigrations } from "drizzle-orm/node-postgres/migrator";
import pg from "pg";
import { schema } from "#db/client";
import { StartError } from "../config/errors.ts";
import { projectPath } from "../lib/project-path.ts";

/** Any number; whoever migrates this database takes the lock of this key. */
const MIGRATION_LOCK = 0x57_11_1e;

/**
 * Brings a database up to date and makes sure that the default tenant is in it. Several servers may start at
 * once: one migrates, the others wait for it and find nothing left to do.
 *
 * @param url a PostgreSQL 15 or newer
 * @param tenant the default tenant; a name that changed is written anew
 * @throws StartError when the database cannot be reached or is too old
 */
export async function migrateDatabase(url: string, tenant: { id: string; name: string }): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  // A connection that breaks also fails the statement that waits on it.
  client.on("error", () => {});
  try {
    await client.connect();
  } catch (error) {
    throw new StartError(`the database cannot be reached: ${reason(error)}`);
  }
  try {
    const { rows } = await client.query<{ version: number }>(
      "select current_setting('server_version_num')::int as version",
    );
    if ((rows[0]?.version ?? 0) < 150_000) throw new StartError("the database is older than PostgreSQL 15");
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

/** The migrations that `npm run migration` generates. */
function migrationsFolder(): string {
  const folder = projectPath("db", "migrations");
  if (folder === null) throw new StartError("the folder db/migrations is missing");
  return folder;
}

function reason(error: unknown): string {
  // Node tries every address of a host and reports all failures at once, with an empty message.
  const first = error instanceof AggregateError ? error.errors[0] : error;
  return first instanceof Error ? first.message : String(first);
}
