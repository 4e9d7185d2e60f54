import { sql } from "drizzle-orm";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { copyTemplate, type StartedCluster, startTestCluster } from "../server/testing/postgres-cluster.ts";
import { type Database, openDatabase } from "./client.ts";
import { isConnectionLost, isDatabaseUnreachable } from "./errors.ts";

/** A PostgreSQL that is paused: its connections stay open, and it answers nothing. */

let postgres: StartedCluster;
let url: string;
beforeAll(async () => {
  postgres = await startTestCluster();
  ({ url } = await copyTemplate(postgres.cluster));
});
afterAll(() => postgres?.stop());

/** A database with one connection in each pool, which are open; `ended` has the numbers of those ended at once. */
async function watched(): Promise<{ database: Database; ended: number[] }> {
  const database = openDatabase(url, 1, () => {});
  onTestFinished(() => database.close());
  const ended: number[] = [];
  database.watch((count) => ended.push(count));
  await askAll(database);
  return { database, ended };
}

const askAll = ({ write, read, claim }: Database) =>
  Promise.all([
    write.transaction((tx) => tx.execute(sql`select 1`)),
    read.$client.query({ name: "one", text: "select 1", values: [] }),
    claim.execute(sql`select 1`),
  ]);

async function failureOf(statement: Promise<unknown>): Promise<unknown> {
  return statement.then(
    () => {
      throw new Error("it did not fail");
    },
    (error: unknown) => error,
  );
}

it("A114 statements fail as if the connection was lost, and the pools have all of their connections afterwards", async () => {
  const { database, ended } = await watched();
  postgres.pause();
  const failures = await Promise.all([
    failureOf(database.write.transaction((tx) => tx.execute(sql`select 1`))),
    failureOf(database.read.$client.query({ name: "one", text: "select 1", values: [] })),
    failureOf(database.claim.execute(sql`select 1`)),
  ]);
  postgres.resume();
  expect(failures.map(isDatabaseUnreachable)).toEqual([true, true, true]);
  expect(failures.map(isConnectionLost)).toEqual([true, true, true]);
  expect(ended).toEqual([3]);
  await askAll(database);
});

it("A114 a transaction under way fails likewise", async () => {
  const { database } = await watched();
  const failure = await failureOf(
    database.write.transaction(async (tx) => {
      await tx.execute(sql`select 1`);
      postgres.pause();
      await tx.execute(sql`select 1`);
    }),
  );
  postgres.resume();
  expect([isDatabaseUnreachable(failure), isConnectionLost(failure)]).toEqual([true, true]);
  await askAll(database);
});

it("a statement takes as long as it needs while PostgreSQL answers others", async () => {
  const { database, ended } = await watched();
  const { rows } = await database.write.execute(sql`select 'done' as it from pg_sleep(9)`);
  expect(rows).toEqual([{ it: "done" }]);
  expect(ended).toEqual([]);
});
