import { configSchema } from "../config/schema.ts";
import { distribute } from "../database/distribute.ts";
import { migrateDatabase } from "../database/migrate.ts";
import { findCitus, startCitusCluster } from "./citus-cluster.ts";
import { withClient } from "./postgres-cluster.ts";

/**
 * Makes a migrated database with the default tenant in it, distributed on a Citus cluster of its own, of a coordinator and two
 * workers. It takes some ten seconds.
 *
 * @throws Error if Citus is not installed
 */
export async function distributedDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const programs = findCitus();
  if (programs === null) throw new Error("Citus is not installed: see scripts/citus.sh");
  const cluster = await startCitusCluster(programs);
  const [url = ""] = cluster.urls;
  const { tenant, service } = configSchema.parse({});
  await migrateDatabase(url, { id: tenant.id, name: service.name });
  await withClient(url, (client) => distribute(client, async () => {}));
  return { url, drop: () => cluster.stop() };
}
