import { randomUUID } from "node:crypto";
import { and, eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import type { Happening } from "../../admin/user-timeline.ts";
import { accountOwner } from "../../testing/account-owner.ts";
import { adminOperator } from "../../testing/admin-operator.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { password, restRegistration, restWalk } from "../../testing/rest-walk.ts";

const runtime = await runtimeForTests({
  STILE_WEBHOOKS_ENABLED: "true",
  STILE_WEBHOOKS_HOOKS: JSON.stringify([
    {
      callback: "https://shop.test/hooks",
      events: ["user"],
      secret: `whsec_${Buffer.alloc(32, 5).toString("base64")}`,
    },
  ]),
});
const { call } = await adminOperator(runtime);

const email = "ada@example.com";
const { visitor: browser } = await restRegistration(runtime, email);
const { id } = await (await browser.request("/me")).json();

const login = await restWalk(runtime, "login");
await login.act("register_client_capabilities");
await login.act("continue_with_login_identifier", { email });
await login.act("continue_to_password_login");
await login.act("password_login", { password: "a wrong password" });
await login.act("password_login", { password });
expect(login.state.name).toBe("success");
await call("POST", `/users/${id}/block`);
await call("POST", `/users/${id}/unblock`);
const operatorSession = await call("POST", "/sessions", { user_id: id });
expect(operatorSession.status).toBe(200);
await runtime.database.write.insert(schema.auditLogs).values({
  tenantId: runtime.tenant.id,
  id: randomUUID(),
  type: "mail_failed",
  userId: id,
  requestId: "request-of-a-mail",
  details: {
    mail: "login",
    recipient: "a…a@example.com",
    reason: "rejected",
    detail: "550",
    flow: randomUUID(),
  },
});

const read = async (query = "") => {
  const { status, body } = await call("GET", `/users/${id}/timeline${query}`);
  expect(status).toBe(200);
  return body as { happenings: Happening[]; next: string | null };
};

describe("the timeline of a user", () => {
  test("has sign-ins, failures, changes, messages, live sessions and events in one order, the newest first", async () => {
    const { happenings, next } = await read();
    expect(next).toBeNull();
    const times = happenings.map(({ at }) => at);
    expect(times).toEqual(times.toSorted().toReversed());
    const of = (type: string) => happenings.find((one) => one.type === type);
    expect(of("login_success")).toMatchObject({
      kind: "sign_in",
      sentence: "The user signed in.",
      by_operator: false,
      request_id: expect.any(String),
      details: { methods: ["password"] },
    });
    expect(of("login_failure")).toMatchObject({
      kind: "failure",
      reason: "The password or code is wrong.",
      details: { reason: "wrong", method: "password" },
    });
    expect(of("user_blocked")).toMatchObject({ kind: "change", by_operator: true });
    expect(of("mail_failed")).toMatchObject({
      kind: "mail",
      sentence: "A mail was not sent.",
      reason: expect.stringContaining("It cannot be sent"),
      request_id: "request-of-a-mail",
      flow_id: expect.any(String),
      details: { recipient: "a…a@example.com" },
    });
    expect(of("session_live")).toMatchObject({
      kind: "session",
      details: { expires_at: expect.stringMatching(/Z$/), last_used_at: expect.stringMatching(/Z$/) },
    });
    expect(of("user.create")).toMatchObject({ kind: "event", details: {} });
  });

  test("is read page by page, each thing once", async () => {
    const all = (await read("?limit=100")).happenings;
    const passed: Happening[] = [];
    for (let after: string | null = ""; after !== null; ) {
      const page: Awaited<ReturnType<typeof read>> = await read(`?limit=3&after=${after}`);
      expect(page.happenings.length).toBeLessThanOrEqual(3);
      passed.push(...page.happenings);
      after = page.next;
    }
    expect(passed).toEqual(all);
    expect(new Set(all.map((one) => one.id)).size).toBe(all.length);
  });

  test.each([
    ["sign_in", ["login_success"]],
    ["failure", ["login_failure"]],
    ["mail", ["mail_failed"]],
  ])("of the kind %s alone has these", async (kind, types) => {
    const { happenings } = await read(`?kind=${kind}`);
    expect(happenings.map(({ type }) => type)).toEqual(types);
  });

  test("of several kinds has all of them", async () => {
    const { happenings } = await read("?kind=event,mail");
    expect(new Set(happenings.map(({ kind }) => kind))).toEqual(new Set(["event", "mail"]));
  });

  test("names no address in full, and ends with what another user did", async () => {
    const other = await accountOwner(runtime);
    const { happenings } = await read("?limit=100");
    expect(JSON.stringify(happenings)).not.toContain(email);
    expect(JSON.stringify(happenings)).not.toContain(other.userId);
    const { auditLogs } = schema;
    const entries = await runtime.database.read
      .select({ id: auditLogs.id })
      .from(auditLogs)
      .where(and(eq(auditLogs.tenantId, runtime.tenant.id), eq(auditLogs.userId, id)));
    const listed = new Set(happenings.map((one) => one.id));
    expect(entries.every((one) => listed.has(one.id))).toBe(true);
  });

  test.each(["?limit=0", "?limit=101", "?kind=charm", "?after=1", `?after=x_${randomUUID()}`, "?page=2"])(
    "rejects %s",
    async (query) => {
      expect((await call("GET", `/users/${id}/timeline${query}`)).status).toBe(400);
    },
  );
});
