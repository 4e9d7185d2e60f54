import { desc, eq } from "drizzle-orm";
import { afterAll, beforeAll, expect, test } from "vitest";
import { schema } from "#db/client";
import { identifierDigests } from "../../audit/identifier.ts";
import {
  ALL_SOURCES,
  failureSubject,
  MAX_CONSECUTIVE_FAILURES,
  unlimited,
} from "../../limits/failure-counters.ts";
import { countFailure } from "../../testing/failures.ts";
import { newAddress, newName, password, people } from "../../testing/people.ts";
import { type TestRuntime, testClient, testRuntime } from "../../testing/runtime.ts";
import { softwareAuthenticator } from "../../testing/webauthn-authenticator.ts";

const { begin, register } = people();

let runtime: TestRuntime;
beforeAll(async () => {
  runtime = await testRuntime({ STILE_USERNAME_ENABLED: "true" });
});
afterAll(() => runtime.close());

/** The newest failure in the audit log. */
async function newestFailure() {
  const { auditLogs } = schema;
  const [row] = await runtime.database.read
    .select()
    .from(auditLogs)
    .where(eq(auditLogs.type, "login_failure"))
    .orderBy(desc(auditLogs.createdAt))
    .limit(1);
  return { userId: row?.userId, details: row?.details };
}

/** Fails with a password. */
async function failWith(identifier: string, on = runtime, client = testClient, tried = "not the password") {
  const flow = await begin(on, "login", {}, client);
  await flow.act("continue_with_login_identifier", { identifier });
  await flow.act("continue_to_password_login");
  await flow.act("password_login", { password: tried });
  return flow;
}

test.each([
  ["an address", () => newAddress(), /^.….@example\.com$/],
  ["a username", () => newName(), /^u….$/],
])(
  "A160 a failure with %s of no account keeps it masked, and searchable by a keyed digest",
  async (_, make, masked) => {
    const identifier = make();
    await failWith(identifier);
    const { userId, details } = await newestFailure();
    expect(userId).toBeNull();
    expect(details).toEqual({
      method: "password",
      reason: "unknown_identifier",
      identifier: expect.stringMatching(masked),
      identifier_digest: identifierDigests(runtime.vault, runtime.tenant.id, identifier)[0],
    });
    expect(JSON.stringify(details)).not.toContain(identifier.slice(1, 9));
  },
);

test("masks an unknown identifier also where `audit_log.mask` is off, because it may be anything", async () => {
  const address = newAddress();
  await failWith(address, runtime.configured({ STILE_AUDIT_LOG_MASK: "false" }));
  expect(JSON.stringify((await newestFailure()).details)).not.toContain(address);
});

test("a failure of an account names the account alone, and why", async () => {
  const { email } = await register(runtime, { username: newName() });
  await failWith(email);
  const { userId, details } = await newestFailure();
  expect(userId).toMatch(/^[0-9a-f-]{36}$/);
  expect(details).toEqual({ method: "password", reason: "wrong" });
});

test("a limited attempt is a failure too", async () => {
  const limited = runtime.configured({ STILE_RATE_LIMITER_ENABLED: "true" });
  const { email } = await register(runtime, { username: newName() });
  const client = { ...testClient, source: "192.0.2.44" };
  let last = await failWith(email, limited, client);
  for (let attempt = 1; attempt < 6; attempt += 1) last = await failWith(email, limited, client);
  expect(last.state.error?.code).toBe("rate_limit_exceeded");
  expect((await newestFailure()).details).toEqual({ method: "password", reason: "rate_limited" });
});

test("a wrong mailed code is a failure, with its reason", async () => {
  const { email } = await register(runtime, { username: newName() });
  for (const [identifier, reasons] of [
    [email, ["wrong", "wrong", "exhausted"]],
    [newAddress(), ["unknown_identifier", "unknown_identifier", "unknown_identifier"]],
  ] as const) {
    const flow = await begin(runtime, "login", {});
    await flow.act("continue_with_login_identifier", { identifier });
    await flow.act("continue_to_passcode_confirmation");
    for (const reason of reasons) {
      await flow.act("verify_passcode", { code: "000000" });
      expect((await newestFailure()).details).toMatchObject({ method: "passcode", reason });
    }
  }
});

test("a wrong code that verifies an address is no failed sign-in", async () => {
  const before = await newestFailure();
  const flow = await begin(runtime, "registration", {});
  await flow.act("register_login_identifier", { email: newAddress(), username: newName() });
  await flow.act("verify_passcode", { code: "000000" });
  expect(flow.state.actions.verify_passcode?.inputs.code?.error?.code).toBe("passcode_invalid");
  expect(await newestFailure()).toEqual(before);
});

test("A160 the right password of a locked account is answered as a wrong one, and the operator is told", async () => {
  const limited = runtime.configured({ STILE_RATE_LIMITER_ENABLED: "true" });
  const { email } = await register(runtime, { username: newName(), authenticator: softwareAuthenticator() });
  await failWith(email);
  const { userId } = await newestFailure();
  const tenantId = runtime.tenant.id;
  const subject = failureSubject(runtime.vault, tenantId, { userId: userId ?? "" });
  const key = { tenantId, subject, method: "password", source: ALL_SOURCES } as const;
  for (let failure = 0; failure < MAX_CONSECUTIVE_FAILURES; failure += 1)
    await countFailure(runtime.database, key, unlimited, new Date());
  const answers = [];
  for (const [source, tried] of [
    ["192.0.2.51", password],
    ["192.0.2.52", "not the password"],
  ] as const) {
    const flow = await failWith(email, limited, { ...testClient, source }, tried);
    answers.push({ ...flow.state, csrf_token: "", actions: Object.keys(flow.state.actions) });
    expect((await newestFailure()).details).toEqual({ method: "password", reason: "locked" });
  }
  expect(answers[1]).toEqual(answers[0]);
  expect(answers[0]?.status).toBe(400);
});
