import { randomUUID } from "node:crypto";
import { and, desc, eq } from "drizzle-orm";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { schema } from "#db/client";
import type { Client } from "../client.ts";
import { type TestRuntime, testClient, testRuntime } from "../testing/runtime.ts";
import { type AttemptCause, type AuditDetails, audit, auditAttempt } from "./audit.ts";

let runtime: TestRuntime;
beforeAll(async () => {
  runtime = await testRuntime();
});
afterAll(() => runtime.close());

const noon = new Date("2030-01-01T12:00:00.000Z");

async function write(details: AuditDetails, client: Client = testClient, userId?: string) {
  const entry = audit(
    { runtime, tenant: runtime.tenant, client, now: noon },
    "login_success",
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
    type: "login_success",
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

describe("A129 an entry of an event that changed nothing", () => {
  const types = async () => {
    const rows = await runtime.database.read.select().from(schema.auditLogs);
    return rows.map(({ type }) => type).sort();
  };

  /** Writes entries of failed sign-ins concurrently, with a limit of three; returns all types in the log. */
  async function fail(
    times: number,
    {
      client = {},
      cause,
      now = noon,
      tenant = runtime.tenant.id,
    }: Partial<{
      client: Partial<Client>;
      cause: AttemptCause;
      now: Date;
      tenant: string;
    }> = {},
  ) {
    const server = runtime.configured({ STILE_AUDIT_LOG_ATTEMPTS_PER_HOUR: "3" });
    const context = {
      runtime: server,
      tenant: { ...server.tenant, id: tenant },
      client: { ...testClient, ...client },
      now,
    };
    const attempt = () =>
      server.database.write.transaction(
        auditAttempt(context, "login_failure", { method: "password" }, cause ? { cause } : {}),
      );
    await Promise.all(Array.from({ length: times }, attempt));
    return types();
  }

  beforeEach(async () => {
    await runtime.database.write.delete(schema.auditLogs);
    await runtime.database.write.delete(schema.rateLimits);
  });

  const reached = ["audit_limit_reached", "login_failure", "login_failure", "login_failure"];

  it("is written up to the limit, then one that says so, however many are written at once", async () => {
    expect(await fail(3)).toEqual(reached.slice(1));
    expect(await fail(20)).toEqual(reached);
    const [last] = await runtime.database.read
      .select()
      .from(schema.auditLogs)
      .where(eq(schema.auditLogs.type, "audit_limit_reached"));
    expect(last).toMatchObject({
      userId: null,
      ipAddress: testClient.ip,
      details: { source: testClient.source, per_hour: 3 },
      createdAt: noon,
    });
  });

  it("is counted anew after an hour", async () => {
    await fail(9);
    expect(await fail(9, { now: new Date(noon.getTime() + 3_599_999) })).toEqual(reached);
    expect(await fail(9, { now: new Date(noon.getTime() + 3_600_000) })).toEqual(
      [...reached, ...reached].sort(),
    );
  });

  it("is counted by source, by tenant, and for a user who has proved a factor or has a session apart from strangers", async () => {
    await fail(9);
    const neighbour = "00000000-0000-4000-8000-0000000000aa";
    expect(await fail(1, { client: { ip: "192.0.2.2" } })).toHaveLength(4);
    expect(await fail(1, { client: { source: "192.0.2.2" } })).toHaveLength(5);
    expect(await fail(1, { tenant: neighbour })).toHaveLength(6);
    const account = randomUUID();
    const { source } = testClient;
    expect(await fail(9, { cause: { account, source } })).toHaveLength(10);
    expect(await fail(9, { cause: { account } })).toHaveLength(14);
    expect(await fail(9, { cause: { account }, client: { source: "192.0.2.3" } })).toHaveLength(14);
    const ofUser = await runtime.database.read
      .select()
      .from(schema.auditLogs)
      .where(and(eq(schema.auditLogs.userId, account), eq(schema.auditLogs.type, "audit_limit_reached")));
    expect(ofUser.map(({ details }) => details)).toEqual(
      expect.arrayContaining([
        { account, source, per_hour: 3 },
        { account, per_hour: 3 },
      ]),
    );
  });

  it("is rolled back together with its count", async () => {
    const context = { runtime, tenant: runtime.tenant, client: testClient, now: noon };
    const failing = runtime.database.write.transaction(async (tx) => {
      await auditAttempt(context, "login_failure", {})(tx);
      throw new Error("overtaken");
    });
    await expect(failing).rejects.toThrow("overtaken");
    expect(await fail(9)).toEqual(reached);
  });

  it("records type, account, time, request and details as any other", async () => {
    const userId = randomUUID();
    const context = {
      runtime,
      tenant: runtime.tenant,
      client: { ...testClient, userAgent: "\0" },
      now: noon,
    };
    const details = { method: "totp", reason: "\0", none: null };
    await runtime.database.write.transaction(auditAttempt(context, "login_failure", details, { userId }));
    expect(await runtime.database.read.select().from(schema.auditLogs)).toEqual([
      {
        tenantId: runtime.tenant.id,
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        type: "login_failure",
        userId,
        requestId: testClient.requestId,
        ipAddress: testClient.ip,
        userAgent: "\uFFFD",
        details: { method: "totp", reason: "\uFFFD", none: null },
        createdAt: noon,
      },
    ]);
  });
});
