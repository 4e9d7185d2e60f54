import { afterAll, beforeAll, expect, it } from "vitest";
import { type TestDatabase, testDatabase } from "../server/testing/postgres.ts";
import { openDatabase } from "./client.ts";

let test: TestDatabase;
beforeAll(async () => {
  test = await testDatabase();
});
afterAll(() => test.close());

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

it("closes though PostgreSQL does not answer the end of a connection", async () => {
  const database = openDatabase(withName("hangs"), 1, () => {});
  await database.write.$client.query("select 1");
  const [pid] = await backends("hangs");
  if (!pid) throw new Error("there is no connection");
  process.kill(pid, "SIGSTOP");
  try {
    await database.close();
    expect(await backends("hangs")).toEqual([pid]);
  } finally {
    process.kill(pid, "SIGCONT");
  }
});
