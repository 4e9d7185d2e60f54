import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { createApiKey } from "../../tenants/api-keys.ts";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { adminOperator } from "../../testing/admin-operator.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { adminAddresses } from "./addresses.ts";

const runtime = await runtimeForTests();
const operator = await adminOperator(runtime);
const other = await adminOperator(
  runtime,
  await createTenant(runtime, { name: "Other", hosts: [], settings: {} }),
);

const calls = adminAddresses.map(({ method, path }): [method: string, path: string] => [
  method,
  path.replace(/^\/admin/, "").replaceAll(/\{\w+\}/g, randomUUID()),
]);
const invalidKey = {
  code: 401,
  message: "A valid key of the administration interface is needed: Authorization: Bearer <key>.",
};

describe("A67 a key of the administration interface", () => {
  const { key } = operator;
  const changed = key.slice(0, -1) + (key.endsWith("A") ? "B" : "A");
  const keyOf = async (name: "authenticator" | "passkeys") =>
    (await createApiKey(runtime, runtime.tenant, { interface: name, name })).key;
  const wrong: [name: string, headers: () => Promise<Record<string, string>>][] = [
    ["that is missing", async () => ({})],
    ["that is empty", async () => ({ authorization: "Bearer " })],
    ["without a scheme", async () => ({ authorization: key })],
    ["with another scheme", async () => ({ authorization: `secret ${key}` })],
    ["after two spaces", async () => ({ authorization: `Bearer  ${key}` })],
    ["cut short", async () => ({ authorization: `Bearer ${key.slice(0, -1)}` })],
    ["with another last character", async () => ({ authorization: `Bearer ${changed}` })],
    ["with a trailing comma", async () => ({ authorization: `Bearer ${key},` })],
    ["twice", async () => ({ authorization: `Bearer ${key}, Bearer ${key}` })],
    ["of 10 000 characters", async () => ({ authorization: `Bearer ${"x".repeat(10_000)}` })],
    ["of another tenant", async () => ({ authorization: `Bearer ${other.key}` })],
    ["of the passkey server", async () => ({ authorization: `Bearer ${await keyOf("passkeys")}` })],
    [
      "of the authenticator interface",
      async () => ({ authorization: `Bearer ${await keyOf("authenticator")}` }),
    ],
    ["in another header", async () => ({ apikey: key })],
  ];

  test.each(wrong)("%s is rejected at every address", async (_, makeHeaders) => {
    const headers = await makeHeaders();
    for (const [method, path] of calls) {
      const { status, body } = await operator.callWithoutKey(method, path, undefined, headers);
      expect([method, path, status, body]).toEqual([method, path, 401, invalidKey]);
    }
  });

  test("in the query is rejected at every address", async () => {
    for (const name of ["key", "token", "access_token", "apiKey", "authorization"]) {
      for (const [method, path] of calls) {
        const answer = await operator.callWithoutKey(method, `${path}?${name}=${key}`);
        expect([method, path, answer.status, answer.body]).toEqual([method, path, 401, invalidKey]);
      }
    }
  });

  test.each(["Bearer", "bearer", "BEARER"])("is accepted after the scheme %s", async (scheme) => {
    const answer = await operator.callWithoutKey("GET", `/users/${randomUUID()}/sessions`, undefined, {
      authorization: `${scheme} ${key}`,
    });
    expect(answer.status).toBe(404);
  });

  test("is verified before the body", async () => {
    for (const [method, path] of calls.filter(([method]) => method !== "GET")) {
      const { body } = await operator.callWithoutKey(method, path, "{", { authorization: "Bearer x" });
      expect([method, path, body]).toEqual([method, path, invalidKey]);
    }
  });

  test("of a tenant opens its own prefix alone", async () => {
    const path = `/users/${randomUUID()}/sessions`;
    expect((await other.call("GET", path)).status).toBe(404);
    const foreign = { authorization: `Bearer ${key}` };
    expect((await other.callWithoutKey("GET", path, undefined, foreign)).body).toEqual(invalidKey);
  });

  test("A129 that is not valid is recorded, as often as one source may cause entries", async () => {
    const { auditLogs, rateCounters } = schema;
    await runtime.database.write.delete(auditLogs);
    await runtime.database.write.delete(rateCounters);
    const limit = runtime.config.audit_log.attempts_per_hour;
    for (let attempt = 0; attempt < limit + 3; attempt += 1)
      await operator.callWithoutKey("GET", "/tenant", undefined, { authorization: `Bearer ${changed}` });
    await operator.callWithoutKey("GET", "/tenant", undefined, { authorization: "Bearer no-key" });
    const rows = await runtime.database.read.select().from(auditLogs);
    const rejected = rows.filter(({ type }) => type === "api_key_rejected");
    expect(rejected).toHaveLength(limit);
    expect(rejected[0]?.details).toEqual({ interface: "admin", reason: "unknown_key" });
    expect(rows).toHaveLength(limit + 1);
  });

  test("of another tenant, or of another interface, is recorded with this reason", async () => {
    const { auditLogs } = schema;
    await runtime.database.write.delete(auditLogs);
    await runtime.database.write.delete(schema.rateCounters);
    for (const presented of [other.key, await keyOf("passkeys")]) {
      const headers = { authorization: `Bearer ${presented}` };
      expect((await operator.callWithoutKey("GET", "/tenant", undefined, headers)).body).toEqual(invalidKey);
    }
    const rows = await runtime.database.read.select().from(auditLogs).orderBy(auditLogs.createdAt);
    expect(rows.filter(({ type }) => type === "api_key_rejected").map(({ details }) => details)).toEqual([
      { interface: "admin", reason: "other_tenant" },
      { interface: "admin", reason: "other_interface" },
    ]);
  });

  test("is asked for in the header WWW-Authenticate", async () => {
    const { headers } = await operator.callWithoutKey("GET", `/users/${randomUUID()}/sessions`);
    expect(headers.get("www-authenticate")).toBe('Bearer realm="admin"');
  });
});
