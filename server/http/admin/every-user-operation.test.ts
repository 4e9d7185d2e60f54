import { randomUUID } from "node:crypto";
import { getTableName } from "drizzle-orm";
import { beforeEach, describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { rulesOf } from "#db/schema/table";
import { tables } from "#db/tables";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { accountOwner } from "../../testing/account-owner.ts";
import { adminOperator } from "../../testing/admin-operator.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { newAddress, newName, newNumber } from "../../testing/people.ts";
import { type UserIds, userWithEverything } from "../../testing/user-with-everything.ts";
import { adminAddresses } from "./addresses.ts";

/** Every operation on users, called with what it must not take. */

const runtime = await runtimeForTests({
  STILE_PHONE_ENABLED: "true",
  STILE_PHONE_ALLOWED_COUNTRIES: "DE",
});
const operator = await adminOperator(runtime);
const other = await adminOperator(
  runtime,
  await createTenant(runtime, { name: "Other", hosts: [], settings: {} }),
);

const operations = adminAddresses.filter(({ path }) => /^\/admin\/(users|sessions)\b/.test(path));

/** A body that each operation takes, by its id. */
const bodies: Record<string, (userId: string) => Record<string, unknown>> = {
  createUser: () => ({ id: randomUUID(), username: newName() }),
  updateUser: () => ({ name: "Eve", username: newName(), picture: "https://example.com/eve.png" }),
  actOnUsers: (userId) => ({ action: "unblock", user_ids: [userId] }),
  createUserEmail: () => ({ address: newAddress(), is_primary: true, is_verified: true }),
  setUsername: () => ({ username: newName() }),
  setPhoneNumber: () => ({ phone_number: newNumber() }),
  patchUserMetadata: () => ({ public_metadata: { a: 1 } }),
  renameUserCredential: () => ({ name: "Key" }),
  createUserPassword: () => ({ password: "correct horse" }),
  updateUserPassword: () => ({ password: "correct horse" }),
  setConsoleRole: () => ({ role: "auditor" }),
  impersonateUser: () => ({ reason: "Ticket 4711" }),
  createSession: (user_id) => ({ user_id, user_agent: "Cart/1.0", ip_address: "192.0.2.7" }),
};

const pathWith = (path: string, ids: Record<string, string>) =>
  path.replace("/admin", "").replaceAll(/\{(\w+)\}/g, (_, name) => ids[name] ?? randomUUID());

/** Not those of tenants, which have no rows of one, nor of API keys, which note when they were used. */
const tablesOfTenants = tables.filter(
  (table) => rulesOf(table).owner !== "deployment" && table !== schema.tenants && table !== schema.apiKeys,
);

/** Every row of a tenant in the tables of tenants and accounts. */
async function rowsOf(tenantId: string): Promise<Record<string, unknown[]>> {
  const read = tablesOfTenants.map(async (table) => {
    const name = getTableName(table);
    const { rows } = await runtime.database.read.$client.query(
      `select to_jsonb(t) as row from ${name} t where tenant_id = $1 order by to_jsonb(t)::text`,
      [tenantId],
    );
    return [name, rows.map(({ row }) => row)] as const;
  });
  return Object.fromEntries(await Promise.all(read));
}

let victim: UserIds;

beforeEach(async () => {
  victim = await userWithEverything(runtime);
});

test("A68 no operation of another tenant's key shows or changes a row", async () => {
  const before = await rowsOf(runtime.tenant.id);
  for (const { method, path, operation } of operations) {
    const body = bodies[operation?.id ?? ""]?.(victim.id);
    const given = operation?.id === "createUser" ? { ...body, id: victim.id } : body;
    const answer = await other.call(method, pathWith(path, victim), given);
    const unknown = await other.call(method, pathWith(path, {}), bodies[operation?.id ?? ""]?.(randomUUID()));
    const called = [operation?.id, answer.status];
    if (operation?.id === "listUsers") {
      const named = await other.call(method, `/users?user_id=${victim.id}&email=example`);
      expect([...called, named.body]).toEqual(["listUsers", 200, []]);
    } else if (operation?.id === "exportUsers") {
      const exported = await other.call(method, `/users/export?user_id=${victim.id}`);
      expect([...called, exported.text]).toEqual(["exportUsers", 200, ""]);
    } else if (operation?.id === "actOnUsers") {
      const missing = { user_id: victim.id, status: 404, message: "Not found." };
      for (const action of ["block", "end_sessions", "delete"])
        expect((await other.call(method, path.slice(6), { action, user_ids: [victim.id] })).body).toEqual({
          results: [missing],
        });
      expect(answer.body.results).toEqual([missing]);
    } else if (operation?.id === "createUser") {
      // Ids of users are the tenant's own.
      expect(called).toEqual(["createUser", 200]);
      expect((await other.call("DELETE", `/users/${victim.id}`)).status).toBe(204);
    } else {
      expect([...called, answer.body]).toEqual([operation?.id, 404, unknown.body]);
    }
  }
  expect(await rowsOf(runtime.tenant.id)).toEqual(before);
});

test("A68 no operation through another user of the tenant changes what belongs to this one", async () => {
  const stranger = await accountOwner(runtime);
  const before = await rowsOf(runtime.tenant.id);
  for (const { method, path, operation } of operations) {
    if (!/\{id\}.*\{\w+\}/.test(path)) continue;
    const answer = await operator.call(
      method,
      pathWith(path, { ...victim, id: stranger.userId }),
      bodies[operation?.id ?? ""]?.(victim.id),
    );
    expect([operation?.id, answer.status]).toEqual([operation?.id, 404]);
  }
  expect(await rowsOf(runtime.tenant.id)).toEqual(before);
});

describe("a body", () => {
  const withBody = operations.filter(({ operation }) => operation?.body);

  test("is named here for every operation that takes one", () => {
    expect(withBody.map(({ operation }) => operation?.id).toSorted()).toEqual(Object.keys(bodies).toSorted());
  });

  test("A92 with a member that the operation does not declare is rejected, and changes nothing", async () => {
    const before = await rowsOf(runtime.tenant.id);
    const members = [
      "tenant_id",
      "verified",
      "failures",
      "blocked_at",
      "is_admin",
      "toString",
      "constructor",
    ];
    for (const { method, path, operation } of withBody)
      for (const member of members) {
        const body = { ...bodies[operation?.id ?? ""]?.(victim.id), [member]: null };
        const { status, body: answer } = await operator.call(method, pathWith(path, victim), body);
        expect([operation?.id, member, status]).toEqual([operation?.id, member, 400]);
        expect(answer.message).toContain(member);
      }
    expect(await rowsOf(runtime.tenant.id)).toEqual(before);
  });

  test("A90 A91 that is malformed, hostile or too large is rejected, and changes nothing", async () => {
    const before = await rowsOf(runtime.tenant.id);
    const texts = [
      "{",
      "[]",
      '"text"',
      "1",
      '{"a":1e999}',
      '{"__proto__":{"polluted":true}}',
      '{"constructor":{"prototype":{"polluted":true}}}',
      '{"username":"a","username":"b"}',
      '{"username":"\\ud800"}',
      '{"password":"\\ud800 and more"}',
      '{"name":"a\\u0000b"}',
      '{"address":"a\\u0000@example.com"}',
      `{"public_metadata":{"a":"\\u0000"}}`,
      `${"[".repeat(100_000)}`,
      `{"public_metadata":${'{"a":'.repeat(50)}1${"}".repeat(51)}`,
      `{"name":"${"x".repeat(64 * 1024)}"}`,
      "\ufeff{}",
    ];
    for (const { method, path, operation } of withBody)
      for (const text of texts) {
        const { status } = await operator.call(method, pathWith(path, victim), text);
        expect([operation?.id, text.slice(0, 60), [400, 413].includes(status)]).toEqual([
          operation?.id,
          text.slice(0, 60),
          true,
        ]);
      }
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect(await rowsOf(runtime.tenant.id)).toEqual(before);
  });

  test("A93 whose members have another type is rejected, and changes nothing", async () => {
    const before = await rowsOf(runtime.tenant.id);
    for (const { method, path, operation } of withBody) {
      const body = bodies[operation?.id ?? ""]?.(victim.id) ?? {};
      for (const member of Object.keys(body))
        for (const value of [123, ["x"], { $ne: 1 }, [[]]]) {
          if (operation?.id === "patchUserMetadata" && !Array.isArray(value) && typeof value === "object")
            continue;
          const answer = await operator.call(method, pathWith(path, victim), { ...body, [member]: value });
          expect([operation?.id, member, value, answer.status]).toEqual([operation?.id, member, value, 400]);
        }
    }
    expect(await rowsOf(runtime.tenant.id)).toEqual(before);
  });
});

test("an id in a path that is none is rejected, whatever it holds", async () => {
  const wrong = [
    "1",
    "undefined",
    "%00",
    "..%2f..",
    "'%20or%20true",
    "%ed%a0%80",
    "__proto__",
    "a".repeat(4000),
  ];
  for (const { method, path, operation } of operations)
    for (const name of path.match(/\{\w+\}/g) ?? [])
      for (const id of wrong) {
        const at = pathWith(path, { ...victim, [name.slice(1, -1)]: id });
        const { status } = await operator.call(method, at, bodies[operation?.id ?? ""]?.(victim.id));
        const expected = ["{credential_id}", "{client_id}"].includes(name)
          ? [400, 404]
          : [400, 404].slice(0, id === "%ed%a0%80" ? 2 : 1);
        expect([method, at.slice(0, 120), expected.includes(status)]).toEqual([
          method,
          at.slice(0, 120),
          true,
        ]);
      }
});
