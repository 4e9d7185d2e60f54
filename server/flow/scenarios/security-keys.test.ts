import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { authenticatorApp } from "../../testing/authenticator-app.ts";
import { type Walk, walk } from "../../testing/flow-walk.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { codeFor, mailsTo, newAddress, origin, password, people } from "../../testing/people.ts";
import { type TestRuntime, testClient, testRuntime } from "../../testing/runtime.ts";
import { softwareAuthenticator } from "../../testing/webauthn-authenticator.ts";
import type { FlowCoverage } from "../coverage.ts";
import { declaredErrors, edgesOf } from "../graph.ts";

const taken: FlowCoverage = { edges: new Set(), errors: new Set() };
const { begin, signIn } = people(taken);

const base = await runtimeForTests({ STILE_MFA_ACQUIRE_ON_REGISTRATION: "true" });

/** Without passkeys, so that only second factors are asked for. */
const withoutPasskeys = (settings: Record<string, string> = {}) =>
  base.configured({ STILE_PASSKEY_ENABLED: "false", ...settings });

const atLogin = { STILE_MFA_ACQUIRE_ON_REGISTRATION: "false", STILE_MFA_ACQUIRE_ON_LOGIN: "true" };

const able = { webauthn_available: true };
const ableWithPlatform = { ...able, webauthn_platform_authenticator_available: true };

type Authenticator = ReturnType<typeof softwareAuthenticator>;

const usbKey = () =>
  softwareAuthenticator({
    userVerification: false,
    backup: "no",
    counts: true,
    transports: ["usb"],
    attachment: "cross-platform",
  });

const passkeyAuthenticator = () => softwareAuthenticator();

/** Registers a user up to the state after the password. */
async function registerWithPassword(runtime: TestRuntime): Promise<{ flow: Walk; email: string }> {
  const email = newAddress();
  const flow = await begin(runtime, "registration", able);
  await flow.act("register_login_identifier", { email });
  await flow.act("verify_passcode", { code: codeFor(runtime, email) });
  await flow.act("register_password", { new_password: password });
  return { flow, email };
}

/** Creates a credential from the state's options and sends it. */
async function create(flow: Walk, authenticator: Authenticator, call: object = {}) {
  const public_key = authenticator.create(flow.state.payload.creation_options, { origin, ...call });
  return flow.act("webauthn_verify_attestation_response", { public_key });
}

/** Creates an assertion from the state's options and sends it. */
async function answer(flow: Walk, authenticator: Authenticator, call: object = {}) {
  const assertion_response = authenticator.get(flow.state.payload.request_options, { origin, ...call });
  return flow.act("webauthn_verify_assertion_response", { assertion_response });
}

async function addSecurityKey(flow: Walk, authenticator: Authenticator) {
  await flow.act("continue_to_security_key_creation");
  await flow.act("webauthn_generate_creation_options");
  return create(flow, authenticator);
}

/** A user with a password and a security key. */
async function withSecurityKey(
  runtime: TestRuntime,
): Promise<{ email: string; key: Authenticator; codes: string[] }> {
  const { flow, email } = await registerWithPassword(runtime);
  const key = usbKey();
  const success = await addSecurityKey(flow, key);
  if (success.name !== "success") throw new Error(`The registration ended at ${success.name}`);
  return { email, key, codes: success.payload.recovery_codes as string[] };
}

/** Signs in by password, up to the security key. */
const signInByPassword = (runtime: TestRuntime, email: string, capabilities: object = able) =>
  signIn(runtime, { email }, capabilities);

async function credentialsOf(email: string) {
  const { emails, webauthnCredentials } = schema;
  const [owner] = await base.database.read.select().from(emails).where(eq(emails.address, email));
  if (!owner) throw new Error("The account does not exist.");
  return base.database.read
    .select()
    .from(webauthnCredentials)
    .where(eq(webauthnCredentials.userId, owner.userId));
}

describe("a security key", () => {
  test("is enrolled at registration, with recovery codes", async () => {
    const runtime = withoutPasskeys();
    const { flow, email } = await registerWithPassword(runtime);
    expect(flow.state.name).toBe("mfa_method_chooser");
    expect((await flow.act("continue_to_security_key_creation")).name).toBe("mfa_security_key_creation");
    expect((await flow.act("back")).name).toBe("mfa_method_chooser");
    await flow.act("continue_to_security_key_creation");
    const options = await flow.act("webauthn_generate_creation_options");
    expect(options).toMatchObject({
      name: "onboarding_verify_passkey_attestation",
      payload: {
        creation_options: {
          publicKey: {
            user: { name: email, displayName: email },
            authenticatorSelection: { residentKey: "discouraged", authenticatorAttachment: "cross-platform" },
          },
        },
      },
    });
    expect((await flow.act("back")).name).toBe("mfa_security_key_creation");
    await flow.act("webauthn_generate_creation_options");
    const success = await create(flow, usbKey());
    expect(success).toMatchObject({ name: "success", payload: { recovery_codes: expect.any(Array) } });
    expect(await credentialsOf(email)).toEqual([expect.objectContaining({ mfaOnly: true, signCount: 1 })]);
  });

  test("is accepted beside a passkey of another authenticator in one registration", async () => {
    const { flow, email } = await registerWithPassword(base);
    const [key, device] = [usbKey(), passkeyAuthenticator()];
    expect(flow.state.name).toBe("onboarding_create_passkey");
    await flow.act("webauthn_generate_creation_options");
    expect((await create(flow, device)).name).toBe("mfa_method_chooser");
    await flow.act("continue_to_security_key_creation");
    const options = await flow.act("webauthn_generate_creation_options");
    const [credential] = device.credentials;
    expect(options.payload).toMatchObject({
      creation_options: { publicKey: { excludeCredentials: [{ id: credential?.id.toString("base64url") }] } },
    });
    expect(() => device.create(options.payload.creation_options, { origin })).toThrow("already registered");
    await create(flow, usbKey(), { credentialId: credential?.id });
    expect(flow.errors()).toEqual(["passkey_invalid"]);
    await flow.refresh();
    expect((await create(flow, key)).name).toBe("success");
    const kinds = (await credentialsOf(email)).map(({ mfaOnly }) => mfaOnly);
    expect(kinds.toSorted()).toEqual([false, true]);
  });

  test("is required after the password, and no session exists before", async () => {
    const runtime = withoutPasskeys();
    const { email, key } = await withSecurityKey(runtime);
    const flow = await signInByPassword(runtime, email);
    expect(flow.state).toMatchObject({ name: "login_security_key", status: 200, payload: {} });
    expect(flow.answer.session).toBeUndefined();
    expect(Object.keys(flow.state.actions)).toEqual([
      "webauthn_generate_request_options",
      "recovery_code_validate",
    ]);
    const options = await flow.act("webauthn_generate_request_options");
    const [credential] = key.credentials;
    expect(options).toMatchObject({
      name: "login_passkey",
      payload: {
        request_options: {
          publicKey: {
            allowCredentials: [{ id: credential?.id.toString("base64url"), transports: ["usb"] }],
            userVerification: "discouraged",
            hints: ["security-key"],
          },
        },
      },
    });
    expect((await flow.act("back")).name).toBe("login_security_key");
    await flow.act("webauthn_generate_request_options");
    await answer(flow, key);
    if (flow.state.name === "device_trust") await flow.act("skip");
    expect(flow.state).toMatchObject({
      name: "success",
      payload: { last_login: { login_method: "password" } },
    });
    expect(flow.answer.session).toBeDefined();
  });

  test("may count to the last number of its counter, at registration and at sign-in", async () => {
    const runtime = withoutPasskeys();
    const { flow: registration, email } = await registerWithPassword(runtime);
    await registration.act("continue_to_security_key_creation");
    await registration.act("webauthn_generate_creation_options");
    const key = usbKey();
    expect((await create(registration, key, { signCount: 2 ** 31 - 1 })).name).toBe("success");
    for (const signCount of [2 ** 31, 2 ** 32 - 1]) {
      const flow = await signInByPassword(runtime, email);
      await flow.act("webauthn_generate_request_options");
      await answer(flow, key, { signCount });
      if (flow.state.name === "device_trust") await flow.act("skip");
      expect(flow.state.name).toBe("success");
      expect(await credentialsOf(email)).toEqual([expect.objectContaining({ signCount })]);
    }
  });

  test("is enrolled at login, notified by mail, and required from then on", async () => {
    const runtime = withoutPasskeys(atLogin);
    const { flow: registration, email } = await registerWithPassword(runtime);
    expect(registration.state.name).toBe("success");
    const flow = await signInByPassword(runtime, email);
    expect(flow.state.name).toBe("mfa_method_chooser");
    await flow.act("continue_to_security_key_creation");
    expect((await flow.act("back")).name).toBe("mfa_method_chooser");
    await addSecurityKey(flow, usbKey());
    if (flow.state.name === "device_trust") await flow.act("skip");
    expect(flow.state).toMatchObject({ name: "success", payload: { recovery_codes: expect.any(Array) } });
    expect(mailsTo(runtime, email)).toContain("mfa_create");
    expect((await credentialsOf(email)).map(({ mfaOnly }) => mfaOnly)).toEqual([true]);
    expect((await signInByPassword(runtime, email)).state.name).toBe("login_security_key");
  });

  test("keeps the state without options after an invalid assertion, and has new ones when asked", async () => {
    const runtime = withoutPasskeys();
    const { email, key } = await withSecurityKey(runtime);
    const flow = await signInByPassword(runtime, email);
    const first = await flow.act("webauthn_generate_request_options");
    const rejected = await answer(flow, key, { brokenSignature: true });
    expect(rejected).toMatchObject({
      name: "login_passkey",
      status: 401,
      error: { code: "passkey_invalid" },
      actions: { back: {} },
    });
    expect(rejected.payload).toEqual({ identifier: email });
    const renewed = await flow.refresh();
    expect(renewed).toMatchObject({
      name: "login_passkey",
      error: { code: "passkey_invalid" },
      payload: { request_options: { publicKey: { allowCredentials: [expect.anything()] } } },
    });
    expect(renewed.payload).not.toEqual(first.payload);
    await answer(flow, key, { signCount: 0 });
    expect(flow.errors()).toEqual(["passkey_invalid"]);
    await flow.refresh();
    await answer(flow, key);
    expect(flow.errors()).toEqual([]);
  });

  test("can be created again after an invalid attestation, with options asked for anew", async () => {
    const { flow, email } = await registerWithPassword(withoutPasskeys());
    await flow.act("continue_to_security_key_creation");
    const first = await flow.act("webauthn_generate_creation_options");
    const rejected = await create(flow, usbKey(), { challenge: "AAAA" });
    expect(rejected).toMatchObject({
      name: "onboarding_verify_passkey_attestation",
      status: 401,
      error: { code: "passkey_invalid" },
      actions: { back: {} },
    });
    expect(rejected.payload).toEqual({ identifier: email });
    const renewed = await flow.refresh();
    expect(renewed).toMatchObject({
      payload: {
        creation_options: { publicKey: { authenticatorSelection: { residentKey: "discouraged" } } },
      },
    });
    expect(renewed.payload).not.toEqual(first.payload);
    expect((await create(flow, usbKey())).name).toBe("success");
  });

  test("does not sign in by itself", async () => {
    const { email } = await withSecurityKey(withoutPasskeys());
    const [kept] = await credentialsOf(email);
    const flow = await begin(base, "login", { ...able, webauthn_conditional_mediation_available: true });
    const key = usbKey();
    await flow.act("webauthn_generate_request_options");
    expect(flow.state.name).toBe("login_passkey");
    expect(kept?.mfaOnly).toBe(true);
    expect(() => key.get(flow.state.payload.request_options, { origin })).toThrow("no credential");
  });

  test("A32 cannot be used in a first-factor state", async () => {
    const { email, key } = await withSecurityKey(withoutPasskeys());
    const flow = await begin(base, "login", { ...able, webauthn_conditional_mediation_available: true });
    const [credential] = key.credentials;
    const handle = credential?.userHandle.toString("base64url");
    await answer(flow, key, { credential, userHandle: handle });
    expect(flow.state).toMatchObject({ name: "login_init", status: 401 });
    expect(flow.errors()).toEqual(["webauthn_credential_invalid_mfa_only"]);
    await flow.act("continue_with_login_identifier", { email });
    await flow.act("webauthn_generate_request_options");
    await answer(flow, key, { credential, userHandle: handle });
    expect(flow.state).toMatchObject({ name: "login_passkey", status: 401 });
    expect(flow.errors()).toEqual(["webauthn_credential_invalid_mfa_only"]);
  });

  test("A32 is named as a second factor if it answers a first-factor prompt without a user handle", async () => {
    const { key } = await withSecurityKey(withoutPasskeys());
    const [credential] = key.credentials;
    const flow = await begin(base, "login", { ...able, webauthn_conditional_mediation_available: true });
    await answer(flow, key, { credential, userHandle: null, brokenSignature: true });
    expect(flow.errors()).toEqual(["passkey_invalid"]);
    await answer(flow, key, { credential, userHandle: null });
    expect(flow.state).toMatchObject({ name: "login_init", status: 401 });
    expect(flow.errors()).toEqual(["webauthn_credential_invalid_mfa_only"]);
    await flow.act("webauthn_generate_request_options");
    await answer(flow, key, { credential, userHandle: null });
    expect(flow.state).toMatchObject({ name: "login_passkey", status: 401, payload: {} });
    expect(flow.errors()).toEqual(["webauthn_credential_invalid_mfa_only"]);
    expect(flow.answer.session).toBeUndefined();
  });

  test("is rejected if it belongs to another user", async () => {
    const runtime = withoutPasskeys();
    const { email } = await withSecurityKey(runtime);
    const { key } = await withSecurityKey(runtime);
    const flow = await signInByPassword(runtime, email);
    await flow.act("webauthn_generate_request_options");
    const [credential] = key.credentials;
    await answer(flow, key, { credential });
    expect(flow.errors()).toEqual(["passkey_invalid"]);
    expect(flow.answer.session).toBeUndefined();
  });

  test("can be replaced by a recovery code", async () => {
    const runtime = withoutPasskeys();
    const { email, codes } = await withSecurityKey(runtime);
    const flow = await signInByPassword(runtime, email);
    await flow.act("recovery_code_validate", { recovery_code: "aaaaa-aaaaa" });
    expect(flow.errors()).toEqual(["recovery_code_invalid"]);
    await flow.act("recovery_code_validate", { recovery_code: codes[0] });
    if (flow.state.name === "device_trust") await flow.act("skip");
    expect(flow.state.name).toBe("success");
  });

  test("has rate-limited recovery codes", async () => {
    const limited = withoutPasskeys({ STILE_RATE_LIMITER_ENABLED: "true" });
    const { email } = await withSecurityKey(limited);
    const flow = await signInByPassword(limited, email);
    for (let tries = 0; tries < 6 && flow.state.status !== 429; tries += 1)
      await flow.act("recovery_code_validate", { recovery_code: `AAAA-AAAA-AAAA-AAA${tries}` });
    expect(flow.errors()).toEqual(["rate_limit_exceeded"]);
  });

  test("A108 is required in the slower of two flows that enrol one", async () => {
    const runtime = withoutPasskeys(atLogin);
    const { email } = await registerWithPassword(runtime);
    const [fast, slow] = [await signInByPassword(runtime, email), await signInByPassword(runtime, email)];
    await slow.act("continue_to_security_key_creation");
    await slow.act("webauthn_generate_creation_options");
    await addSecurityKey(fast, usbKey());
    const public_key = usbKey().create(slow.state.payload.creation_options, { origin });
    const rejected = await slow.act("webauthn_verify_attestation_response", { public_key });
    expect(rejected).toMatchObject({ name: "error", status: 403 });
    expect(await credentialsOf(email)).toHaveLength(1);
    expect((await slow.act("back")).name).toBe("mfa_security_key_creation");
    expect(Object.keys(slow.state.actions)).toEqual(["back"]);
  });

  test("A30 is stored once if several flows enrol it concurrently", async () => {
    const runtime = withoutPasskeys(atLogin);
    const { email } = await registerWithPassword(runtime);
    const flows = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const flow = await signInByPassword(runtime, email);
        await flow.act("continue_to_security_key_creation");
        await flow.act("webauthn_generate_creation_options");
        return flow;
      }),
    );
    const answers = await Promise.all(flows.map((flow) => create(flow, usbKey())));
    const [first, ...others] = answers.map(({ status }) => status).toSorted();
    expect(first).toBe(200);
    // Concurrent flows are rejected; later ones are not offered it.
    for (const status of others) expect([400, 403]).toContain(status);
    expect(await credentialsOf(email)).toHaveLength(1);
  });
});

describe("a security key beside an authenticator app", () => {
  /** A user with a password and an app. */
  async function withApp(runtime: TestRuntime): Promise<string> {
    const { flow, email } = await registerWithPassword(runtime);
    const state = await flow.act("continue_to_otp_secret_creation");
    const app = authenticatorApp(String(state.payload.otp_secret));
    await flow.act("otp_code_verify", { otp_code: app.code(Date.now()) });
    if (flow.state.name !== "success") throw new Error(`The registration ended at ${flow.state.name}`);
    return email;
  }

  /** Moves the security key of another account to an account, as if its profile had added it. */
  async function addKey(runtime: TestRuntime, email: string): Promise<void> {
    const { emails, webauthnCredentials } = schema;
    const [lent] = await credentialsOf((await withSecurityKey(runtime)).email);
    const [owner] = await base.database.read.select().from(emails).where(eq(emails.address, email));
    if (!lent || !owner) throw new Error("no key or no account");
    await base.database.write
      .update(webauthnCredentials)
      .set({ userId: owner.userId })
      .where(eq(webauthnCredentials.id, lent.id));
  }

  test("comes first, and the user may switch", async () => {
    const runtime = withoutPasskeys();
    const email = await withApp(runtime);
    await addKey(runtime, email);
    const flow = await signInByPassword(runtime, email);
    expect(flow.state.name).toBe("login_security_key");
    expect((await flow.act("continue_to_login_otp")).name).toBe("login_otp");
    expect((await flow.act("continue_to_login_security_key")).name).toBe("login_security_key");
  });

  test("is offered if it was added concurrently", async () => {
    const runtime = withoutPasskeys();
    const email = await withApp(runtime);
    const flow = await signInByPassword(runtime, email);
    expect(flow.state.name).toBe("login_otp");
    await addKey(runtime, email);
    expect((await flow.act("continue_to_login_security_key")).name).toBe("login_security_key");
    expect((await flow.act("back")).name).toBe("login_otp");
  });

  test("comes without the app if apps are disabled", async () => {
    const email = await withApp(withoutPasskeys());
    await addKey(withoutPasskeys(), email);
    const flow = await signInByPassword(withoutPasskeys({ STILE_MFA_TOTP_ENABLED: "false" }), email);
    expect(flow.state.actions).not.toHaveProperty("continue_to_login_otp");
    expect(flow.state.actions).toHaveProperty("webauthn_generate_request_options");
  });
});

describe("a client without the configured authenticator", () => {
  const onDevice = { STILE_MFA_SECURITY_KEYS_AUTHENTICATOR_ATTACHMENT: "platform" };

  test("gets an error, and can sign in with a recovery code only", async () => {
    const { email, codes } = await withSecurityKey(withoutPasskeys());
    const runtime = withoutPasskeys(onDevice);
    const flow = await signInByPassword(runtime, email, able);
    expect(flow.state).toMatchObject({
      name: "login_security_key",
      status: 401,
      error: { code: "platform_authenticator_required" },
    });
    expect(Object.keys(flow.state.actions)).toEqual(["recovery_code_validate"]);
    expect((await flow.act("webauthn_generate_request_options")).status).toBe(403);
    await flow.act("recovery_code_validate", { recovery_code: codes[0] });
    expect(["device_trust", "success"]).toContain(flow.state.name);
  });

  test("can sign in with the configured authenticator", async () => {
    const { email } = await withSecurityKey(withoutPasskeys());
    const flow = await signInByPassword(withoutPasskeys(onDevice), email, ableWithPlatform);
    expect(flow.state).toMatchObject({ name: "login_security_key", status: 200 });
    expect(flow.state.actions).toHaveProperty("webauthn_generate_request_options");
  });

  test("gets the same error without WebAuthn", async () => {
    const { email } = await withSecurityKey(withoutPasskeys());
    const flow = await signInByPassword(withoutPasskeys(), email, {});
    expect(flow.state).toMatchObject({ name: "login_security_key", status: 401 });
  });
});

describe("a sign-in with a passkey", () => {
  const mandatory = { STILE_MFA_OPTIONAL: "false" };

  /** A user with a password, a security key and a passkey without user verification. */
  async function withPasskeyToo(): Promise<{ email: string; key: Authenticator; device: Authenticator }> {
    const { flow, email } = await registerWithPassword(base);
    const [key, device] = [usbKey(), passkeyAuthenticator()];
    await flow.act("webauthn_generate_creation_options");
    await create(flow, device);
    await addSecurityKey(flow, key);
    if (flow.state.name !== "success") throw new Error(`The registration ended at ${flow.state.name}`);
    return { email, key, device };
  }

  test("accepts the same passkey as a second factor only with user verification", async () => {
    const { device } = await withPasskeyToo();
    const flow = await begin(base.configured(mandatory), "login", able);
    await flow.act("webauthn_generate_request_options");
    await answer(flow, device, { userVerified: false });
    expect(flow.state.name).toBe("login_security_key");
    const options = await flow.act("webauthn_generate_request_options");
    expect(options.payload).toMatchObject({
      request_options: { publicKey: { userVerification: "required" } },
    });
    await answer(flow, device, { userVerified: false });
    expect(flow.errors()).toEqual(["passkey_invalid"]);
    await flow.refresh();
    await answer(flow, device);
    if (flow.state.name === "device_trust") await flow.act("skip");
    expect(flow.state.name).toBe("success");
  });

  test("requires no second factor after user verification", async () => {
    const { device } = await withPasskeyToo();
    const flow = await begin(base, "login", able);
    await flow.act("webauthn_generate_request_options");
    expect((await answer(flow, device)).name).toBe("success");
  });
});

describe("conditional creation of a passkey", () => {
  const settings = { STILE_MFA_ENABLED: "false", STILE_PASSKEY_ACQUIRE_ON_REGISTRATION: "never" };

  async function offeredCreation(changes: Record<string, string> = {}) {
    const { flow: registration, email } = await registerWithPassword(base.configured(settings));
    expect(registration.state.name).toBe("success");
    const runtime = base.configured({ ...settings, ...changes });
    const flow = await signInByPassword(runtime, email);
    expect(flow.state.name).toBe("onboarding_create_passkey");
    return { flow, email, runtime };
  }

  const inputs = (flow: Walk) => flow.state.actions.webauthn_generate_creation_options?.inputs;

  test("is offered after a password login, needs no user presence, and is notified by mail", async () => {
    const { flow, email, runtime } = await offeredCreation();
    expect(inputs(flow)).toEqual({
      conditional: { name: "conditional", type: "boolean", required: false, hidden: true },
    });
    const options = await flow.act("webauthn_generate_creation_options", { conditional: true });
    expect(options.payload).toMatchObject({ creation_options: { mediation: "conditional" } });
    await create(flow, passkeyAuthenticator(), { userPresent: false, userVerified: false });
    expect(flow.state.name).toBe("success");
    expect(mailsTo(runtime, email)).toContain("passkey_create");
    expect(await credentialsOf(email)).toEqual([
      expect.objectContaining({ mfaOnly: false, userVerified: false }),
    ]);
  });

  test("happens only if the client requests it", async () => {
    for (const input of [{}, { conditional: false }, { conditional: null }]) {
      const { flow } = await offeredCreation();
      const options = await flow.act("webauthn_generate_creation_options", input);
      expect(options.payload.creation_options).not.toHaveProperty("mediation");
      await create(flow, passkeyAuthenticator(), { userPresent: false, userVerified: false });
      expect(flow.errors()).toEqual(["passkey_invalid"]);
    }
  });

  test("falls back to a prompted creation if it fails", async () => {
    const { flow } = await offeredCreation();
    await flow.act("webauthn_generate_creation_options", { conditional: true });
    const rejected = await create(flow, passkeyAuthenticator(), { brokenSignature: true, challenge: "AAAA" });
    expect(rejected).toMatchObject({ name: "onboarding_verify_passkey_attestation", status: 401 });
    const renewed = await flow.refresh();
    expect(renewed.payload.creation_options).toBeDefined();
    expect(renewed.payload.creation_options).not.toHaveProperty("mediation");
    expect((await create(flow, passkeyAuthenticator())).name).toBe("success");
  });

  test.each([
    ["if it is disabled", { STILE_PASSKEY_CONDITIONAL_CREATE: "false" }],
    ["if user verification is required", { STILE_PASSKEY_USER_VERIFICATION: "required" }],
  ])("is not offered %s", async (_label, changes) => {
    const { flow } = await offeredCreation(changes);
    expect(inputs(flow)).toEqual({});
    const rejected = await flow.act("webauthn_generate_creation_options", { conditional: true });
    expect(rejected).toMatchObject({ name: "onboarding_create_passkey", status: 400 });
  });

  test("is not offered after a mailed code, nor at registration", async () => {
    const runtime = base.configured(settings);
    const { email } = await registerWithPassword(runtime);
    const login = await begin(runtime, "login", able);
    await login.act("continue_with_login_identifier", { email });
    await login.act("continue_to_passcode_confirmation");
    await login.act("verify_passcode", { code: codeFor(runtime, email) });
    expect(login.state.name).toBe("onboarding_create_passkey");
    expect(inputs(login)).toEqual({});
    const { flow } = await registerWithPassword(base.configured({ STILE_MFA_ENABLED: "false" }));
    expect(flow.state.name).toBe("onboarding_create_passkey");
    expect(inputs(flow)).toEqual({});
  });

  test.each([["yes"], [1], [{}]])("rejects %j as its input", async (conditional) => {
    const { flow } = await offeredCreation();
    const rejected = await flow.act("webauthn_generate_creation_options", { conditional });
    expect(rejected).toMatchObject({ name: "onboarding_create_passkey", status: 400 });
    expect(flow.errors()).toEqual(["value_invalid_error"]);
  });
});

test("reports an unknown credential, so that the browser can remove it", async () => {
  const flow = await begin(base, "login", { ...able, webauthn_conditional_mediation_available: true });
  const stray = passkeyAuthenticator();
  stray.create(
    {
      rp: { id: "localhost", name: "Example" },
      user: { id: "dXNlcg", name: "user", displayName: "User" },
      challenge: "AAAA",
      pubKeyCredParams: [{ type: "public-key", alg: -7 }],
      authenticatorSelection: { residentKey: "required" },
    },
    { origin },
  );
  const unknown_credential = {
    rp_id: "localhost",
    credential_id: stray.credentials[0]?.id.toString("base64url"),
  };
  expect(await answer(flow, stray)).toMatchObject({
    name: "login_init",
    status: 401,
    error: { code: "passkey_invalid" },
    payload: { unknown_credential, request_options: expect.anything() },
  });
  const email = newAddress();
  await flow.act("continue_with_login_identifier", { email });
  expect(flow.state.payload).not.toHaveProperty("unknown_credential");
  await flow.act("webauthn_generate_request_options");
  const rejected = await answer(flow, stray);
  expect(rejected.name).toBe("login_passkey");
  expect(rejected.payload).toEqual({ identifier: email, unknown_credential });
});

test("A143 does not report it where another tenant may know it, whose passkey the browser would remove", async () => {
  const runtime = await testRuntime();
  try {
    await createTenant(runtime, { name: "Another", hosts: [], settings: {} });
    const flow = await begin(runtime, "login", { ...able, webauthn_conditional_mediation_available: true });
    const theirs = passkeyAuthenticator();
    theirs.create(
      {
        rp: { id: "localhost", name: "Example" },
        user: { id: "dXNlcg", name: "user", displayName: "User" },
        challenge: "AAAA",
        pubKeyCredParams: [{ type: "public-key", alg: -7 }],
        authenticatorSelection: { residentKey: "required" },
      },
      { origin },
    );
    const rejected = await answer(flow, theirs);
    expect(rejected.error?.code).toBe("passkey_invalid");
    expect(rejected.payload).not.toHaveProperty("unknown_credential");
  } finally {
    await runtime.close();
  }
});

test("a trusted device that skipped the second factor cannot add a passkey", async () => {
  const runtime = base.configured({
    STILE_MFA_DEVICE_TRUST_POLICY: "always",
    STILE_PASSKEY_ACQUIRE_ON_REGISTRATION: "never",
  });
  const { email, key } = await withSecurityKey(runtime);
  const shown = await signInByPassword(runtime, email);
  await shown.act("webauthn_generate_request_options");
  await answer(shown, key);
  expect(shown.state.name).toBe("onboarding_create_passkey");
  expect(shown.state.actions).toHaveProperty("webauthn_generate_creation_options");
  await shown.act("skip");
  const deviceCookie = shown.answer.cookieChanges?.device?.value ?? "";

  const flow = await walk(runtime, "login", { taken, client: { ...testClient, deviceCookie } });
  await flow.act("register_client_capabilities", able);
  await flow.act("continue_with_login_identifier", { email });
  await flow.act("continue_to_password_login");
  await flow.act("password_login", { password });
  expect(["onboarding_create_passkey", "success"]).toContain(flow.state.name);
  expect(flow.state.actions).not.toHaveProperty("webauthn_generate_creation_options");
  if (flow.state.name === "onboarding_create_passkey") await flow.act("skip");
  expect(flow.state.name).toBe("success");
});

describe("the declarations of these states", () => {
  const own = {
    login: ["login_security_key", "mfa_security_key_creation"],
    registration: ["mfa_security_key_creation"],
  };

  test("every edge was taken", () => {
    const declared = (["login", "registration"] as const).flatMap((type) =>
      // `login-authenticator.test.ts` covers the authenticator.
      edgesOf(type).filter(
        ({ from, action }) => own[type].includes(from) && action !== "continue_to_login_authenticator",
      ),
    );
    const missing = declared
      .map(({ flow, from, action, to }) => `${flow} ${from} ${action} ${to}`)
      .filter((edge) => !taken.edges.has(edge));
    expect(missing).toEqual([]);
  });

  test("every error of a ceremony was returned", () => {
    const ceremonies = ["login_passkey", "login_init", "onboarding_verify_passkey_attestation"];
    const missing = declaredErrors()
      .filter(({ state, action }) => ceremonies.includes(state) && action.startsWith("webauthn_verify_"))
      .map(({ state, action, code }) => `${state} ${action} ${code}`)
      .filter((error) => !taken.errors.has(error));
    expect(missing).toEqual([]);
  });
});
