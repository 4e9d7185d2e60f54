import { readFileSync } from "node:fs";
import { join } from "node:path";
import { configSchema } from "../config/schema.ts";
import { withClient } from "./postgres-cluster.ts";

const folder = join(import.meta.dirname, "../../db/migrations");

/**
 * Gives an empty database the first migrations alone, as a former version left it, and the default tenant.
 *
 * @param count of migrations
 */
export async function migrateFirst(url: string, count: number): Promise<void> {
  const { entries } = JSON.parse(readFileSync(join(folder, "meta/_journal.json"), "utf8")) as {
    entries: { tag: string; when: number }[];
  };
  const { tenant, service } = configSchema.parse({});
  await withClient(url, async (client) => {
    await client.query(`create schema drizzle;
      create table drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint)`);
    for (const { tag, when } of entries.slice(0, count)) {
      await client.query(readFileSync(join(folder, `${tag}.sql`), "utf8"));
      await client.query("insert into drizzle.__drizzle_migrations (hash, created_at) values ($1, $2)", [
        tag,
        when,
      ]);
    }
    await client.query("insert into tenants (id, name) values ($1, $2)", [tenant.id, service.name]);
  });
}
