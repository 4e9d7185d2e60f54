import { rmSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { StartError } from "../config/errors.ts";
import { configSchema } from "../config/schema.ts";
import { migrateDatabase } from "../database/migrate.ts";
import { eventually } from "./eventually.ts";
import { migrateFirst } from "./first-migrations.ts";
import { startTestCluster, withClient } from "./postgres-cluster.ts";
import { fillDisk, runWithSmallDisk, smallDisk } from "./small-disk.ts";

/**
 * Migrates a database with many users whose disk is full, and again once there is room. Prints, a line of JSON, what it was
 * refused with, and the indexes that the second migration has built. `full-disk.test.ts` runs it.
 */

/** Without the indexes of searches of users. */
const FORMER_MIGRATIONS = 42;

const code = runWithSmallDisk();
if (code !== null) process.exit(code);
if (smallDisk === undefined) process.exit(3);

const cluster = await startTestCluster(smallDisk);
try {
  const { adminUrl, ownerUrl } = cluster.cluster;
  await withClient(adminUrl, (client) => client.query("create database filled owner stile"));
  const url = ownerUrl.replace(/[^/]+$/, "filled");
  const { tenant, service } = configSchema.parse({});
  const migrate = () => migrateDatabase(url, { id: tenant.id, name: service.name });
  await migrateFirst(url, FORMER_MIGRATIONS);
  await withClient(url, (client) =>
    client.query(`insert into users (tenant_id, id, name)
        select '${tenant.id}', gen_random_uuid(), repeat('name', 10) || n from generate_series(1, 100000) n`),
  );
  const filler = join(smallDisk, "filler");
  fillDisk(filler);
  // Room for the first steps, and not for an index.
  truncateSync(filler, statSync(filler).size - 4 * 2 ** 20);
  const refused = await migrate().then(
    () => null,
    (error: unknown) => ({ isStartError: error instanceof StartError, message: (error as Error).message }),
  );
  rmSync(filler);
  // PostgreSQL starts again if it could not write its log.
  await eventually(migrate);
  const built = await withClient(url, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      "select indexrelid::regclass::text as name from pg_index where indrelid = 'users'::regclass and indisvalid order by 1",
    );
    return rows.map(({ name }) => name);
  });
  process.stdout.write(`${JSON.stringify({ refused, built })}\n`);
} finally {
  await cluster.stop();
}
