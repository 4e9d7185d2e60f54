import { describe, expect, test } from "vitest";
import { ConflictError } from "#db/errors";
import { answerRequest } from "../../authenticator/answer-request.ts";
import { prepareRequest } from "../../authenticator/create-request.ts";
import { devicesOf } from "../../authenticator/devices.ts";
import { type AuthenticatorRequest, findRequest } from "../../authenticator/requests.ts";
import { type AccountContents, type AccountOwner, accountOwner } from "../../testing/account-owner.ts";
import { type Walk, walk } from "../../testing/flow-walk.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { origin, password } from "../../testing/people.ts";
import { type TestRuntime, testClient } from "../../testing/runtime.ts";
import {
  createUafAuthenticator,
  type UafAuthenticator,
} from "../../testing/uaf-authenticator/authenticator.ts";
import type { Overrides } from "../../testing/uaf-authenticator/call.ts";
import { conflictName, conflictOf } from "../conflicts.ts";
import type { FlowCoverage } from "../coverage.ts";
import { current } from "../current.ts";
import { declaredErrors, edgesOf } from "../graph.ts";
import { loginAuthenticator } from "../states/login-authenticator.ts";

const taken: FlowCoverage = { edges: new Set(), errors: new Set() };

const base = await runtimeForTests({
  STILE_PASSKEY_ENABLED: "false",
  STILE_MFA_AUTHENTICATOR_ENABLED: "true",
  STILE_MFA_DEVICE_TRUST_POLICY: "never",
});

/** A user with a password and an authenticator. */
interface Owner extends AccountOwner {
  authenticator: UafAuthenticator;
}

const nowOf = ({ platform }: TestRuntime) => new Date(Date.now() + platform.clockShift());
const requestContextAt = (runtime: TestRuntime) => ({
  runtime,
  tenant: runtime.tenant,
  client: testClient,
  now: nowOf(runtime),
});

async function storedRequest(runtime: TestRuntime, id: unknown): Promise<AuthenticatorRequest> {
  const stored = await findRequest(runtime, runtime.tenant, String(id));
  if (!stored) throw new Error(`The request ${id} does not exist.`);
  return stored.request;
}

/** Creates a request as an application, over the authenticator API. */
async function createRequest(runtime: TestRuntime, operation: "REG" | "AUTH" | "DEREG", userId: string) {
  const devices = await devicesOf(runtime.database.read, runtime.tenant, userId);
  const wanted = { operation, userId, username: "ada" };
  const { request, write } = await prepareRequest(requestContextAt(runtime), wanted, devices);
  await runtime.database.write.transaction(write);
  return request;
}

/** Answers a request with an authenticator. */
async function answer(
  runtime: TestRuntime,
  id: unknown,
  authenticator: UafAuthenticator,
  overrides: Overrides = {},
): Promise<string> {
  const request = await storedRequest(runtime, id);
  const operation = request.operation === "REG" ? "register" : "authenticate";
  const uafResponse = authenticator[operation](request.message, { facetId: origin, overrides });
  const deviceKeyInfo = { pushToken: "push-token" };
  const outcome = await answerRequest(requestContextAt(runtime), request, { uafResponse, deviceKeyInfo });
  return outcome.ok ? outcome.request.status : outcome.details;
}

async function ownerWithAuthenticator(has: AccountContents = {}, runtime = base): Promise<Owner> {
  const owner = await accountOwner(runtime, { password: true, ...has });
  const authenticator = createUafAuthenticator();
  // A device answers only requests that are newer than its registration.
  runtime.advanceClock(1);
  const { id } = await createRequest(runtime, "REG", owner.userId);
  expect(await answer(runtime, id, authenticator)).toBe("OK");
  runtime.advanceClock(1);
  return { ...owner, authenticator };
}

/** Signs in by password, up to the next factor. */
async function signIn(
  owner: AccountOwner,
  { runtime = base, client = testClient, able = {} as object } = {},
): Promise<Walk> {
  const flow = await walk(runtime, "login", { taken, client });
  await flow.act("register_client_capabilities", { ...able });
  await flow.act("continue_with_login_identifier", { email: owner.addresses[0] ?? "" });
  await flow.act("continue_to_password_login");
  await flow.act("password_login", { password });
  return flow;
}

const requestOf = (flow: Walk) => flow.state.payload.request_id;

const shown = {
  request_id: expect.stringMatching(/^[0-9A-Za-z]{44}$/),
  qr_image_source: expect.stringMatching(/^data:image\/png;base64,/),
  events_href: expect.stringMatching(/^\/authenticator\/v1\/uaf\/requests\/[0-9A-Za-z]{44}\/events\?token=/),
  valid_until: expect.stringMatching(/Z$/),
};

async function query(text: string, ...values: unknown[]): Promise<Record<string, unknown>[]> {
  return (await base.database.read.$client.query<Record<string, unknown>>(text, values)).rows;
}

describe("login_authenticator", () => {
  test("comes after the password, and no session exists before the confirmation", async () => {
    const owner = await ownerWithAuthenticator();
    const flow = await signIn(owner);
    expect(flow.state).toMatchObject({ name: "login_authenticator", status: 200, payload: shown });
    expect(Object.keys(flow.state.actions)).toEqual(["authenticator_verify"]);
    expect(flow.state.actions.authenticator_verify?.inputs).toEqual({});
    expect(flow.answer.session).toBeUndefined();

    expect(await answer(base, requestOf(flow), owner.authenticator)).toBe("OK");
    await flow.act("authenticator_verify");
    expect(flow.state).toMatchObject({
      name: "success",
      payload: { last_login: { login_method: "password", mfa_method: "authenticator" } },
    });
    const [session] = await query("select factors from sessions where id = $1", flow.answer.session?.id);
    expect(session?.factors).toEqual([
      expect.objectContaining({ method: "password" }),
      { method: "authenticator", at: expect.any(String) },
    ]);
    const [, claims = ""] = flow.answer.session?.token.split(".") ?? [];
    expect(JSON.parse(Buffer.from(claims, "base64url").toString()).amr).toEqual(["pwd", "authenticator"]);
  });

  test("waits for a pending request, with the same QR code", async () => {
    const flow = await signIn(await ownerWithAuthenticator());
    const { payload } = flow.state;
    const rejected = await flow.act("authenticator_verify");
    expect(rejected).toMatchObject({
      name: "login_authenticator",
      status: 400,
      error: { code: "authenticator_request_pending" },
    });
    expect(rejected.payload).toEqual(payload);
  });

  test("offers a new QR code after a failed request, and audits the failure", async () => {
    const owner = await ownerWithAuthenticator();
    const flow = await signIn(owner);
    const { payload } = flow.state;
    expect(await answer(base, requestOf(flow), owner.authenticator, { signature: "flipped" })).toBe("FAILED");
    const rejected = await flow.act("authenticator_verify");
    expect(rejected).toMatchObject({
      name: "login_authenticator",
      status: 401,
      payload: shown,
      error: { code: "authenticator_request_failed" },
    });
    expect(rejected.payload.request_id).not.toBe(payload.request_id);
    const noted = await query(
      "select details from audit_logs where user_id = $1 and type = 'login_failure'",
      owner.userId,
    );
    expect(noted).toEqual([{ details: { method: "authenticator", reason: "not_confirmed" } }]);
    expect(await answer(base, requestOf(flow), owner.authenticator)).toBe("OK");
    expect((await flow.act("authenticator_verify")).name).toBe("success");
  });

  test("A70 replaces an expired request", async () => {
    const owner = await ownerWithAuthenticator();
    const flow = await signIn(owner);
    const stale = requestOf(flow);
    base.advanceClock(121);
    const rejected = await flow.act("authenticator_verify");
    expect(rejected).toMatchObject({
      name: "login_authenticator",
      status: 400,
      payload: shown,
      error: { code: "authenticator_request_expired" },
    });
    expect(requestOf(flow)).not.toBe(stale);
    expect(await answer(base, stale, owner.authenticator)).toBe("INVALIDATED");
    await flow.act("authenticator_verify");
    expect(flow.errors()).toEqual(["authenticator_request_pending"]);
  });

  test("replaces a request on resume only once it has expired", async () => {
    const owner = await ownerWithAuthenticator();
    const flow = await signIn(owner);
    const look = () =>
      current(base, base.tenant, testClient, { type: "login", flowId: flow.flowId, resume: flow.resume });
    expect((await look()).state.payload).toEqual(flow.state.payload);
    base.advanceClock(121);
    const renewed = await look();
    expect(renewed.state).toMatchObject({ name: "login_authenticator", status: 200, payload: shown });
    expect(renewed.state.payload.request_id).not.toBe(requestOf(flow));
  });

  test("sends one push per request if configured", async () => {
    const withPush = base.configured({ STILE_AUTHENTICATOR_PUSH_URL: "https://push.example/" });
    const owner = await ownerWithAuthenticator();
    const before = base.pushed.length;
    const flow = await signIn(owner, { runtime: withPush });
    await flow.act("authenticator_verify", {}, { runtime: withPush });
    await current(withPush, base.tenant, testClient, {
      type: "login" as const,
      flowId: flow.flowId,
      resume: flow.resume,
    });
    expect(base.pushed.slice(before)).toEqual([
      expect.objectContaining({ operation: "AUTH", requestId: requestOf(flow) }),
    ]);
  });

  test("no longer requires a device that was deregistered", async () => {
    const owner = await ownerWithAuthenticator();
    const flow = await signIn(owner);
    await createRequest(base, "DEREG", owner.userId);
    expect((await flow.act("authenticator_verify")).name).toBe("success");
    expect(flow.state.payload).not.toHaveProperty("last_login.mfa_method");
  });

  test("reports a device that is deregistered concurrently as not confirmed", async () => {
    const { userId } = await accountOwner(base);
    const request = { ...requestContextAt(base), signal: new AbortController().signal };
    const context = {
      request,
      flowId: crypto.randomUUID(),
      data: { userId },
      facts: { email: null, username: null },
    };
    const entered = await loginAuthenticator.enter?.(context as never, null);
    expect(entered).toEqual({ error: { code: "authenticator_request_failed" } });
  });
});

describe("a confirmation", () => {
  test("A71 counts once, in the flow that requested it", async () => {
    const owner = await ownerWithAuthenticator();
    const [one, other] = [await signIn(owner), await signIn(owner)];
    expect(await answer(base, requestOf(one), owner.authenticator)).toBe("OK");
    await other.act("authenticator_verify");
    expect(other.errors()).toEqual(["authenticator_request_pending"]);
    const { csrf_token: token } = one.state;
    const steps = await Promise.all(
      Array.from({ length: 5 }, () => one.act("authenticator_verify", {}, { token })),
    );
    expect(steps.filter(({ name }) => name === "success")).toHaveLength(1);
    const left = await query("select id from authenticator_requests where flow_id = $1", one.flowId);
    expect(left).toEqual([]);
    await other.act("authenticator_verify");
    expect(other.errors()).toEqual(["authenticator_request_pending"]);
  });

  test("does not sign in if it answers a request of the application", async () => {
    const owner = await ownerWithAuthenticator();
    const flow = await signIn(owner);
    const { id } = await createRequest(base, "AUTH", owner.userId);
    expect(await answer(base, id, owner.authenticator)).toBe("OK");
    await flow.act("authenticator_verify");
    expect(flow.errors()).toEqual(["authenticator_request_pending"]);
    expect(flow.answer.session).toBeUndefined();
  });

  test("A74 does not count for another user", async () => {
    const [owner, otherUser] = [await ownerWithAuthenticator(), await ownerWithAuthenticator()];
    const flow = await signIn(owner);
    const [key] = otherUser.authenticator.keys;
    if (!key) throw new Error("The authenticator has no key.");
    expect(await answer(base, requestOf(flow), otherUser.authenticator, { key, ignorePolicy: true })).toBe(
      "FAILED",
    );
    await flow.act("authenticator_verify");
    expect(flow.errors()).toEqual(["authenticator_request_failed"]);
  });

  test("is requested again if it was used concurrently", () => {
    expect(conflictOf(conflictName(new ConflictError("authenticator_request")), "login")).toEqual({
      error: { code: "authenticator_request_expired" },
    });
  });
});

describe("A70 an attacker with the password, but without the authenticator", () => {
  test("affects neither the owner's sign-in nor requests of the application", async () => {
    const owner = await ownerWithAuthenticator();
    const own = await signIn(owner);
    const { id } = await createRequest(base, "AUTH", owner.userId);
    for (let tries = 0; tries < 3; tries += 1) {
      expect((await signIn(owner)).state.name).toBe("login_authenticator");
    }
    expect(await answer(base, id, owner.authenticator)).toBe("OK");
    expect(await answer(base, requestOf(own), owner.authenticator)).toBe("OK");
    expect((await own.act("authenticator_verify")).name).toBe("success");
  });

  test("is rate limited after a few requests, with other factors still offered", async () => {
    const limited = base.configured({
      STILE_RATE_LIMITER_ENABLED: "true",
      STILE_RATE_LIMITER_AUTHENTICATOR_REQUESTS_PER_MINUTE: "2",
      STILE_RATE_LIMITER_PASSWORDS_PER_MINUTE: "100",
    });
    const owner = await ownerWithAuthenticator({ totp: true }, limited);
    let flow = await signIn(owner, { runtime: limited });
    for (let tries = 0; tries < 4 && flow.state.status === 200; tries += 1) {
      flow = await signIn(owner, { runtime: limited });
    }
    expect(flow.state).toMatchObject({
      name: "login_authenticator",
      status: 429,
      error: { code: "rate_limit_exceeded" },
      payload: { resend_after: expect.any(Number), retry_after: expect.any(Number) },
    });
    expect(flow.state.payload).not.toHaveProperty("qr_image_source");
    expect(Object.keys(flow.state.actions)).toEqual(["authenticator_verify", "continue_to_login_otp"]);
    const again = await flow.act("authenticator_verify");
    expect(again).toMatchObject({
      name: "login_authenticator",
      error: { code: "authenticator_request_expired" },
      payload: { resend_after: expect.any(Number) },
    });
    expect((await flow.act("continue_to_login_otp")).payload).not.toHaveProperty("resend_after");
  });

  test("causes one audit entry per failed answer, whatever the number of new requests", async () => {
    const limited = base.configured({
      STILE_RATE_LIMITER_ENABLED: "true",
      STILE_RATE_LIMITER_AUTHENTICATOR_REQUESTS_PER_MINUTE: "1",
    });
    const owner = await ownerWithAuthenticator({}, limited);
    const flow = await signIn(owner, { runtime: limited });
    await answer(base, requestOf(flow), owner.authenticator, { signature: "flipped" });
    const refusals: (string | undefined)[] = [];
    for (let times = 0; times < 3; times += 1) {
      const { error, payload } = await flow.act("authenticator_verify");
      expect(payload).toEqual({
        identifier: owner.addresses[0],
        resend_after: expect.any(Number),
        retry_after: expect.any(Number),
      });
      refusals.push(error?.code);
    }
    const [failed, expired] = ["authenticator_request_failed", "authenticator_request_expired"];
    expect(refusals).toEqual([failed, expired, expired]);
    const noted = await query(
      "select 1 from audit_logs where user_id = $1 and type = 'login_failure'",
      owner.userId,
    );
    expect(noted).toHaveLength(1);
  });

  test("sees a new request on resume after the wait, without an error", async () => {
    const limited = base.configured({
      STILE_RATE_LIMITER_ENABLED: "true",
      STILE_RATE_LIMITER_AUTHENTICATOR_REQUESTS_PER_MINUTE: "1",
    });
    const owner = await ownerWithAuthenticator({}, limited);
    await signIn(owner, { runtime: limited });
    const flow = await signIn(owner, { runtime: limited });
    expect(flow.errors()).toEqual(["rate_limit_exceeded"]);
    const request = { type: "login" as const, flowId: flow.flowId, resume: flow.resume };
    const looked = await current(base, base.tenant, testClient, request);
    expect(looked.state).toMatchObject({ name: "login_authenticator", status: 200, payload: shown });
    expect(looked.state.payload).not.toHaveProperty("resend_after");
  });
});

describe("login_authenticator beside other second factors", () => {
  const able = { webauthn_available: true };

  test("allows switching to each of them, and back", async () => {
    const owner = await ownerWithAuthenticator({ totp: true, securityKeys: 1 });
    const flow = await signIn(owner, { able });
    expect(flow.state.name).toBe("login_security_key");
    expect((await flow.act("continue_to_login_authenticator")).name).toBe("login_authenticator");
    const requestId = requestOf(flow);
    expect(Object.keys(flow.state.actions)).toEqual([
      "authenticator_verify",
      "continue_to_login_otp",
      "continue_to_login_security_key",
      "back",
    ]);
    expect((await flow.act("continue_to_login_otp")).name).toBe("login_otp");
    expect((await flow.act("continue_to_login_authenticator")).name).toBe("login_authenticator");
    expect(requestOf(flow)).toBe(requestId);
    expect((await flow.act("back")).name).toBe("login_security_key");
    await flow.act("continue_to_login_authenticator");
    expect((await flow.act("continue_to_login_security_key")).name).toBe("login_security_key");
  });

  test("comes before an app", async () => {
    const owner = await ownerWithAuthenticator({ totp: true, securityKeys: 1 });
    expect((await signIn(owner)).state.name).toBe("login_authenticator");
  });

  test("is not offered if authenticators are disabled", async () => {
    const owner = await ownerWithAuthenticator({ totp: true, securityKeys: 1, recoveryCodes: true });
    const off = base.configured({ STILE_MFA_AUTHENTICATOR_ENABLED: "false" });
    const flow = await signIn(owner, { runtime: off, able });
    expect(flow.state).toMatchObject({ name: "login_security_key", payload: {} });
    expect(Object.keys(flow.state.actions)).toEqual([
      "webauthn_generate_request_options",
      "continue_to_login_otp",
      "recovery_code_validate",
    ]);
    await flow.act("continue_to_login_otp");
    expect(Object.keys(flow.state.actions)).toEqual([
      "otp_code_validate",
      "continue_to_login_security_key",
      "recovery_code_validate",
      "back",
    ]);
    const alone = await ownerWithAuthenticator();
    expect((await signIn(alone, { runtime: off })).state.name).toBe("success");
  });
});

describe("the profile of an account with an authenticator", () => {
  const profileFlow = async (has: AccountContents, runtime = base) => {
    const owner = await ownerWithAuthenticator(has);
    return { owner, flow: await owner.manage({ as: runtime, taken }) };
  };

  test("issues recovery codes without another factor, which sign in", async () => {
    const { owner, flow } = await profileFlow({});
    expect(flow.state.actions).toHaveProperty("recovery_codes_create");
    const { payload } = await flow.act("recovery_codes_create");
    const [recovery_code] = payload.recovery_codes as string[];
    const login = await signIn(owner);
    expect(Object.keys(login.state.actions)).toEqual(["authenticator_verify", "recovery_code_validate"]);
    await login.act("recovery_code_validate", { recovery_code: "AAAA-AAAA-AAAA-AAAA" });
    expect(login.errors()).toEqual(["recovery_code_invalid"]);
    expect(login.state.payload).toMatchObject(shown);
    expect((await login.act("recovery_code_validate", { recovery_code })).name).toBe("success");

    const limited = base.configured({ STILE_RATE_LIMITER_ENABLED: "true" });
    const guessing = await signIn(owner, { runtime: limited });
    for (let tries = 0; tries < 6 && guessing.state.status !== 429; tries += 1) {
      await guessing.act("recovery_code_validate", { recovery_code: `AAAA-AAAA-AAAA-AAA${tries}` });
    }
    expect(guessing.errors()).toEqual(["rate_limit_exceeded"]);
    expect(guessing.state.payload).toMatchObject(shown);
  });

  test("issues no recovery codes if authenticators are disabled", async () => {
    const off = base.configured({ STILE_MFA_AUTHENTICATOR_ENABLED: "false" });
    const { flow } = await profileFlow({}, off);
    expect(flow.state.actions).not.toHaveProperty("recovery_codes_create");
  });

  test("keeps recovery codes after the removal of other factors", async () => {
    const mandatory = base.configured({ STILE_MFA_OPTIONAL: "false" });
    const { owner, flow } = await profileFlow({ totp: true, recoveryCodes: true }, mandatory);
    await flow.act("otp_secret_delete");
    expect(flow.errors()).toEqual([]);
    const codes = await query("select 1 from recovery_codes where user_id = $1", owner.userId);
    expect(codes).toHaveLength(1);
    const withKey = await profileFlow({ securityKeys: 1, recoveryCodes: true }, mandatory);
    await withKey.flow.act("security_key_delete", { security_key_id: withKey.owner.securityKeys[0] });
    expect(withKey.flow.errors()).toEqual([]);
  });

  test("asks for the authenticator at reauthentication", async () => {
    const owner = await ownerWithAuthenticator();
    base.advanceClock(3600);
    const flow = await owner.manage({ taken });
    await flow.act("password_update", { password: "another horse battery" });
    if (flow.state.name === "login_method_chooser") await flow.act("continue_to_password_login");
    await flow.act("password_login", { password });
    expect(flow.state).toMatchObject({ name: "login_authenticator", payload: shown });
    expect(flow.state.actions).toHaveProperty("back");
    expect(await answer(base, requestOf(flow), owner.authenticator)).toBe("OK");
    expect((await flow.act("authenticator_verify")).name).toBe("profile_init");
    await flow.act("password_update", { password: "another horse battery" });
    expect(flow.state).toMatchObject({ name: "profile_init", status: 200 });
  });
});

test("a device that was trusted after an authenticator skips it", async () => {
  const alwaysTrusting = base.configured({ STILE_MFA_DEVICE_TRUST_POLICY: "always" });
  const owner = await ownerWithAuthenticator();
  const flow = await signIn(owner, { runtime: alwaysTrusting });
  await answer(base, requestOf(flow), owner.authenticator);
  await flow.act("authenticator_verify");
  const deviceCookie = flow.answer.cookieChanges?.device?.value ?? "";
  const again = await signIn(owner, { runtime: alwaysTrusting, client: { ...testClient, deviceCookie } });
  expect(again.state.name).toBe("success");
});

describe("a registration or deregistration by an application", () => {
  const alwaysTrusting = () => base.configured({ STILE_MFA_DEVICE_TRUST_POLICY: "always" });
  /** Signs in with the authenticator, and returns a client with the cookie of the trusted device. */
  const trustedClient = async (owner: Owner) => {
    const flow = await signIn(owner, { runtime: alwaysTrusting() });
    await answer(base, requestOf(flow), owner.authenticator);
    await flow.act("authenticator_verify");
    return { ...testClient, deviceCookie: flow.answer.cookieChanges?.device?.value ?? "" };
  };
  const codesOf = (userId: string) => query("select 1 from recovery_codes where user_id = $1", userId);

  test("revokes trusted devices at a deregistration, so that a later authenticator is required", async () => {
    const owner = await ownerWithAuthenticator();
    const client = await trustedClient(owner);
    await createRequest(base, "DEREG", owner.userId);
    expect(await query("select 1 from trusted_devices where user_id = $1", owner.userId)).toEqual([]);
    const { id } = await createRequest(base, "REG", owner.userId);
    expect(await answer(base, id, createUafAuthenticator())).toBe("OK");
    expect((await signIn(owner, { runtime: alwaysTrusting(), client })).state.name).toBe(
      "login_authenticator",
    );
  });

  test("revokes trusted devices at the registration of another authenticator", async () => {
    const owner = await ownerWithAuthenticator();
    const client = await trustedClient(owner);
    const { id } = await createRequest(base, "REG", owner.userId);
    expect(await answer(base, id, createUafAuthenticator())).toBe("OK");
    expect((await signIn(owner, { runtime: alwaysTrusting(), client })).state.name).toBe(
      "login_authenticator",
    );
  });

  test("removes recovery codes at a deregistration if no other factor remains", async () => {
    const [alone, withApp] = [
      await ownerWithAuthenticator({ recoveryCodes: true }),
      await ownerWithAuthenticator({ recoveryCodes: true, totp: true }),
    ];
    for (const { userId } of [alone, withApp]) await createRequest(base, "DEREG", userId);
    expect(await codesOf(alone.userId)).toEqual([]);
    expect(await codesOf(withApp.userId)).not.toEqual([]);
  });

  test("has no effect if authenticators are not second factors", async () => {
    const owner = await ownerWithAuthenticator({ recoveryCodes: true });
    await trustedClient(owner);
    await createRequest(base.configured({ STILE_MFA_AUTHENTICATOR_ENABLED: "false" }), "DEREG", owner.userId);
    expect(await codesOf(owner.userId)).not.toEqual([]);
    expect(await query("select 1 from trusted_devices where user_id = $1", owner.userId)).toHaveLength(1);
  });
});

test("A110 the QR code and the status URL are stored encrypted", async () => {
  const flow = await signIn(await ownerWithAuthenticator());
  const { qr_image_source, events_href } = flow.state.payload;
  const [row] = await query("select f::text as text from flows f where id = $1", flow.flowId);
  const token = new URL(String(events_href), origin).searchParams.get("token") ?? "";
  expect(token).not.toBe("");
  expect(row?.text).toContain("login_authenticator");
  expect(row?.text).not.toContain(String(qr_image_source).slice(0, 60));
  expect(row?.text).not.toContain(token);
});

describe("the declarations of the state", () => {
  test("every edge of a login was taken", () => {
    const missing = edgesOf("login")
      // Those of codes by SMS are taken in their own scenarios.
      .filter(({ from, to }) => [from, to].includes("login_authenticator") && from !== "login_sms")
      .map(({ flow, from, action, to }) => `${flow} ${from} ${action} ${to}`)
      .filter((edge) => !taken.edges.has(edge));
    expect(missing).toEqual([]);
  });

  test("every error was returned", () => {
    const missing = declaredErrors()
      .filter(({ state }) => state === "login_authenticator")
      .map(({ state, action, code }) => `${state} ${action} ${code}`)
      .filter((error) => !taken.errors.has(error));
    expect(missing).toEqual([]);
  });
});
