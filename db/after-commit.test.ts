import { sql } from "drizzle-orm";
import { expect, it } from "vitest";
import { openForTests } from "../server/testing/open-for-tests.ts";
import { testDatabase } from "../server/testing/postgres.ts";
import { afterCommit } from "./after-commit.ts";

const test = await openForTests(testDatabase());

it("calls what waits for the commit after it, in order", async () => {
  const calls: string[] = [];
  const result = await test.database.write.transaction(async (tx) => {
    afterCommit(tx, () => calls.push("first"));
    afterCommit(tx, () => calls.push("second"));
    await tx.execute(sql`select 1`);
    expect(calls).toEqual([]);
    return "result";
  });
  expect(result).toBe("result");
  expect(calls).toEqual(["first", "second"]);
});

it("calls nothing for a transaction that is rolled back, by an error or by the commit", async () => {
  const calls: string[] = [];
  const failing = test.database.write.transaction(async (tx) => {
    afterCommit(tx, () => calls.push("rolled back"));
    throw new Error("overtaken");
  });
  await expect(failing).rejects.toThrow("overtaken");
  await test.database.write.execute(
    sql`create table late (id int, constraint late_once unique (id) deferrable initially deferred)`,
  );
  const late = test.database.write.transaction(async (tx) => {
    afterCommit(tx, () => calls.push("rejected by the commit"));
    await tx.execute(sql`insert into late values (1), (1)`);
  });
  await expect(late).rejects.toMatchObject({ cause: { code: "23505" } });
  expect(calls).toEqual([]);
});

it("rejects what is not a transaction", () => {
  expect(() => afterCommit({}, () => {})).toThrow(TypeError);
});
