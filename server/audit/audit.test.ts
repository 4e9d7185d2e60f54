import { randomUUID } from "node:crypto";
import { desc } from "drizzle-orm";
import { afterAll, beforeAll, expect, it } from "vitest";
import { schema } from "#db/client";
import type { Client } from "../client.ts";
import { type TestRuntime, testClient, testRuntime } from "../testing/runtime.ts";
import { type AuditDetails, audit } from "./audit.ts";

let runtime: TestRuntime;
beforeAll(async () => {
  runtime = await testRuntime();
});
afterAll(() => runtime.close());

const noon = new Date("2030-01-01T12:00:00.000Z");

async function write(details: AuditDetails, client: Client = testClient, userId?: string) {
  const entry = audit(
    { runtime, tenant: runtime.tenant, client, now: noon },
    "login_failure",
    details,
    userId,
  );
  await runtime.database.write.transaction(entry);
  const [row] = await runtime.database.read
    .select()
    .from(schema.auditLogs)
    .orderBy(desc(schema.auditLogs.userId))
    .limit(1);
  await runtime.database.write.delete(schema.auditLogs);
  return row;
}

it("records type, account, time, request and details", async () => {
  const userId = randomUUID();
  expect(await write({ method: "password", tries: 3, amr: ["pwd"] }, testClient, userId)).toEqual({
    tenantId: runtime.tenant.id,
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    type: "login_failure",
    userId,
    requestId: testClient.requestId,
    ipAddress: testClient.ip,
    userAgent: testClient.userAgent,
    details: { method: "password", tries: 3, amr: ["pwd"] },
    createdAt: noon,
  });
});

it("records no account if the event concerns none", async () => {
  expect(await write({})).toMatchObject({ userId: null, details: {} });
});

it("A10 replaces characters that PostgreSQL cannot store", async () => {
  const client = { ...testClient, userAgent: `\0\uD800${"x".repeat(1000)}` };
  const row = await write({ reason: "a\0b\uDC00", list: ["\0"] }, client);
  expect(row?.details).toEqual({ reason: "a\uFFFDb\uFFFD", list: ["\uFFFD"] });
  expect(row?.userAgent).toHaveLength(512);
});

it("is rolled back with the transaction of the change", async () => {
  const entry = audit({ runtime, tenant: runtime.tenant, client: testClient, now: noon }, "login_success");
  const failing = runtime.database.write.transaction(async (tx) => {
    await entry(tx);
    throw new Error("overtaken");
  });
  await expect(failing).rejects.toThrow("overtaken");
  expect(await runtime.database.read.$count(schema.auditLogs)).toBe(0);
});
