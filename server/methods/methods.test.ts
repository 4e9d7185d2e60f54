import { and, eq, getTableName, is, sql } from "drizzle-orm";
import { getTableConfig, getViewConfig, PgTable } from "drizzle-orm/pg-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { rulesOf } from "#db/schema/table";
import { tables } from "#db/tables";
import { loadConfig } from "../config/load.ts";
import { stateNames } from "../flow/names.ts";
import { factsById } from "../identity/facts.ts";
import { identifierFacts } from "../identity/identifiers.ts";
import { markedMethods } from "../sessions/account-marks.ts";
import { type TestRuntime, testRuntime } from "../testing/runtime.ts";
import { userWithEverything } from "../testing/user-with-everything.ts";
import { firstFactors, methods, noMethods, secondFactors, singleMethods } from "./index.ts";
import type { Method, MethodFact } from "./method.ts";
import {
  acceptedFactors,
  includesSecondFactor,
  isMultiFactor,
  keepsRecoveryCodes,
} from "./second-factors.ts";
import { singleRowConstraints } from "./single-rows.ts";
import { canSignIn } from "./ways-in.ts";

const all: readonly Method[] = methods;

describe("the list of methods", () => {
  test("names each method, each state and each rank once", () => {
    const states = [
      ...firstFactors.map(({ firstFactor }) => firstFactor),
      ...secondFactors.map(({ secondFactor }) => secondFactor),
    ].map(({ state }) => state);
    for (const values of [
      all.map(({ name }) => name),
      states,
      secondFactors.map(({ secondFactor }) => secondFactor.rank),
    ])
      expect(new Set<unknown>(values).size).toBe(values.length);
    expect(states.filter((state) => !stateNames.includes(state))).toEqual([]);
  });

  test("names the methods that the mark of a browser can suggest after an identifier", () => {
    const suggested = firstFactors.filter(({ firstFactor }) => firstFactor.followsIdentifier !== "never");
    expect(suggested.map(({ name }) => name).sort()).toEqual(markedMethods.toSorted());
  });

  test("asks for second factors that resist phishing first", () => {
    const ranked = secondFactors.toSorted((one, other) => one.secondFactor.rank - other.secondFactor.rank);
    const resisting = ranked.map(({ strength }) => strength.resistsPhishing);
    expect(resisting).toEqual(resisting.toSorted((one, other) => Number(other) - Number(one)));
  });

  test("has each fact of the view user_facts that says what an account has, and the view reads its tables", () => {
    const { query, selectedFields } = getViewConfig(schema.userFacts);
    const facts = Object.keys(selectedFields).filter((name) => name.startsWith("has"));
    expect(facts.sort()).toEqual(all.flatMap(({ fact }) => fact ?? []).sort());
    expect(facts.sort()).toEqual(Object.keys(noMethods).sort());
    const text = JSON.stringify(query?.queryChunks);
    for (const table of all.flatMap(({ tables }) => tables)) {
      expect(is(schema[table], PgTable)).toBe(true);
      expect(text).toContain(getTableConfig(schema[table]).name);
    }
  });
});

test("the tables of all methods are those that say that their rows are credentials", () => {
  const credentials = tables.filter((table) => {
    const rules = rulesOf(table);
    return rules.owner === "account" && rules.revoked === "credential";
  });
  const ofMethods = new Set(all.flatMap((method) => method.tables).map((name) => getTableName(schema[name])));
  expect([...ofMethods].sort()).toEqual(credentials.map((table) => getTableName(table)).sort());
});

describe("an account with everything", () => {
  let runtime: TestRuntime;
  beforeAll(async () => {
    runtime = await testRuntime();
  });
  afterAll(() => runtime.close());

  test("has constraints against a second row of each method of which it has at most one", async () => {
    const { rows } = await runtime.database.read.execute<{ name: string }>(
      sql`select conname as name from pg_constraint where contype = 'p'`,
    );
    const existing = new Set(rows.map(({ name }) => name));
    expect(singleRowConstraints.size).toBe(singleMethods.length);
    expect([...singleRowConstraints].filter((name) => !existing.has(name))).toEqual([]);
  });

  test.each(all.filter(({ fact }) => fact !== null).map((method) => [method.name, method] as const))(
    "has %s, until the rows of its tables are deleted",
    async (name, { tables }) => {
      const { tenant, database } = runtime;
      const { id } = await userWithEverything(runtime);
      const lacking = async () => {
        const facts = await factsById(database.read, tenant.id, id);
        return all.filter((method) => facts && !method.has(facts)).map((method) => method.name);
      };
      expect(await lacking()).toEqual([]);
      for (const table of tables) {
        const { tenantId, userId } = schema[table];
        await database.write.delete(schema[table]).where(and(eq(tenantId, tenant.id), eq(userId, id)));
      }
      // Passkeys and security keys are rows of one table.
      const sharing = all.filter((method) => method.tables.some((table) => tables.includes(table)));
      expect(await lacking()).toEqual(sharing.map((method) => method.name));
      expect(sharing.map((method) => method.name)).toContain(name);
    },
  );
});

const config = loadConfig({ STILE_MFA_AUTHENTICATOR_ENABLED: "true" }, "/nowhere");
const none = { ...noMethods, ...identifierFacts({}) };
const withFacts = (...facts: MethodFact[]) => ({
  ...none,
  ...Object.fromEntries(facts.map((fact) => [fact, true])),
});

describe("second factors", () => {
  test("are asked for in the order of their ranks", () => {
    const facts = withFacts("hasTotp", "hasAuthenticator", "hasSecurityKey");
    expect(acceptedFactors(facts, config).map(({ name }) => name)).toEqual([
      "security_key",
      "authenticator",
      "totp",
    ]);
  });

  test("count only while the configuration accepts them", () => {
    const off = loadConfig({ STILE_MFA_ENABLED: "false" }, "/nowhere");
    expect(acceptedFactors(withFacts("hasTotp"), off)).toEqual([]);
    const withoutApps = loadConfig({ STILE_MFA_TOTP_ENABLED: "false" }, "/nowhere");
    expect(acceptedFactors(withFacts("hasTotp"), withoutApps)).toEqual([]);
  });

  test("keep recovery codes while they are set up, an authenticator only while it is accepted", () => {
    const off = loadConfig({ STILE_MFA_ENABLED: "false" }, "/nowhere");
    expect(keepsRecoveryCodes(withFacts("hasTotp"), off)).toBe(true);
    expect(keepsRecoveryCodes(withFacts("hasAuthenticator"), off)).toBe(false);
    expect(keepsRecoveryCodes(withFacts("hasAuthenticator"), config)).toBe(true);
    expect(keepsRecoveryCodes(withFacts("hasRecoveryCode", "hasPasskey"), config)).toBe(false);
  });

  test("a recovery code is one of a sign-in, and a passkey is two factors if its user was verified", () => {
    expect(includesSecondFactor([{ method: "recovery_code" }])).toBe(true);
    expect(isMultiFactor([{ method: "passkey" }])).toBe(false);
    expect(isMultiFactor([{ method: "passkey", userVerified: true }])).toBe(true);
  });
});

describe("an account can sign in", () => {
  test.each<[string, Parameters<typeof canSignIn>[0], boolean]>([
    ["by a passkey alone", withFacts("hasPasskey"), true],
    ["by an identity alone", withFacts("hasIdentity"), true],
    ["not by a password without an identifier", withFacts("hasPassword"), false],
    ["by an address, with a mailed code", { ...none, email: "a@example.com" }, true],
    ["not by second factors", withFacts("hasTotp", "hasSecurityKey", "hasRecoveryCode"), false],
  ])("%s", (_, facts, expected) => {
    expect(canSignIn(facts, config)).toBe(expected);
  });
});
