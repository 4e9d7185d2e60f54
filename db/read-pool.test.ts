import { sql } from "drizzle-orm";
import { beforeEach, expect, it } from "vitest";
import { openForTests } from "../server/testing/open-for-tests.ts";
import { testDatabase } from "../server/testing/postgres.ts";
import { type Database, openDatabase, schema } from "./client.ts";
import { prepared } from "./prepared.ts";

const test = await openForTests(testDatabase());

let database: Database;

beforeEach(() => {
  database = openDatabase(test.url, 10, () => {});
  return () => database.close();
});

const pool = () => database.read.$client;
const double = { name: "double", text: "select $1::int * 2 as twice, pg_backend_pid() as pid" };
const doubled = async (number: number) => (await pool().query({ ...double, values: [number] })).rows[0];
const inverse = { name: "inverse", text: "select 12 / $1::int as inverse" };

it("sends the prepared reads of one turn over one connection, and gives each its rows", async () => {
  const numbers = Array.from({ length: 16 }, (_, index) => index);
  for (const _turn of [1, 2]) {
    const rows = await Promise.all(numbers.map(doubled));
    expect(rows.map(({ twice }) => twice)).toEqual(numbers.map((number) => number * 2));
    expect(new Set(rows.map(({ pid }) => pid)).size).toBe(1);
  }
  expect(pool().totalCount).toBe(1);
});

it("shares the reads of a turn out to connections, sixteen to each", async () => {
  const rows = await Promise.all(Array.from({ length: 40 }, (_, index) => doubled(index)));
  expect(rows.map(({ twice }) => twice)).toEqual(rows.map((_, index) => index * 2));
  expect(new Set(rows.map(({ pid }) => pid)).size).toBe(3);
});

it("sends each read without a name over a connection of its own", async () => {
  const { text } = double;
  const results = await Promise.all([1, 2, 3].map((number) => pool().query(text, [number])));
  expect(new Set(results.map(({ rows: [row] }) => row.pid)).size).toBe(3);
});

it("fails a read that PostgreSQL rejects, and none that was sent with it", async () => {
  const reads = [4, 0, 3].map((number) => pool().query({ ...inverse, values: [number] }));
  const [three, error, four] = await Promise.allSettled(reads);
  expect(three).toMatchObject({ value: { rows: [{ inverse: 3 }] } });
  expect(error).toMatchObject({ reason: { code: "22012" } });
  expect(four).toMatchObject({ value: { rows: [{ inverse: 4 }] } });
});

it("fails a read about a node of the database that is down, and none that was sent with it", async () => {
  await test.database.write.execute(sql`
    create or replace function reach(node int) returns int language plpgsql as $$ begin
      if node = 0 then raise exception using errcode = 'connection_failure'; end if;
      return node;
    end $$`);
  const reach = { name: "reach", text: "select reach($1::int) as node" };
  const reads = [4, 0].map((node) => pool().query({ ...reach, values: [node] }));
  const [up, down] = await Promise.allSettled(reads);
  expect(up).toMatchObject({ value: { rows: [{ node: 4 }] } });
  expect(down).toMatchObject({ reason: { code: "08006" } });
});

it("fails the reads of a connection that is cut, and replaces it", async () => {
  const { pid } = await doubled(1);
  const sleeping = { name: "sleeping", text: "select pg_sleep($1::int)", values: [30] };
  const reads = Promise.allSettled([pool().query(sleeping), doubled(2)]);
  await new Promise(setImmediate);
  await test.database.write.execute(sql`
    select pg_terminate_backend(pid) from pg_stat_activity where pid = ${pid} and pg_sleep(0.1) is not null`);
  expect(await reads).toMatchObject([{ status: "rejected" }, { status: "rejected" }]);
  expect((await doubled(3)).twice).toBe(6);
});

it("fails the reads of a turn in time if there is no connection", async () => {
  const busy = openDatabase(test.url, 1, () => {});
  const taken = await busy.read.$client.connect();
  // From here on alone: a busy machine opens a connection in more than this.
  busy.read.$client.options.connectionTimeoutMillis = 100;
  const reads = [1, 2].map((number) => busy.read.$client.query({ ...double, values: [number] }));
  for (const read of await Promise.allSettled(reads))
    expect(read).toMatchObject({ status: "rejected", reason: { message: /^timeout exceeded/ } });
  taken.release();
  await busy.close();
});

it("runs the prepared queries of the query builder together, in the form that it asks for", async () => {
  const byId = prepared("tenant_of_test", (db) =>
    db
      .select({ tenant: schema.tenants })
      .from(schema.tenants)
      .where(sql`${schema.tenants.id} = ${sql.placeholder("id")}`),
  );
  const ids = ["00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000009"];
  const found = await Promise.all(ids.map((id) => byId(database.read).execute({ id })));
  expect(found.map((rows) => rows.map(({ tenant }) => tenant.id))).toEqual([ids.slice(0, 1), []]);
  expect(pool().totalCount).toBe(1);
});
