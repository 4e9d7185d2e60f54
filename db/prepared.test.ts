import { sql } from "drizzle-orm";
import { expect, it } from "vitest";
import { openDatabase, schema } from "#db/client";
import { openForTests } from "../server/testing/open-for-tests.ts";
import { testDatabase } from "../server/testing/postgres.ts";
import { prepared } from "./prepared.ts";

const postgres = await openForTests(testDatabase());

const tenantByName = prepared("tenant_by_name", (db) =>
  db
    .select({ name: schema.tenants.name })
    .from(schema.tenants)
    .where(sql`${schema.tenants.name} = ${sql.placeholder("name")}`),
);

/** Runs the query twice on one connection and returns the prepared statements of that connection. */
async function preparedBy(prepares: boolean): Promise<unknown[]> {
  const database = openDatabase(postgres.url, 1, () => {}, prepares);
  for (const name of ["Stile", "unknown"]) {
    expect(await tenantByName(database.read).execute({ name })).toEqual(name === "Stile" ? [{ name }] : []);
  }
  const { rows } = await database.read.$client.query("select name from pg_prepared_statements");
  await database.close();
  return rows;
}

it("prepares a query under its name", async () => {
  expect(await preparedBy(true)).toEqual([{ name: "tenant_by_name" }]);
});

it("runs a query without prepared statements if the pool does not support them", async () => {
  expect(await preparedBy(false)).toEqual([]);
});
