import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { schema } from "#db/client";
import { accountOwner } from "../../testing/account-owner.ts";
import { adminOperator } from "../../testing/admin-operator.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { restWalk } from "../../testing/rest-walk.ts";

const runtime = await runtimeForTests();
const { call } = await adminOperator(runtime);

async function failAs(email: string) {
  const login = await restWalk(runtime, "login");
  await login.act("register_client_capabilities");
  await login.act("continue_with_login_identifier", { email });
  await login.act("continue_to_password_login");
  await login.act("password_login", { password: "a wrong password" });
}

const find = (identifier: string, more = "") =>
  call("GET", `/failed_sign_ins?identifier=${encodeURIComponent(identifier)}${more}`);

test("failures of an address without an account are found by it, apart from those that only fit its mask", async () => {
  await failAs("grace@example.com");
  // One letter was mistyped, and the mask is the same.
  await failAs("garce@example.com");
  await failAs("greta@example.com");
  const { status, body, text } = await find("Grace@Example.com");
  expect(status).toBe(200);
  expect(body).toMatchObject({ mask: "g…e@example.com", user_id: null, is_complete: true });
  const found = body.failures.map(({ certain, entry }: { certain: boolean; entry: { type: string } }) => [
    certain,
    entry.type,
  ]);
  expect(found.filter(([, type]: [boolean, string]) => type === "login_failure")).toEqual([
    [false, "login_failure"],
    [true, "login_failure"],
  ]);
  expect(body.failures[0].entry.details).toMatchObject({
    reason: "unknown_identifier",
    identifier: "g…e@example.com",
  });
  expect(text).not.toContain("garce");
});

test("a failure under a key that is gone fits the mask alone", async () => {
  await runtime.database.write.insert(schema.auditLogs).values({
    tenantId: runtime.tenant.id,
    id: randomUUID(),
    type: "login_failure",
    details: {
      method: "password",
      reason: "unknown_identifier",
      identifier: "h…n@example.com",
      identifier_digest: "of-a-former-key",
    },
    createdAt: new Date(Date.now() - 86_400_000),
  });
  const { body } = await find("helen@example.com");
  expect(body.failures.map(({ certain }: { certain: boolean }) => certain)).toEqual([false]);
  const later = new Date(Date.now() - 3_600_000).toISOString();
  expect((await find("helen@example.com", `&start_time=${later}`)).body.failures).toEqual([]);
});

test("an identifier that has an account now names it, and its own failures are not among them", async () => {
  const { userId, addresses } = await accountOwner(runtime);
  await failAs(addresses[0] ?? "");
  expect((await find(addresses[0] ?? "")).body).toMatchObject({ user_id: userId, failures: [] });
});

test("a username and a phone number are searched for by their masks too", async () => {
  expect((await find("grace_hopper")).body).toMatchObject({ mask: "g…r", failures: [] });
  expect((await find("+49 151 12345678")).body).toMatchObject({ mask: "+49…78", failures: [] });
});

test("an identifier that is missing or too long is rejected", async () => {
  expect((await call("GET", "/failed_sign_ins")).status).toBe(400);
  expect((await find("")).status).toBe(400);
  expect((await find("a".repeat(257))).status).toBe(400);
  expect((await find("a\0b")).status).toBe(400);
});
