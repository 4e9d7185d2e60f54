import { desc, eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { identifierDigests } from "../../audit/identifier.ts";
import {
  ALL_SOURCES,
  failureSubject,
  MAX_CONSECUTIVE_FAILURES,
  unlimited,
} from "../../limits/failure-counters.ts";
import { countFailure } from "../../testing/failures.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { newAddress, newName, password, people } from "../../testing/people.ts";
import { testClient } from "../../testing/runtime.ts";
import { softwareAuthenticator } from "../../testing/webauthn-authenticator.ts";

const { begin, register } = people();

const runtime = await runtimeForTests({ STILE_USERNAME_ENABLED: "true" });

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

/** The entries of one source. */
async function entriesOf(source: string) {
  const { auditLogs } = schema;
  return runtime.database.read
    .select({ type: auditLogs.type, userId: auditLogs.userId, details: auditLogs.details })
    .from(auditLogs)
    .where(eq(auditLogs.ipAddress, source))
    .orderBy(auditLogs.createdAt, auditLogs.id);
}

describe("A160 a mailed code that is refused because too many were asked for", () => {
  const asks = async (identifier: string, source: string, times: number) => {
    const limited = runtime.configured({ STILE_RATE_LIMITER_ENABLED: "true" });
    const flow = await begin(limited, "login", {}, { ...testClient, ip: source, source });
    await flow.act("continue_with_login_identifier", { identifier });
    await flow.act("continue_to_passcode_confirmation");
    const statuses = [];
    for (let time = 0; time < times; time += 1) statuses.push((await flow.act("resend_passcode")).status);
    return { statuses, flow: flow.answer.flowId };
  };
  const withheld = async (source: string) =>
    (await entriesOf(source)).filter(({ type }) => type === "mail_withheld");

  test("is in the audit log with its reason, for an account and for an unknown address", async () => {
    const { email } = await register(runtime, { username: newName() });
    for (const [identifier, source, userId] of [
      [email, "192.0.2.61", expect.any(String)],
      [newAddress(), "192.0.2.62", null],
    ] as const) {
      const { statuses, flow } = await asks(identifier, source, 4);
      expect(statuses).toContain(429);
      const entries = await withheld(source);
      expect(entries).toHaveLength(statuses.filter((status) => status === 429).length);
      expect(entries[0]).toEqual({
        type: "mail_withheld",
        userId,
        details: {
          mail: "login",
          recipient: expect.stringMatching(/^.….@example\.com$/),
          identifier_digest: identifierDigests(runtime.vault, runtime.tenant.id, identifier)[0],
          flow,
          reason: "rate_limited",
        },
      });
    }
  });

  test("A129 leaves a hundred entries of a source in an hour at most", async () => {
    const source = "192.0.2.63";
    let refused = 0;
    while (refused < 110) {
      runtime.advanceClock(1);
      const { statuses } = await asks(newAddress(), source, 12);
      refused += statuses.filter((status) => status === 429).length;
    }
    expect(await withheld(source)).toHaveLength(100);
    expect((await entriesOf(source)).at(-1)?.type).toBe("audit_limit_reached");
  });
});

describe("A129 tries beyond the budget of a source", () => {
  const limits = {
    STILE_RATE_LIMITER_ENABLED: "true",
    STILE_RATE_LIMITER_STEPS_PER_SOURCE: "25",
    STILE_RATE_LIMITER_OTP_CODES_PER_MINUTE: "100",
  };
  const failures = async (source: string) =>
    (await entriesOf(source)).filter(({ type }) => type === "login_failure").map(({ details }) => details);

  test("of a code have one entry a minute, whatever their number", async () => {
    const limited = runtime.configured(limits);
    const { email } = await register(runtime, { username: newName() });
    const source = "192.0.2.71";
    const flow = await begin(limited, "login", {}, { ...testClient, ip: source, source });
    await flow.act("continue_with_login_identifier", { identifier: email });
    await flow.act("continue_to_passcode_confirmation");
    const refusedTries = async () => {
      const before = (await failures(source)).length;
      let refused = 0;
      for (let tries = 0; tries < 60; tries += 1) {
        const { status } = await flow.act("verify_passcode", { code: "000000" });
        refused += status === 429 ? 1 : 0;
      }
      const written = (await failures(source)).slice(before);
      return { refused, limited: written.filter(({ reason }) => reason === "rate_limited") };
    };
    for (let minute = 0; minute < 2; minute += 1) {
      const { refused, limited: entries } = await refusedTries();
      expect(refused).toBeGreaterThan(30);
      expect(entries).toEqual([{ method: "passcode", reason: "rate_limited" }]);
      runtime.advanceClock(61);
    }
  });

  test("of a password have one too, and other steps have none", async () => {
    const limited = runtime.configured(limits);
    const source = "192.0.2.72";
    const atPassword = async () => {
      const flow = await begin(limited, "login", {}, { ...testClient, ip: source, source });
      await flow.act("continue_with_login_identifier", { identifier: newAddress() });
      await flow.act("continue_to_password_login");
      return flow;
    };
    const [flow, other] = [await atPassword(), await atPassword()];
    while (other.state.status !== 429)
      await other.act(other.state.name === "login_password" ? "back" : "continue_to_password_login");
    expect((await flow.act("back")).status).toBe(429);
    expect(await failures(source)).toEqual([]);
    for (let tries = 0; tries < 5; tries += 1)
      expect((await flow.act("password_login", { password })).status).toBe(429);
    expect(await failures(source)).toMatchObject([{ method: "password", reason: "rate_limited" }]);
  });
});
