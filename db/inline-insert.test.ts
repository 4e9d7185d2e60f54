import { randomUUID } from "node:crypto";
import { sql } from "drizzle-orm";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type TestDatabase, testDatabase } from "../server/testing/postgres.ts";
import { insertInline, withInlineInsert } from "./inline-insert.ts";

let postgres: TestDatabase;
beforeAll(async () => {
  postgres = await testDatabase();
});
afterAll(() => postgres.close());

const instance = (id: string) =>
  insertInline({
    name: "instance",
    table: "instances",
    row: { id: ["uuid", id], leased_until: ["timestamptz", "2030-01-01T00:00:00Z"] },
  });

const exists = async (id: string) =>
  (await postgres.database.read.$client.query("select from instances where id = $1", [id])).rowCount === 1;

const updateAndInsert = (owner: string, id: string) => {
  const { inlineInsert } = instance(id);
  const text = withInlineInsert(
    "update instances set leased_until = leased_until where id = $1",
    1,
    inlineInsert,
  );
  const values = [owner, ...Object.values(inlineInsert.row).map(([, value]) => value)];
  return postgres.database.write.$client.query(text, values);
};

it("inserts the row if the first statement changed a row", async () => {
  const [owner, id] = [randomUUID(), randomUUID()];
  await postgres.database.write.transaction((tx) => instance(owner)(tx));
  expect((await updateAndInsert(owner, id)).rowCount).toBe(1);
  expect(await exists(id)).toBe(true);
});

it("inserts nothing if the first statement changed no row", async () => {
  const id = randomUUID();
  expect((await updateAndInsert(randomUUID(), id)).rowCount).toBe(0);
  expect(await exists(id)).toBe(false);
});

it("runs on its own as a write, which is rolled back with its transaction", async () => {
  const [kept, rolledBack] = [randomUUID(), randomUUID()];
  await postgres.database.write.transaction((tx) => instance(kept)(tx));
  const failing = postgres.database.write.transaction(async (tx) => {
    await instance(rolledBack)(tx);
    await tx.execute(sql`select 1 / 0`);
  });
  await expect(failing).rejects.toThrow();
  expect([await exists(kept), await exists(rolledBack)]).toEqual([true, false]);
});
