import { setTimeout as pause } from "node:timers/promises";
import { expect, it } from "vitest";
import { openForTests } from "../server/testing/open-for-tests.ts";
import { testDatabase } from "../server/testing/postgres.ts";
import { type Database, openDatabase } from "./client.ts";

const test = await openForTests(testDatabase());

/** Process of PostgreSQL that serves each connection of the database, apart from the test's own. */
async function backends(name: string): Promise<number[]> {
  const { rows } = await test.database.write.$client.query<{ pid: number }>(
    "select pid from pg_stat_activity where datname = current_database() and application_name = $1",
    [name],
  );
  return rows.map(({ pid }) => pid);
}

const withName = (name: string) => {
  const url = new URL(test.url);
  url.searchParams.set("application_name", name);
  return url.href;
};

it("leaves PostgreSQL no connection behind once it is closed, and reports no error for one", async () => {
  const errors: Error[] = [];
  const database = openDatabase(withName("closes"), 4, (error) => errors.push(error));
  const pools = [database.write, database.read, database.claim].map((pool) => pool.$client);
  await Promise.all(
    pools.flatMap((pool) => Array.from({ length: 4 }, () => pool.query("select pg_sleep(0.01)"))),
  );
  expect((await backends("closes")).length).toBeGreaterThan(3);
  await database.close();
  expect(await backends("closes")).toEqual([]);
  expect(errors).toEqual([]);
});

/** Runs something while the only connection of a database hangs. */
async function whileHanging(name: string, run: (database: Database) => Promise<void>): Promise<void> {
  const database = openDatabase(withName(name), 1, () => {});
  await database.write.$client.query("select 1");
  const [pid] = await backends(name);
  if (!pid) throw new Error("there is no connection");
  process.kill(pid, "SIGSTOP");
  try {
    await run(database);
  } finally {
    process.kill(pid, "SIGCONT");
  }
}

it("waits until PostgreSQL has ended each connection", async () => {
  let closing: Promise<string> | undefined;
  await whileHanging("waits", async (database) => {
    closing = database.close().then(() => "closed");
    expect(await Promise.race([closing, pause(100, "waits")])).toBe("waits");
  });
  expect(await closing).toBe("closed");
  expect(await backends("waits")).toEqual([]);
});

it("closes though PostgreSQL does not answer the end of a connection", async () => {
  await whileHanging("hangs", async (database) => {
    await database.close();
    expect(await backends("hangs")).toHaveLength(1);
  });
});
