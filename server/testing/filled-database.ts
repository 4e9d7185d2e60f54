import { getTableColumns, getTableName } from "drizzle-orm";
import { tables } from "#db/tables";
import { configSchema } from "../config/schema.ts";
import { insertAnyRow } from "./any-row.ts";
import { grow } from "./growth.ts";
import { testJobs } from "./jobs.ts";
import type { TestDatabase } from "./postgres.ts";
import { withClient } from "./postgres-cluster.ts";

/** Fills a migrated database: rows in every table, some of them with text that needs escapes, and a mail that waits in the queue. */
export async function fillDatabase({ url, database }: Pick<TestDatabase, "url" | "database">): Promise<void> {
  const tenantId = configSchema.parse({}).tenant.id;
  await withClient(url, (client) =>
    grow(client, tenantId, { users: 30, flows: 30, sessions: 30, auditEntries: 30, others: 30 }),
  );
  for (const table of tables) {
    const name = getTableName(table);
    if ((await database.read.$client.query(`select from ${name} limit 1`)).rowCount) continue;
    await insertAnyRow(database, name, {
      ...("tenantId" in getTableColumns(table) ? { tenant_id: `'${tenantId}'` } : {}),
      ...(name === "releases" ? { version: "'0.2.0'", oldest_beside: "'0.1.0'" } : {}),
    });
  }
  await database.write.$client.query(
    "update users set name = E'tab\\t line\\n back\\\\slash \\\\N \\\\. ü 😀', given_name = '', family_name = null where name like '%7'",
  );
  const jobs = testJobs({ database });
  await jobs.start({ worker: false });
  await database.write.transaction((tx) =>
    jobs.enqueue(
      tx,
      {
        name: "send_mail",
        tenantId,
        to: "waiting@example.com",
        language: "en",
        mail: { type: "email_login_attempted" },
      },
      null,
    ),
  );
  await jobs.stop();
}

/** Creates an empty database beside another one, on the PostgreSQL that the whole run shares. */
export async function emptyDatabase(adminUrl: string, besideUrl: string): Promise<string> {
  const name = `empty_${Math.random().toString(16).slice(2)}`;
  await withClient(adminUrl, (client) =>
    client.query(`create database ${name} owner stile template template0`),
  );
  return besideUrl.replace(/[^/]+$/, name);
}

/** What a database holds, as text: every row of every table of the service and of its queue, in an order of its own. */
export async function contentOf(url: string): Promise<Record<string, string[]>> {
  return withClient(url, async (client) => {
    const content: Record<string, string[]> = {};
    for (const name of [...tables.map((table) => getTableName(table)), "pgboss.job", "pgboss.queue"]) {
      const { rows } = await client.query<{ row: string }>(`select t::text as row from ${name} t order by 1`);
      content[name] = rows.map(({ row }) => row);
    }
    return content;
  });
}
