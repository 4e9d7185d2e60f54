import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { factsById } from "../../identity/facts.ts";
import { findSession } from "../../sessions/sessions.ts";
import { type AccountOwner, accountOwner } from "../../testing/account-owner.ts";
import { authenticatorApp } from "../../testing/authenticator-app.ts";
import { credentialRow } from "../../testing/credential-row.ts";
import { type Walk, walk } from "../../testing/flow-walk.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { codeFor, newAddress, newName, password, people } from "../../testing/people.ts";
import { acme, acmePerson, returnFromProvider } from "../../testing/provider-people.ts";
import { testClient } from "../../testing/runtime.ts";
import { step } from "../engine.ts";

/** Flows whose account is changed concurrently. */

const { begin } = people();

const base = await runtimeForTests({ STILE_PASSWORD_OPTIONAL: "true", STILE_MFA_ACQUIRE_ON_LOGIN: "true" });

const configured = (settings: Record<string, string>) =>
  base.configured({
    STILE_PASSKEY_ENABLED: "false",
    STILE_EMAIL_OPTIONAL: "true",
    STILE_MFA_ACQUIRE_ON_LOGIN: "false",
    ...settings,
  });

/** Signs in by password, up to the choice of a second factor. */
async function pendingSignIn({ addresses }: AccountOwner): Promise<Walk> {
  const flow = await begin(base, "login", {});
  await flow.act("continue_with_login_identifier", { email: addresses[0] });
  await flow.act("continue_to_password_login");
  await flow.act("password_login", { password });
  expect(flow.state.name).toBe("mfa_method_chooser");
  return flow;
}

describe("a sign-in in progress", () => {
  const changes: Record<string, (owner: AccountOwner, flow: Walk) => Promise<unknown>> = {
    "the password is changed": (_, flow) =>
      flow.act("password_update", { password: "another horse battery" }),
    "the password is removed": (_, flow) => flow.act("password_delete"),
    "a passkey is removed": ({ passkeys }, flow) =>
      flow.act("webauthn_credential_delete", { passkey_id: passkeys[0] }),
    "an address is removed": ({ addresses }, flow) => {
      const { emails } = flow.state.payload.user as { emails: { id: string; address: string }[] };
      const email_id = emails.find(({ address }) => address === addresses[1])?.id;
      return flow.act("email_delete", { email_id });
    },
    "a security key is removed": ({ securityKeys }, flow) =>
      flow.act("security_key_delete", { security_key_id: securityKeys[0] }),
    "all other sessions are ended": async (owner, flow) => {
      await owner.signInElsewhere();
      await flow.act("patch_metadata", { patch_metadata: {} });
      return flow.act("session_delete_others");
    },
  };

  test.each(Object.keys(changes))("is rejected after %s", async (change) => {
    const owner = await accountOwner(base, { password: true, passkeys: 2, emails: 2 });
    const attacker = await pendingSignIn(owner);
    const [credentialId] = owner.passkeys;
    if (change.includes("security key")) {
      await base.database.write.$client.query(
        "update webauthn_credentials set mfa_only = true where id = $1",
        [credentialId],
      );
      owner.securityKeys.push(credentialId ?? "");
    }
    const flow = await owner.manage();
    await changes[change]?.(owner, flow);
    expect(flow.state).toMatchObject({ name: "profile_init", status: 200 });
    expect(await attacker.act("skip")).toMatchObject({ name: "error", status: 403 });
    expect(await flow.act("patch_metadata", { patch_metadata: {} })).toMatchObject({ status: 200 });
  });
});

test("does not ask for a code of a removed app", async () => {
  const owner = await accountOwner(base, { password: true, totp: true });
  const flow = await begin(base, "login", {});
  await flow.act("continue_with_login_identifier", { email: owner.addresses[0] });
  await flow.act("continue_to_password_login");
  await flow.act("password_login", { password });
  expect(flow.state.name).toBe("login_otp");
  await base.database.write.$client.query("delete from totp_secrets where user_id = $1", [owner.userId]);
  await flow.act("otp_code_validate", { otp_code: "123456" });
  expect(flow.state).toMatchObject({ name: "mfa_method_chooser", status: 200 });
});

describe("a signed-in user", () => {
  test("sees the current session, even if another one started the flow, and cannot end it", async () => {
    const owner = await accountOwner(base, { password: true });
    const flow = await owner.manage();
    const [inUse, elsewhere] = [await owner.signInElsewhere(), await owner.signInElsewhere()];
    await base.database.write.$client.query("delete from sessions where id = $1", [owner.sessionId]);
    const live = async (id: string) => (await findSession(base, base.tenant, id))?.session;
    const session = await live(inUse);
    const call = (action: string, token: string, input = {}) =>
      step(base, base.tenant, testClient, {
        type: "profile",
        flowId: flow.flowId,
        action,
        token,
        input,
        ...(session ? { session } : {}),
      });
    const { state } = await call("patch_metadata", flow.state.csrf_token, { patch_metadata: {} });
    const shown = state.payload.sessions as { id: string; current: boolean }[];
    expect(shown.filter(({ current }) => current).map(({ id }) => id)).toEqual([inUse]);
    const { allowed_values } = state.actions.session_delete?.inputs.session_id ?? {};
    expect(allowed_values?.map(({ value }) => value)).toEqual([elsewhere]);
    await call("session_delete_others", state.csrf_token);
    expect(await live(inUse)).toBeDefined();
    expect(await live(elsewhere)).toBeUndefined();
  });

  test("cannot enrol an app with one factor after a second factor was added concurrently", async () => {
    const owner = await accountOwner(base, { password: true }, { methods: ["password"] });
    const flow = await owner.manage();
    await flow.act("continue_to_otp_secret_creation");
    const app = authenticatorApp(String(flow.state.payload.otp_secret));
    const row = credentialRow({ tenantId: base.tenant.id, userId: owner.userId, mfaOnly: true });
    await base.database.write.insert(schema.webauthnCredentials).values(row);
    await flow.act("otp_code_verify", { otp_code: app.code(Date.now()) });
    expect(flow.state).toMatchObject({ name: "profile_init", status: 400 });
    expect((await factsById(base.database.read, base.tenant.id, owner.userId))?.hasTotp).toBe(false);
  });

  test("is asked only for factors that the account has", async () => {
    const owner = await accountOwner(base, { passkeys: 1 }, { secondsAgo: 3600 });
    const flow = await owner.manage();
    await flow.act("email_create", { email: newAddress() });
    expect(flow.state.name).toBe("login_method_chooser");
    expect(Object.keys(flow.state.actions)).toEqual([
      "continue_to_passcode_confirmation",
      "webauthn_generate_request_options",
      "back",
    ]);
  });
});

describe("an address that is taken while its code is pending", () => {
  test("is asked for again, and may be skipped", async () => {
    const runtime = configured({ STILE_USERNAME_ENABLED: "true", STILE_EMAIL_ACQUIRE_ON_LOGIN: "true" });
    const [username, address] = [newName(), newAddress()];
    await accountOwner(runtime, { emails: 0, username, password: true });
    const flow = await begin(runtime, "login", {});
    await flow.act("continue_with_login_identifier", { identifier: username });
    await flow.act("continue_to_password_login");
    await flow.act("password_login", { password });
    await flow.act("email_address_set", { email: address });
    await accountOwner(runtime, { emails: 0, unverified: address });
    await flow.act("verify_passcode", { code: codeFor(runtime, address) });
    expect(flow.state.name).toBe("onboarding_email");
    expect(flow.errors()).toEqual(["email_already_exists"]);
    expect((await flow.act("skip")).name).toBe("success");
  });

  test("is asked for again after an identity provider", async () => {
    const runtime = configured({ STILE_SAML_ENABLED: "true", ...acme() });
    const address = newAddress();
    const facts = acmePerson({ email: address, emailVerified: false });
    const flow = await walk(runtime, "token_exchange");
    await flow.act("exchange_token", { token: await returnFromProvider(runtime, { facts }) });
    expect(flow.state.name).toBe("passcode_confirmation");
    await accountOwner(runtime, { emails: 0, unverified: address });
    await flow.act("verify_passcode", { code: codeFor(runtime, address) });
    expect(flow.state.name).toBe("onboarding_email");
    expect(flow.errors()).toEqual(["email_already_exists"]);
    expect((await flow.act("skip")).name).toBe("success");
  });
});

test("drops an unconfirmed app secret after a change of identifier", async () => {
  const runtime = configured({
    STILE_EMAIL_OPTIONAL: "false",
    STILE_EMAIL_REQUIRE_VERIFICATION: "false",
    STILE_PASSWORD_OPTIONAL: "true",
    STILE_MFA_ACQUIRE_ON_REGISTRATION: "true",
  });
  const flow = await begin(runtime, "registration", {});
  const upToSecret = async () => {
    await flow.act("register_login_identifier", { email: newAddress() });
    if (flow.state.name === "password_creation") await flow.act("skip");
    await flow.act("continue_to_otp_secret_creation");
    return String(flow.state.payload.otp_secret);
  };
  const first = await upToSecret();
  for (const state of ["mfa_method_chooser", "password_creation", "registration_init"])
    expect((await flow.act("back")).name).toBe(state);
  const second = await upToSecret();
  expect(second).not.toBe(first);
  await flow.act("otp_code_verify", { otp_code: authenticatorApp(second).code(Date.now()) });
  expect(flow.state.name).toBe("success");
});
