import { sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { openForTests } from "../server/testing/open-for-tests.ts";
import { testDatabase } from "../server/testing/postgres.ts";
import {
  isConnectionLost,
  isDatabaseUnreachable,
  isInvalidValue,
  isRetryable,
  uniqueConstraints,
  violatedForeignKey,
  violatedUnique,
} from "./errors.ts";

const postgres = await openForTests(testDatabase());

/** Returns the error of a statement as wrapped by the query builder. */
async function errorOf(statement: string): Promise<unknown> {
  return postgres.database.write.execute(sql.raw(statement)).then(
    () => null,
    (error: unknown) => error,
  );
}

it("uniqueConstraints lists only existing constraints and indexes", async () => {
  const { rows } = await postgres.database.read.execute<{ name: string }>(
    sql`select indexrelid::regclass::text as name from pg_index where indisunique`,
  );
  const existing = rows.map(({ name }) => name);
  for (const name of uniqueConstraints) expect(existing).toContain(name);
});

describe("the classification of a database error", () => {
  it("returns the violated unique constraint", async () => {
    await postgres.database.write.execute(sql`create table marks (name text constraint marks_name unique)`);
    await postgres.database.write.execute(sql`insert into marks values ('one')`);
    const error = await errorOf("insert into marks values ('one')");
    expect(violatedUnique(error)).toBe("marks_name");
    expect(violatedForeignKey(error)).toBeNull();
    expect(isRetryable(error)).toBe(false);
  });

  it("returns the violated foreign key", async () => {
    const error = await errorOf(
      "insert into passwords (tenant_id, user_id, hash) values (gen_random_uuid(), gen_random_uuid(), 'x')",
    );
    expect(violatedForeignKey(error)).toContain("_user_id_");
    expect(violatedUnique(error)).toBeNull();
  });

  it("returns the constraint of a table whose part a node of Citus has", () => {
    const told = (code: string, constraint: string | undefined, message: string) =>
      Object.assign(new Error(message), { code, constraint });
    const taken = "duplicate key value violates unique constraint";
    expect(violatedUnique(told("23505", "emails_address_unique_102050", taken))).toBe(
      "emails_address_unique",
    );
    const named = `${taken} "identities_subject_unique_102107"`;
    expect(violatedUnique(told("23505", undefined, named))).toBe("identities_subject_unique");
    const missing = `insert or update on table "passwords_102126" violates foreign key constraint "passwords_user_fk_102126"`;
    expect(violatedForeignKey(told("XX000", undefined, missing))).toBe("passwords_user_fk");
    expect(violatedUnique(told("XX000", undefined, missing))).toBeNull();
  });

  it("recognizes a value that is invalid for its type", async () => {
    expect(isInvalidValue(await errorOf("select 'x'::uuid"))).toBe(true);
    expect(isInvalidValue(await errorOf("select nothing"))).toBe(false);
  });
});

it.each([
  ["a serialization failure", { code: "40001" }, { retryable: true, lost: false, unreachable: false }],
  ["a deadlock", { code: "40P01" }, { retryable: true, lost: false, unreachable: false }],
  ["a shutdown of the server", { code: "57P01" }, { retryable: false, lost: true, unreachable: true }],
  ["a reset connection", { code: "ECONNRESET" }, { retryable: false, lost: true, unreachable: true }],
  ["a refused connection", { code: "ECONNREFUSED" }, { retryable: false, lost: false, unreachable: true }],
  ["too many connections", { code: "53300" }, { retryable: false, lost: false, unreachable: true }],
])("classifies %s at any depth of causes", (_what, facts, expected) => {
  const error = new Error("outer", {
    cause: new Error("middle", { cause: Object.assign(new Error(), facts) }),
  });
  expect({
    retryable: isRetryable(error),
    lost: isConnectionLost(error),
    unreachable: isDatabaseUnreachable(error),
  }).toEqual(expected);
});

it("classifies errors of the pool, which have no code", () => {
  const terminated = new Error("query failed", { cause: new Error("Connection terminated unexpectedly") });
  expect([isConnectionLost(terminated), isDatabaseUnreachable(terminated)]).toEqual([true, true]);
  const exhausted = new Error("timeout exceeded when trying to connect");
  expect([isConnectionLost(exhausted), isDatabaseUnreachable(exhausted)]).toEqual([false, true]);
});
