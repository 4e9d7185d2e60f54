import { sql } from "drizzle-orm";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openDatabase, schema } from "#db/client";
import { type TestDatabase, testDatabase } from "../server/testing/postgres.ts";
import { prepared } from "./prepared.ts";

let postgres: TestDatabase;
beforeAll(async () => {
  postgres = await testDatabase();
});
afterAll(() => postgres.close());

const tenantNamed = prepared("tenant_named", (db) =>
  db
    .select({ name: schema.tenants.name })
    .from(schema.tenants)
    .where(sql`${schema.tenants.name} = ${sql.placeholder("name")}`),
);

/** Asks twice over one connection and tells what that has prepared. */
async function preparedBy(prepares: boolean): Promise<unknown[]> {
  const database = openDatabase(postgres.url, 1, () => {}, prepares);
  for (const name of ["Stile", "nobody"]) {
    expect(await tenantNamed(database.read).execute({ name })).toEqual(name === "Stile" ? [{ name }] : []);
  }
  const { rows } = await database.read.$client.query("select name from pg_prepared_statements");
  await database.close();
  return rows;
}

it("a query is prepared under its name", async () => {
  expect(await preparedBy(true)).toEqual([{ name: "tenant_named" }]);
});

it("a query works where connections cannot keep it", async () => {
  expect(await preparedBy(false)).toEqual([]);
});
