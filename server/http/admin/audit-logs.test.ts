import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import type { AuditEntryJson } from "../../audit/audit-entry.ts";
import { exportAuditEntries } from "../../audit/audit-log.ts";
import { maskedIdentifier } from "../../audit/identifier.ts";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { adminOperator } from "../../testing/admin-operator.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { visitor } from "../../testing/visitor.ts";
import { handle } from "../dispatch.ts";

const runtime = await runtimeForTests();
const { call, key } = await adminOperator(runtime);
const other = await adminOperator(
  runtime,
  await createTenant(runtime, { name: "Other", hosts: [], settings: {} }),
);

const { auditLogs, emails, users } = schema;
const ada = randomUUID();
const secondsPast = (at: number) => new Date(Date.UTC(2026, 0, 1, 12, 0, at));

const entry = (at: number, more: object = {}) => ({
  tenantId: runtime.tenant.id,
  id: randomUUID(),
  type: at % 2 === 0 ? "login_success" : "email_created",
  userId: null as string | null,
  requestId: `request-${at}`,
  ipAddress: ["192.0.2.7", "198.51.100.7", "2001:db8::7"][at % 3] ?? null,
  userAgent: "Test/1.0",
  details: at % 2 === 0 ? { methods: ["password"] } : { email: "new@example.com" },
  createdAt: secondsPast(at),
  ...more,
});

await runtime.database.write.delete(auditLogs);
await runtime.database.write.insert(users).values({ tenantId: runtime.tenant.id, id: ada });
await runtime.database.write.insert(emails).values({
  tenantId: runtime.tenant.id,
  id: randomUUID(),
  userId: ada,
  address: "ada@example.com",
  isPrimary: true,
});
await runtime.database.write.insert(auditLogs).values([
  ...Array.from({ length: 30 }, (_, at) => entry(at, at % 3 === 0 ? { userId: ada } : {})),
  entry(40, {
    type: "webauthn_credential_deleted",
    ipAddress: null,
    requestId: null,
    userAgent: null,
    details: { actor_user_id: "user-7", error: "failed" },
  }),
  entry(41, { tenantId: other.tenant.id }),
]);

const numbers = async (query: string) => {
  const { body } = await call("GET", `/audit_logs?per_page=100&${query}`);
  return (body as { meta_http_request_id: string }[])
    .map((one) => Number(one.meta_http_request_id.slice(8)))
    .reverse();
};
const all = Array.from({ length: 30 }, (_, at) => at);
const everyThird = (rest: number) => all.filter((at) => at % 3 === rest);

test("lists entries of every type, newest first, in pages", async () => {
  const { status, body, headers } = await call("GET", "/audit_logs?page=2&per_page=7");
  expect(status).toBe(200);
  expect(body).toHaveLength(7);
  expect(headers.get("x-total-count")).toBe("31");
  const address = "http://localhost:3000/admin/audit_logs?page=";
  expect(headers.get("link")).toBe(
    `<${address}1&per_page=7>; rel="first", <${address}5&per_page=7>; rel="last", <${address}3&per_page=7>; rel="next", <${address}1&per_page=7>; rel="prev"`,
  );
  const first = (await call("GET", "/audit_logs")).body;
  const common = { id: expect.any(String), tenant_id: runtime.tenant.id };
  expect(first[0]).toEqual({
    ...common,
    type: "webauthn_credential_deleted",
    error: "failed",
    meta_http_request_id: "",
    meta_source_ip: "",
    meta_user_agent: "",
    actor_user_id: "user-7",
    details: {},
    created_at: secondsPast(40).toISOString(),
    updated_at: secondsPast(40).toISOString(),
  });
  expect(first.find((one: { actor_email?: string }) => one.actor_email)).toEqual({
    ...common,
    type: "email_created",
    meta_http_request_id: "request-27",
    meta_source_ip: "192.0.2.7",
    meta_user_agent: "Test/1.0",
    actor_user_id: ada,
    actor_email: "a***@example.com",
    details: { email: "n***@example.com" },
    created_at: secondsPast(27).toISOString(),
    updated_at: secondsPast(27).toISOString(),
  });
});

test("shows names and addresses as the settings say when they are read", async () => {
  const server = runtime.configured({
    STILE_AUDIT_LOG_MASK: "false",
    STILE_AUDIT_LOG_MASK_IP_ADDRESSES: "true",
  });
  const request = new Request(
    "http://localhost:3000/admin/audit_logs?actor_email=ada@example.com&per_page=1",
    {
      headers: { authorization: `Bearer ${key}`, host: "localhost:3000" },
    },
  );
  const answer = await handle(request, { peer: "127.0.0.1", requestId: "r" }, server);
  expect(await answer?.json()).toMatchObject([
    { actor_email: "ada@example.com", details: { email: "new@example.com" }, meta_source_ip: "192.0.2.0" },
  ]);
});

describe("filters", () => {
  test("by type, repeated or separated by commas", async () => {
    expect(await numbers("type=login_success")).toEqual(all.filter((at) => at % 2 === 0));
    expect(await numbers("type=login_success&type=email_created")).toEqual(all);
    expect(await numbers("type=login_success,email_created")).toEqual(all);
    expect(await numbers("type=user_blocked")).toEqual([]);
  });

  test("by time, with exclusive bounds", async () => {
    expect(await numbers("start_time=2026-01-01T12:00:05Z&end_time=2026-01-01T14:00:09%2B02:00")).toEqual([
      6, 7, 8,
    ]);
  });

  test("by user, email address and IP address, whole or in part", async () => {
    const mine = everyThird(0);
    for (const query of [
      `actor_user_id=${ada}`,
      `actor_user_id=${ada.toUpperCase()}`,
      `actor_user_id=${ada.slice(3, 20)}`,
      "actor_email=ada@example.com",
      "actor_email=ADA%40ex",
      "meta_source_ip=192.0.2.7",
      "meta_source_ip=192.0",
      "q=da@exam",
      `q=${ada.slice(9)}`,
      "q=2.0.2.",
    ])
      expect([query, await numbers(query)]).toEqual([query, mine]);
    for (const query of [
      `actor_user_id=${randomUUID()}`,
      "actor_email=da@example.com",
      "actor_email=%25",
      "meta_source_ip=192.0.2.1",
      "q=%25",
      "q=ada&actor_email=bob",
    ])
      expect([query, await numbers(query)]).toEqual([query, []]);
    expect(await numbers("meta_source_ip=2001:db8:0::7")).toEqual(everyThird(2));
  });

  test("of a text that is empty are ignored, and an empty time or type is rejected", async () => {
    expect(await numbers("q=&actor_email=&end_time=2026-01-01T12:00:40Z")).toEqual(all);
    for (const query of ["start_time=", "type=", "type=user_created,", "page="])
      expect((await call("GET", `/audit_logs?${query}`)).status).toBe(400);
  });
});

test.each([
  "page=0",
  "page=1000001",
  "per_page=101",
  "per_page=-1",
  "per_page=1e1",
  "page=1&page=2",
  "start_time=yesterday",
  "start_time=0000-01-01T00:00:00Z",
  "type=nothing",
  "type=__proto__",
  "q=a%00b",
  `q=${"x".repeat(257)}`,
  `type=${"login_success,".repeat(257)}`,
  "limit=1",
  "__proto__=1",
  Array.from({ length: 2000 }, (_, at) => `x${at}=1`).join("&"),
])("rejects the query %s with 400, in the list and in the export", async (query) => {
  expect((await call("GET", `/audit_logs?${query}`)).status).toBe(400);
  expect((await call("GET", `/audit_logs/export?${query}`)).status).toBe(400);
});

test("answers the last page that there can be with an empty list", async () => {
  const { status, body } = await call("GET", "/audit_logs?page=1000000&per_page=100");
  expect([status, body]).toEqual([200, []]);
});

describe("the export", () => {
  const exported = async (query = "") => {
    const answer = await visitor(runtime).request(`/admin/audit_logs/export${query}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const lines = (await answer.text()).split("\n");
    expect(lines.pop()).toBe("");
    return { headers: answer.headers, entries: lines.map((line) => JSON.parse(line)) };
  };

  test("is the same entries as the list, oldest first, one line of JSON each", async () => {
    const { headers, entries } = await exported("?type=login_success,email_created");
    expect(headers.get("content-type")).toBe("application/jsonl; charset=utf-8");
    expect(entries.map((one) => Number(one.meta_http_request_id.slice(8)))).toEqual(all);
    const { body } = await call("GET", "/audit_logs?per_page=100&type=login_success,email_created");
    expect(entries).toEqual(body.reverse());
  });

  test("of nothing is empty", async () => {
    expect((await exported("?q=nothing")).entries).toEqual([]);
  });

  test("reads in batches, each once, across entries of one moment", async () => {
    const moment = new Date("2025-01-01T00:00:00.000Z");
    const many = Array.from({ length: 1203 }, () => entry(0, { createdAt: moment, type: "user_blocked" }));
    await runtime.database.write.insert(auditLogs).values(many);
    const filter = { types: ["user_blocked"] as const, before: new Date() };
    const batches = exportAuditEntries(runtime.database.read, runtime.tenant, filter);
    expect((await batches.next()).value).toHaveLength(500);
    // Nothing is held between two batches.
    expect(runtime.database.read.$client.waitingCount).toBe(0);
    expect(runtime.database.read.$client.idleCount).toBe(runtime.database.read.$client.totalCount);
    const { entries } = await exported("?type=user_blocked");
    expect(new Set(entries.map(({ id }) => id)).size).toBe(1203);
    expect(entries).toHaveLength(1203);
  });

  test("ends at the moment of the request, whatever is written meanwhile", async () => {
    const future = entry(0, { createdAt: new Date(Date.now() + 3_600_000), type: "user_unblocked" });
    await runtime.database.write.insert(auditLogs).values(future);
    expect((await exported("?type=user_unblocked")).entries).toEqual([]);
    expect((await exported("?type=user_unblocked&end_time=9999-01-01T00:00:00Z")).entries).toEqual([]);
  });

  test("has headers alone for HEAD", async () => {
    const answer = await visitor(runtime).request("/admin/audit_logs/export", {
      method: "HEAD",
      headers: { authorization: `Bearer ${key}` },
    });
    expect([answer.status, await answer.text()]).toEqual([200, ""]);
  });
});

test("A68 lists and exports the entries of the calling tenant only", async () => {
  const { body } = await other.call("GET", "/audit_logs?type=email_created");
  expect(body.map((one: { tenant_id: string }) => one.tenant_id)).toEqual([other.tenant.id]);
  expect((await other.call("GET", `/audit_logs?actor_email=ada@example.com`)).body).toEqual([]);
  const answer = await visitor(runtime).request(`/t/${other.tenant.id}/admin/audit_logs/export`, {
    headers: { authorization: `Bearer ${other.key}` },
  });
  const lines = (await answer.text()).trim().split("\n");
  expect(new Set(lines.map((line) => JSON.parse(line).tenant_id))).toEqual(new Set([other.tenant.id]));
});

test("entries of failures that an earlier version wrote without a reason are listed as they are", async () => {
  const createdAt = new Date(Date.UTC(2026, 2, 1));
  const old = [
    ["api_key_rejected", { interface: "admin" }],
    ["authenticator_request_failed", { request_id: "r", code: 1403 }],
    ["login_failure", { method: "password" }],
    ["mail_failed", { mail: "login", reason: "550 5.1.1 to RCPT TO", attempts: 1 }],
    ["thirdparty_signin_signup_failed", { provider: "google", error: "access_denied" }],
  ] as const;
  await runtime.database.write
    .insert(auditLogs)
    .values(old.map(([type, details], at) => entry(60 + at, { type, details, createdAt })));
  const since = "start_time=2026-02-28T23:59:59Z&end_time=2026-03-01T00:00:01Z";
  const { status, body } = await call("GET", `/audit_logs?${since}`);
  expect(status).toBe(200);
  const listed = body.map(({ type, error, details }: AuditEntryJson) => [
    type,
    { ...details, ...(error ? { error } : {}) },
  ]);
  expect(listed.toSorted()).toEqual(old);
});

test("`identifier` finds entries by the canonical form, and those of the account that has it", async () => {
  const details = maskedIdentifier(runtime.vault, runtime.tenant.id, "ada@xn--bcher-kva.example");
  const more = { type: "login_failure", createdAt: new Date(Date.UTC(2026, 1, 1)) };
  await runtime.database.write
    .insert(auditLogs)
    .values([entry(50, { ...more, details }), entry(51, { ...more, userId: ada, details: {} })]);
  const found = (name: string) => numbers(`type=login_failure&identifier=${encodeURIComponent(name)}`);
  expect(await found("Ada@bücher.example")).toEqual([50]);
  expect(await found("ADA@example.com")).toEqual([51]);
});
