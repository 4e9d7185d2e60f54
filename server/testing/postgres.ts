import { inject } from "vitest";
import { type Database, openDatabase } from "#db/client";
import { distributedDatabase } from "./distributed-database.ts";
import { copyTemplate } from "./postgres-cluster.ts";

/** A database of one test or test file. */
export interface TestDatabase {
  url: string;
  database: Database;
  /** Closes the pools and drops the database. */
  close(): Promise<void>;
}

/**
 * Creates a migrated database with the default tenant, on the PostgreSQL that the whole run shares; on a Citus cluster of its
 * own where `STILE_TEST_CITUS` is set.
 */
export async function testDatabase(): Promise<TestDatabase> {
  const isOnCitus = process.env.STILE_TEST_CITUS !== undefined;
  const { url, drop } = await (isOnCitus ? distributedDatabase() : copyTemplate(inject("postgres")));
  // Many parallel requests queue for few connections, for long on a slow machine.
  const database = openDatabase(url, 5, () => {}, true, 120_000);
  return {
    url,
    database,
    async close() {
      await database.close();
      await drop();
    },
  };
}
