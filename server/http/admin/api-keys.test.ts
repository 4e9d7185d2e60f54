import { randomUUID } from "node:crypto";
import { and, eq, isNotNull, like } from "drizzle-orm";
import { beforeEach, expect, test } from "vitest";
import { schema } from "#db/client";
import { verifyApiKey } from "../../tenants/api-keys.ts";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { type AdminOperator, adminOperator } from "../../testing/admin-operator.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";

const runtime = await runtimeForTests();
const operator = await adminOperator(runtime);

let own: AdminOperator;

beforeEach(async () => {
  own = await adminOperator(runtime, await createTenant(runtime, { name: "Acme", hosts: [], settings: {} }));
});

test("keys are created, shown once, listed without the key, and deleted", async () => {
  const created = await own.call("POST", "/api_keys", { interface: "passkeys", name: "shop" });
  expect(created.status).toBe(201);
  const { id, key } = created.body;
  expect(created.body).toEqual({ id, key, interface: "passkeys", name: "shop" });
  expect(await verifyApiKey(runtime, { interface: "passkeys", tenant: own.tenant }, key)).toMatchObject({
    ok: true,
  });
  const listed = await own.call("GET", "/api_keys");
  expect(listed.body).toHaveLength(2);
  expect(listed.body[1]).toEqual({
    id,
    interface: "passkeys",
    name: "shop",
    created_at: expect.any(String),
    last_used_at: expect.any(String),
  });
  expect(listed.text).not.toContain(key.slice(6));
  expect((await own.call("DELETE", `/api_keys/${id}`)).status).toBe(204);
  expect((await own.call("DELETE", `/api_keys/${id}`)).status).toBe(404);
  expect(await verifyApiKey(runtime, { interface: "passkeys" }, key)).toMatchObject({ ok: false });
  const { auditLogs } = schema;
  const entries = await runtime.database.read
    .select()
    .from(auditLogs)
    .where(
      and(
        eq(auditLogs.tenantId, own.tenant.id),
        like(auditLogs.type, "api_key_%"),
        isNotNull(auditLogs.ipAddress),
      ),
    );
  const about = { key: id, interface: "passkeys", name: "shop", api_key: listed.body[0].id };
  expect(entries.map(({ type, details }) => [type, details]).sort()).toEqual([
    ["api_key_created", about],
    ["api_key_deleted", about],
  ]);
});

test("a key deletes itself, and is invalid for the next call", async () => {
  const [{ id }] = (await own.call("GET", "/api_keys")).body;
  expect((await own.call("DELETE", `/api_keys/${id}`)).status).toBe(204);
  expect((await own.call("GET", "/api_keys")).status).toBe(401);
});

test("a tenant has at most 100 keys of an interface, also when they are created at once", async () => {
  const { write } = runtime.database;
  await write.insert(schema.apiKeys).values(
    Array.from({ length: 97 }, (_, at) => ({
      tenantId: own.tenant.id,
      id: randomUUID(),
      interface: "passkeys",
      name: "",
      keyHash: Buffer.alloc(32, randomUUID() + at),
    })),
  );
  const create = (name: string) => own.call("POST", "/api_keys", { interface: name });
  const answers = await Promise.all(Array.from({ length: 6 }, () => create("passkeys")));
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 201, 409, 409, 409]);
  expect(answers.find(({ status }) => status === 409)?.text).toContain("at most 100 keys");
  expect((await create("authenticator")).status).toBe(201);
});

test("A68 a key neither sees nor deletes keys of another tenant, and makes none for it", async () => {
  const [{ id }] = (await own.call("GET", "/api_keys")).body;
  expect((await operator.call("DELETE", `/api_keys/${id}`)).status).toBe(404);
  expect((await operator.call("GET", "/api_keys")).text).not.toContain(id);
  const { body } = await own.call("POST", "/api_keys", { interface: "admin", name: "x" });
  expect(await verifyApiKey(runtime, { interface: "admin", tenant: runtime.tenant }, body.key)).toMatchObject(
    { ok: false },
  );
  for (const more of [
    { tenant_id: runtime.tenant.id },
    { tenant: runtime.tenant.id },
    { id: randomUUID() },
    { key: "x" },
  ]) {
    const answer = await own.call("POST", "/api_keys", { interface: "admin", name: "x", ...more });
    expect(answer.status).toBe(400);
  }
});

test.each([
  {},
  { interface: "root" },
  { interface: ["admin"] },
  { interface: "admin", name: "x".repeat(201) },
  [],
])("A93 rejects %j with 400", async (body) => {
  expect((await own.call("POST", "/api_keys", body)).status).toBe(400);
});

test("ids that are no UUID are 400, and unknown ones 404", async () => {
  expect((await own.call("DELETE", "/api_keys/x")).status).toBe(400);
  expect((await own.call("DELETE", `/api_keys/${randomUUID()}`)).status).toBe(404);
});
