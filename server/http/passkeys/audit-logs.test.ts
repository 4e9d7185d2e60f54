import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { passkeyServerAuditTypes } from "../../audit/audit-types.ts";
import { invalidRequest, passkeySuite } from "../../testing/passkey-suite.ts";

const { runtime, application, newTenant } = await passkeySuite();
const other = await newTenant();

const secondsPast = (at: number) => new Date(Date.UTC(2026, 0, 1, 12, 0, at));

/** 30 entries, a second apart, of three users from three addresses, and three entries of other kinds. */
const entry = (at: number, more: object = {}) => ({
  tenantId: runtime.tenant.id,
  id: randomUUID(),
  type: at % 2 === 0 ? "webauthn_transaction_init_succeeded" : "webauthn_credential_deleted",
  userId: null,
  requestId: `request-${at}`,
  ipAddress: ["192.0.2.7", "198.51.100.7", "2001:db8::7"][at % 3] ?? null,
  userAgent: "Test/1.0",
  details: { actor_user_id: ["ada", "50%_off", "a\\b"][at % 3] },
  createdAt: secondsPast(at),
  ...more,
});
await runtime.database.write.insert(schema.auditLogs).values([
  ...Array.from({ length: 30 }, (_, at) => entry(at)),
  entry(40, { type: "login_success" }),
  entry(41, {
    type: "webauthn_transaction_final_failed",
    details: { actor_user_id: null, error: "failed", transaction_id: "t-1" },
    ipAddress: null,
    requestId: null,
    userAgent: null,
  }),
  entry(42, { tenantId: other.tenant.id }),
]);

const list = (query = "", by = application) => by.get(`/audit_logs${query && `?${query}`}`);
const numbers = async (query: string) => {
  const { body } = await list(`per_page=100&${query}`);
  return (body as { meta_http_request_id: string }[])
    .map((entry) => Number(entry.meta_http_request_id.slice(8)))
    .reverse();
};
const all = Array.from({ length: 30 }, (_, at) => at);

test("lists the entries of the passkey server, newest first", async () => {
  const { status, body, headers } = await list();
  expect(status).toBe(200);
  expect(body).toHaveLength(20);
  expect(headers.get("x-total-count")).toBe("31");
  expect(body[0]).toEqual({
    id: expect.any(String),
    type: "webauthn_transaction_final_failed",
    error: "failed",
    meta_http_request_id: "",
    meta_source_ip: "",
    meta_user_agent: "",
    created_at: secondsPast(41).toISOString(),
    updated_at: secondsPast(41).toISOString(),
    tenant_id: runtime.tenant.id,
    transaction_id: "t-1",
  });
  expect(body[1]).toEqual({
    id: expect.any(String),
    type: "webauthn_credential_deleted",
    meta_http_request_id: "request-29",
    meta_source_ip: "2001:db8::7",
    meta_user_agent: "Test/1.0",
    actor_user_id: "a\\b",
    created_at: secondsPast(29).toISOString(),
    updated_at: secondsPast(29).toISOString(),
    tenant_id: runtime.tenant.id,
    transaction_id: null,
  });
});

test("returns pages", async () => {
  const { body, headers } = await list("page=2&per_page=7&q=ada");
  expect(body).toHaveLength(3);
  expect(headers.get("x-total-count")).toBe("10");
  const address = `http://localhost:3000/passkeys/${runtime.tenant.id}/audit_logs?page=`;
  expect(headers.get("link")).toBe(
    `<${address}1&per_page=7&q=ada>; rel="first", <${address}2&per_page=7&q=ada>; rel="last", <${address}1&per_page=7&q=ada>; rel="prev"`,
  );
});

describe("filters", () => {
  test("by type, as repeated and as comma-separated parameters", async () => {
    const [one, two] = ["webauthn_transaction_init_succeeded", "webauthn_credential_deleted"];
    expect(await numbers(`type=${one}`)).toEqual(all.filter((at) => at % 2 === 0));
    expect(await numbers(`type=${one}&type=${two}`)).toEqual(all);
    expect(await numbers(`type=${one},${two}`)).toEqual(all);
    expect(await numbers(`type=${one}%2C%20${two}`)).toEqual(all);
    expect(await numbers("type=mfa_registration_init_failed")).toEqual([]);
  });

  test("by time, with exclusive bounds", async () => {
    expect(await numbers("start_time=2026-01-01T12:00:05Z&end_time=2026-01-01T12:00:09Z")).toEqual([6, 7, 8]);
    expect(
      await numbers("start_time=2026-01-01T14:00:05%2B02:00&end_time=2026-01-01T14:00:09+02:00"),
    ).toEqual([6, 7, 8]);
    expect(await numbers("start_time=2026-01-01T12:00:05.5Z&end_time=2026-01-01T12:00:07.001Z")).toEqual([
      6, 7,
    ]);
  });

  test("by a literal part of user and address", async () => {
    const everyThird = (rest: number) => all.filter((at) => at % 3 === rest);
    expect(await numbers("actor_user_id=da")).toEqual(everyThird(0));
    expect(await numbers(`actor_user_id=${encodeURIComponent("0%_o")}`)).toEqual(everyThird(1));
    expect(await numbers(`actor_user_id=${encodeURIComponent("\\")}`)).toEqual(everyThird(2));
    for (const pattern of ["%", "_", "a%a", "a_a"].map(encodeURIComponent))
      expect(await numbers(`actor_user_id=${pattern}`)).toEqual(
        pattern === "%25" || pattern === "_" ? everyThird(1) : [],
      );
    expect(await numbers("meta_source_ip=51.100")).toEqual(everyThird(1));
    expect(await numbers("q=b8:")).toEqual(everyThird(2));
    expect(await numbers("q=ada&meta_source_ip=192&type=webauthn_credential_deleted")).toEqual(
      everyThird(0).filter((at) => at % 2 === 1),
    );
    expect(await numbers("q=ADA")).toEqual([]);
  });

  test("of a text that is empty are ignored", async () => {
    expect(await numbers("q=&actor_user_id=&end_time=2026-01-01T12:00:40Z")).toEqual(all);
  });
});

test.each([
  ["page=0", "page must be a number from 1 to 1000000"],
  ["per_page=101", "per_page must be a number from 1 to 100"],
  ["per_page=1e1", "per_page must be a number from 1 to 100"],
  ["start_time=", "start_time must be a time such as 2026-01-31T12:00:00Z"],
  ["type=", "type contains an unknown type"],
  ["page=", "page must be a number from 1 to 1000000"],
  ["start_time=yesterday", "start_time must be a time such as 2026-01-31T12:00:00Z"],
  ["end_time=2026-02-30T00:00:00Z", "end_time must be a time such as 2026-01-31T12:00:00Z"],
  ["start_time=2026-01-01", "start_time must be a time such as 2026-01-31T12:00:00Z"],
  ["start_time=0000-01-01T00:00:00Z", "start_time must be a time such as 2026-01-31T12:00:00Z"],
  ["end_time=0001-01-01T00:00:00%2B23:59", "end_time must be a time such as 2026-01-31T12:00:00Z"],
  ["end_time=9999-12-31T23:59:59-23:59", "end_time must be a time such as 2026-01-31T12:00:00Z"],
  [`type=${"webauthn_credential_deleted,".repeat(257)}`, "type cannot have more than 256 entries"],
  ["type=login_success", "type contains an unknown type"],
  ["type=__proto__,x", "type contains an unknown type"],
  ["q=a%00b", "q must not contain the character NUL"],
  [`actor_user_id=${"x".repeat(257)}`, "actor_user_id cannot have more than 256 entries"],
])("rejects the query %s", async (query, details) => {
  expect((await list(query)).body).toEqual(invalidRequest(details));
});

test("A68 lists the entries of the calling tenant only", async () => {
  const { body, headers } = await list("", other);
  expect(body.map((entry: { tenant_id: string }) => entry.tenant_id)).toEqual([other.tenant.id]);
  expect(headers.get("x-total-count")).toBe("1");
});

test("defines every type once", () => {
  expect(passkeyServerAuditTypes).toHaveLength(23);
  expect(new Set(passkeyServerAuditTypes).size).toBe(23);
});
