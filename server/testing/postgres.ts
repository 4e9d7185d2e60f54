import { inject } from "vitest";
import { type Database, openDatabase } from "#db/client";
import { copyTemplate } from "./postgres-cluster.ts";

/** A database that belongs to one test, or to one file of tests. */
export interface TestDatabase {
  url: string;
  database: Database;
  /** Closes the pools and drops the database. */
  close(): Promise<void>;
}

/** Makes a fresh, migrated database with the default tenant in it, on a real PostgreSQL that the whole run shares. */
export async function testDatabase(): Promise<TestDatabase> {
  const { url, drop } = await copyTemplate(inject("postgres"));
  const database = openDatabase(url, 5, () => {});
  return {
    url,
    database,
    async close() {
      await database.close();
      await drop();
    },
  };
}
