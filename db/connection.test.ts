import { sql } from "drizzle-orm";
import { beforeEach, expect, it } from "vitest";
import { openForTests } from "../server/testing/open-for-tests.ts";
import { testDatabase } from "../server/testing/postgres.ts";
import { countStatements } from "../server/testing/statement-counter.ts";
import { openDatabase } from "./client.ts";
import { violatedUnique } from "./errors.ts";

const test = await openForTests(testDatabase());
const counter = await openForTests(countStatements(test.url));
/** With one connection, so that statements share it. */
const database = await openForTests(
  openDatabase(counter.url, 1, (error) => {
    throw error;
  }),
);
beforeEach(async () => {
  await test.database.write.execute(sql`drop table if exists things`);
  await test.database.write.execute(
    sql`create table things (id int primary key, made timestamptz, more jsonb)`,
  );
  await test.database.write.execute(
    sql`insert into things values (1, '2026-01-02T03:04:05Z', '{"a": [1]}'), (2, null, null)`,
  );
});

const query = (config: object) => database.write.$client.query(config as { text: string });
const things = "select id, made, more, $1::bytea as bytes from things order by id";
const rows = [
  { id: 1, made: new Date("2026-01-02T03:04:05Z"), more: { a: [1] }, bytes: Buffer.from("é") },
  { id: 2, made: null, more: null, bytes: Buffer.from("é") },
];

it("describes a prepared statement once for each connection, and gives the same rows each time", async () => {
  const statement = { name: "things", text: things, values: [Buffer.from("é")] };
  for (const _ of [1, 2, 3])
    expect(await query(statement)).toMatchObject({ rows, rowCount: 2, command: "SELECT" });
  expect(counter.described.filter((name) => name === "things")).toHaveLength(1);
  expect(counter.sent.filter((sent) => sent.statement === "things")).toHaveLength(3);
});

it("describes a statement without a name each time", async () => {
  for (const _ of [1, 2])
    expect((await query({ text: things, values: [Buffer.from("é")] })).rows).toEqual(rows);
  expect(counter.described.filter((text) => text === things)).toHaveLength(2);
});

it("gives rows as arrays and with the parsers of the statement, each time", async () => {
  const types = { getTypeParser: () => (text: string) => `<${text}>` };
  const statement = {
    name: "arrays",
    text: "select id, made is null from things where id > $1 order by id",
    values: [0],
    rowMode: "array",
    types,
  };
  for (const _ of [1, 2])
    expect((await query(statement)).rows).toEqual([
      ["<1>", "<f>"],
      ["<2>", "<t>"],
    ]);
});

it("tells how many rows a statement has changed that returns none, and does not ask for them again", async () => {
  const statement = (id: number) => ({
    name: "removal",
    text: "delete from things where id = $1",
    values: [id],
  });
  expect(await query(statement(1))).toMatchObject({ rows: [], rowCount: 1, command: "DELETE" });
  expect(await query(statement(3))).toMatchObject({ rows: [], rowCount: 0, command: "DELETE" });
  expect(counter.described.filter((name) => name === "removal")).toHaveLength(1);
});

it("fails instead of giving values of other columns if the rows of a prepared statement have changed", async () => {
  const statement = { name: "all_of_a_thing", text: "select * from things where id = $1", values: [1] };
  expect((await query(statement)).rows).toMatchObject([{ id: 1 }]);
  await test.database.write.execute(sql`alter table things drop made`);
  await test.database.write.execute(sql`alter table things add made int default 7`);
  await expect(query(statement)).rejects.toThrow("cached plan must not change result type");
});

it("goes on after an error, and prepares again what PostgreSQL has not", async () => {
  const statement = { name: "thing_by_id", text: "select id from thing_s where id = $1", values: [1] };
  await expect(query(statement)).rejects.toMatchObject({ code: "42P01" });
  await test.database.write.execute(sql`create table thing_s (id int)`);
  expect((await query(statement)).rows).toEqual([]);
  const again = { name: "insertion", text: "insert into things values ($1)", values: [1] };
  for (const _ of [1, 2]) {
    const failure: unknown = await query(again).catch((error: unknown) => error);
    expect(violatedUnique(failure)).toBe("things_pkey");
    // The place that asked.
    expect((failure as Error).stack).toContain("connection.test.ts");
  }
});

it("runs prepared statements in a transaction", async () => {
  const insertion = { name: "thing", text: "insert into things values ($1) returning id", values: [3] };
  const client = await database.write.$client.connect();
  try {
    for (const end of ["rollback", "commit"]) {
      await client.query("begin");
      expect((await client.query(insertion)).rows).toEqual([{ id: 3 }]);
      await client.query(end);
    }
  } finally {
    client.release();
  }
  const { rows: found } = await test.database.read.execute(sql`select id from things where id = 3`);
  expect(found).toEqual([{ id: 3 }]);
});

it("refuses a second text under one name, and a value that cannot be sent", async () => {
  await query({ name: "one", text: "select 1 where $1", values: [true] });
  await expect(query({ name: "one", text: "select 2 where $1", values: [true] })).rejects.toThrow(
    "two statements have the name one and different texts",
  );
  const circular: { self?: unknown } = {};
  circular.self = circular;
  await expect(query({ name: "two", text: "select $1::jsonb", values: [circular] })).rejects.toThrow(
    "circular",
  );
  expect((await query({ name: "two", text: "select $1::jsonb as value", values: [{}] })).rows).toEqual([
    { value: {} },
  ]);
});
