import { randomUUID } from "node:crypto";
import { and, desc, eq } from "drizzle-orm";
import { beforeEach, describe, expect, it } from "vitest";
import { schema } from "#db/client";
import { commit } from "#db/commit";
import { ConflictError } from "#db/errors";
import { writeOf } from "#db/write";
import type { Client } from "../context/client.ts";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { testClient } from "../testing/runtime.ts";
import { type AttemptCause, type AuditDetails, audit, auditAttempt, commandLine } from "./audit.ts";

const runtime = await runtimeForTests();

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
        auditAttempt(
          context,
          "login_failure",
          { method: "password", reason: "wrong" },
          cause ? { cause } : {},
        ),
      );
    await Promise.all(Array.from({ length: times }, attempt));
    return types();
  }

  beforeEach(async () => {
    await runtime.database.write.delete(schema.auditLogs);
    await runtime.database.write.delete(schema.rateCounters);
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
      await auditAttempt(context, "login_failure", { reason: "wrong" })(tx);
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
    const details = { method: "\0", reason: "wrong", none: null } as const;
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
        details: { method: "\uFFFD", reason: "wrong", none: null },
        createdAt: noon,
      },
    ]);
  });
});

describe("with the console output", () => {
  const context = (settings: Record<string, string> = {}) => {
    const server = runtime.configured({ STILE_AUDIT_LOG_CONSOLE_OUTPUT_ENABLED: "true", ...settings });
    server.audited.splice(0);
    return { runtime: server, tenant: server.tenant, client: testClient, now: noon };
  };
  const stored = () => runtime.database.read.select().from(schema.auditLogs);

  beforeEach(async () => {
    await runtime.database.write.delete(schema.auditLogs);
    await runtime.database.write.delete(schema.rateCounters);
  });

  it("writes an entry as one line of JSON after the commit", async () => {
    const by = context();
    const userId = randomUUID();
    const details = { email: "jane@example.com", note: "two\nlines" };
    await by.runtime.database.write.transaction(async (tx) => {
      await audit(by, "email_created", details, userId)(tx);
      expect(by.runtime.audited).toEqual([]);
    });
    const [row] = await stored();
    expect(by.runtime.audited).toHaveLength(1);
    expect(by.runtime.audited[0]).not.toContain("\n");
    expect(JSON.parse(by.runtime.audited[0] ?? "")).toEqual({
      id: row?.id,
      type: "email_created",
      meta_http_request_id: "test",
      meta_source_ip: "192.0.2.1",
      meta_user_agent: "Test/1.0",
      actor_user_id: userId,
      details: { email: "j***@example.com", note: "two\nlines" },
      tenant_id: runtime.tenant.id,
      created_at: noon.toISOString(),
      updated_at: noon.toISOString(),
    });
  });

  it("writes nothing for what is rolled back", async () => {
    const by = context();
    const failing = by.runtime.database.write.transaction(async (tx) => {
      await audit(by, "login_success")(tx);
      await auditAttempt(by, "login_failure", { reason: "wrong" })(tx);
      throw new Error("overtaken");
    });
    await expect(failing).rejects.toThrow("overtaken");
    expect(by.runtime.audited).toEqual([]);
  });

  it("writes the same of parts that are committed in one round trip", async () => {
    const by = context();
    const writes = () => [audit(by, "login_success"), auditAttempt(by, "login_failure", { reason: "wrong" })];
    const refusing = writeOf({ name: "refusing", text: "", values: [], refuses: "'passkey'" });
    await expect(commit(by.runtime.database, [...writes(), refusing])).rejects.toThrow(
      new ConflictError("passkey"),
    );
    expect(by.runtime.audited).toEqual([]);
    await commit(by.runtime.database, writes());
    const lines = by.runtime.audited.map((line) => JSON.parse(line));
    expect(lines.map(({ type }) => type)).toEqual(["login_success", "login_failure"]);
    expect((await stored()).map(({ id }) => id).sort()).toEqual(lines.map(({ id }) => id).sort());
  });

  it.each(["true", "false"])(
    "A129 writes the same attempts as the database keeps, with storage %s",
    async (enabled) => {
      const by = context({
        STILE_AUDIT_LOG_ATTEMPTS_PER_HOUR: "2",
        STILE_AUDIT_LOG_STORAGE_ENABLED: enabled,
        STILE_AUDIT_LOG_MASK_IP_ADDRESSES: "true",
      });
      for (let attempt = 0; attempt < 5; attempt += 1)
        await by.runtime.database.write.transaction(
          auditAttempt(by, "login_failure", { method: "totp", reason: "wrong" }),
        );
      const lines = by.runtime.audited.map((line) => JSON.parse(line));
      expect(lines.map(({ type }) => type)).toEqual([
        "login_failure",
        "login_failure",
        "audit_limit_reached",
      ]);
      expect(lines[2]).toMatchObject({
        meta_source_ip: "192.0.2.0",
        details: { source: "192.0.2.0", per_hour: 2 },
      });
      expect(await stored()).toHaveLength(enabled === "true" ? 3 : 0);
    },
  );

  it("is the only record without storage", async () => {
    const by = context({ STILE_AUDIT_LOG_STORAGE_ENABLED: "false" });
    await by.runtime.database.write.transaction(audit(by, "login_success"));
    expect(by.runtime.audited).toHaveLength(1);
    expect(await stored()).toEqual([]);
    expect(() => runtime.configured({ STILE_AUDIT_LOG_STORAGE_ENABLED: "false" })).toThrow(
      "no security event would be recorded",
    );
  });
});

it("masks email addresses and usernames where they are written, unless they are to be kept", async () => {
  const details = { email: "jane@example.com", previous_username: "jane", method: "jane" };
  expect((await write(details))?.details).toEqual({
    email: "j***@example.com",
    previous_username: "j***",
    method: "jane",
  });
  const kept = runtime.configured({ STILE_AUDIT_LOG_MASK: "false" });
  const context = { runtime: kept, tenant: kept.tenant, client: testClient, now: noon };
  await kept.database.write.transaction(audit(context, "email_created", details));
  const [row] = await kept.database.read.select().from(schema.auditLogs);
  await kept.database.write.delete(schema.auditLogs);
  expect(row?.details).toEqual(details);
});

it("names the API key that authorized the request, and the command line without an address", async () => {
  expect((await write({ a: 1 }, { ...testClient, apiKey: "key-1" }))?.details).toEqual({
    a: 1,
    api_key: "key-1",
  });
  const context = { runtime, tenant: runtime.tenant, client: commandLine, now: noon };
  await runtime.database.write.transaction(audit(context, "secrets_resealed"));
  const [row] = await runtime.database.read.select().from(schema.auditLogs);
  await runtime.database.write.delete(schema.auditLogs);
  expect(row).toMatchObject({ ipAddress: null, userAgent: "stile", requestId: null });
});
