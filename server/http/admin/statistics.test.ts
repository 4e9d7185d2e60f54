import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { schema } from "#db/client";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { adminOperator } from "../../testing/admin-operator.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";

const runtime = await runtimeForTests();
const { call } = await adminOperator(runtime);
const other = await adminOperator(
  runtime,
  await createTenant(runtime, { name: "B", hosts: [], settings: {} }),
);

const signIn = (
  createdAt: string,
  methods: unknown,
  tenantId = runtime.tenant.id,
  type = "login_success",
) => ({
  tenantId,
  id: randomUUID(),
  type,
  details: { methods },
  createdAt: new Date(createdAt),
});
const user = (createdAt: string, blocked = false) => ({
  tenantId: runtime.tenant.id,
  id: randomUUID(),
  createdAt: new Date(createdAt),
  blockedAt: blocked ? new Date(createdAt) : null,
});

test("A68 counts the tenant's users and sign-ins by day in UTC and by method", async () => {
  await runtime.database.write
    .insert(schema.users)
    .values([
      user("2026-01-31T23:59:59.999Z"),
      user("2026-02-01T00:00:00.000Z", true),
      user("2026-02-01T23:59:59.999Z"),
      user("2026-02-03T00:00:00.000Z"),
    ]);
  await runtime.database.write
    .insert(schema.auditLogs)
    .values([
      signIn("2026-01-31T23:59:59.999Z", ["password"]),
      signIn("2026-02-01T00:00:00.000Z", ["password", "totp"]),
      signIn("2026-02-01T23:59:59.999Z", ["passkey"]),
      signIn("2026-02-02T12:00:00.000Z", ["password", "password"]),
      signIn("2026-02-02T12:00:00.000Z", null),
      signIn("2026-02-02T12:00:00.000Z", ["password"], other.tenant.id),
      signIn("2026-02-02T12:00:00.000Z", ["password"], runtime.tenant.id, "login_failure"),
      signIn("2026-02-03T00:00:00.000Z", ["password"]),
    ]);
  const { status, body } = await call("GET", "/statistics?from=2026-02-01&to=2026-02-02");
  expect([status, body]).toEqual([
    200,
    {
      from: "2026-02-01",
      to: "2026-02-02",
      users: { total: 4, blocked: 1, new_by_day: { "2026-02-01": 2 } },
      sign_ins: {
        since: expect.any(String),
        total: 4,
        by_day: {
          "2026-02-01": { total: 2, methods: { password: 1, totp: 1, passkey: 1 } },
          "2026-02-02": { total: 2, methods: { password: 1 } },
        },
      },
    },
  ]);
  expect((await other.call("GET", "/statistics?from=2026-02-01&to=2026-02-02")).body).toMatchObject({
    users: { total: 0 },
    sign_ins: { total: 1 },
  });
});

test("is of the last thirty days by default", async () => {
  const { body } = await call("GET", "/statistics");
  expect(Date.parse(body.to) - Date.parse(body.from)).toBe(29 * 86_400_000);
  expect((await call("GET", "/statistics?to=0001-01-05")).body).toMatchObject({ from: "0001-01-01" });
  expect((await call("GET", "/statistics?to=9999-12-31")).status).toBe(200);
});

test.each([
  "from=2026-02-02&to=2026-02-01",
  "from=2024-01-01&to=2026-01-01",
  "from=2026-02-30",
  "from=0000-01-01&to=0000-01-02",
  "to=10000-01-01",
  "from=yesterday",
  "to=2026-02-01T00:00:00Z",
  "from=2026-02-01&from=2026-02-02",
  "page=1",
])("rejects the query %s with 400", async (query) => {
  expect((await call("GET", `/statistics?${query}`)).status).toBe(400);
});
