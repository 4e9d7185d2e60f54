import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { accountOwner } from "../testing/account-owner.ts";
import { walk } from "../testing/flow-walk.ts";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import {
  codeFor,
  mailsTo,
  markedClient,
  newAddress,
  newName,
  newNumber,
  origin,
  password,
  people,
} from "../testing/people.ts";
import { acme, acmePerson, returnFromProvider } from "../testing/provider-people.ts";
import { type TestRuntime, testClient } from "../testing/runtime.ts";
import { samlIdentityProvider } from "../testing/saml-identity-provider.ts";
import { untaken } from "../testing/walked-states.ts";
import { softwareAuthenticator } from "../testing/webauthn-authenticator.ts";
import type { ProviderFacts } from "../thirdparty/provider-facts.ts";
import type { FlowCoverage } from "./coverage.ts";
import { errorCodes } from "./tell-observers.ts";

/** Every test walks flows; the last one checks that every edge and error was taken. */
const taken: FlowCoverage = { edges: new Set(), errors: new Set() };
const { begin, register, signIn } = people(taken);

const base = await runtimeForTests();

const configured = (settings: Record<string, string> = {}) => base.configured(settings);
const wrong = (code: string) => (code === "000000" ? "111111" : "000000");

describe("a registration", () => {
  test("ends at success with a session after a mailed code, a password and a passkey", async () => {
    const runtime = configured();
    const email = newAddress();
    const flow = await begin(runtime, "registration");
    expect((await flow.act("register_login_identifier", { email })).name).toBe("passcode_confirmation");
    expect((await flow.act("verify_passcode", { code: codeFor(runtime, email) })).name).toBe(
      "password_creation",
    );
    expect((await flow.act("register_password", { new_password: password })).name).toBe(
      "onboarding_create_passkey",
    );
    const options = await flow.act("webauthn_generate_creation_options");
    expect(options.name).toBe("onboarding_verify_passkey_attestation");
    const public_key = softwareAuthenticator().create(options.payload.creation_options, { origin });
    const success = await flow.act("webauthn_verify_attestation_response", { public_key });
    expect(success).toMatchObject({
      name: "success",
      status: 200,
      actions: {},
      payload: {
        user: {
          emails: [{ address: email, is_verified: true, is_primary: true }],
          passkeys: [expect.anything()],
        },
        claims: { amr: ["otp", "pwd", "passkey"] },
      },
    });
    expect(flow.answer.session?.token).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
  });

  test("announces the characters of mailed codes, and accepts small letters for capital ones", async () => {
    const runtime = configured({ STILE_EMAIL_PASSCODE_CHARSET: "alphanumeric" });
    const email = newAddress();
    const flow = await begin(runtime, "registration");
    const asked = await flow.act("register_login_identifier", { email });
    const code = {
      name: "code",
      type: "string",
      required: true,
      hidden: false,
      min_length: 6,
      max_length: 6,
    };
    expect(asked.actions.verify_passcode?.inputs).toEqual({ code: { ...code, charset: "alphanumeric" } });
    const answered = await flow.act("verify_passcode", { code: codeFor(runtime, email).toLowerCase() });
    expect(answered.name).toBe("password_creation");
    const numeric = await begin(configured(), "registration");
    const plain = await numeric.act("register_login_identifier", { email: newAddress() });
    expect(plain.actions.verify_passcode?.inputs).toEqual({ code });
  });

  test("writes no account before its end", async () => {
    const runtime = configured();
    const email = newAddress();
    const flow = await begin(runtime, "registration");
    await flow.act("register_login_identifier", { email });
    await flow.act("verify_passcode", { code: codeFor(runtime, email) });
    await flow.act("register_password", { new_password: password });
    const rows = await runtime.database.read.select().from(schema.emails);
    expect(rows.map(({ address }) => address)).not.toContain(email);
  });

  test("allows back to the identifier until the code is confirmed", async () => {
    const runtime = configured();
    const flow = await begin(runtime, "registration");
    await flow.act("register_login_identifier", { email: newAddress() });
    expect((await flow.act("back")).name).toBe("registration_init");
    const email = newAddress();
    await flow.act("register_login_identifier", { email });
    await flow.act("resend_passcode");
    expect((await flow.act("verify_passcode", { code: codeFor(runtime, email) })).actions).not.toHaveProperty(
      "back",
    );
  });

  test("allows choosing a credential, going back and skipping", async () => {
    const runtime = configured({
      STILE_EMAIL_REQUIRE_VERIFICATION: "false",
      STILE_PASSWORD_OPTIONAL: "true",
      STILE_PASSWORD_ACQUIRE_ON_REGISTRATION: "conditional",
      STILE_PASSKEY_ACQUIRE_ON_REGISTRATION: "conditional",
    });
    const flow = await begin(runtime, "registration");
    await flow.act("register_login_identifier", { email: newAddress() });
    expect(flow.state.name).toBe("credential_onboarding_chooser");
    expect((await flow.act("back")).name).toBe("registration_init");
    await flow.act("register_login_identifier", { email: newAddress() });
    await flow.act("continue_to_password_registration");
    expect(flow.state.actions).not.toHaveProperty("skip");
    expect((await flow.act("back")).name).toBe("credential_onboarding_chooser");
    await flow.act("continue_to_passkey_registration");
    expect((await flow.act("back")).name).toBe("credential_onboarding_chooser");
    await flow.act("continue_to_passkey_registration");
    await flow.act("webauthn_generate_creation_options");
    expect((await flow.act("back")).name).toBe("onboarding_create_passkey");
    await flow.act("back");
    expect((await flow.act("skip")).name).toBe("success");
  });

  test("allows skipping one credential for the other, and going back", async () => {
    const runtime = configured({
      STILE_EMAIL_REQUIRE_VERIFICATION: "false",
      STILE_PASSWORD_OPTIONAL: "true",
    });
    const flow = await begin(runtime, "registration");
    await flow.act("register_login_identifier", { email: newAddress() });
    expect(flow.state.name).toBe("onboarding_create_passkey");
    expect((await flow.act("skip")).name).toBe("password_creation");
    expect((await flow.act("back")).name).toBe("onboarding_create_passkey");
    await flow.act("skip");
    expect((await flow.act("skip")).name).toBe("success");
  });

  test("does not reveal a taken address: it notifies its owner, and accepts no code", async () => {
    const runtime = configured();
    const { email } = await register(runtime);
    const flow = await begin(runtime, "registration");
    const shown = await flow.act("register_login_identifier", { email });
    expect(shown).toMatchObject({ name: "passcode_confirmation", status: 200, payload: {} });
    expect(mailsTo(runtime, email)).toEqual(["email_verification", "email_registration_attempted"]);
    await flow.act("verify_passcode", { code: "123456" });
    expect(flow.errors()).toEqual(["passcode_invalid"]);
  });

  test("reports a taken address if configured so, or without verification", async () => {
    for (const settings of [
      { STILE_PRIVACY_SHOW_ACCOUNT_EXISTENCE_HINTS: "true" },
      { STILE_EMAIL_REQUIRE_VERIFICATION: "false" },
    ]) {
      const runtime = configured(settings);
      const { email } = await register(runtime);
      const flow = await begin(runtime, "registration");
      await flow.act("register_login_identifier", { email });
      expect(flow.errors()).toEqual(["email_already_exists"]);
      expect(flow.state.actions.register_login_identifier?.inputs.email?.value).toBe(email);
    }
  });

  test("rejects invalid identifiers", async () => {
    const runtime = configured({ STILE_USERNAME_ENABLED: "true", STILE_EMAIL_OPTIONAL: "true" });
    const { username } = await register(runtime, { username: newName() });
    const cases: [Record<string, unknown>, string[]][] = [
      [{}, ["value_missing_error"]],
      [{ email: "not an address" }, ["value_invalid_error"]],
      [{ email: newAddress(), username: "ab" }, ["value_too_short_error"]],
      [{ email: newAddress(), username: "a".repeat(33) }, ["value_too_long_error"]],
      [{ email: newAddress(), username: "ａdа!" }, ["invalid_username_error"]],
      [{ email: newAddress(), username }, ["username_already_exists"]],
      [{ email: newAddress(), username: `  ${username?.toUpperCase()} ` }, ["username_already_exists"]],
    ];
    const flow = await begin(runtime, "registration");
    for (const [input, codes] of cases) {
      const state = await flow.act("register_login_identifier", input);
      expect([input, state.status, errorCodes(state)]).toEqual([input, 400, codes]);
    }
  });

  test("returns to registration_init if the username is taken concurrently", async () => {
    const runtime = configured({ STILE_USERNAME_ENABLED: "true" });
    const username = newName();
    const email = newAddress();
    const flow = await begin(runtime, "registration", {});
    await flow.act("register_login_identifier", { email, username });
    await flow.act("verify_passcode", { code: codeFor(runtime, email) });
    await register(runtime, { username });
    const state = await flow.act("register_password", { new_password: password });
    expect(state).toMatchObject({ name: "registration_init", status: 400 });
    expect(errorCodes(state)).toEqual(["username_already_exists"]);
    // The address stays verified.
    await flow.act("register_login_identifier", { email, username: newName() });
    expect(flow.state.name).toBe("password_creation");
    expect((await flow.act("register_password", { new_password: password })).name).toBe("success");
  });

  test("is not offered if sign-up is disabled", async () => {
    const flow = await begin(configured({ STILE_ACCOUNT_ALLOW_SIGNUP: "false" }), "registration");
    expect(flow.state.actions).not.toHaveProperty("register_login_identifier");
    const rejected = await flow.act("register_login_identifier", { email: newAddress() });
    expect(rejected).toMatchObject({
      name: "error",
      status: 403,
      error: { code: "operation_not_permitted_error" },
    });
  });

  test("offers remember_me if configured", async () => {
    const flow = await begin(configured({ STILE_SESSION_COOKIE_RETENTION: "prompt" }), "registration");
    expect((await flow.act("remember_me", { remember_me: true })).name).toBe("registration_init");
  });
});

describe("a login", () => {
  test("succeeds with a password", async () => {
    const runtime = configured();
    const { email } = await register(runtime);
    const flow = await begin(runtime, "login", {});
    expect(
      (await flow.act("continue_with_login_identifier", { email: ` ${email.toUpperCase()} ` })).name,
    ).toBe("login_method_chooser");
    expect((await flow.act("back")).name).toBe("login_init");
    await flow.act("continue_with_login_identifier", { email });
    await flow.act("continue_to_password_login");
    expect((await flow.act("back")).name).toBe("login_method_chooser");
    await flow.act("continue_to_password_login");
    await flow.act("password_login", { password: "wrong horse" });
    expect(flow.errors()).toEqual(["value_invalid_error"]);
    const success = await flow.act("password_login", { password });
    expect(success).toMatchObject({
      name: "success",
      payload: { last_login: { login_method: "password" }, claims: { amr: ["pwd"] } },
    });
  });

  test("succeeds with a mailed code", async () => {
    const runtime = configured();
    const { email } = await register(runtime);
    const flow = await begin(runtime, "login", {});
    await flow.act("continue_with_login_identifier", { email });
    await flow.act("continue_to_passcode_confirmation");
    expect((await flow.act("back")).name).toBe("login_method_chooser");
    await flow.act("continue_to_passcode_confirmation");
    await flow.act("resend_passcode");
    // Going back and forth sent no mail; resending did.
    expect(mailsTo(runtime, email)).toEqual(["email_verification", "login", "login"]);
    expect((await flow.act("verify_passcode", { code: codeFor(runtime, email) })).name).toBe("success");
    expect(flow.state.payload).toMatchObject({ last_login: { login_method: "passcode" } });
  });

  test("succeeds with a passkey from the first state, by button or from the chooser", async () => {
    const runtime = configured();
    const authenticator = softwareAuthenticator();
    const { email } = await register(runtime, { authenticator });

    const autofill = await begin(runtime, "login");
    const assertion_response = authenticator.get(autofill.state.payload.request_options, { origin });
    expect((await autofill.act("webauthn_verify_assertion_response", { assertion_response })).name).toBe(
      "success",
    );

    const button = await begin(runtime, "login");
    await button.act("webauthn_generate_request_options");
    expect((await button.act("back")).name).toBe("login_init");
    await button.act("webauthn_generate_request_options");
    const signed = authenticator.get(button.state.payload.request_options, { origin });
    expect(
      (await button.act("webauthn_verify_assertion_response", { assertion_response: signed })).name,
    ).toBe("success");

    const choice = await begin(runtime, "login");
    await choice.act("continue_with_login_identifier", { email });
    await choice.act("webauthn_generate_request_options");
    const secondAssertion = authenticator.get(choice.state.payload.request_options, { origin });
    expect(
      (await choice.act("webauthn_verify_assertion_response", { assertion_response: secondAssertion })).name,
    ).toBe("success");
  });

  test("keeps the state after a rejected passkey, with a new challenge only beside other login methods", async () => {
    const runtime = configured();
    const authenticator = softwareAuthenticator();
    await register(runtime, { authenticator });
    const flow = await begin(runtime, "login");
    const first = flow.state.payload.request_options as { publicKey: { challenge: string } };
    const bad = authenticator.get(first, { origin: "https://evil.example" });
    const state = await flow.act("webauthn_verify_assertion_response", { assertion_response: bad });
    expect(state).toMatchObject({ name: "login_init", status: 401, error: { code: "passkey_invalid" } });
    const second = state.payload.request_options as typeof first;
    expect(second.publicKey.challenge).not.toBe(first.publicKey.challenge);
    const good = authenticator.get(second, { origin });
    expect((await flow.act("webauthn_verify_assertion_response", { assertion_response: good })).name).toBe(
      "success",
    );

    const passkeyLogin = await begin(runtime, "login");
    await passkeyLogin.act("webauthn_generate_request_options");
    const malformed = await passkeyLogin.act("webauthn_verify_assertion_response", {
      assertion_response: { id: 7 },
    });
    expect(malformed).toMatchObject({
      name: "login_passkey",
      status: 401,
      error: { code: "passkey_invalid" },
    });
    // A published client prompts again as soon as it sees options.
    expect(malformed.payload).toEqual({});
    expect(malformed.actions).toHaveProperty("back");
    await passkeyLogin.act("webauthn_verify_assertion_response");
    expect(passkeyLogin.state).toMatchObject({ name: "login_passkey", status: 400 });
    expect(passkeyLogin.state.payload).toEqual({});
    await passkeyLogin.refresh();
    const asked = authenticator.get(passkeyLogin.state.payload.request_options, { origin });
    expect(
      (await passkeyLogin.act("webauthn_verify_assertion_response", { assertion_response: asked })).name,
    ).toBe("success");
  });

  test("rejects a second-factor security key as a passkey", async () => {
    const runtime = configured();
    const authenticator = softwareAuthenticator();
    await register(runtime, { authenticator });
    const id = authenticator.credentials[0]?.id.toString("base64url") ?? "";
    await runtime.database.write.$client.query(
      "update webauthn_credentials set mfa_only = true where id = $1",
      [id],
    );
    const flow = await begin(runtime, "login");
    const first = authenticator.get(flow.state.payload.request_options, { origin });
    await flow.act("webauthn_verify_assertion_response", { assertion_response: first });
    expect(flow.errors()).toEqual(["webauthn_credential_invalid_mfa_only"]);
    await flow.act("webauthn_generate_request_options");
    const second = authenticator.get(flow.state.payload.request_options, { origin });
    await flow.act("webauthn_verify_assertion_response", { assertion_response: second });
    expect(flow.errors()).toEqual(["webauthn_credential_invalid_mfa_only"]);
  });

  test("goes directly to a single method", async () => {
    const passwords = configured({ STILE_EMAIL_USE_FOR_AUTHENTICATION: "false" });
    const { email } = await register(passwords);
    const byPassword = await begin(passwords, "login", {});
    expect((await byPassword.act("continue_with_login_identifier", { email })).name).toBe("login_password");
    const codes = configured({ STILE_PASSWORD_ENABLED: "false" });
    const codeLogin = await begin(codes, "login", {});
    expect((await codeLogin.act("continue_with_login_identifier", { email })).name).toBe(
      "passcode_confirmation",
    );
  });

  test("shows the methods of the account if configured so", async () => {
    const runtime = configured({
      STILE_PRIVACY_ONLY_SHOW_ACTUAL_LOGIN_METHODS: "true",
      STILE_EMAIL_USE_FOR_AUTHENTICATION: "false",
    });
    const authenticator = softwareAuthenticator();
    const { email } = await register(runtime, { authenticator });
    const owner = await begin(runtime, "login");
    expect((await owner.act("continue_with_login_identifier", { email })).name).toBe("login_method_chooser");
    await base.database.write.$client.query(
      "delete from passwords p using emails e where e.user_id = p.user_id and e.address = $1",
      [email],
    );
    const flow = await begin(runtime, "login");
    expect((await flow.act("continue_with_login_identifier", { email })).name).toBe("login_passkey");
    const options = flow.state.payload.request_options as { publicKey: { allowCredentials: unknown[] } };
    expect(options.publicKey.allowCredentials).toHaveLength(1);
    const unable = await begin(runtime, "login", {});
    await unable.act("continue_with_login_identifier", { email });
    expect(unable.errors()).toEqual(["flow_discontinuity_error"]);
    await unable.act("continue_with_login_identifier", { email: newAddress() });
    expect(unable.errors()).toEqual(["unknown_email_error"]);
  });

  test("behaves with a username as with an address", async () => {
    const runtime = configured({ STILE_USERNAME_ENABLED: "true" });
    const username = newName();
    const { email } = await register(runtime, { username });
    const flow = await begin(runtime, "login", {});
    await flow.act("continue_with_login_identifier", { identifier: username });
    await flow.act("continue_to_passcode_confirmation");
    expect((await flow.act("verify_passcode", { code: codeFor(runtime, email) })).name).toBe("success");
  });

  test("replaces a forgotten password after a code, and ends other sessions", async () => {
    const runtime = configured();
    const { email } = await register(runtime);
    const flow = await begin(runtime, "login", {});
    await flow.act("continue_with_login_identifier", { email });
    await flow.act("continue_to_password_login");
    expect((await flow.act("continue_to_passcode_confirmation_recovery")).name).toBe("passcode_confirmation");
    expect((await flow.act("verify_passcode", { code: codeFor(runtime, email) })).name).toBe(
      "login_password_recovery",
    );
    for (const [bad, code] of [
      ["", "value_missing_error"],
      ["short", "value_too_short_error"],
      ["😀😀😀😀", "value_too_short_error"],
      ["\u{1d160}".repeat(100), "value_too_long_error"],
      ["password1", "value_invalid_error"],
    ]) {
      await flow.act("password_recovery", { new_password: bad });
      expect([bad, flow.errors()]).toEqual([bad, [code]]);
    }
    expect((await flow.act("password_recovery", { new_password: "a new and better one" })).name).toBe(
      "success",
    );
    const sessions = await runtime.database.read.$client.query(
      "select s.id from sessions s join emails e on e.user_id = s.user_id where e.address = $1",
      [email],
    );
    expect(sessions.rows).toEqual([{ id: flow.answer.session?.id }]);
    const old = await signIn(runtime, { email });
    expect(old.errors()).toEqual(["value_invalid_error"]);
  });

  test("asks for a missing username, address and credentials", async () => {
    const settings = {
      STILE_USERNAME_ENABLED: "true",
      STILE_EMAIL_OPTIONAL: "true",
      STILE_PASSKEY_ACQUIRE_ON_LOGIN: "always",
    };
    const first = configured({ ...settings, STILE_PASSKEY_ACQUIRE_ON_REGISTRATION: "never" });
    const username = newName();
    const registered = await begin(first, "registration");
    await registered.act("register_login_identifier", { username });
    expect((await registered.act("register_password", { new_password: password })).name).toBe("success");

    const flow = await begin(first, "login");
    await flow.act("continue_with_login_identifier", { identifier: username });
    await flow.act("continue_to_password_login");
    expect((await flow.act("password_login", { password })).name).toBe("onboarding_email");
    await flow.act("email_address_set", { email: "nonsense" });
    expect(flow.errors()).toEqual(["value_invalid_error"]);
    expect(flow.state.actions.email_address_set?.inputs.email?.value).toBe("nonsense");
    const email = newAddress();
    expect((await flow.act("email_address_set", { email })).name).toBe("passcode_confirmation");
    expect((await flow.act("back")).name).toBe("onboarding_email");
    await flow.act("email_address_set", { email });
    expect((await flow.act("verify_passcode", { code: codeFor(first, email) })).name).toBe(
      "onboarding_create_passkey",
    );
    await flow.act("webauthn_generate_creation_options");
    expect((await flow.act("back")).name).toBe("onboarding_create_passkey");
    await flow.act("webauthn_generate_creation_options");
    await flow.act("webauthn_verify_attestation_response", { public_key: { nonsense: true } });
    expect(flow.errors()).toEqual(["passkey_invalid"]);
    await flow.refresh();
    const public_key = softwareAuthenticator().create(flow.state.payload.creation_options, { origin });
    const success = await flow.act("webauthn_verify_attestation_response", { public_key });
    expect(success).toMatchObject({
      name: "success",
      payload: { user: { emails: [{ address: email }], passkeys: [expect.anything()] } },
    });
  });

  test("asks for a missing username, which may be skipped", async () => {
    const { email } = await register(configured());
    const runtime = configured({ STILE_USERNAME_ENABLED: "true" });
    const signInAgain = async () => {
      const flow = await begin(runtime, "login", {});
      await flow.act("continue_with_login_identifier", { identifier: email });
      await flow.act("continue_to_password_login");
      expect((await flow.act("password_login", { password })).name).toBe("onboarding_username");
      return flow;
    };
    expect((await (await signInAgain()).act("skip")).name).toBe("success");
    const taken = await register(configured({ STILE_USERNAME_ENABLED: "true" }), { username: newName() });
    const flow = await signInAgain();
    for (const [username, code] of [
      ["ab", "value_too_short_error"],
      ["a".repeat(33), "value_too_long_error"],
      ["no spaces", "invalid_username_error"],
      [taken.username, "username_already_exists"],
    ]) {
      await flow.act("username_set", { username });
      expect([username, flow.errors()]).toEqual([username, [code]]);
    }
    expect((await flow.act("username_set", { username: newName() })).name).toBe("success");
  });

  test("offers the setting of a username under the name that published clients draw, too", async () => {
    const runtime = configured({ STILE_USERNAME_ENABLED: "true" });
    const { email } = await register(configured());
    const flow = await begin(runtime, "login", {});
    await flow.act("continue_with_login_identifier", { identifier: email });
    await flow.act("continue_to_password_login");
    const { actions } = await flow.act("password_login", { password });
    expect(actions.username_set).not.toHaveProperty("alias_of");
    expect(actions.username_create).toEqual({
      ...actions.username_set,
      action: "username_create",
      href: `/login?action=username_create%40${flow.flowId}`,
      alias_of: "username_set",
    });
    const { actions: rejected } = await flow.act("username_create", { username: "no spaces" });
    for (const name of ["username_create", "username_set"])
      expect(rejected[name]?.inputs.username).toMatchObject({
        value: "no spaces",
        error: { code: "invalid_username_error" },
      });
    expect((await flow.act("username_create", { username: newName() })).name).toBe("success");
  });

  test("accepts an address without a code if none is required, and rejects a taken one", async () => {
    const settings = {
      STILE_USERNAME_ENABLED: "true",
      STILE_EMAIL_OPTIONAL: "true",
      STILE_EMAIL_REQUIRE_VERIFICATION: "false",
    };
    const runtime = configured(settings);
    const { email: taken_address } = await register(runtime);
    const username = newName();
    const registered = await begin(runtime, "registration", {});
    await registered.act("register_login_identifier", { username });
    await registered.act("register_password", { new_password: password });
    const signInAgain = () => signIn(runtime, { identifier: username });
    expect((await (await signInAgain()).act("skip")).name).toBe("success");
    const flow = await signInAgain();
    await flow.act("email_address_set", { email: taken_address });
    expect(flow.errors()).toEqual(["email_already_exists"]);
    expect((await flow.act("email_address_set", { email: newAddress() })).name).toBe("success");
  });

  test("allows choosing a credential, going back and skipping", async () => {
    const registered = await register(
      configured({ STILE_PASSWORD_ENABLED: "false", STILE_USERNAME_ENABLED: "false" }),
    );
    const runtime = configured({
      STILE_PASSKEY_OFFER_AGAIN_AFTER: "0",
      STILE_PASSWORD_OPTIONAL: "true",
      STILE_USERNAME_ENABLED: "true",
      STILE_PASSWORD_ACQUIRE_ON_LOGIN: "conditional",
      STILE_PASSKEY_ACQUIRE_ON_LOGIN: "conditional",
    });
    const signInAgain = async (settings: Record<string, string> = {}) => {
      const flow = await begin(runtime.configured(settings), "login");
      await flow.act("continue_with_login_identifier", { identifier: registered.email });
      await flow.act("continue_to_passcode_confirmation");
      await flow.act("verify_passcode", { code: codeFor(runtime, registered.email) });
      await flow.act("skip");
      return flow;
    };
    const flow = await signInAgain();
    expect(flow.state.name).toBe("credential_onboarding_chooser");
    expect((await flow.act("back")).name).toBe("onboarding_username");
    await flow.act("skip");
    await flow.act("continue_to_passkey_registration");
    expect((await flow.act("back")).name).toBe("credential_onboarding_chooser");
    await flow.act("continue_to_password_registration");
    expect((await flow.act("back")).name).toBe("credential_onboarding_chooser");
    expect((await flow.act("skip")).name).toBe("success");

    const both = await signInAgain({
      STILE_PASSWORD_ACQUIRE_ON_LOGIN: "always",
      STILE_PASSKEY_ACQUIRE_ON_LOGIN: "always",
    });
    expect(both.state.name).toBe("onboarding_create_passkey");
    expect((await both.act("skip")).name).toBe("password_creation");
    for (const [bad, code] of [
      ["", "value_missing_error"],
      ["short", "value_too_short_error"],
      ["\u{1d160}".repeat(100), "value_too_long_error"],
      ["password1", "value_invalid_error"],
    ]) {
      await both.act("register_password", { new_password: bad });
      expect([bad, both.errors()]).toEqual([bad, [code]]);
    }
    expect((await both.act("skip")).name).toBe("success");
    const third = await signInAgain({ STILE_PASSWORD_ACQUIRE_ON_LOGIN: "always" });
    expect((await third.act("register_password", { new_password: password })).name).toBe("success");
  });

  test("offers remember_me if configured", async () => {
    const runtime = configured({ STILE_SESSION_COOKIE_RETENTION: "prompt" });
    const { email } = await register(runtime);
    const signInAgain = async (remember?: boolean) => {
      const flow = await begin(runtime, "login", {});
      if (remember !== undefined) await flow.act("remember_me", { remember_me: remember });
      await flow.act("continue_with_login_identifier", { email });
      await flow.act("continue_to_password_login");
      await flow.act("password_login", { password });
      return flow.answer.session?.retention;
    };
    expect([await signInAgain(), await signInAgain(false), await signInAgain(true)]).toEqual([
      "session",
      "session",
      "persistent",
    ]);
  });

  test("rejects invalid identifiers always, unknown ones only if configured so", async () => {
    const silent = await begin(configured({ STILE_USERNAME_ENABLED: "true" }), "login", {});
    await silent.act("continue_with_login_identifier", { identifier: "no@address" });
    expect(silent.errors()).toEqual(["value_invalid_error"]);
    await silent.act("continue_with_login_identifier", { identifier: newName() });
    expect(silent.state.name).toBe("login_method_chooser");

    const telling = { STILE_USERNAME_ENABLED: "true", STILE_PRIVACY_SHOW_ACCOUNT_EXISTENCE_HINTS: "true" };
    const flow = await begin(configured(telling), "login", {});
    await flow.act("continue_with_login_identifier", { identifier: newName() });
    expect(flow.errors()).toEqual(["unknown_username_error"]);
    await flow.act("continue_with_login_identifier", { identifier: newAddress() });
    expect(flow.errors()).toEqual(["unknown_email_error"]);
  });

  test("A41 drops credentials that were set before the first verification of the address", async () => {
    const runtime = configured({ STILE_EMAIL_REQUIRE_VERIFICATION: "false" });
    const { email } = await register(runtime);
    const owner = await begin(runtime, "login", {});
    await owner.act("continue_with_login_identifier", { email });
    await owner.act("continue_to_passcode_confirmation");
    expect((await owner.act("verify_passcode", { code: codeFor(runtime, email) })).name).toBe("success");
    const attacker = await signIn(runtime, { email });
    expect(attacker.errors()).toEqual(["value_invalid_error"]);
  });
});

describe("a browser that has signed in before", () => {
  /** Signs in by one method without a mark; returns the browser with the mark that this leaves. */
  async function signedInBy(method: "password" | "passcode" | "passkey", runtime = configured()) {
    const authenticator = softwareAuthenticator();
    const { email } = await register(runtime, { authenticator });
    const flow = await begin(runtime, "login");
    await flow.act("continue_with_login_identifier", { email });
    expect(flow.state).toMatchObject({ name: "login_method_chooser", payload: { identifier: email } });
    expect(flow.state.payload).not.toHaveProperty("last_method");
    if (method === "password") {
      await flow.act("continue_to_password_login");
      await flow.act("password_login", { password });
    } else if (method === "passcode") {
      await flow.act("continue_to_passcode_confirmation");
      await flow.act("verify_passcode", { code: codeFor(runtime, email) });
    } else {
      await flow.act("webauthn_generate_request_options");
      const assertion_response = authenticator.get(flow.state.payload.request_options, { origin });
      await flow.act("webauthn_verify_assertion_response", { assertion_response });
    }
    expect(flow.state.name).toBe("success");
    return { email, runtime, authenticator, client: markedClient(flow) };
  }

  test.each([
    ["password", "login_password"],
    ["passcode", "passcode_confirmation"],
    ["passkey", "login_passkey"],
  ] as const)("is asked for its %s at once, with the other ways behind it", async (method, state) => {
    const { email, runtime, client } = await signedInBy(method);
    const typed = email.toUpperCase();
    const flow = await begin(runtime, "login", undefined, client);
    await flow.act("continue_with_login_identifier", { email: typed });
    expect(flow.state).toMatchObject({
      name: state,
      status: 200,
      payload: { identifier: typed, last_method: method },
      actions: { continue_to_login_method_chooser: {}, back: {} },
    });
    await flow.act("continue_to_login_method_chooser");
    expect(flow.state).toMatchObject({
      name: "login_method_chooser",
      payload: { identifier: typed, last_method: method },
    });
    expect(Object.keys(flow.state.actions)).toEqual(
      expect.arrayContaining(["continue_to_password_login", "continue_to_passcode_confirmation", "back"]),
    );
    expect((await flow.act("back")).name).toBe("login_init");
    expect(flow.state.payload).not.toHaveProperty("identifier");
  });

  test("is mailed one code by one identifier, as by the choice of it", async () => {
    const { email, runtime, client } = await signedInBy("passcode");
    const before = mailsTo(runtime, email).length;
    const flow = await begin(runtime, "login", undefined, client);
    await flow.act("continue_with_login_identifier", { email });
    await flow.act("continue_to_login_method_chooser");
    await flow.act("continue_to_passcode_confirmation");
    expect(mailsTo(runtime, email).length).toBe(before + 1);
    expect((await flow.act("verify_passcode", { code: codeFor(runtime, email) })).name).toBe("success");
  });

  test("A1 learns nothing of other accounts, and another browser nothing of this one", async () => {
    const { email, runtime, client } = await signedInBy("password");
    const { email: other } = await register(runtime);
    for (const [identifier, as] of [
      [other, client],
      [newAddress(), client],
      [email, testClient],
      [email, { ...client, markCookie: `${client.markCookie?.slice(0, -6)}AAAAAA` }],
    ] as const) {
      const flow = await begin(runtime, "login", {}, as);
      await flow.act("continue_with_login_identifier", { email: identifier });
      expect(flow.state).toMatchObject({ name: "login_method_chooser", payload: { identifier } });
      expect(flow.state.payload).toEqual({ identifier });
    }
  });

  test("has the choice where the account or the browser can no longer use the method", async () => {
    const { email, runtime, client } = await signedInBy("passkey");
    const incapable = await begin(runtime, "login", {}, client);
    await incapable.act("continue_with_login_identifier", { email });
    expect(incapable.state.name).toBe("login_method_chooser");
    const withoutPasskeys = runtime.configured({ STILE_PASSKEY_ENABLED: "false" });
    const disabled = await begin(withoutPasskeys, "login", undefined, client);
    await disabled.act("continue_with_login_identifier", { email });
    expect(disabled.state.name).toBe("login_method_chooser");
  });

  test("is asked for a passkey once it has created one, and for a password once it has set one", async () => {
    const runtime = configured();
    const { email } = await register(runtime);
    const first = await signIn(runtime, { email }, { webauthn_available: true });
    const { payload } = await first.act("webauthn_generate_creation_options");
    const public_key = softwareAuthenticator().create(payload.creation_options, { origin });
    await first.act("webauthn_verify_attestation_response", { public_key });
    const again = await begin(runtime, "login", undefined, markedClient(first));
    expect((await again.act("continue_with_login_identifier", { email })).name).toBe("login_passkey");

    const recovery = await begin(runtime, "login", {}, markedClient(first));
    await recovery.act("continue_with_login_identifier", { email });
    await recovery.act("continue_to_password_login");
    await recovery.act("continue_to_passcode_confirmation_recovery");
    await recovery.act("verify_passcode", { code: codeFor(runtime, email) });
    await recovery.act("password_recovery", { new_password: "another horse battery" });
    const recovered = await begin(runtime, "login", {}, markedClient(recovery));
    expect((await recovered.act("continue_with_login_identifier", { email })).name).toBe("login_password");
  });
});

describe("a mailed code", () => {
  test("A11 allows two incorrect tries, ends with the third, and can be requested again", async () => {
    const runtime = configured();
    const { email } = await register(runtime);
    const flow = await begin(runtime, "login", {});
    await flow.act("continue_with_login_identifier", { email });
    await flow.act("continue_to_passcode_confirmation");
    const code = codeFor(runtime, email);
    const statuses = [];
    for (let tries = 0; tries < 4; tries += 1)
      statuses.push((await flow.act("verify_passcode", { code: wrong(code) })).status);
    expect(statuses).toEqual([400, 400, 401, 401]);
    const exhausted = await flow.act("verify_passcode", { code });
    expect(exhausted).toMatchObject({
      name: "passcode_confirmation",
      status: 401,
      error: { code: "passcode_max_attempts_reached" },
    });
    await flow.act("resend_passcode");
    expect((await flow.act("verify_passcode", { code: codeFor(runtime, email) })).name).toBe("success");
  });

  test("A12 is not mailed again to a source after ten incorrect tries in an hour, across flows", async () => {
    const runtime = configured({
      STILE_RATE_LIMITER_ENABLED: "true",
      STILE_RATE_LIMITER_PASSCODES_PER_MINUTE: "100",
      STILE_RATE_LIMITER_PASSCODES_PER_HOUR: "100",
    });
    const { email } = await register(runtime);
    const statuses: number[] = [];
    for (let flows = 0; flows < 6; flows += 1) {
      const flow = await begin(runtime, "login", {});
      await flow.act("continue_with_login_identifier", { email });
      statuses.push((await flow.act("continue_to_passcode_confirmation")).status);
      const code = codeFor(runtime, email);
      for (let tries = 0; tries < 3; tries += 1) await flow.act("verify_passcode", { code: wrong(code) });
    }
    expect(statuses).toEqual([200, 200, 200, 200, 429, 429]);
  });

  test("A21 is rate limited with the seconds to wait, and an earlier code stays valid", async () => {
    const runtime = configured({ STILE_RATE_LIMITER_ENABLED: "true" });
    const { email } = await register(runtime);
    const flow = await begin(runtime, "login", {});
    await flow.act("continue_with_login_identifier", { email });
    await flow.act("continue_to_passcode_confirmation");
    await flow.act("resend_passcode");
    const limited = await flow.act("resend_passcode");
    expect(limited).toMatchObject({
      name: "passcode_confirmation",
      status: 429,
      error: { code: "rate_limit_exceeded" },
    });
    const { resend_after, retry_after } = limited.payload as Record<string, number>;
    expect(resend_after).toBeGreaterThanOrEqual(1);
    expect(Number.isInteger(resend_after)).toBe(true);
    expect(retry_after).toBe(resend_after);

    const second = await begin(runtime, "login", {});
    await second.act("continue_with_login_identifier", { email });
    const entered = await second.act("continue_to_passcode_confirmation");
    expect(entered).toMatchObject({ name: "passcode_confirmation", status: 429 });
    expect((await flow.act("verify_passcode", { code: codeFor(runtime, email) })).name).toBe("success");
  });

  test("A14 is rejected in another flow", async () => {
    const runtime = configured();
    const { email } = await register(runtime);
    const [one, other] = [await begin(runtime, "login", {}), await begin(runtime, "login", {})];
    for (const flow of [one, other]) {
      await flow.act("continue_with_login_identifier", { email });
      await flow.act("continue_to_passcode_confirmation");
    }
    const [ofOne] = runtime.enqueued.filter(({ to }) => to === email).slice(-2);
    if (!ofOne || !("code" in ofOne.mail)) throw new Error("no code was mailed");
    await other.act("verify_passcode", { code: ofOne.mail.code });
    expect(other.errors()).toEqual(["passcode_invalid"]);
  });

  test("is rejected after it expires", async () => {
    const runtime = configured();
    const { email } = await register(runtime);
    const flow = await begin(runtime, "login", {});
    await flow.act("continue_with_login_identifier", { email });
    await flow.act("continue_to_passcode_confirmation");
    const code = codeFor(runtime, email);
    runtime.advanceClock(301);
    await flow.act("verify_passcode", { code });
    expect(flow.errors()).toEqual(["passcode_invalid"]);
  });

  test("passwords are rate limited", async () => {
    const runtime = configured({ STILE_RATE_LIMITER_ENABLED: "true" });
    const { email } = await register(runtime);
    const flow = await begin(runtime, "login", {});
    await flow.act("continue_with_login_identifier", { email });
    await flow.act("continue_to_password_login");
    const seen = [];
    for (let tries = 0; tries < 7; tries += 1) {
      await flow.act("password_login", { password: "wrong horse" });
      seen.push(flow.errors()[0]);
    }
    expect(seen.slice(0, 4)).toEqual(Array(4).fill("value_invalid_error"));
    expect(seen).toContain("rate_limit_exceeded");
    expect(flow.state.payload.retry_after).toBeGreaterThanOrEqual(1);
  });
});

describe("a registration without a future sign-in", () => {
  test("is rejected if this client cannot create the required credential", async () => {
    const runtime = configured({
      STILE_USERNAME_ENABLED: "true",
      STILE_EMAIL_ENABLED: "false",
      STILE_PASSWORD_ENABLED: "false",
      STILE_PASSKEY_OPTIONAL: "false",
    });
    const flow = await begin(runtime, "registration", {});
    const state = await flow.act("register_login_identifier", { username: newName() });
    expect(state).toMatchObject({
      name: "registration_init",
      status: 400,
      error: { code: "flow_discontinuity_error" },
    });
    expect(
      (await (await begin(runtime, "registration")).act("register_login_identifier", { username: newName() }))
        .name,
    ).toBe("onboarding_create_passkey");
  });

  test("cannot skip the passkey if there is no login identifier", async () => {
    const runtime = configured({
      STILE_USERNAME_ENABLED: "true",
      STILE_EMAIL_REQUIRE_VERIFICATION: "false",
      STILE_EMAIL_USE_AS_LOGIN_IDENTIFIER: "false",
      STILE_PASSWORD_OPTIONAL: "true",
    });
    const flow = await begin(runtime, "registration");
    await flow.act("register_login_identifier", { email: newAddress() });
    expect(flow.state.name).toBe("onboarding_create_passkey");
    expect(flow.state.actions).not.toHaveProperty("skip");
  });
});

test("an expired code is replaced by exactly one new mail", async () => {
  const runtime = configured();
  const { email } = await register(runtime);
  const flow = await begin(runtime, "login", {});
  await flow.act("continue_with_login_identifier", { email });
  await flow.act("continue_to_passcode_confirmation");
  runtime.advanceClock(301);
  await flow.act("resend_passcode");
  expect(mailsTo(runtime, email)).toEqual(["email_verification", "login", "login"]);
  expect((await flow.act("verify_passcode", { code: codeFor(runtime, email) })).name).toBe("success");
});

test("measures a password after normalisation", async () => {
  const runtime = configured({ STILE_EMAIL_REQUIRE_VERIFICATION: "false" });
  const flow = await begin(runtime, "registration", {});
  await flow.act("register_login_identifier", { email: newAddress() });
  expect((await flow.act("register_password", { new_password: "e\u0301".repeat(256) })).name).toBe("success");
});

test("drops pending registration data from the flow at its end", async () => {
  const runtime = configured({ STILE_EMAIL_REQUIRE_VERIFICATION: "false" });
  const flow = await begin(runtime, "registration", {});
  await flow.act("register_login_identifier", { email: newAddress() });
  await flow.act("register_password", { new_password: password });
  const { rows } = await runtime.database.read.$client.query("select data from flows where id = $1", [
    flow.flowId,
  ]);
  expect(JSON.stringify(rows)).not.toContain("argon2");
});

describe("a user of an identity provider", () => {
  const redirect_to = "http://localhost:3000/";
  const github = {
    STILE_THIRD_PARTY_PROVIDERS_GITHUB_ENABLED: "true",
    STILE_THIRD_PARTY_PROVIDERS_GITHUB_CLIENT_ID: "stile",
    STILE_THIRD_PARTY_PROVIDERS_GITHUB_SECRET: "a secret for tests alone",
    STILE_CORS_ALLOW_ORIGINS: "https://app.example.com",
  };

  test.each(["login", "registration"] as const)("is redirected to a provider in a %s flow", async (type) => {
    const flow = await begin(configured(github), type, {});
    const redirected = await flow.act("thirdparty_oauth", { provider: "github", redirect_to });
    expect(redirected.name).toBe("thirdparty");
    expect(redirected.payload.redirect_url).toMatch(/^https:\/\/github\.com\/login\/oauth\/authorize\?/);
    expect(flow.answer.cookieChanges?.thirdPartyState?.value).toMatch(/^[\w-]{43}$/);
  });

  test.each(["login", "registration"] as const)(
    "A46 is not redirected to a return address that is not allowed, in a %s flow",
    async (type) => {
      const flow = await begin(configured(github), type, {});
      const notAllowed = { provider: "github", redirect_to: "https://evil.example/" };
      await flow.act("thirdparty_oauth", notAllowed);
      expect(flow.errors()).toEqual(["value_invalid_error"]);
    },
  );

  test.each(["login", "registration"] as const)(
    "A47 requires a code verifier in a %s flow of another site",
    async (type) => {
      const client = { ...testClient, origin: "https://app.example.com" };
      const flow = await walk(configured(github), type, { client, taken });
      await flow.act("register_client_capabilities");
      await flow.act("thirdparty_oauth", { provider: "github", redirect_to });
      expect(flow.errors()).toEqual(["value_missing_error"]);
    },
  );

  test.each(["login", "registration"] as const)("is rate limited in a %s flow", async (type) => {
    const limited = configured({
      ...github,
      STILE_RATE_LIMITER_ENABLED: "true",
      STILE_RATE_LIMITER_STARTS_PER_MINUTE: "2",
    });
    const source = type === "login" ? "198.51.100.7" : "198.51.100.8";
    const flow = await walk(limited, type, { client: { ...testClient, source }, taken });
    await flow.act("register_client_capabilities");
    for (let attempts = 0; attempts < 9 && !flow.state.error; attempts += 1) {
      await flow.act("thirdparty_oauth", { provider: "github", redirect_to });
      if (!flow.state.error) await flow.act("back");
    }
    expect(flow.state).toMatchObject({ status: 429, payload: { retry_after: expect.any(Number) } });
    expect(flow.errors()).toEqual(["rate_limit_exceeded"]);
  });

  test("gets the same errors while reauthenticating", async () => {
    const limited = configured({
      ...github,
      STILE_RATE_LIMITER_ENABLED: "true",
      STILE_RATE_LIMITER_STARTS_PER_MINUTE: "2",
    });
    const owner = await accountOwner(limited, { identities: ["github"] }, { secondsAgo: 3600 });
    const source = "198.51.100.9";
    const reauthenticating = async (client: Partial<typeof testClient>) => {
      const { sessionId } = owner;
      const flow = await walk(limited, "profile", {
        client: { ...testClient, source, ...client },
        taken,
        sessionId,
      });
      await flow.act("register_client_capabilities");
      expect((await flow.act("password_create", { password })).name).toBe("login_method_chooser");
      return flow;
    };
    const flow = await reauthenticating({});
    await flow.act("thirdparty_oauth", { provider: "github", redirect_to: "https://evil.example/" });
    expect(flow.errors()).toEqual(["value_invalid_error"]);
    const crossSite = await reauthenticating({ origin: "https://app.example.com" });
    await crossSite.act("thirdparty_oauth", { provider: "github", redirect_to });
    expect(crossSite.errors()).toEqual(["value_missing_error"]);
    for (let attempts = 0; attempts < 9 && flow.state.status !== 429; attempts += 1) {
      await flow.act("thirdparty_oauth", { provider: "github", redirect_to });
      if (flow.state.name === "thirdparty") await flow.act("back");
    }
    expect(flow.errors()).toEqual(["rate_limit_exceeded"]);
  });

  test("goes on with the provider that this browser used last, after the identifier", async () => {
    const runtime = configured(acme());
    const facts = acmePerson();
    const to = { provider: "custom_acme", redirect_to: `${origin}/` };
    const first = await begin(runtime, "login", {});
    await first.act("thirdparty_oauth", to);
    await first.act("exchange_token", {
      token: await returnFromProvider(runtime, { flowId: first.flowId, facts }),
    });
    const flow = await begin(runtime, "login", {}, markedClient(first));
    await flow.act("continue_with_login_identifier", { email: facts.email });
    expect(flow.state.name).toBe("login_method_chooser");
    expect((await flow.act("thirdparty_oauth", to)).name).toBe("thirdparty");
  });

  test("is redirected to the SAML provider of the mail domain, whether or not the address is known", async () => {
    const provider = samlIdentityProvider();
    const identityProviders = [
      { name: "Acme", domains: ["acme.example"], metadata: provider.metadata, enabled: true },
    ];
    const runtime = configured({
      STILE_SAML_ENABLED: "true",
      STILE_SAML_IDENTITY_PROVIDERS: JSON.stringify(identityProviders),
    });
    const email = "ada@acme.example";
    const login = await begin(runtime, "login", {});
    expect((await login.act("continue_with_login_identifier", { email })).name).toBe("thirdparty");
    const registration = await begin(runtime, "registration", {});
    const redirected = await registration.act("register_login_identifier", { email });
    expect(redirected.name).toBe("thirdparty");
    expect(String(redirected.payload.redirect_url)).toContain("SAMLRequest=");
  });
});

describe("a registration through a provider", () => {
  const settings = (more: Record<string, string> = {}) => configured({ ...acme(), ...more });

  async function returnFromAcme(runtime: TestRuntime, facts: ProviderFacts, able: object = {}) {
    const flow = await begin(runtime, "registration", able);
    await flow.act("thirdparty_oauth", { provider: "custom_acme", redirect_to: `${origin}/` });
    await flow.act("exchange_token", {
      token: await returnFromProvider(runtime, { flowId: flow.flowId, facts }),
    });
    return flow;
  }

  test("asks for a missing username and address", async () => {
    const runtime = settings({ STILE_USERNAME_ENABLED: "true" });
    const flow = await returnFromAcme(runtime, acmePerson({ email: null }));
    expect((await flow.act("username_set", { username: newName() })).name).toBe("onboarding_email");
    const email = newAddress();
    expect((await flow.act("email_address_set", { email })).name).toBe("passcode_confirmation");
    expect((await flow.act("verify_passcode", { code: codeFor(runtime, email) })).name).toBe("success");
  });

  test("accepts an address without a code if none is required", async () => {
    const runtime = settings({ STILE_EMAIL_REQUIRE_VERIFICATION: "false" });
    const flow = await returnFromAcme(runtime, acmePerson({ email: null }));
    expect((await flow.act("email_address_set", { email: newAddress() })).name).toBe("success");
  });

  test("allows skipping both if both are optional", async () => {
    const optional = { STILE_USERNAME_ENABLED: "true", STILE_EMAIL_OPTIONAL: "true" };
    const flow = await returnFromAcme(settings(optional), acmePerson({ email: null }));
    expect((await flow.act("skip")).name).toBe("onboarding_email");
    expect((await flow.act("skip")).name).toBe("success");
  });

  test("requires the security key of an existing account", async () => {
    const runtime = settings({ STILE_MFA_OPTIONAL: "false", STILE_MFA_DEVICE_TRUST_POLICY: "never" });
    const facts = acmePerson();
    const able = { webauthn_available: true };
    const key = softwareAuthenticator();
    const first = await returnFromAcme(runtime, facts, able);
    await first.act("continue_to_security_key_creation");
    const { payload } = await first.act("webauthn_generate_creation_options");
    const public_key = key.create(payload.creation_options, { origin });
    expect((await first.act("webauthn_verify_attestation_response", { public_key })).name).toBe("success");

    const flow = await returnFromAcme(runtime, facts, able);
    expect((await flow.act("webauthn_generate_request_options")).name).toBe("login_passkey");
    expect((await flow.act("back")).name).toBe("login_security_key");
    await flow.act("webauthn_generate_request_options");
    const assertion_response = key.get(flow.state.payload.request_options, { origin });
    const success = await flow.act("webauthn_verify_assertion_response", { assertion_response });
    expect(success).toMatchObject({
      name: "success",
      payload: { claims: { amr: ["ext:custom_acme", "security_key"] } },
    });
  });
});

test("an unverified address does not sign its owner in to the account that added it", async () => {
  const runtime = configured({ STILE_EMAIL_REQUIRE_VERIFICATION: "false" });
  const unverified = newAddress();
  await accountOwner(runtime, { password: true, unverified });
  const flow = await begin(runtime, "login", {});
  await flow.act("continue_with_login_identifier", { email: unverified });
  await flow.act("continue_to_passcode_confirmation");
  await flow.act("verify_passcode", { code: codeFor(runtime, unverified) });
  expect(flow.errors()).toEqual(["flow_discontinuity_error"]);
});

describe("a phone number", () => {
  const phones = {
    STILE_PHONE_ENABLED: "true",
    STILE_PHONE_ALLOWED_COUNTRIES: "DE",
    STILE_PHONE_ACQUIRE_ON_REGISTRATION: "true",
    STILE_PRIVACY_SHOW_ACCOUNT_EXISTENCE_HINTS: "true",
  };

  test("leads to its code, at once if there is no other way to sign in", async () => {
    const number = newNumber();
    const runtime = configured(phones);
    await accountOwner(runtime, { password: true, phone: { number } });
    const flow = await begin(runtime, "login", {});
    for (const [identifier, code] of [
      [newNumber(), "unknown_phone_number_error"],
      ["+44 7911 123456", "phone_number_not_allowed"],
    ]) {
      await flow.act("continue_with_login_identifier", { identifier });
      expect(flow.errors()).toEqual([code]);
    }
    await flow.act("continue_with_login_identifier", { identifier: number });
    expect((await flow.act("continue_to_phone_confirmation")).name).toBe("phone_confirmation");
    const alone = await begin(
      configured({ ...phones, STILE_PASSWORD_ENABLED: "false", STILE_EMAIL_USE_FOR_AUTHENTICATION: "false" }),
      "login",
      {},
    );
    await alone.act("continue_with_login_identifier", { identifier: number });
    expect(alone.state.name).toBe("phone_confirmation");
  });

  test("is refused at a registration if it is not allowed, or taken", async () => {
    const number = newNumber();
    const runtime = configured(phones);
    await accountOwner(runtime, { phone: { number } });
    const flow = await begin(runtime, "registration", {});
    for (const [phone, code] of [
      ["+44 7911 123456", "phone_number_not_allowed"],
      [number, "phone_number_already_exists"],
    ]) {
      await flow.act("register_login_identifier", { email: newAddress(), phone });
      expect(flow.errors()).toEqual([code]);
    }
  });
});

test("takes every declared edge and error of these states", () => {
  expect(untaken(taken, "engine")).toEqual([]);
});
