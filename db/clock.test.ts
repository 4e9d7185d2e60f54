import { sql } from "drizzle-orm";
import { expect, it } from "vitest";
import { openForTests } from "../server/testing/open-for-tests.ts";
import { testDatabase } from "../server/testing/postgres.ts";
import { databaseNow, readNow } from "./clock.ts";

const test = await openForTests(testDatabase());

it("is never behind a moment that it has set, because a column stores it as it is", async () => {
  const now = databaseNow(0);
  const { rows } = await test.database.read.execute(
    sql`select now, now::timestamptz(3) as stored from (select ${now} as now from generate_series(1, 200)) times
      where now <> now::timestamptz(3)`,
  );
  expect(rows).toEqual([]);
});

it("is shifted by milliseconds", async () => {
  const before = Date.now();
  const shifted = await readNow(test.database.read, 60_000);
  expect(shifted.getTime()).toBeGreaterThanOrEqual(before + 60_000);
  expect(shifted.getTime()).toBeLessThanOrEqual(Date.now() + 60_000);
});
