import { describe, expect, test } from "vitest";
import type { Client } from "../../context/client.ts";
import { type AuthenticatorApp, authenticatorApp } from "../../testing/authenticator-app.ts";
import { type Walk, walk } from "../../testing/flow-walk.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { codeFor, mailsTo, newAddress, newName, password, people } from "../../testing/people.ts";
import { type TestRuntime, testClient } from "../../testing/runtime.ts";
import type { FlowCoverage } from "../coverage.ts";
import { declaredErrors, edgesOf } from "../graph.ts";

const taken: FlowCoverage = { edges: new Set(), errors: new Set() };
const { begin } = people(taken);

const base = await runtimeForTests();

const configured = (settings: Record<string, string> = {}) =>
  base.configured({
    STILE_PASSKEY_ENABLED: "false",
    STILE_MFA_ACQUIRE_ON_REGISTRATION: "true",
    ...settings,
  });

const able = { webauthn_available: true };

interface Enrolled {
  email: string;
  app: AuthenticatorApp;
  /** The code that confirmed the app. */
  usedCode: string;
  recoveryCodes: string[];
}

/** The clock of the app. */
const clock = () => Date.now() + base.platform.clockShift();

/** Waits until the app shows a new code. */
const nextCode = (app: AuthenticatorApp) => {
  base.advanceClock(30);
  return app.code(clock());
};

async function registerUpToEnrolment(runtime: TestRuntime): Promise<{ flow: Walk; email: string }> {
  const email = newAddress();
  const flow = await begin(runtime, "registration", {});
  await flow.act("register_login_identifier", { email });
  await flow.act("verify_passcode", { code: codeFor(runtime, email) });
  await flow.act("register_password", { new_password: password });
  return { flow, email };
}

/** Enrols an app in a flow that offers it. */
async function setUpApp(flow: Walk): Promise<AuthenticatorApp & { usedCode: string }> {
  if (flow.state.name === "mfa_method_chooser") await flow.act("continue_to_otp_secret_creation");
  const app = authenticatorApp(String(flow.state.payload.otp_secret));
  const usedCode = app.code(clock());
  await flow.act("otp_code_verify", { otp_code: usedCode });
  return { ...app, usedCode };
}

/** Registers a user with a password and an app. */
async function enrol(runtime: TestRuntime): Promise<Enrolled> {
  const { flow, email } = await registerUpToEnrolment(runtime);
  const app = await setUpApp(flow);
  if (flow.state.name !== "success") throw new Error(`The registration ended at ${flow.state.name}`);
  return { email, app, usedCode: app.usedCode, recoveryCodes: flow.state.payload.recovery_codes as string[] };
}

/** Registers a user with a password alone. */
async function registerPlain(runtime: TestRuntime): Promise<string> {
  const { flow, email } = await registerUpToEnrolment(runtime);
  if (flow.state.name === "mfa_method_chooser") await flow.act("skip");
  if (flow.state.name !== "success") throw new Error(`The registration ended at ${flow.state.name}`);
  return email;
}

/** Signs in by password, up to the next factor. */
async function signIn(
  runtime: TestRuntime,
  identifier: Record<string, string>,
  { client = testClient, capabilities = {} }: { client?: Client; capabilities?: object } = {},
): Promise<Walk> {
  const flow = await walk(runtime, "login", { taken, client });
  await flow.act("register_client_capabilities", { ...capabilities });
  await flow.act("continue_with_login_identifier", identifier);
  if (flow.state.name === "login_method_chooser") await flow.act("continue_to_password_login");
  await flow.act("password_login", { password });
  return flow;
}

const withCookie = (deviceCookie: string): Client => ({ ...testClient, deviceCookie });

async function userIdOf(email: string): Promise<string> {
  const { rows } = await base.database.read.$client.query("select user_id from emails where address = $1", [
    email,
  ]);
  return rows[0]?.user_id;
}

/** Adds a security key without an authenticator to an account. */
async function giveSecurityKey(email: string): Promise<void> {
  await base.database.write.$client.query(
    `insert into webauthn_credentials (tenant_id, id, user_id, public_key, sign_count, aaguid, attestation_type,
      transports, backup_eligible, backup_state, user_verified, mfa_only)
    values ($1, $2, $3, '\\x00', 0, '', 'none', '{usb}', false, false, false, true)`,
    [base.tenant.id, newName(), await userIdOf(email)],
  );
}

async function audited(email: string): Promise<string[]> {
  const { rows } = await base.database.read.$client.query(
    "select type from audit_logs where user_id = $1 order by created_at, id",
    [await userIdOf(email)],
  );
  return rows.map(({ type }) => type);
}

describe("a registration", () => {
  test("offers a second factor after the credentials, and issues recovery codes", async () => {
    const runtime = configured();
    const { flow, email } = await registerUpToEnrolment(runtime);
    expect(flow.state.name).toBe("mfa_method_chooser");
    expect(Object.keys(flow.state.actions)).toEqual(["continue_to_otp_secret_creation", "skip"]);
    await flow.act("continue_to_otp_secret_creation");
    expect(flow.state).toMatchObject({
      name: "mfa_otp_secret_creation",
      payload: {
        otp_secret: expect.stringMatching(/^[A-Z2-7]{32}$/),
        otp_image_source: expect.stringMatching(/^data:image\/png;base64,/),
      },
    });
    expect(flow.state.actions.otp_code_verify?.inputs.otp_code).toMatchObject({
      min_length: 6,
      max_length: 6,
    });
    expect(flow.answer.session).toBeUndefined();
    const app = authenticatorApp(String(flow.state.payload.otp_secret));
    const success = await flow.act("otp_code_verify", { otp_code: app.code(clock()) });
    expect(success).toMatchObject({
      name: "success",
      payload: {
        claims: { amr: ["otp", "pwd", "totp"] },
        user: { mfa_config: { auth_app_set_up: true } },
        recovery_codes: Array(10).fill(expect.stringMatching(/^([0-9A-Z]{4}-){3}[0-9A-Z]{4}$/)),
      },
    });
    expect(success.payload).not.toHaveProperty("otp_secret");
    expect(mailsTo(runtime, email)).not.toContain("mfa_create");
  });

  test("can skip the second factor if optional, and go back", async () => {
    const { flow, email } = await registerUpToEnrolment(configured());
    await flow.act("continue_to_otp_secret_creation");
    const first = flow.state.payload.otp_secret;
    expect((await flow.act("back")).name).toBe("mfa_method_chooser");
    expect(flow.state.payload).toEqual({ identifier: email });
    await flow.act("continue_to_otp_secret_creation");
    // It may be in the app already.
    expect(flow.state.payload.otp_secret).toBe(first);
    await flow.act("back");
    expect(await flow.act("skip")).toMatchObject({
      name: "success",
      payload: { claims: { amr: ["otp", "pwd"] } },
    });
    expect(flow.state.payload).not.toHaveProperty("recovery_codes");
  });

  test("cannot skip the second factor if required", async () => {
    const { flow } = await registerUpToEnrolment(configured({ STILE_MFA_OPTIONAL: "false" }));
    expect(flow.state.actions).not.toHaveProperty("skip");
    expect((await flow.act("skip")).status).toBe(403);
    await setUpApp(flow);
    expect(flow.state.name).toBe("success");
  });

  test("shows an error if the client cannot use any second factor, and cannot be skipped", async () => {
    const settings = { STILE_MFA_OPTIONAL: "false", STILE_MFA_TOTP_ENABLED: "false" };
    const { flow } = await registerUpToEnrolment(configured(settings));
    expect(flow.state).toMatchObject({
      name: "mfa_method_chooser",
      status: 401,
      error: { code: "platform_authenticator_required" },
      actions: {},
    });
  });

  test("asks for no second factor if second factors are disabled or not acquired", async () => {
    for (const settings of [{ STILE_MFA_ENABLED: "false" }, { STILE_MFA_ACQUIRE_ON_REGISTRATION: "false" }]) {
      const { flow } = await registerUpToEnrolment(configured(settings));
      expect(flow.state.name).toBe("success");
    }
  });

  test("can go back from the choice to the address before verification", async () => {
    const runtime = configured({
      STILE_PASSWORD_ENABLED: "false",
      STILE_EMAIL_REQUIRE_VERIFICATION: "false",
    });
    const flow = await begin(runtime, "registration", able);
    await flow.act("register_login_identifier", { email: newAddress() });
    expect(flow.state.name).toBe("mfa_method_chooser");
    expect((await flow.act("back")).name).toBe("registration_init");
    await flow.act("register_login_identifier", { email: newAddress() });
    expect((await flow.act("continue_to_security_key_creation")).name).toBe("mfa_security_key_creation");
    expect((await flow.act("back")).name).toBe("mfa_method_chooser");
    await flow.act("skip");
    expect(flow.state.name).toBe("success");
  });

  test("A109 stores the secret sealed, and does not show it in later answers", async () => {
    const { flow } = await registerUpToEnrolment(configured());
    await flow.act("continue_to_otp_secret_creation");
    const secret = String(flow.state.payload.otp_secret);
    const rows = async () => {
      const { rows } = await base.database.read.$client.query("select * from flows where id = $1", [
        flow.flowId,
      ]);
      return JSON.stringify(rows);
    };
    expect(await rows()).not.toContain(secret);
    await flow.act("otp_code_verify", { otp_code: authenticatorApp(secret).code(clock()) });
    expect(JSON.stringify(flow.state)).not.toContain(secret);
    expect(await rows()).not.toContain(secret);
  });

  test("rejects an incorrect code, and still shows the secret", async () => {
    const { flow } = await registerUpToEnrolment(configured());
    await flow.act("continue_to_otp_secret_creation");
    const { payload } = flow.state;
    const app = authenticatorApp(String(payload.otp_secret));
    for (const [otp_code, code] of [
      [app.wrongCode(clock()), "passcode_invalid"],
      ["１２３４５６", "passcode_invalid"],
      ["12345", "value_too_short_error"],
      ["1234567", "value_too_long_error"],
      ["", "value_missing_error"],
      [123456, "value_invalid_error"],
    ]) {
      const state = await flow.act("otp_code_verify", { otp_code });
      expect([otp_code, state.name, state.status]).toEqual([otp_code, "mfa_otp_secret_creation", 400]);
      expect([otp_code, flow.errors()]).toEqual([otp_code, [code]]);
      expect(state.payload).toEqual(payload);
    }
    await flow.act("otp_code_verify", { otp_code: app.code(clock()) });
    expect(flow.state.name).toBe("success");
  });

  test("limits incorrect codes", async () => {
    const runtime = configured({ STILE_RATE_LIMITER_ENABLED: "true" });
    const { flow } = await registerUpToEnrolment(runtime);
    await flow.act("continue_to_otp_secret_creation");
    const app = authenticatorApp(String(flow.state.payload.otp_secret));
    for (let tries = 0; tries < 3; tries++)
      await flow.act("otp_code_verify", { otp_code: app.wrongCode(clock()) });
    const limited = await flow.act("otp_code_verify", { otp_code: app.code(clock()) });
    expect(limited).toMatchObject({
      name: "mfa_otp_secret_creation",
      status: 429,
      error: { code: "rate_limit_exceeded" },
      payload: { otp_secret: expect.any(String), retry_after: expect.any(Number) },
    });
    const { rows } = await base.database.read.$client.query(
      "select details from audit_logs where type = 'otp_creation_failed' order by created_at, id",
    );
    expect(rows.map(({ details }) => details).slice(-4)).toEqual([
      ...Array(3).fill({ reason: "wrong" }),
      { reason: "rate_limited" },
    ]);
  });
});

describe("a login", () => {
  test("asks for the code of the app after the password, and has no session before success", async () => {
    const runtime = configured();
    const { email, app } = await enrol(runtime);
    const flow = await signIn(runtime, { email });
    expect(flow.state).toMatchObject({ name: "login_otp", status: 200, payload: {} });
    expect(Object.keys(flow.state.actions)).toEqual(["otp_code_validate", "recovery_code_validate"]);
    expect(flow.answer.session).toBeUndefined();
    const otp_code = nextCode(app);
    expect((await flow.act("otp_code_validate", { otp_code })).name).toBe("device_trust");
    expect(flow.answer.session).toBeUndefined();
    const success = await flow.act("skip");
    expect(success).toMatchObject({
      name: "success",
      payload: {
        claims: { amr: ["pwd", "totp"] },
        last_login: { login_method: "password", mfa_method: "totp" },
      },
    });
    expect(flow.answer.session?.token).toEqual(expect.any(String));
    expect(flow.answer.cookieChanges?.device).toBeUndefined();
    expect(success.payload).not.toHaveProperty("recovery_codes");
  });

  test("A24 asks for the code of the app after a mailed code, and before a new password", async () => {
    const runtime = configured();
    const { email, app } = await enrol(runtime);
    const codeLogin = await begin(runtime, "login", {});
    await codeLogin.act("continue_with_login_identifier", { email });
    await codeLogin.act("continue_to_passcode_confirmation");
    expect((await codeLogin.act("verify_passcode", { code: codeFor(runtime, email) })).name).toBe(
      "login_otp",
    );

    const recovery = await begin(runtime, "login", {});
    await recovery.act("continue_with_login_identifier", { email });
    await recovery.act("continue_to_password_login");
    await recovery.act("continue_to_passcode_confirmation_recovery");
    expect((await recovery.act("verify_passcode", { code: codeFor(runtime, email) })).name).toBe("login_otp");
    expect((await recovery.act("password_recovery", { new_password: password })).status).toBe(403);
    await recovery.act("otp_code_validate", { otp_code: nextCode(app) });
    expect(recovery.state.name).toBe("login_password_recovery");
    await recovery.act("password_recovery", { new_password: `${password}!` });
    expect(recovery.state.name).toBe("device_trust");
  });

  test("rejects malformed, incorrect and used codes", async () => {
    const runtime = configured();
    const { email, app, usedCode } = await enrol(runtime);
    const flow = await signIn(runtime, { email });
    for (const [otp_code, code] of [
      [app.wrongCode(clock()), "otp_code_invalid"],
      ["１２３４５６", "otp_code_invalid"],
      ["12345", "value_too_short_error"],
      ["1234567", "value_too_long_error"],
      [null, "value_missing_error"],
      [["123456"], "value_invalid_error"],
      // A108 the code that confirmed it is used up.
      [usedCode, "otp_code_already_used"],
    ]) {
      const state = await flow.act("otp_code_validate", { otp_code });
      expect([otp_code, state.name, state.status]).toEqual([otp_code, "login_otp", 400]);
      expect([otp_code, flow.errors()]).toEqual([otp_code, [code]]);
    }
    expect(await audited(email)).toContain("login_failure");
    expect((await flow.act("otp_code_validate", { otp_code: nextCode(app) })).name).toBe("device_trust");
  });

  test("A108 accepts a code in one of two concurrent flows", async () => {
    const runtime = configured();
    const { email, app } = await enrol(runtime);
    const flows = await Promise.all(Array.from({ length: 5 }, () => signIn(runtime, { email })));
    const otp_code = nextCode(app);
    const states = await Promise.all(flows.map((flow) => flow.act("otp_code_validate", { otp_code })));
    expect(states.map(({ name }) => name).sort()).toEqual(["device_trust", ...Array(4).fill("login_otp")]);
    for (const flow of flows.filter(({ state }) => state.name === "login_otp")) {
      expect(flow.errors()).toEqual(["otp_code_already_used"]);
    }
  });

  test("A13 performs one of many identical requests", async () => {
    const runtime = configured();
    const { email, app } = await enrol(runtime);
    const flow = await signIn(runtime, { email });
    const [token, otp_code] = [flow.state.csrf_token, nextCode(app)];
    const states = await Promise.all(
      Array.from({ length: 50 }, () => flow.act("otp_code_validate", { otp_code }, { token })),
    );
    expect(states.filter(({ name }) => name === "device_trust")).toHaveLength(1);
    expect(states.filter(({ status }) => status === 403)).toHaveLength(49);
  });

  test("A16 counts incorrect codes even if the step fails after the check", async () => {
    const runtime = configured({ STILE_RATE_LIMITER_ENABLED: "true" });
    const { email, app } = await enrol(runtime);
    base.advanceClock(60);
    const flow = await signIn(runtime, { email });
    for (let tries = 0; tries < 3; tries++) {
      await expect(
        flow.act("otp_code_validate", { otp_code: app.wrongCode(clock()) }, { runtime: failing(runtime) }),
      ).rejects.toThrow("The disk is full.");
    }
    const limited = await flow.act("otp_code_validate", { otp_code: nextCode(app) });
    expect(limited).toMatchObject({ name: "login_otp", status: 429, error: { code: "rate_limit_exceeded" } });
    const { retry_after, resend_after } = limited.payload as Record<string, number>;
    expect(retry_after).toBeGreaterThanOrEqual(1);
    expect(resend_after).toBe(retry_after);
    base.advanceClock(60);
    expect((await flow.act("otp_code_validate", { otp_code: nextCode(app) })).name).toBe("device_trust");
  });

  test("offers enrolment if configured, and notifies the owner", async () => {
    const runtime = configured({ STILE_MFA_ACQUIRE_ON_LOGIN: "true" });
    const email = await registerPlain(runtime);
    const declined = await signIn(runtime, { email });
    expect(declined.state.name).toBe("mfa_method_chooser");
    expect((await declined.act("skip")).name).toBe("success");

    const flow = await signIn(runtime, { email });
    const app = await setUpApp(flow);
    expect(flow.state.name).toBe("device_trust");
    const success = await flow.act("skip");
    expect(success).toMatchObject({ name: "success", payload: { claims: { amr: ["pwd", "totp"] } } });
    expect(success.payload.recovery_codes).toHaveLength(10);
    expect(mailsTo(runtime, email)).toContain("mfa_create");
    expect(await audited(email)).toContain("otp_created");

    const again = await signIn(runtime, { email });
    await again.act("otp_code_validate", { otp_code: nextCode(app) });
    expect(again.state.name).toBe("device_trust");
  });

  test("requires enrolment if mandatory", async () => {
    const email = await registerPlain(configured());
    const runtime = configured({ STILE_MFA_OPTIONAL: "false" });
    const flow = await signIn(runtime, { email });
    expect(flow.state.name).toBe("mfa_method_chooser");
    expect(flow.state.actions).not.toHaveProperty("skip");
    await flow.act("continue_to_otp_secret_creation");
    expect((await flow.act("back")).name).toBe("mfa_method_chooser");
    await flow.act("continue_to_otp_secret_creation");
    const shown = authenticatorApp(String(flow.state.payload.otp_secret));
    await flow.act("otp_code_verify", { otp_code: shown.wrongCode(clock()) });
    expect(flow.errors()).toEqual(["passcode_invalid"]);
    await setUpApp(flow);
    expect(flow.state.name).toBe("device_trust");
  });

  test("does not enrol an app twice after a concurrent enrolment", async () => {
    const runtime = configured({ STILE_MFA_ACQUIRE_ON_LOGIN: "true", STILE_MFA_OPTIONAL: "false" });
    const email = await registerPlain(configured());
    const [slow, fast] = [await signIn(runtime, { email }), await signIn(runtime, { email })];
    await slow.act("continue_to_otp_secret_creation");
    const app = authenticatorApp(String(slow.state.payload.otp_secret));
    await setUpApp(fast);
    const rejected = await slow.act("otp_code_verify", { otp_code: app.code(clock()) });
    expect(rejected).toMatchObject({ status: 403, error: { code: "operation_not_permitted_error" } });
    await slow.act("back");
    expect(slow.state.name).toBe("mfa_method_chooser");
    expect(slow.state.actions).not.toHaveProperty("continue_to_otp_secret_creation");
    // The factor that the other flow enrolled is required here too.
    expect((await slow.act("skip")).name).toBe("login_otp");
  });

  test("enrols one app in two concurrent flows", async () => {
    const runtime = configured({ STILE_MFA_ACQUIRE_ON_LOGIN: "true" });
    const email = await registerPlain(configured());
    const flows = [await signIn(runtime, { email }), await signIn(runtime, { email })];
    for (const flow of flows) await flow.act("continue_to_otp_secret_creation");
    const states = await Promise.all(
      flows.map((flow) => {
        const app = authenticatorApp(String(flow.state.payload.otp_secret));
        return flow.act("otp_code_verify", { otp_code: app.code(clock()) });
      }),
    );
    expect(states.filter(({ name }) => name === "device_trust")).toHaveLength(1);
    expect(states.filter(({ status }) => status === 400 || status === 403)).toHaveLength(1);
  });
});

describe("a recovery code", () => {
  test("replaces the app once, in any notation", async () => {
    const runtime = configured();
    const { email, recoveryCodes } = await enrol(runtime);
    const [first = "", second = ""] = recoveryCodes;
    const flow = await signIn(runtime, { email });
    await flow.act("recovery_code_validate", { recovery_code: "nothing of the kind" });
    expect(flow.errors()).toEqual(["recovery_code_invalid"]);
    await flow.act("recovery_code_validate", {
      recovery_code: ` ${first.toLowerCase().replaceAll("-", " ")} `,
    });
    expect(flow.state.name).toBe("device_trust");
    expect(await flow.act("skip")).toMatchObject({
      name: "success",
      payload: { claims: { amr: ["pwd", "recovery_code"] } },
    });
    expect(mailsTo(runtime, email)).toContain("recovery_code_use");
    const again = await signIn(runtime, { email });
    await again.act("recovery_code_validate", { recovery_code: first });
    expect([again.state.name, again.errors()]).toEqual(["login_otp", ["recovery_code_invalid"]]);
    await again.act("recovery_code_validate", { recovery_code: second });
    expect(again.state.name).toBe("device_trust");
  });

  test("is accepted by one of two concurrent flows", async () => {
    const runtime = configured();
    const { email, recoveryCodes } = await enrol(runtime);
    const flows = [await signIn(runtime, { email }), await signIn(runtime, { email })];
    const states = await Promise.all(
      flows.map((flow) => flow.act("recovery_code_validate", { recovery_code: recoveryCodes[0] })),
    );
    expect(states.map(({ name }) => name).sort()).toEqual(["device_trust", "login_otp"]);
    const rejectedFlow = flows.find(({ state }) => state.name === "login_otp");
    expect(rejectedFlow?.errors()).toEqual(["recovery_code_invalid"]);
  });

  test("is offered while one is left, and rate limited", async () => {
    const runtime = configured();
    const { email, recoveryCodes } = await enrol(runtime);
    for (const recovery_code of recoveryCodes) {
      const flow = await signIn(runtime, { email });
      expect((await flow.act("recovery_code_validate", { recovery_code })).name).toBe("device_trust");
    }
    const flow = await signIn(runtime, { email });
    expect(flow.state.actions).not.toHaveProperty("recovery_code_validate");

    const strict = configured({ STILE_RATE_LIMITER_ENABLED: "true" });
    const other = await enrol(strict);
    const guessing = await signIn(strict, { email: other.email });
    for (let tries = 0; tries < 4; tries++) {
      await guessing.act("recovery_code_validate", { recovery_code: "0000-0000-0000-0000" });
    }
    expect(guessing.state).toMatchObject({ name: "login_otp", status: 429 });
    // The app has its own counter.
    expect((await guessing.act("otp_code_validate", { otp_code: nextCode(other.app) })).name).toBe(
      "device_trust",
    );
  });

  test("is not issued if disabled", async () => {
    const { flow } = await registerUpToEnrolment(configured({ STILE_MFA_RECOVERY_CODES: "false" }));
    await setUpApp(flow);
    expect(flow.state.name).toBe("success");
    expect(flow.state.payload).not.toHaveProperty("recovery_codes");
  });
});

describe("a security key beside the app", () => {
  test("comes first if the browser can use it, and the user may switch", async () => {
    const runtime = configured();
    const { email, app } = await enrol(runtime);
    await giveSecurityKey(email);
    const flow = await signIn(runtime, { email }, { capabilities: able });
    expect(flow.state.name).toBe("login_security_key");
    expect((await flow.act("continue_to_login_otp")).name).toBe("login_otp");
    expect((await flow.act("back")).name).toBe("login_security_key");
    await flow.act("continue_to_login_otp");
    expect((await flow.act("continue_to_login_security_key")).name).toBe("login_security_key");
    await flow.act("continue_to_login_otp");
    expect((await flow.act("otp_code_validate", { otp_code: nextCode(app) })).name).toBe("device_trust");
  });

  test("is not offered without browser support, if disabled, or without a key", async () => {
    const runtime = configured();
    const { email } = await enrol(runtime);
    const offers = async (settings: Record<string, string>, capabilities: object) => {
      const flow = await signIn(runtime.configured(settings), { email }, { capabilities });
      expect(flow.state.name).toBe("login_otp");
      return "continue_to_login_security_key" in flow.state.actions;
    };
    expect(await offers({}, able)).toBe(false);
    await giveSecurityKey(email);
    expect(await offers({}, {})).toBe(false);
    expect(await offers({ STILE_MFA_SECURITY_KEYS_ENABLED: "false" }, able)).toBe(false);
    expect(await offers({ STILE_MFA_SECURITY_KEYS_AUTHENTICATOR_ATTACHMENT: "platform" }, able)).toBe(false);
  });
});

describe("a trusted device", () => {
  /** Signs in with the app, trusts the device, and returns its cookie. */
  async function trustedCookie(
    runtime: TestRuntime,
    { email, app }: Enrolled,
    client = testClient,
  ): Promise<string> {
    const flow = await signIn(runtime, { email }, { client });
    await flow.act("otp_code_validate", { otp_code: nextCode(app) });
    await flow.act("trust_device");
    expect(flow.state.name).toBe("success");
    return flow.answer.cookieChanges?.device?.value ?? "";
  }

  test("A106 skips the second factor of its user, with a new token each time", async () => {
    const runtime = configured();
    const person = await enrol(runtime);
    const first = await trustedCookie(runtime, person);
    expect(first).toMatch(/^[0-9a-f-]{36}:[A-Za-z0-9_-]{43}$/);
    const flow = await signIn(runtime, { email: person.email }, { client: withCookie(first) });
    expect(flow.state).toMatchObject({ name: "success", payload: { claims: { amr: ["pwd"] } } });
    const second = flow.answer.cookieChanges?.device;
    expect(second?.seconds).toBe(30 * 86_400);
    expect(second?.value).not.toBe(first);
    const again = await signIn(runtime, { email: person.email }, { client: withCookie(second?.value ?? "") });
    expect(again.state.name).toBe("success");
  });

  test("A106 is revoked with all others if a used token is presented again", async () => {
    const runtime = configured();
    const person = await enrol(runtime);
    const { email } = person;
    const stolen = await trustedCookie(runtime, person);
    const owner = await signIn(runtime, { email }, { client: withCookie(stolen) });
    const fresh = owner.answer.cookieChanges?.device?.value ?? "";
    const attacker = await signIn(runtime, { email }, { client: withCookie(stolen) });
    expect(attacker.state.name).toBe("login_otp");
    expect(await audited(email)).toContain("trusted_device_stolen");
    const later = await signIn(runtime, { email }, { client: withCookie(fresh) });
    expect(later.state.name).toBe("login_otp");
    expect((await audited(email)).filter((type) => type === "trusted_device_stolen")).toHaveLength(1);
  });

  test("A106 is not valid for other users, after 30 days, or after a password recovery", async () => {
    const runtime = configured();
    const [one, other] = [await enrol(runtime), await enrol(runtime)];
    const cookie = await trustedCookie(runtime, one);
    const foreign = await signIn(runtime, { email: other.email }, { client: withCookie(cookie) });
    expect(foreign.state.name).toBe("login_otp");

    const both = await trustedCookie(runtime, other, withCookie(cookie));
    expect(both.split("|")).toHaveLength(2);
    for (const { email } of [one, other]) {
      const flow = await signIn(runtime, { email }, { client: withCookie(both) });
      expect(flow.state.name).toBe("success");
    }

    const recovering = await enrol(runtime);
    const trusted = await trustedCookie(runtime, recovering);
    const recovery = await begin(runtime, "login", {});
    await recovery.act("continue_with_login_identifier", { email: recovering.email });
    await recovery.act("continue_to_password_login");
    await recovery.act("continue_to_passcode_confirmation_recovery");
    await recovery.act("verify_passcode", { code: codeFor(runtime, recovering.email) });
    await recovery.act("otp_code_validate", { otp_code: nextCode(recovering.app) });
    await recovery.act("password_recovery", { new_password: password });
    const after = await signIn(runtime, { email: recovering.email }, { client: withCookie(trusted) });
    expect(after.state.name).toBe("login_otp");

    const aged = await enrol(runtime);
    const old = await trustedCookie(runtime, aged);
    base.advanceClock(30 * 86_400);
    const late = await signIn(runtime, { email: aged.email }, { client: withCookie(old) });
    expect(late.state.name).toBe("login_otp");
  });

  test("A106 skips the second factor in one of two concurrent flows", async () => {
    const runtime = configured();
    const person = await enrol(runtime);
    const client = withCookie(await trustedCookie(runtime, person));
    const flows = await Promise.all(
      [1, 2].map(async () => {
        const flow = await walk(runtime, "login", { client });
        await flow.act("register_client_capabilities", {});
        await flow.act("continue_with_login_identifier", { email: person.email });
        await flow.act("continue_to_password_login");
        return flow;
      }),
    );
    const states = await Promise.all(flows.map((flow) => flow.act("password_login", { password })));
    expect(states.filter(({ name }) => name === "success")).toHaveLength(1);
    expect(states.filter(({ name }) => ["login_otp", "login_password"].includes(name))).toHaveLength(1);
  });

  test("A107 replaces no first factor and no required enrolment, and is ignored under policy never", async () => {
    const runtime = configured();
    const person = await enrol(runtime);
    const client = withCookie(await trustedCookie(runtime, person));
    const flow = await walk(runtime, "login", { client });
    expect((await flow.act("register_client_capabilities", {})).name).toBe("login_init");
    await flow.act("continue_with_login_identifier", { email: person.email });
    await flow.act("continue_to_password_login");
    await flow.act("password_login", { password: "wrong horse" });
    expect(flow.state.name).toBe("login_password");

    const never = await signIn(
      configured({ STILE_MFA_DEVICE_TRUST_POLICY: "never" }),
      { email: person.email },
      { client },
    );
    expect(never.state.name).toBe("login_otp");
    await never.act("otp_code_validate", { otp_code: nextCode(person.app) });
    expect(never.state.name).toBe("success");
    expect(never.answer.cookieChanges?.device).toBeUndefined();
  });

  test("is trusted without asking if the policy is always", async () => {
    const runtime = configured({ STILE_MFA_DEVICE_TRUST_POLICY: "always" });
    const { email, app } = await enrol(runtime);
    const flow = await signIn(runtime, { email });
    await flow.act("otp_code_validate", { otp_code: nextCode(app) });
    expect(flow.state.name).toBe("success");
    const client = withCookie(flow.answer.cookieChanges?.device?.value ?? "");
    expect((await signIn(runtime, { email }, { client })).state.name).toBe("success");
  });

  test("is offered last, and back returns to the previous state", async () => {
    const { email, app } = await enrol(configured());
    const runtime = configured({ STILE_USERNAME_ENABLED: "true" });
    const flow = await signIn(runtime, { identifier: email });
    await flow.act("otp_code_validate", { otp_code: nextCode(app) });
    expect(flow.state.name).toBe("onboarding_username");
    expect((await flow.act("skip")).name).toBe("device_trust");
    expect((await flow.act("back")).name).toBe("onboarding_username");
    await flow.act("skip");
    expect((await flow.act("trust_device")).name).toBe("success");
    expect(flow.answer.cookieChanges?.device).toBeDefined();
  });

  test("A32 cannot be trusted before device_trust", async () => {
    const { email } = await enrol(configured());
    const flow = await signIn(configured(), { email });
    expect((await flow.act("trust_device")).status).toBe(403);
    expect((await flow.act("skip")).status).toBe(403);
  });
});

test("back from mfa_method_chooser returns to the skipped state before it", async () => {
  const runtime = configured({
    STILE_MFA_ACQUIRE_ON_LOGIN: "true",
    STILE_PASSWORD_OPTIONAL: "true",
    STILE_PASSWORD_ACQUIRE_ON_LOGIN: "always",
  });
  const email = newAddress();
  const registration = await begin(runtime, "registration", {});
  await registration.act("register_login_identifier", { email });
  await registration.act("verify_passcode", { code: codeFor(runtime, email) });
  await registration.act("skip");
  expect((await registration.act("skip")).name).toBe("success");

  const flow = await begin(runtime, "login", able);
  await flow.act("continue_with_login_identifier", { email });
  await flow.act("continue_to_passcode_confirmation");
  await flow.act("verify_passcode", { code: codeFor(runtime, email) });
  expect(flow.state.name).toBe("password_creation");
  expect((await flow.act("skip")).name).toBe("mfa_method_chooser");
  expect((await flow.act("back")).name).toBe("password_creation");
  await flow.act("skip");
  expect((await flow.act("continue_to_security_key_creation")).name).toBe("mfa_security_key_creation");
  expect((await flow.act("back")).name).toBe("mfa_method_chooser");
});

test("an app enrolled in the profile creates recovery codes, revokes trusted devices, and is required at login", async () => {
  const runtime = configured();
  const email = await registerPlain(runtime);
  const login = await signIn(runtime, { email });
  const sessionId = login.answer.session?.id ?? "";
  const profile = await walk(runtime, "profile", { sessionId });
  await profile.act("register_client_capabilities", {});
  await profile.act("continue_to_otp_secret_creation");
  const secret = profile.state.payload.otp_secret;
  expect((await profile.act("back")).name).toBe("profile_init");
  await profile.act("continue_to_otp_secret_creation");
  expect(profile.state.payload.otp_secret).toBe(secret);
  const app = await setUpApp(profile);
  expect(profile.state).toMatchObject({
    name: "profile_init",
    payload: {
      user: { mfa_config: { auth_app_set_up: true } },
      recovery_codes: Array(10).fill(expect.any(String)),
    },
  });
  expect(mailsTo(runtime, email)).toContain("mfa_create");
  const again = await signIn(runtime, { email });
  expect((await again.act("otp_code_validate", { otp_code: nextCode(app) })).name).toBe("device_trust");

  // A new app has a new secret. Only a session that verified the first one may remove it.
  await again.act("skip");
  const fresh = await walk(runtime, "profile", { sessionId: again.answer.session?.id ?? "" });
  await fresh.act("register_client_capabilities", {});
  await fresh.act("otp_secret_delete");
  await fresh.act("continue_to_otp_secret_creation");
  expect(fresh.state.payload.otp_secret).toMatch(/^[A-Z2-7]{32}$/);
  expect(fresh.state.payload.otp_secret).not.toBe(secret);
});

describe("the declarations of these states", () => {
  const own = {
    login: ["login_otp", "mfa_method_chooser", "mfa_otp_secret_creation", "device_trust"],
    registration: ["mfa_method_chooser", "mfa_otp_secret_creation"],
  };

  test("every edge of a login and a registration was taken", () => {
    const declared = (["login", "registration"] as const).flatMap((type) =>
      // `login-authenticator.test.ts` covers the authenticator, `codes-by-sms.test.ts` SMS.
      edgesOf(type).filter(
        ({ from, action }) =>
          own[type].includes(from) &&
          !["continue_to_login_authenticator", "continue_to_phone_creation"].includes(action),
      ),
    );
    const missing = declared
      .map(({ flow, from, action, to }) => `${flow} ${from} ${action} ${to}`)
      .filter((edge) => !taken.edges.has(edge));
    expect(missing).toEqual([]);
  });

  test("every error was returned", () => {
    const declared = declaredErrors().filter(({ state }) => own.login.includes(state));
    const missing = declared
      .map(({ state, action, code }) => `${state} ${action} ${code}`)
      .filter((error) => !taken.errors.has(error));
    expect(missing).toEqual([]);
  });
});

/** The same runtime with failing writes of steps. */
function failing(runtime: TestRuntime): TestRuntime {
  const fail = () => Promise.reject(new Error("The disk is full."));
  const write = Object.create(runtime.database.write, {
    transaction: { value: fail },
    $client: { value: { connect: fail } },
  });
  return { ...runtime, database: { ...runtime.database, write } };
}
