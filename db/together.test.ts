import { sql } from "drizzle-orm";
import { beforeEach, expect, it } from "vitest";
import { eventually } from "../server/testing/eventually.ts";
import { openForTests } from "../server/testing/open-for-tests.ts";
import { testDatabase } from "../server/testing/postgres.ts";
import { openDatabase } from "./client.ts";
import { ConflictError, violatedUnique } from "./errors.ts";
import type { Part } from "./part.ts";
import { runTogether } from "./together.ts";
import { writeOf } from "./write.ts";

const test = await openForTests(testDatabase());
const open = (prepared: boolean) =>
  openDatabase(
    test.url,
    1,
    (error) => {
      throw error;
    },
    prepared,
  );
/** With one connection, so that a failure and what follows it share the connection. */
const prepares = await openForTests(open(true));
const unprepared = await openForTests(open(false));
await test.database.write.execute(
  sql`create table notes (id int constraint notes_once primary key, text text)`,
);
beforeEach(async () => {
  await test.database.write.execute(sql`truncate notes`);
});

const note = (id: number, more: Partial<Part> = {}): Part => ({
  name: `note${id}`,
  text: `note${id} as (insert into notes values ($1, $2) returning id)`,
  values: [id, `note ${id}`],
  returns: `(select id from note${id})`,
  ...more,
});
const count = (more: Partial<Part> = {}): Part => ({
  name: "count",
  text: "",
  values: [],
  returns: "(select count(*)::int from notes)",
  ...more,
});
const ids = async () => {
  const { rows } = await test.database.read.execute<{ id: number }>(sql`select id from notes order by id`);
  return rows.map(({ id }) => id);
};

it("runs parts as one statement, in which none sees what another writes", async () => {
  expect(await runTogether(prepares, [note(1), note(2), count()])).toEqual({ note1: 1, note2: 2, count: 0 });
  expect(await ids()).toEqual([1, 2]);
});

it("begins a statement at a part that must see what was written before", async () => {
  expect(await runTogether(prepares, [note(1), count({ begins: true }), note(2)])).toEqual({
    note1: 1,
    count: 1,
    note2: 2,
  });
});

it("runs equal parts one after the other, or once for all their rows, or once", async () => {
  const rows = (...numbers: number[]): Part => ({
    name: "rows",
    text: "listed as (insert into notes select (r ->> 'id')::int, 'row' from jsonb_array_elements($1::jsonb) r)",
    values: { rows: numbers.map((id) => ({ id })) },
  });
  const once = count({ isIdempotent: true });
  const again = { name: "again", text: "again as (insert into notes values ($1, $2))", returns: "1" };
  await runTogether(prepares, [rows(1), once, rows(2, 3), once, note(4, again), note(5, again)]);
  expect(await ids()).toEqual([1, 2, 3, 4, 5]);
});

it.each(["the first", "the last"])("writes nothing if a part of %s statement refuses", async (which) => {
  const refuses = "case when $1::int > 0 then 'passkey' end";
  const parts = [note(1), note(2, { begins: true })];
  const refusing = parts.map((part, index) =>
    index === (which === "the first" ? 0 : 1)
      ? { ...part, name: `${part.name}_${which.slice(4)}`, refuses, returns: "1" }
      : part,
  );
  await expect(runTogether(prepares, refusing)).rejects.toThrow(new ConflictError("passkey"));
  expect(await ids()).toEqual([]);
  // The connection knows which of the names PostgreSQL has prepared.
  await runTogether(prepares, parts);
  expect(await ids()).toEqual([1, 2]);
});

it("goes on if no part refuses", async () => {
  await runTogether(prepares, [
    note(1, { name: "lenient", refuses: "case when $1::int > 5 then 'passkey' end", returns: "1" }),
  ]);
  expect(await ids()).toEqual([1]);
});

it("writes nothing if a statement violates a constraint, and names it", async () => {
  await runTogether(prepares, [note(2)]);
  const failure = await runTogether(prepares, [note(1), note(2, { begins: true })]).catch(
    (error: unknown) => error,
  );
  expect(violatedUnique(failure)).toBe("notes_once");
  expect(await ids()).toEqual([2]);
});

it("writes nothing if a value cannot be sent", async () => {
  const circular: { self?: unknown } = {};
  circular.self = circular;
  await expect(
    runTogether(prepares, [note(1), note(2, { begins: true, values: [2, circular] })]),
  ).rejects.toThrow("circular");
  expect(await ids()).toEqual([]);
  await runTogether(prepares, [note(3)]);
  expect(await ids()).toEqual([3]);
});

it("does the same without prepared statements", async () => {
  await runTogether(unprepared, [note(1), note(2, { begins: true })]);
  await runTogether(unprepared, [note(3), note(4, { begins: true })]);
  expect(await ids()).toEqual([1, 2, 3, 4]);
  const refused = [note(5), count({ name: "refusing", begins: true, refuses: "'session'" })];
  await expect(runTogether(unprepared, refused)).rejects.toThrow(new ConflictError("session"));
  expect(await ids()).toEqual([1, 2, 3, 4]);
});

it("shows to a later statement what was committed while an earlier one waited for a lock", async () => {
  await runTogether(prepares, [note(1)]);
  const lock: Part = {
    name: "lock",
    text: "locked as (select id from notes where id = 1 for update)",
    values: [],
    returns: "(select count(*)::int from locked)",
  };
  let waiting: Promise<object> | undefined;
  await test.database.write.transaction(async (tx) => {
    await tx.execute(sql`select from notes where id = 1 for update`);
    waiting = runTogether(prepares, [lock, count({ begins: true })]);
    await eventually(async () => {
      const { rows } = await test.database.read.execute(
        sql`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
      );
      expect(rows).toHaveLength(1);
    });
    await tx.execute(sql`insert into notes values (2, 'committed meanwhile')`);
  });
  expect(await waiting).toEqual({ lock: 1, count: 2 });
});

it("begins a statement where PostgreSQL would cut the name of a longer one", async () => {
  const [first, second] = ["a".repeat(40), "b".repeat(40)];
  const parts = [note(1, { name: first }), count({ name: second })];
  expect(await runTogether(prepares, parts)).toEqual({ [first]: 1, [second]: 1 });
});

it("refuses a name that PostgreSQL would cut", async () => {
  await expect(runTogether(prepares, [note(1, { name: "n".repeat(64) })])).rejects.toThrow(RangeError);
});

it("runs the parts of a write alone in a transaction, which a refusal rolls back", async () => {
  await test.database.write.transaction(writeOf(note(1), note(2)));
  const refusing = writeOf(note(3), count({ name: "refuser", refuses: "'email'" }));
  await expect(test.database.write.transaction(refusing)).rejects.toThrow(new ConflictError("email"));
  expect(await ids()).toEqual([1, 2]);
});
