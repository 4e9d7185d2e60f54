import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { flow as de } from "#words/de/flow";
import { flow as en } from "#words/en/flow";
import { factsById } from "../../identity/facts.ts";
import { findSession } from "../../sessions/sessions.ts";
import { type AccountContents, type AccountOwner, accountOwner } from "../../testing/account-owner.ts";
import { authenticatorApp } from "../../testing/authenticator-app.ts";
import type { Walk } from "../../testing/flow-walk.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { codeBySms, codeFor, newAddress, newName, newNumber, password } from "../../testing/people.ts";
import { testClient } from "../../testing/runtime.ts";
import type { FlowCoverage } from "../coverage.ts";
import { step } from "../engine.ts";
import { REAUTHENTICATE, reauthenticationStates, type StateName } from "../names.ts";
import { states } from "../states/index.ts";

const taken: FlowCoverage = { edges: new Set(), errors: new Set() };

const base = await runtimeForTests({
  STILE_ACCOUNT_ALLOW_DELETION: "true",
  STILE_EMAIL_OPTIONAL: "true",
  STILE_PASSWORD_OPTIONAL: "true",
  STILE_USERNAME_ENABLED: "true",
  STILE_PHONE_ENABLED: "true",
  STILE_OPENID_ENABLED: "true",
  STILE_PHONE_ALLOWED_COUNTRIES: "DE",
  STILE_THIRD_PARTY_PROVIDERS_GOOGLE_ENABLED: "true",
  STILE_THIRD_PARTY_PROVIDERS_GOOGLE_CLIENT_ID: "us",
  STILE_THIRD_PARTY_PROVIDERS_GOOGLE_SECRET: "secret",
  STILE_THIRD_PARTY_PROVIDERS_GITHUB_ENABLED: "true",
  STILE_THIRD_PARTY_PROVIDERS_GITHUB_CLIENT_ID: "us",
  STILE_THIRD_PARTY_PROVIDERS_GITHUB_SECRET: "secret",
});

const configured = (settings: Record<string, string> = {}) => base.configured(settings);

/** A user who signed in an hour ago, or an attacker with that session. */
const signedInAnHourAgo = (has: AccountContents, runtime = configured()) =>
  accountOwner(runtime, has, { secondsAgo: 3600, methods: ["password", "totp"], taken });

const everything = (): AccountContents => ({
  picture: true,
  emails: 2,
  password: true,
  passkeys: 2,
  securityKeys: 1,
  phones: 1,
  applications: ["reader"],
  trustedBrowser: true,
  totp: true,
  recoveryCodes: true,
  identities: ["google"],
  phone: { number: newNumber() },
});

/** Actions that require reauthentication, with valid input. */
const sensitive: Record<string, (owner: AccountOwner, flow: Walk) => Record<string, unknown>> = {
  email_create: () => ({ email: newAddress() }),
  email_delete: (owner, flow) => ({ email_id: emailId(flow, owner.addresses[1]) }),
  email_set_primary: (owner, flow) => ({ email_id: emailId(flow, owner.addresses[1]) }),
  password_update: () => ({ password: "another horse battery" }),
  password_delete: () => ({}),
  webauthn_credential_create: () => ({}),
  webauthn_credential_delete: (owner) => ({ passkey_id: owner.passkeys[0] }),
  otp_secret_delete: () => ({}),
  security_key_create: () => ({}),
  security_key_delete: (owner) => ({ security_key_id: owner.securityKeys[0] }),
  authenticator_delete: (owner) => ({ authenticator_id: owner.phones[0] }),
  recovery_codes_create: () => ({}),
  connect_thirdparty_oauth_provider: () => ({ provider: "github", redirect_to: "http://localhost:3000/" }),
  disconnect_thirdparty_oauth_provider: (_, flow) => ({
    identity_id: (flow.state.payload.user as { identities: { identity_id: string }[] }).identities[0]
      ?.identity_id,
  }),
  account_delete: () => ({}),
  phone_set: () => ({ phone: newNumber() }),
  phone_delete: () => ({}),
};
/** The same for accounts with fewer credentials. */
const sensitiveOfFew = {
  password_create: { password },
  continue_to_otp_secret_creation: {},
  username_update: { username: newName() },
  username_delete: {},
};

function emailId({ state }: Walk, address: string | undefined): string {
  const { emails } = state.payload.user as { emails: { id: string; address: string }[] };
  return emails.find((email) => email.address === address)?.id ?? "";
}

const isStepUp = (name: string) => (reauthenticationStates as readonly string[]).includes(name);

/** The whole content of an account, as text. */
async function contentsOf({ userId }: AccountOwner): Promise<string> {
  const { emails, usernames, phoneNumbers, passwords, webauthnCredentials, totpSecrets, recoveryCodes } =
    schema;
  const factors = [passwords, webauthnCredentials, totpSecrets, recoveryCodes, schema.identities];
  const tables = [emails, usernames, phoneNumbers, ...factors, schema.sessions];
  const rows = [];
  for (const table of tables) {
    rows.push(await base.database.read.select().from(table).where(eq(table.userId, userId)));
  }
  return JSON.stringify(rows);
}

describe("A25 a session stolen an hour after sign-in", () => {
  test.each(Object.keys(sensitive))("%s requires reauthentication, and changes nothing", async (action) => {
    const owner = await signedInAnHourAgo(everything());
    const flow = await owner.manage();
    const before = await contentsOf(owner);
    const enqueued = base.enqueued.length;
    const answer = await flow.act(action, sensitive[action]?.(owner, flow));
    expect(answer.status).toBe(200);
    expect(answer.name).toSatisfy(isStepUp);
    expect(await contentsOf(owner)).toBe(before);
    expect(base.enqueued.slice(enqueued).filter(({ mail }) => !("code" in mail))).toEqual([]);
  });

  test.each(Object.entries(sensitiveOfFew))(
    "%s requires reauthentication of an account with few credentials",
    async (action, input) => {
      const owner = await signedInAnHourAgo({ username: newName() });
      const flow = await owner.manage();
      const before = await contentsOf(owner);
      expect((await flow.act(action, input)).name).toSatisfy(isStepUp);
      expect(await contentsOf(owner)).toBe(before);
    },
  );

  test("exactly the sensitive actions lead to reauthentication", () => {
    const actual = Object.entries(states.profile_init.actions)
      .filter(([, { to }]) => to.includes(REAUTHENTICATE))
      .map(([name]) => name);
    // Verifying an address is authentication itself, and ends in the same state.
    expect(actual.sort()).toEqual([...Object.keys(sensitive), ...Object.keys(sensitiveOfFew)].sort());
    // The page says what follows each of them.
    for (const { afterProof } of [de, en]) expect(Object.keys(afterProof).sort()).toEqual(actual);
  });

  test("allows other actions", async () => {
    const owner = await signedInAnHourAgo({ passkeys: 1, unverified: newAddress() });
    const session_id = await owner.signInElsewhere();
    const flow = await owner.manage();
    const notSensitive: [string, Record<string, unknown>][] = [
      ["username_create", { username: newName() }],
      ["patch_metadata", { patch_metadata: { a: 1 } }],
      ["webauthn_credential_rename", { passkey_id: owner.passkeys[0], passkey_name: "Phone" }],
      ["session_delete", { session_id }],
    ];
    for (const [action, input] of notSensitive) {
      expect(await flow.act(action, input)).toMatchObject({ name: "profile_init", status: 200 });
    }
  });

  test("requires both factors of an account with two", async () => {
    const owner = await accountOwner(configured(), { password: true, totp: true }, { methods: ["password"] });
    const flow = await owner.manage();
    await flow.act("otp_secret_delete");
    expect(flow.state.name).toSatisfy(isStepUp);
    await flow.act("continue_to_password_login");
    await flow.act("password_login", { password });
    expect(flow.state.name).toBe("login_otp");
  });

  test("requires no reauthentication with step_up_after 0", async () => {
    const off = configured({ STILE_SESSION_STEP_UP_AFTER: "0" });
    const flow = await (await signedInAnHourAgo({ password: true }, off)).manage();
    await flow.act("password_delete");
    expect(flow.state).toMatchObject({ name: "profile_init", status: 200 });
  });
});

describe("reauthentication", () => {
  test("by SMS, for an account with a number alone, performs what was asked for", async () => {
    const number = newNumber();
    const owner = await signedInAnHourAgo({ emails: 0, phone: { number } });
    const flow = await owner.manage();
    await flow.act("password_create", { password });
    expect(flow.state).toMatchObject({
      name: "phone_confirmation",
      payload: { identifier: number, wanted_action: "password_create" },
    });
    await flow.act("verify_passcode", { code: codeBySms(base, number) });
    expect(flow.state).toMatchObject({ name: "profile_init", status: 200 });
    expect(flow.sessionId).not.toBe(owner.sessionId);
  });

  test("asks for a second factor by SMS, from which the user returns to the account", async () => {
    const runtime = configured({
      STILE_PHONE_USE_FOR_AUTHENTICATION: "false",
      STILE_MFA_SMS_ENABLED: "true",
    });
    const number = newNumber();
    const owner = await signedInAnHourAgo({ password: true, phone: { number } }, runtime);
    const flow = await owner.manage();
    await flow.act("password_update", { password: "another horse battery" });
    await flow.act("continue_to_password_login");
    await flow.act("password_login", { password });
    expect(flow.state.name).toBe("login_sms");
    expect((await flow.act("back")).name).toBe("profile_init");
    await flow.act("password_update", { password: "another horse battery" });
    await flow.act("continue_to_password_login");
    await flow.act("password_login", { password });
    await flow.act("verify_passcode", { code: codeBySms(runtime, number) });
    expect(flow.state).toMatchObject({ name: "profile_init", status: 200 });
  });

  test("returns to the profile after the password, with another session, and is not repeated", async () => {
    const owner = await signedInAnHourAgo({ password: true });
    const flow = await owner.manage();
    await flow.act("password_delete");
    expect(flow.state.name).toBe("login_method_chooser");
    await flow.act("continue_to_password_login");
    await flow.act("password_login", { password: "not the password" });
    expect(flow.state).toMatchObject({ name: "login_password", status: 400 });
    await flow.act("password_login", { password });
    expect(flow.state).toMatchObject({ name: "profile_init", status: 200, payload: { user: {} } });
    expect((await flow.act("password_create", { password })).name).toBe("profile_init");
    const later = await owner.manage({ sessionId: flow.sessionId ?? "" });
    expect((await later.act("password_delete")).name).toBe("profile_init");
    const sessions = await base.database.read
      .select()
      .from(schema.sessions)
      .where(eq(schema.sessions.userId, owner.userId));
    expect(sessions.map(({ id }) => id)).toEqual([flow.sessionId]);
    expect(sessions.map(({ id }) => id)).not.toContain(owner.sessionId);
    expect(Date.now() - Number(sessions[0]?.authenticatedAt)).toBeLessThan(60_000);
  });

  test("shows the new session as the current one", async () => {
    const flow = await (await signedInAnHourAgo({ password: true })).manage();
    await flow.act("password_delete");
    await flow.act("continue_to_password_login");
    await flow.act("password_login", { password });
    expect(flow.state.payload.sessions).toMatchObject([{ id: flow.sessionId, current: true }]);
  });

  test("that two tabs complete at once takes one of them", async () => {
    const owner = await signedInAnHourAgo(
      { password: true },
      configured({ STILE_EMAIL_USE_FOR_AUTHENTICATION: "false" }),
    );
    const tabs = await Promise.all([owner.manage(), owner.manage()]);
    for (const tab of tabs) await tab.act("email_create", { email: newAddress() });
    expect(tabs.map(({ state }) => state.name)).toEqual(["login_password", "login_password"]);
    const answers = await Promise.all(tabs.map((tab) => tab.act("password_login", { password })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 403]);
  });

  test("can be cancelled with back", async () => {
    const flow = await (await signedInAnHourAgo({ password: true })).manage();
    await flow.act("password_delete");
    expect(await flow.act("back")).toMatchObject({ name: "profile_init", payload: { user: {} } });
    expect((await flow.act("password_delete")).name).toSatisfy(isStepUp);
  });

  test("goes directly to the password of an account with only a password", async () => {
    const withoutMailedCodes = configured({ STILE_EMAIL_USE_FOR_AUTHENTICATION: "false" });
    const flow = await (await signedInAnHourAgo({ password: true }, withoutMailedCodes)).manage();
    expect((await flow.act("email_create", { email: newAddress() })).name).toBe("login_password");
    expect((await flow.act("password_login", { password })).payload.performed_action).toBe("email_create");
  });

  test("mails a code to an account with only mailed codes, and keeps the credentials", async () => {
    const runtime = configured();
    const address = newAddress();
    const owner = await signedInAnHourAgo({ emails: 0, unverified: address, passkeys: 1 }, runtime);
    const flow = await owner.manage({ able: { webauthn_available: false } });
    const added = newAddress();
    expect((await flow.act("email_create", { email: added })).name).toBe("passcode_confirmation");
    await flow.act("verify_passcode", { code: codeFor(runtime, address) });
    expect(await factsById(base.database.read, base.tenant.id, owner.userId)).toMatchObject({
      emailVerified: true,
      hasPasskey: true,
    });
    expect(flow.state).toMatchObject({ name: "passcode_confirmation", status: 200 });
    await flow.act("verify_passcode", { code: codeFor(runtime, added) });
    expect(flow.state).toMatchObject({ name: "profile_init", status: 200 });
    expect((flow.state.payload.user as { emails: unknown[] }).emails).toHaveLength(2);
  });

  test("goes directly to the passkey of an account with only a passkey", async () => {
    const flow = await (await signedInAnHourAgo({ emails: 0, passkeys: 2 })).manage();
    expect((await flow.act("password_create", { password })).name).toBe("login_passkey");
  });

  test("reports that no method is available", async () => {
    const flow = await (await signedInAnHourAgo({ emails: 0, identities: ["linkedin"] })).manage();
    await flow.act("password_create", { password });
    expect(flow.state).toMatchObject({
      name: "profile_init",
      error: { code: "flow_discontinuity_error" },
    });
  });
});

/** Where each action that requires reauthentication leads once it is performed, without a second factor. */
const performed: Record<string, StateName> = {
  email_create: "passcode_confirmation",
  email_delete: "profile_init",
  email_set_primary: "profile_init",
  password_update: "profile_init",
  password_delete: "profile_init",
  webauthn_credential_create: "webauthn_credential_verification",
  webauthn_credential_delete: "profile_init",
  security_key_create: "webauthn_credential_verification",
  connect_thirdparty_oauth_provider: "thirdparty",
  disconnect_thirdparty_oauth_provider: "profile_init",
  continue_to_otp_secret_creation: "mfa_otp_secret_creation",
  username_update: "profile_init",
  username_delete: "profile_init",
};

describe("the action that required reauthentication", () => {
  const onlyPassword = { STILE_EMAIL_USE_FOR_AUTHENTICATION: "false" };
  const contents: AccountContents = { emails: 2, password: true, identities: ["google"] };
  const prove = async (flow: Walk) => {
    await flow.act("continue_to_password_login");
    return flow.act("password_login", { password });
  };
  const withoutPasskeys = { able: { webauthn_available: false } };
  /** A stale session of an account that reauthenticates with its password alone. */
  const stale = (has: AccountContents = contents, settings: Record<string, string> = {}) =>
    signedInAnHourAgo(has, configured({ ...onlyPassword, ...settings }));

  test.each(Object.entries(performed))("is performed: %s leads to %s", async (action, state) => {
    const deletes = action === "webauthn_credential_delete";
    const owner = await stale({
      ...contents,
      ...(deletes ? { passkeys: 2 } : {}),
      ...(action.startsWith("username") ? { username: newName() } : {}),
    });
    const flow = await owner.manage(deletes ? withoutPasskeys : {});
    const input = sensitive[action]?.(owner, flow) ?? sensitiveOfFew[action as keyof typeof sensitiveOfFew];
    expect((await flow.act(action, input)).name).toBe("login_method_chooser");
    const before = await contentsOf(owner);
    const answer = await prove(flow);
    expect(answer).toMatchObject({ name: state, status: 200, payload: { performed_action: action } });
    if (state === "profile_init") expect(await contentsOf(owner)).not.toBe(before);
    expect(flow.answer.session?.id).toBe(flow.sessionId);
    expect(flow.sessionId).not.toBe(owner.sessionId);
  });

  test("has the effect of its input", async () => {
    const owner = await stale();
    const flow = await owner.manage();
    await flow.act("password_update", { password: "another horse battery" });
    await prove(flow);
    expect(flow.state).toMatchObject({ name: "profile_init", status: 200 });
    const login = await owner.manage({ sessionId: await owner.signInElsewhere() });
    await login.act("email_create", { email: newAddress() });
    expect((await prove(login)).status).toBe(400);
    expect((await login.act("password_login", { password: "another horse battery" })).status).toBe(200);
  });

  test("is named while the user reauthenticates, so that the proof does nothing unasked", async () => {
    const flow = await (await stale()).manage();
    const { user } = flow.state.payload as { user: { emails: { address: string }[] } };
    const asked = { wanted_action: "password_update", identifier: user.emails[0]?.address };
    const input = { password: "another horse battery" };
    expect((await flow.act("password_update", input)).payload).toEqual(asked);
    expect((await flow.refresh()).payload).toEqual(asked);
    const proved = await prove(flow);
    expect(proved.payload).not.toHaveProperty("wanted_action");
    expect(proved.payload).not.toHaveProperty("identifier");
    await flow.act("email_create", { email: newAddress() });
    expect(flow.state.payload).not.toHaveProperty("wanted_action");
  });

  test("is named in the answer that performs it alone", async () => {
    const flow = await (await stale()).manage();
    await flow.act("password_update", { password: "another horse battery" });
    expect((await prove(flow)).payload.performed_action).toBe("password_update");
    expect((await flow.refresh()).payload).not.toHaveProperty("performed_action");
  });

  test("is performed after the second factor, not before", async () => {
    const owner = await accountOwner(configured(onlyPassword), contents, { methods: ["password"] });
    const flow = await owner.manage();
    const { payload } = await flow.act("continue_to_otp_secret_creation");
    const app = authenticatorApp(String(payload.otp_secret));
    await flow.act("otp_code_verify", { otp_code: app.code(Date.now()) });
    const long = new Date(Date.now() - 3_600_000);
    await base.database.write
      .update(schema.sessions)
      .set({ authenticatedAt: long })
      .where(eq(schema.sessions.userId, owner.userId));
    await flow.act("password_delete");
    await prove(flow);
    expect(flow.state.name).toBe("login_otp");
    expect(await factsById(base.database.read, base.tenant.id, owner.userId)).toMatchObject({
      hasPassword: true,
    });
    const otp_code = app.code(Date.now() + 30_000);
    expect(await flow.act("otp_code_validate", { otp_code })).toMatchObject({
      name: "profile_init",
      payload: { performed_action: "password_delete" },
    });
    expect(await factsById(base.database.read, base.tenant.id, owner.userId)).toMatchObject({
      hasPassword: false,
    });
  });

  test("that deletes the account leaves no session", async () => {
    const owner = await stale(contents, { STILE_ACCOUNT_ALLOW_DELETION: "true" });
    const flow = await owner.manage();
    await flow.act("account_delete");
    expect(await prove(flow)).toMatchObject({ name: "account_deleted" });
    expect(flow.answer.session).toBeUndefined();
    expect(flow.answer.cookieChanges).toMatchObject({ session: "ended" });
    expect(await contentsOf(owner)).toBe(JSON.stringify(Array.from({ length: 9 }, () => [])));
  });

  test("that is rejected leaves the reauthentication, and its error is shown", async () => {
    const owner = await stale({ ...contents, passkeys: 2 });
    const flow = await owner.manage(withoutPasskeys);
    await flow.act("webauthn_credential_delete", { passkey_id: owner.passkeys[0] });
    await base.database.write
      .delete(schema.webauthnCredentials)
      .where(eq(schema.webauthnCredentials.id, owner.passkeys[0] ?? ""));
    expect(await prove(flow)).toMatchObject({
      name: "profile_init",
      status: 404,
      error: { code: "not_found" },
      payload: { performed_action: "webauthn_credential_delete" },
    });
    expect(flow.answer.session?.id).toBe(flow.sessionId);
    const input = { password: "another horse battery" };
    expect(await flow.act("password_update", input)).toMatchObject({ name: "profile_init", status: 200 });
  });

  test("that is no longer offered is not performed, and the reauthentication stands", async () => {
    const owner = await stale();
    const flow = await owner.manage();
    await flow.act("disconnect_thirdparty_oauth_provider", {
      ...sensitive.disconnect_thirdparty_oauth_provider?.(owner, flow),
    });
    await base.database.write.delete(schema.identities).where(eq(schema.identities.userId, owner.userId));
    const answer = await prove(flow);
    expect(answer).toMatchObject({ name: "profile_init", status: 200 });
    expect(answer.payload).not.toHaveProperty("performed_action");
    const input = { password: "another horse battery" };
    expect(await flow.act("password_update", input)).toMatchObject({ name: "profile_init", status: 200 });
  });

  test("is abandoned by back", async () => {
    const owner = await stale();
    const flow = await owner.manage();
    await flow.act("password_delete");
    await flow.act("back");
    await flow.act("email_delete", { email_id: emailId(flow, owner.addresses[1]) });
    const answer = await prove(flow);
    expect(answer.payload).toMatchObject({ performed_action: "email_delete" });
    expect(await factsById(base.database.read, base.tenant.id, owner.userId)).toMatchObject({
      hasPassword: true,
    });
  });

  test("survives a reload of the page", async () => {
    const flow = await (await stale({ emails: 0, passkeys: 2 })).manage();
    expect((await flow.act("password_create", { password })).name).toBe("login_passkey");
    await flow.refresh();
    await flow.act("back");
    expect(flow.state.name).toBe("profile_init");
    const other = await (await stale()).manage();
    await other.act("password_delete");
    await other.refresh();
    expect((await prove(other)).payload.performed_action).toBe("password_delete");
  });

  test("is performed only for the session that asked for it", async () => {
    const owner = await stale();
    const flow = await owner.manage();
    await flow.act("password_delete");
    await flow.act("continue_to_password_login");
    const elsewhere = await findSession(base, base.tenant, await owner.signInElsewhere());
    const answer = await step(base, base.tenant, testClient, {
      type: "profile",
      flowId: flow.flowId,
      action: "password_login",
      token: flow.state.csrf_token,
      input: { password },
      ...(elsewhere ? { session: elsewhere.session } : {}),
    });
    expect(answer.state).toMatchObject({ name: "profile_init", status: 200 });
    expect(answer.state.payload).not.toHaveProperty("performed_action");
    expect(await factsById(base.database.read, base.tenant.id, owner.userId)).toMatchObject({
      hasPassword: true,
    });
  });

  test("is rejected before it is stored, if its return address is longer than any that is allowed", async () => {
    const flow = await (await stale()).manage();
    const redirect_to = `http://localhost:3000/${"x".repeat(2048)}`;
    await flow.act("connect_thirdparty_oauth_provider", { provider: "github", redirect_to });
    expect(flow.state).toMatchObject({ name: "profile_init", status: 400 });
    expect(flow.errors()).toEqual(["value_invalid_error"]);
  });

  test("is stored sealed", async () => {
    const flow = await (await stale()).manage();
    await flow.act("password_update", { password: "another horse battery" });
    const rows = await base.database.read.select().from(schema.flows).where(eq(schema.flows.id, flow.flowId));
    expect(rows).toHaveLength(1);
    const stored = JSON.stringify(rows) + rows[0]?.sealedPayload?.toString("latin1");
    expect(stored).not.toContain("another horse battery");
    expect(stored).not.toContain("password_update");
  });
});

/** Without mailed codes, an account with only an identity at a disabled provider cannot reauthenticate. */
const withoutMailedCodes = {
  STILE_EMAIL_USE_FOR_AUTHENTICATION: "false",
  STILE_PHONE_USE_FOR_AUTHENTICATION: "false",
};
const withoutMethod: AccountContents = {
  emails: 2,
  identities: ["linkedin"],
  totp: true,
  recoveryCodes: true,
};
/** Actions that are offered only to accounts with a password, which can reauthenticate. */
const requiringPassword = ["password_update", "password_delete"];
/** The same for an identity at an enabled provider. */
const requiringProvider = ["disconnect_thirdparty_oauth_provider"];
/** Actions that are offered only to accounts with another way to sign in; a passkey is none for a client without WebAuthn. */
const requiringAlternative = [
  "webauthn_credential_delete",
  "email_delete",
  "username_delete",
  "phone_delete",
];

describe("an account that cannot reauthenticate", () => {
  const actions = Object.keys(sensitive).filter(
    (action) => ![...requiringPassword, ...requiringProvider].includes(action),
  );

  test.each(actions)("gets flow_discontinuity_error from %s, and nothing changes", async (action) => {
    const hasPasskeys = requiringAlternative.includes(action);
    const hasUsername = action.startsWith("username");
    const has: AccountContents = {
      ...withoutMethod,
      ...(hasPasskeys ? { passkeys: 2 } : {}),
      ...(action === "security_key_delete" ? { securityKeys: 1 } : {}),
      ...(action === "authenticator_delete" ? { phones: 1 } : {}),
      ...(hasUsername ? { username: newName() } : {}),
      ...(action === "phone_delete" ? { phone: { number: newNumber() } } : {}),
    };
    const owner = await signedInAnHourAgo(has, configured(withoutMailedCodes));
    const flow = await owner.manage(hasPasskeys ? { able: { webauthn_available: false } } : {});
    const before = await contentsOf(owner);
    const rejected = await flow.act(action, sensitive[action]?.(owner, flow));
    expect(rejected).toMatchObject({ name: "profile_init", error: { code: "flow_discontinuity_error" } });
    expect(await contentsOf(owner)).toBe(before);
  });

  test.each(Object.entries(sensitiveOfFew))(
    "gets flow_discontinuity_error from %s with few credentials",
    async (action, input) => {
      const hasPasskeys = requiringAlternative.includes(action);
      const has = { identities: ["linkedin"], username: newName(), passkeys: hasPasskeys ? 2 : 0 };
      const owner = await signedInAnHourAgo(has, configured(withoutMailedCodes));
      const flow = await owner.manage(hasPasskeys ? { able: { webauthn_available: false } } : {});
      expect((await flow.act(action, input)).error?.code).toBe("flow_discontinuity_error");
    },
  );
});

describe("a profile flow", () => {
  test("A27 continues only with a session of its owner", async () => {
    const runtime = configured();
    const [owner, otherUser] = [await accountOwner(runtime), await accountOwner(runtime)];
    const flow = await owner.manage();
    const [session] = await base.database.read
      .select()
      .from(schema.sessions)
      .where(eq(schema.sessions.id, otherUser.sessionId));
    const call = (changes: object) =>
      step(runtime, runtime.tenant, testClient, {
        type: "profile",
        flowId: flow.flowId,
        action: "patch_metadata",
        token: flow.state.csrf_token,
        input: { patch_metadata: { stolen: true } },
        ...changes,
      });
    expect((await call({ ...(session ? { session } : {}) })).state).toMatchObject({
      name: "error",
      status: 403,
    });
    expect((await call({})).state).toMatchObject({ name: "error", status: 401 });
    await flow.act("patch_metadata", { patch_metadata: { mine: true } });
    expect(flow.state).toMatchObject({
      status: 200,
      payload: { user: { metadata: { unsafe_metadata: { mine: true } } } },
    });
  });

  test("ends with its session", async () => {
    const owner = await accountOwner(configured());
    const flow = await owner.manage();
    const elsewhere = await owner.manage({ sessionId: await owner.signInElsewhere() });
    await elsewhere.act("session_delete_others");
    expect(await flow.act("patch_metadata", { patch_metadata: {} })).toMatchObject({
      name: "error",
      status: 401,
    });
  });

  const isOffered = (flow: Walk, action: string) =>
    flow.state.name === "profile_init" && action in flow.state.actions;

  /** A flow of an account that may perform the action. */
  async function flowOffering(action: string): Promise<Walk> {
    const most = { ...everything(), username: newName(), unverified: newAddress() };
    for (const has of [most, {}]) {
      const owner = await accountOwner(configured(), has);
      await owner.signInElsewhere();
      const flow = await owner.manage();
      if (isOffered(flow, action)) return flow;
    }
    throw new Error(`neither account is offered ${action}`);
  }

  const inputOf = (names: string[], value: unknown) => Object.fromEntries(names.map((name) => [name, value]));

  const malformed: unknown[] = [
    0,
    -1,
    1e308,
    true,
    [],
    ["a"],
    {},
    { $ne: 1 },
    JSON.parse('{"__proto__":{"polluted":1}}'),
    "\0",
    "\ud800",
    "__proto__",
    "constructor",
    "x".repeat(10_000),
    "'; drop table users; --",
    "１２３４５６",
  ];

  test.each(Object.keys(states.profile_init.actions))(
    "A93 answers malformed input of %s without a server error",
    async (action) => {
      let flow = await flowOffering(action);
      const inputs = Object.keys(flow.state.actions[action]?.inputs ?? {});
      for (const value of malformed) {
        const surplus = await flow.act(action, inputOf([...inputs, "undeclared"], value));
        expect(surplus).toMatchObject({ name: "profile_init", status: 400 });
        if (inputs.length === 0) continue;
        expect((await flow.act(action, inputOf(inputs, value))).status).toBeLessThan(500);
        // Some of the values are valid for some inputs.
        if (!isOffered(flow, action)) flow = await flowOffering(action);
      }
      expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    },
  );
});

test("back from the second factor leaves the session unchanged", async () => {
  const owner = await signedInAnHourAgo(
    { password: true, totp: true },
    configured({ STILE_EMAIL_USE_FOR_AUTHENTICATION: "false" }),
  );
  const flow = await owner.manage();
  expect((await flow.act("recovery_codes_create")).name).toBe("login_password");
  expect((await flow.act("password_login", { password })).name).toBe("login_otp");
  expect((await flow.act("back")).name).toBe("profile_init");
  expect((await flow.act("recovery_codes_create")).name).toBe("login_password");
});

test("a second factor that was just enrolled is not asked for at the next change", async () => {
  const owner = await accountOwner(configured(), { password: true }, { methods: ["password"] });
  const flow = await owner.manage();
  const { payload } = await flow.act("continue_to_otp_secret_creation");
  const otp_code = authenticatorApp(String(payload.otp_secret)).code(Date.now());
  expect((await flow.act("otp_code_verify", { otp_code })).name).toBe("profile_init");
  expect((await flow.act("recovery_codes_create")).name).toBe("profile_init");
});

test("takes every edge to reauthentication, and every error without a method", () => {
  const sensitiveActions = Object.entries(states.profile_init.actions).filter(([, { to }]) =>
    to.includes(REAUTHENTICATE),
  );
  const edges = sensitiveActions.map(([action]) => `profile profile_init ${action} ${REAUTHENTICATE}`);
  expect(edges.filter((edge) => !taken.edges.has(edge))).toEqual([]);
  const errorKeys = sensitiveActions
    .filter(([, { errors }]) => errors.includes("flow_discontinuity_error"))
    .map(([action]) => `profile_init ${action} flow_discontinuity_error`);
  expect(errorKeys.filter((key) => !taken.errors.has(key))).toEqual([]);
});
