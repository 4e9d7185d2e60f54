import { getTableName } from "drizzle-orm";
import { expect, test } from "vitest";
import { rulesOf } from "#db/schema/table";
import { tables } from "#db/tables";
import { tables as names } from "./tables.ts";

test("every table of which the deletion of an account tells has a name", () => {
  const told = tables.filter((table) => {
    const rules = rulesOf(table);
    return (
      rules.owner === "account" || ("ofDeletedAccounts" in rules && rules.ofDeletedAccounts !== undefined)
    );
  });
  expect(Object.keys(names).toSorted()).toEqual(told.map(getTableName).toSorted());
});
