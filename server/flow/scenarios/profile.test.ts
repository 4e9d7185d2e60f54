import { randomBytes, randomUUID } from "node:crypto";
import { and, eq, gt, lt } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { createUserSession } from "../../admin/user-sessions.ts";
import { type AccountContents, type AccountOwner, accountOwner } from "../../testing/account-owner.ts";
import { authenticatorApp } from "../../testing/authenticator-app.ts";
import { credentialRow } from "../../testing/credential-row.ts";
import type { Walk } from "../../testing/flow-walk.ts";
import { jpegPicture } from "../../testing/jpeg-pictures.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import {
  codeBySms,
  codeFor,
  mailsTo,
  newAddress,
  newName,
  newNumber,
  origin,
  password,
  textsTo,
} from "../../testing/people.ts";
import { requestContext } from "../../testing/request-context.ts";
import { type TestRuntime, testClient } from "../../testing/runtime.ts";
import { softwareAuthenticator } from "../../testing/webauthn-authenticator.ts";
import type { FlowCoverage } from "../coverage.ts";
import { start } from "../engine.ts";
import { REAUTHENTICATE } from "../names.ts";
import { states } from "../states/index.ts";

const taken: FlowCoverage = { edges: new Set(), errors: new Set() };

const base = await runtimeForTests({ STILE_USERNAME_ENABLED: "true", STILE_PASSWORD_OPTIONAL: "true" });

const configured = (settings: Record<string, string> = {}) => base.configured(settings);
const google = {
  STILE_THIRD_PARTY_PROVIDERS_GOOGLE_ENABLED: "true",
  STILE_THIRD_PARTY_PROVIDERS_GOOGLE_CLIENT_ID: "us",
  STILE_THIRD_PARTY_PROVIDERS_GOOGLE_SECRET: "secret",
};

/** A signed-in user and a profile flow. */
async function profileFlow(
  has: AccountContents = {},
  runtime = configured(),
): Promise<{ owner: AccountOwner; flow: Walk; runtime: TestRuntime }> {
  const owner = await accountOwner(runtime, has, { taken });
  return { owner, flow: await owner.manage(), runtime };
}

interface Shown {
  emails?: { id: string; address: string; is_verified: boolean; is_primary: boolean }[];
  passkeys?: { id: string; name?: string }[];
  security_keys?: { id: string }[];
  identities?: { identity_id: string; provider: string }[];
  username?: { username: string };
  phone_number?: string;
  phone_number_verified?: boolean;
  metadata?: { unsafe_metadata?: unknown };
  mfa_config: { auth_app_set_up: boolean };
}

const user = ({ state }: Walk) => state.payload.user as Shown;
const sessionsOf = ({ state }: Walk) => state.payload.sessions as { id: string; current: boolean }[];
const emailId = (flow: Walk, address: string) =>
  user(flow).emails?.find((email) => email.address === address)?.id ?? "";
const allowed = ({ state }: Walk, action: string, input: string) =>
  state.actions[action]?.inputs[input]?.allowed_values;

async function trust(owner: AccountOwner): Promise<void> {
  await base.database.write.insert(schema.trustedDevices).values({
    tenantId: base.tenant.id,
    id: randomUUID(),
    userId: owner.userId,
    tokenHash: randomBytes(32),
    expiresAt: new Date(Date.now() + 3_600_000),
  });
}

const rowsOf = async (
  table: "trustedDevices" | "recoveryCodes" | "passwords" | "sessions",
  { userId }: AccountOwner,
) => (await base.database.read.select().from(schema[table]).where(eq(schema[table].userId, userId))).length;

const audited = async ({ userId }: AccountOwner, type: string) => {
  const { auditLogs } = schema;
  const rows = await base.database.read
    .select()
    .from(auditLogs)
    .where(and(eq(auditLogs.userId, userId), eq(auditLogs.type, type)));
  return rows.length;
};

describe("a profile flow", () => {
  test("requires a session of the owner", async () => {
    const runtime = configured();
    const answer = await start(runtime, runtime.tenant, testClient, "profile");
    expect(answer.state).toMatchObject({ name: "error", status: 401, error: { code: "unauthorized" } });
  });

  test("shows the account with its sessions and actions", async () => {
    const { owner, flow } = await profileFlow({ emails: 2, password: true, passkeys: 1 });
    const other = await owner.signInElsewhere();
    const again = await owner.manage();
    expect(again.state).toMatchObject({
      name: "profile_init",
      status: 200,
      payload: {
        user: { id: owner.userId, user_id: owner.userId, emails: [{ is_primary: true }, {}], passkeys: [{}] },
      },
    });
    expect(sessionsOf(again).find(({ current }) => current)?.id).toBe(owner.sessionId);
    expect(sessionsOf(again).map(({ id }) => id)).toContain(other);
    expect(Object.keys(flow.state.actions).sort()).toEqual([
      "continue_to_otp_secret_creation",
      "email_create",
      "email_delete",
      "email_set_primary",
      "name_update",
      "password_delete",
      "password_update",
      "patch_metadata",
      "picture_update",
      "security_key_create",
      "username_create",
      "webauthn_credential_create",
      "webauthn_credential_delete",
      "webauthn_credential_rename",
    ]);
    expect(Object.keys(again.state.actions)).toEqual(
      expect.arrayContaining(["session_delete", "session_delete_others"]),
    );
  });

  test("deletes the account and all its data, if allowed", async () => {
    const { flow: kept } = await profileFlow();
    expect(kept.state.actions).not.toHaveProperty("account_delete");
    const { owner, flow } = await profileFlow({}, configured({ STILE_ACCOUNT_ALLOW_DELETION: "true" }));
    const second = await owner.manage();
    expect(await flow.act("account_delete")).toMatchObject({
      name: "account_deleted",
      status: 200,
      actions: {},
      payload: {},
    });
    expect(flow.answer.cookieChanges).toEqual({ session: "ended" });
    expect(await rowsOf("sessions", owner)).toBe(0);
    expect(await audited(owner, "user_deleted")).toBe(1);
    const patched = { patch_metadata: { a: 1 } };
    expect(await second.act("patch_metadata", patched)).toMatchObject({ name: "error", status: 401 });
    expect(await flow.act("patch_metadata", patched)).toMatchObject({ name: "error", status: 401 });
  });
});

describe("an email address", () => {
  test("is added after its code is confirmed, and the owner is notified", async () => {
    const { owner, flow, runtime } = await profileFlow();
    const address = newAddress();
    const answer = await flow.act("email_create", { email: ` ${address.toUpperCase()} ` });
    expect(answer).toMatchObject({ name: "passcode_confirmation", actions: { back: {} } });
    await flow.act("verify_passcode", { code: codeFor(runtime, address) === "000000" ? "111111" : "000000" });
    expect(flow.errors()).toEqual(["passcode_invalid"]);
    expect(await flow.act("verify_passcode", { code: codeFor(runtime, address) })).toMatchObject({
      name: "profile_init",
      status: 200,
    });
    expect(user(flow).emails).toMatchObject([
      { address: owner.addresses[0], is_primary: true },
      { address, is_primary: false, is_verified: true },
    ]);
    expect(mailsTo(runtime, owner.addresses[0] ?? "")).toEqual(["email_create"]);
    expect(await audited(owner, "email_created")).toBe(1);
  });

  test("is not added after back", async () => {
    const { owner, flow } = await profileFlow();
    await flow.act("email_create", { email: newAddress() });
    expect((await flow.act("back")).name).toBe("profile_init");
    expect(user(flow).emails).toMatchObject([{ address: owner.addresses[0] }]);
  });

  test("A5 receives a notice if it is taken, and no code is accepted", async () => {
    const { flow, runtime } = await profileFlow();
    const { owner: other } = await profileFlow({}, runtime);
    const [address = ""] = other.addresses;
    expect((await flow.act("email_create", { email: address })).name).toBe("passcode_confirmation");
    expect(mailsTo(runtime, address)).toEqual(["email_registration_attempted"]);
    for (let code = 0; code < 3; code += 1) await flow.act("verify_passcode", { code: `00000${code}` });
    expect(flow.state).toMatchObject({ name: "passcode_confirmation", status: 401 });
  });

  test("is rejected if invalid, already in the account, or known to be taken", async () => {
    const hints = configured({ STILE_PRIVACY_SHOW_ACCOUNT_EXISTENCE_HINTS: "true" });
    const { owner, flow } = await profileFlow({}, hints);
    const { owner: other } = await profileFlow();
    const rejected = [
      ["not an address", "value_invalid_error"],
      ["a@", "value_too_short_error"],
      [`${"a".repeat(200)}@example.com`, "value_too_long_error"],
      ["", "value_missing_error"],
      [owner.addresses[0], "email_already_exists"],
      [other.addresses[0], "email_already_exists"],
    ];
    for (const [email, code] of rejected) {
      expect((await flow.act("email_create", { email })).name).toBe("profile_init");
      expect(flow.errors()).toEqual([code]);
    }
  });

  test("is added at once without required verification, and can be verified later", async () => {
    const { owner, flow, runtime } = await profileFlow(
      {},
      configured({ STILE_EMAIL_REQUIRE_VERIFICATION: "false" }),
    );
    const { owner: other } = await profileFlow();
    const address = newAddress();
    expect((await flow.act("email_create", { email: address })).name).toBe("profile_init");
    expect(user(flow).emails?.[1]).toMatchObject({ address, is_verified: false });
    expect(mailsTo(runtime, owner.addresses[0] ?? "")).toEqual(["email_create"]);
    await flow.act("email_create", { email: other.addresses[0] });
    expect(flow.errors()).toEqual(["email_already_exists"]);

    await flow.act("email_set_primary", { email_id: emailId(flow, address) });
    expect(flow.errors()).toEqual(["value_invalid_error"]);
    await flow.act("email_verify", { email_id: emailId(flow, owner.addresses[0] ?? "") });
    expect(flow.state).toMatchObject({ name: "profile_init", status: 404, error: { code: "not_found" } });
    await flow.act("email_verify", { email_id: emailId(flow, address) });
    expect(flow.state.name).toBe("passcode_confirmation");
    await flow.act("verify_passcode", { code: codeFor(runtime, address) });
    expect(user(flow).emails?.[1]).toMatchObject({ address, is_verified: true });
    expect(flow.state.actions).not.toHaveProperty("email_verify");
  });

  test("becomes the primary one if it is the first", async () => {
    const { flow, runtime } = await profileFlow({ emails: 0, username: newName(), password: true });
    expect(user(flow).emails).toBeUndefined();
    expect(allowed(flow, "email_delete", "email_id")).toEqual([]);
    const address = newAddress();
    await flow.act("email_create", { email: address });
    await flow.act("verify_passcode", { code: codeFor(runtime, address) });
    expect(user(flow).emails).toMatchObject([{ address, is_primary: true, is_verified: true }]);
  });

  test("becomes the primary one, and both addresses are notified", async () => {
    const { owner, flow, runtime } = await profileFlow({ emails: 2 });
    const [first = "", second = ""] = owner.addresses;
    await flow.act("email_set_primary", { email_id: randomUUID() });
    expect(flow.state).toMatchObject({ name: "profile_init", status: 404, error: { code: "not_found" } });
    await flow.act("email_set_primary", { email_id: emailId(flow, first) });
    expect(mailsTo(runtime, first)).toEqual([]);
    await flow.act("email_set_primary", { email_id: emailId(flow, second) });
    expect(user(flow).emails).toMatchObject([
      { address: second, is_primary: true },
      { address: first, is_primary: false },
    ]);
    expect(mailsTo(runtime, first)).toEqual(["primary_email_update"]);
    expect(mailsTo(runtime, second)).toEqual(["primary_email_update"]);
  });

  test("is removed unless it is the primary one; the input lists the removable ones", async () => {
    const { owner, flow, runtime } = await profileFlow({ emails: 2 });
    const [first = "", second = ""] = owner.addresses;
    expect(allowed(flow, "email_delete", "email_id")).toEqual([
      { name: second, value: emailId(flow, second) },
    ]);
    for (const email_id of [emailId(flow, first), randomUUID(), "", "__proto__"]) {
      await flow.act("email_delete", { email_id });
      expect(flow.state).toMatchObject({ name: "profile_init", status: 400 });
    }
    await flow.act("email_delete", { email_id: emailId(flow, second) });
    expect(user(flow).emails).toMatchObject([{ address: first }]);
    expect(allowed(flow, "email_delete", "email_id")).toEqual([]);
    expect(mailsTo(runtime, first)).toEqual(["email_delete"]);
    await flow.act("email_delete", { email_id: emailId(flow, first) });
    expect(flow.errors()).toEqual(["value_invalid_error"]);
  });

  test("can be removed as the last one if optional and another login method remains", async () => {
    const { owner, flow, runtime } = await profileFlow(
      { passkeys: 1 },
      configured({ STILE_EMAIL_OPTIONAL: "true" }),
    );
    const [address = ""] = owner.addresses;
    await flow.act("email_delete", { email_id: emailId(flow, address) });
    expect(user(flow).emails).toBeUndefined();
    expect(mailsTo(runtime, address)).toEqual(["email_delete"]);
  });

  test("cannot be added beyond the limit", async () => {
    const { flow } = await profileFlow({ emails: 2 }, configured({ STILE_EMAIL_LIMIT: "2" }));
    expect(flow.state.actions).not.toHaveProperty("email_create");
    expect((await flow.act("email_create", { email: newAddress() })).status).toBe(403);
  });

  test("A30 is rejected in one of two flows that exceed the limit concurrently", async () => {
    const runtime = configured({ STILE_EMAIL_LIMIT: "2" });
    const { owner, flow } = await profileFlow({}, runtime);
    const second = await owner.manage();
    const [one, two] = [newAddress(), newAddress()];
    await flow.act("email_create", { email: one });
    await second.act("email_create", { email: two });
    await flow.act("verify_passcode", { code: codeFor(runtime, one) });
    const late = await second.act("verify_passcode", { code: codeFor(runtime, two) });
    expect(late).toMatchObject({ status: 400, error: { code: "form_data_invalid_error" } });
    const again = await owner.manage();
    expect(user(again).emails).toHaveLength(2);
  });
});

describe("the password", () => {
  test("is set, changed and removed; notifies the owner and revokes trusted devices", async () => {
    const { owner, flow, runtime } = await profileFlow();
    const [address = ""] = owner.addresses;
    await trust(owner);
    expect(flow.state.actions).not.toHaveProperty("password_update");
    expect(flow.state.actions.password_create?.inputs.password).toMatchObject({
      min_length: 8,
      max_length: 256,
    });
    await flow.act("password_create", { password });
    expect(flow.state).toMatchObject({ name: "profile_init", status: 200 });
    expect(await rowsOf("trustedDevices", owner)).toBe(0);
    await trust(owner);
    expect(flow.state.actions).not.toHaveProperty("password_create");
    await flow.act("password_update", { password: `${password} and more` });
    expect(await rowsOf("trustedDevices", owner)).toBe(0);
    await trust(owner);
    await flow.act("password_delete");
    expect(await rowsOf("passwords", owner)).toBe(0);
    expect(await rowsOf("trustedDevices", owner)).toBe(0);
    expect(mailsTo(runtime, address)).toEqual(["password_update", "password_update", "password_delete"]);
    expect(await audited(owner, "password_changed")).toBe(2);
    expect(await audited(owner, "password_deleted")).toBe(1);
  });

  test.each(["password_create", "password_update"])("is checked by the policy at %s", async (action) => {
    const { flow } = await profileFlow(action === "password_update" ? { password: true } : {});
    const rejected = [
      ["short", "value_too_short_error"],
      ["x".repeat(257), "value_too_long_error"],
      ["x".repeat(5000), "value_too_long_error"],
      ["password123", "value_invalid_error"],
      ["", "value_missing_error"],
      [12345678, "value_invalid_error"],
    ];
    for (const [given, code] of rejected) {
      await flow.act(action, { password: given });
      expect(flow.state.name).toBe("profile_init");
      expect(flow.errors()).toEqual([code]);
    }
  });

  test("cannot be removed if required or the last login method", async () => {
    const withoutMailedCodes = configured({ STILE_EMAIL_USE_FOR_AUTHENTICATION: "false" });
    const { flow } = await profileFlow({ password: true }, withoutMailedCodes);
    expect(flow.state.actions).not.toHaveProperty("password_delete");
    const needed = configured({ STILE_PASSWORD_OPTIONAL: "false" });
    expect((await profileFlow({ password: true }, needed)).flow.state.actions).not.toHaveProperty(
      "password_delete",
    );
  });

  test("can be changed without an address", async () => {
    const { flow } = await profileFlow({ emails: 0, username: newName(), password: true });
    await flow.act("password_update", { password: `${password} and more` });
    expect(flow.state).toMatchObject({ name: "profile_init", status: 200 });
  });
});

describe("the phone number", () => {
  const phones = { STILE_PHONE_ENABLED: "true", STILE_PHONE_ALLOWED_COUNTRIES: "DE" };

  test("is absent where numbers are disabled", async () => {
    const { flow } = await profileFlow({ phone: { number: newNumber() } });
    expect(JSON.stringify(flow.state)).not.toMatch(/phone_number|phone_set|phone_delete/);
  });

  test.each<[string, AccountContents, boolean]>([
    ["a password alone", { password: true }, true],
    ["a passkey", { password: true, passkeys: 1 }, false],
    ["an app", { password: true, totp: true }, false],
    ["a passkey, and a number already", { passkeys: 1, phone: { number: newNumber() } }, true],
  ])("as a second factor can be set with %s: %s %s", async (_, has, isOffered) => {
    const runtime = configured({
      ...phones,
      STILE_PHONE_USE_FOR_AUTHENTICATION: "false",
      STILE_MFA_SMS_ENABLED: "true",
    });
    const { flow } = await profileFlow(has, runtime);
    expect("phone_set" in flow.state.actions).toBe(isOffered);
  });

  test("is set, replaced and removed after a code, and its owner is told", async () => {
    const runtime = configured(phones);
    const { owner, flow } = await profileFlow({ password: true }, runtime);
    const [address = ""] = owner.addresses;
    const [first, second] = [newNumber(), newNumber()];
    for (const number of [first, second]) {
      await flow.act("phone_set", { phone: number });
      expect(flow.state).toMatchObject({ name: "phone_confirmation", payload: { identifier: number } });
      await flow.act("verify_passcode", { code: codeBySms(runtime, number) });
      expect(user(flow)).toMatchObject({ phone_number: number, phone_number_verified: true });
    }
    await trust(owner);
    await flow.act("phone_set", { phone: second });
    expect(flow.state).toMatchObject({ name: "profile_init", status: 200 });
    await flow.act("phone_delete");
    expect(user(flow)).not.toHaveProperty("phone_number");
    expect(await rowsOf("trustedDevices", owner)).toBe(0);
    expect(mailsTo(runtime, address)).toEqual(["phone_create", "phone_create", "phone_delete"]);
    expect([await audited(owner, "phone_created"), await audited(owner, "phone_deleted")]).toEqual([2, 1]);
  });

  test("is validated, and a taken one is told only where the configuration shows hints", async () => {
    const runtime = configured(phones);
    const number = newNumber();
    await accountOwner(runtime, { phone: { number } });
    const { flow } = await profileFlow({}, runtime);
    for (const [phone, code] of [
      ["0151 12345678901", "value_invalid_error"],
      ["+44 7911 123456", "phone_number_not_allowed"],
    ]) {
      await flow.act("phone_set", { phone });
      expect(flow.errors()).toEqual([code]);
      expect(flow.state.actions.phone_set?.inputs.phone?.value).toBe(phone);
    }
    await flow.act("phone_set", { phone: number });
    expect(flow.state.name).toBe("phone_confirmation");
    expect(textsTo(runtime, number)).toEqual([]);
    const hints = configured({ ...phones, STILE_PRIVACY_SHOW_ACCOUNT_EXISTENCE_HINTS: "true" });
    const { flow: told } = await profileFlow({}, hints);
    await told.act("phone_set", { phone: number });
    expect(told.errors()).toEqual(["phone_number_already_exists"]);
  });

  test("an unverified one is confirmed by a code", async () => {
    const runtime = configured(phones);
    const phone = { number: newNumber(), verified: false as const };
    const { flow } = await profileFlow({ phone }, runtime);
    expect(user(flow)).toMatchObject({ phone_number_verified: false });
    await flow.act("phone_set", { phone: phone.number });
    await flow.act("verify_passcode", { code: codeBySms(runtime, phone.number) });
    expect(user(flow)).toMatchObject({ phone_number: phone.number, phone_number_verified: true });
  });

  test("A176 two accounts that verify one number at once: one gets it, the other is told", async () => {
    const runtime = configured(phones);
    const number = newNumber();
    const flows = [(await profileFlow({}, runtime)).flow, (await profileFlow({}, runtime)).flow];
    const codes: string[] = [];
    for (const flow of flows) {
      await flow.act("phone_set", { phone: number });
      codes.push(codeBySms(runtime, number));
    }
    await Promise.all(flows.map((flow, index) => flow.act("verify_passcode", { code: codes[index] })));
    expect(flows.map((flow) => user(flow).phone_number).toSorted()).toEqual([number, undefined]);
    const loser = flows.find((flow) => user(flow).phone_number === undefined);
    expect([loser?.state.name, loser?.errors()]).toEqual(["profile_init", ["phone_number_already_exists"]]);
  });

  test("is not removed while it is the only way to sign in, required, or the only required factor", async () => {
    const phone = () => ({ number: newNumber() });
    const deletable = async (has: AccountContents, settings: Record<string, string> = {}) =>
      "phone_delete" in (await profileFlow(has, configured({ ...phones, ...settings }))).flow.state.actions;
    expect(await deletable({ phone: phone() })).toBe(true);
    expect(await deletable({ phone: phone(), emails: 0 })).toBe(false);
    expect(await deletable({ phone: phone() }, { STILE_PHONE_OPTIONAL: "false" })).toBe(false);
    const required = {
      STILE_PHONE_USE_FOR_AUTHENTICATION: "false",
      STILE_MFA_SMS_ENABLED: "true",
      STILE_MFA_OPTIONAL: "false",
    };
    expect(await deletable({ phone: phone() }, required)).toBe(false);
    expect(await deletable({ phone: phone(), totp: true }, required)).toBe(true);
  });

  test("A176 is no second factor beside a passkey that another tab has created since its code was sent", async () => {
    const runtime = configured({
      ...phones,
      STILE_PHONE_USE_FOR_AUTHENTICATION: "false",
      STILE_MFA_SMS_ENABLED: "true",
    });
    const number = newNumber();
    const { owner, flow } = await profileFlow({ password: true }, runtime);
    await flow.act("phone_set", { phone: number });
    const code = codeBySms(runtime, number);
    const own = { tenantId: runtime.tenant.id, userId: owner.userId };
    await runtime.database.write.insert(schema.webauthnCredentials).values(credentialRow(own));
    await flow.act("verify_passcode", { code });
    expect([flow.state.name, flow.errors()]).toEqual(["phone_confirmation", ["flow_discontinuity_error"]]);
    await flow.act("back");
    expect(user(flow)).not.toHaveProperty("phone_number");
  });

  test("that becomes the second factor gives recovery codes, and counts for the session", async () => {
    const runtime = configured({
      ...phones,
      STILE_PHONE_USE_FOR_AUTHENTICATION: "false",
      STILE_MFA_SMS_ENABLED: "true",
    });
    const number = newNumber();
    const owner = await accountOwner(runtime, { password: true }, { methods: ["password"], taken });
    const flow = await owner.manage();
    await flow.act("phone_set", { phone: number });
    await flow.act("verify_passcode", { code: codeBySms(runtime, number) });
    expect(flow.state.name).toBe("profile_init");
    expect(flow.state.payload.recovery_codes).toHaveLength(10);
    await flow.act("phone_delete");
    expect([flow.state.name, flow.state.status]).toEqual(["profile_init", 200]);
    expect(await rowsOf("recoveryCodes", owner)).toBe(0);
  });
});

describe("the username", () => {
  test("is set, changed and removed", async () => {
    const { owner, flow } = await profileFlow();
    const [first, second] = [newName(), newName()];
    await flow.act("username_create", { username: ` ${first.toUpperCase()} ` });
    expect(user(flow).username).toMatchObject({ username: first });
    await flow.act("username_update", { username: first });
    expect(flow.state.status).toBe(200);
    expect(await audited(owner, "username_changed")).toBe(1);
    await flow.act("username_update", { username: second });
    expect(user(flow).username).toMatchObject({ username: second });
    await flow.act("username_delete");
    expect(user(flow).username).toBeUndefined();
    expect(flow.state.actions).toHaveProperty("username_create");
  });

  test.each(["username_create", "username_update"])("is validated at %s", async (action) => {
    const takenName = newName();
    await profileFlow({ username: takenName });
    const { flow } = await profileFlow(action === "username_update" ? { username: newName() } : {});
    const rejected = [
      ["ab", "value_too_short_error"],
      ["a".repeat(33), "value_too_long_error"],
      ["ﬃﬃ".repeat(9), "value_too_long_error"],
      ["a\u00ad\u00ad", "invalid_username_error"],
      ["two words", "invalid_username_error"],
      [takenName, "username_already_exists"],
      ["", "value_missing_error"],
    ];
    for (const [username, code] of rejected) {
      await flow.act(action, { username });
      expect(flow.errors()).toEqual([code]);
      expect(flow.state.actions[action]?.inputs.username?.value).toBe(username);
    }
  });

  test("cannot be removed if required, or if the password depends on it", async () => {
    const name = newName();
    const { flow } = await profileFlow({ emails: 0, username: name, password: true });
    expect(flow.state.actions).not.toHaveProperty("username_delete");
    const needed = configured({ STILE_USERNAME_OPTIONAL: "false" });
    expect((await profileFlow({ username: newName() }, needed)).flow.state.actions).not.toHaveProperty(
      "username_delete",
    );
  });
});

describe("a passkey", () => {
  test("is created, renamed and removed, and the owner is notified", async () => {
    const { owner, flow, runtime } = await profileFlow();
    const options = await flow.act("webauthn_credential_create");
    expect(options).toMatchObject({
      name: "webauthn_credential_verification",
      payload: { creation_options: { publicKey: { user: { name: owner.addresses[0] } } } },
      actions: { back: {} },
    });
    await flow.act("webauthn_verify_attestation_response", { public_key: { id: "malformed" } });
    expect(flow.state).toMatchObject({
      name: "webauthn_credential_verification",
      status: 401,
      error: { code: "passkey_invalid" },
      actions: { back: {} },
    });
    expect(flow.state.payload).toEqual({});
    await flow.refresh();
    const public_key = softwareAuthenticator().create(flow.state.payload.creation_options, { origin });
    await flow.act("webauthn_verify_attestation_response", { public_key: { ...public_key } });
    expect(flow.state).toMatchObject({ name: "profile_init", status: 200 });
    const [created] = user(flow).passkeys ?? [];
    const passkey_id = created?.id ?? "";
    await flow.act("webauthn_credential_rename", { passkey_id, passkey_name: " Ada's phone " });
    expect(user(flow).passkeys).toMatchObject([{ id: passkey_id, name: "Ada's phone" }]);
    await flow.act("webauthn_credential_delete", { passkey_id });
    expect(user(flow).passkeys).toBeUndefined();
    expect(mailsTo(runtime, owner.addresses[0] ?? "")).toEqual(["passkey_create", "passkey_delete"]);
  });

  test("is not created after back, beyond the limit or without WebAuthn", async () => {
    const { flow } = await profileFlow();
    await flow.act("webauthn_credential_create");
    expect((await flow.act("back")).name).toBe("profile_init");
    const full = configured({ STILE_PASSKEY_LIMIT: "1" });
    const { owner, flow: limited } = await profileFlow({ passkeys: 1, securityKeys: 1 }, full);
    expect(limited.state.actions).not.toHaveProperty("webauthn_credential_create");
    const unable = await owner.manage({ able: { webauthn_available: false } });
    expect(unable.state.actions).not.toHaveProperty("security_key_create");
    expect(unable.state.actions).toHaveProperty("webauthn_credential_rename");
  });

  test("has a name of one line, and must belong to the account", async () => {
    const { owner, flow } = await profileFlow({ passkeys: 1, securityKeys: 1 });
    const { owner: other } = await profileFlow({ passkeys: 1 });
    const [passkey_id = ""] = owner.passkeys;
    for (const passkey_name of ["", "  ", "x".repeat(65), "two\nlines", "\0", "\ud800"]) {
      await flow.act("webauthn_credential_rename", { passkey_id, passkey_name });
      expect(flow.state).toMatchObject({ name: "profile_init", status: 400 });
    }
    for (const foreign of [other.passkeys[0], "unknown", "__proto__"]) {
      await flow.act("webauthn_credential_rename", { passkey_id: foreign, passkey_name: "Mine" });
      expect(flow.state).toMatchObject({ status: 404, error: { code: "not_found" } });
      await flow.act("webauthn_credential_delete", { passkey_id: foreign });
      expect(flow.state).toMatchObject({ status: 404, error: { code: "not_found" } });
    }
    await flow.act("webauthn_credential_rename", { passkey_id: owner.securityKeys[0], passkey_name: "Blue" });
    expect(user(flow).security_keys).toMatchObject([{ name: "Blue" }]);
    await flow.act("webauthn_credential_delete", { passkey_id: owner.securityKeys[0] });
    expect(flow.state.status).toBe(404);
  });

  test("cannot be removed if required or the last login method", async () => {
    const withoutMailedCodes = configured({ STILE_EMAIL_USE_FOR_AUTHENTICATION: "false" });
    const { flow } = await profileFlow({ passkeys: 1 }, withoutMailedCodes);
    expect(flow.state.actions).not.toHaveProperty("webauthn_credential_delete");
    // Clients show the removal of security keys only with it; it removes none.
    const { flow: keyed, owner: holder } = await profileFlow({ securityKeys: 1 });
    expect(keyed.state.actions).toHaveProperty("webauthn_credential_delete");
    await keyed.act("webauthn_credential_delete", { passkey_id: holder.securityKeys[0] });
    expect(keyed.errors()).toEqual(["not_found"]);
    const needed = configured({ STILE_PASSKEY_OPTIONAL: "false" });
    expect((await profileFlow({ passkeys: 1 }, needed)).flow.state.actions).not.toHaveProperty(
      "webauthn_credential_delete",
    );
    expect((await profileFlow({ passkeys: 2 }, needed)).flow.state.actions).toHaveProperty(
      "webauthn_credential_delete",
    );
  });
});

describe("a second factor", () => {
  test("creates recovery codes if it is the first, shown once", async () => {
    const { owner, flow, runtime } = await profileFlow();
    await trust(owner);
    await flow.act("continue_to_otp_secret_creation");
    expect(flow.state.name).toBe("mfa_otp_secret_creation");
    const app = authenticatorApp(String(flow.state.payload.otp_secret));
    await flow.act("otp_code_verify", { otp_code: app.code(Date.now() + base.platform.clockShift()) });
    expect(flow.state).toMatchObject({ name: "profile_init", status: 200 });
    expect(user(flow).mfa_config.auth_app_set_up).toBe(true);
    expect(flow.state.payload.recovery_codes).toHaveLength(10);
    expect(await rowsOf("recoveryCodes", owner)).toBe(10);
    expect(await rowsOf("trustedDevices", owner)).toBe(0);
    expect(mailsTo(runtime, owner.addresses[0] ?? "")).toEqual(["mfa_create"]);
    await flow.act("patch_metadata", { patch_metadata: {} });
    expect(flow.state.payload).not.toHaveProperty("recovery_codes");
  });

  test("can be a security key; removing the last factor removes the recovery codes", async () => {
    const { owner, flow, runtime } = await profileFlow();
    await flow.act("security_key_create");
    const key = softwareAuthenticator({ attachment: "cross-platform" });
    const public_key = key.create(flow.state.payload.creation_options, { origin });
    await flow.act("webauthn_verify_attestation_response", { public_key: { ...public_key } });
    expect(flow.state.payload.recovery_codes).toHaveLength(10);
    expect(user(flow).passkeys).toBeUndefined();
    const [created] = user(flow).security_keys ?? [];
    expect(mailsTo(runtime, owner.addresses[0] ?? "")).toEqual(["mfa_create"]);

    const again = await accountSignedIn(owner);
    await again.act("security_key_delete", { security_key_id: "unknown" });
    expect(again.state).toMatchObject({ status: 404, error: { code: "not_found" } });
    await trust(owner);
    await again.act("security_key_delete", { security_key_id: created?.id });
    expect(user(again).security_keys).toBeUndefined();
    expect(await rowsOf("recoveryCodes", owner)).toBe(0);
    expect(await rowsOf("trustedDevices", owner)).toBe(0);
    expect(mailsTo(runtime, owner.addresses[0] ?? "")).toEqual(["mfa_create", "mfa_delete"]);
  });

  test("can be removed if it is an app; recovery codes stay with another factor", async () => {
    const { owner, flow, runtime } = await profileFlow({ totp: true, securityKeys: 1, recoveryCodes: true });
    await flow.act("otp_secret_delete");
    expect(user(flow).mfa_config.auth_app_set_up).toBe(false);
    expect(await rowsOf("recoveryCodes", owner)).toBe(1);
    expect(mailsTo(runtime, owner.addresses[0] ?? "")).toEqual(["mfa_delete"]);
    expect(await audited(owner, "otp_deleted")).toBe(1);
  });

  test("cannot be removed as the last one if required", async () => {
    const needed = configured({ STILE_MFA_OPTIONAL: "false" });
    const app = (await profileFlow({ totp: true }, needed)).flow;
    expect(app.state.actions).not.toHaveProperty("otp_secret_delete");
    const key = (await profileFlow({ securityKeys: 1 }, needed)).flow;
    expect(key.state.actions).not.toHaveProperty("security_key_delete");
    const both = (await profileFlow({ totp: true, securityKeys: 1 }, needed)).flow;
    expect(Object.keys(both.state.actions)).toEqual(
      expect.arrayContaining(["otp_secret_delete", "security_key_delete"]),
    );
  });

  test("A30 is kept by rejecting one of two concurrent removals", async () => {
    const needed = configured({ STILE_MFA_OPTIONAL: "false" });
    const { owner, flow } = await profileFlow({ totp: true, securityKeys: 1 }, needed);
    const second = await owner.manage();
    const [one, two] = await Promise.all([
      flow.act("otp_secret_delete"),
      second.act("security_key_delete", { security_key_id: owner.securityKeys[0] }),
    ]);
    const [accepted, rejected] = [one.status, two.status].sort();
    expect(accepted).toBe(200);
    // Judged after the other was written, it is not offered any more.
    expect([400, 403]).toContain(rejected);
  });

  test("is not offered if disabled or at the limit", async () => {
    const off = configured({ STILE_MFA_ENABLED: "false" });
    const { flow } = await profileFlow({}, off);
    expect(flow.state.actions).not.toHaveProperty("continue_to_otp_secret_creation");
    expect(flow.state.actions).not.toHaveProperty("security_key_create");
    const full = configured({ STILE_MFA_SECURITY_KEYS_LIMIT: "1" });
    expect((await profileFlow({ securityKeys: 1 }, full)).flow.state.actions).not.toHaveProperty(
      "security_key_create",
    );
  });

  test("has replaceable recovery codes; accounts without a factor have none", async () => {
    const { owner, flow, runtime } = await profileFlow({ totp: true, recoveryCodes: true });
    await flow.act("recovery_codes_create");
    expect(flow.state.payload.recovery_codes).toHaveLength(10);
    expect(await rowsOf("recoveryCodes", owner)).toBe(10);
    expect(mailsTo(runtime, owner.addresses[0] ?? "")).toEqual(["mfa_create"]);
    const { rows } = await base.database.read.$client.query("select payload::text from flows where id = $1", [
      flow.flowId,
    ]);
    expect(rows[0].payload).not.toContain((flow.state.payload.recovery_codes as string[])[0]);
    expect((await profileFlow()).flow.state.actions).not.toHaveProperty("recovery_codes_create");
  });
});

/** The same user in a session that has just verified every factor. */
async function accountSignedIn(owner: AccountOwner): Promise<Walk> {
  return owner.manage({ sessionId: await owner.signInElsewhere(), taken });
}

describe("an identity", () => {
  const github = {
    STILE_THIRD_PARTY_PROVIDERS_GITHUB_ENABLED: "true",
    STILE_THIRD_PARTY_PROVIDERS_GITHUB_CLIENT_ID: "us",
    STILE_THIRD_PARTY_PROVIDERS_GITHUB_SECRET: "secret",
  };

  test("is connected at a provider without an identity of the account", async () => {
    const runtime = configured({ ...google, ...github });
    const { flow } = await profileFlow({ identities: ["google"] }, runtime);
    expect(allowed(flow, "connect_thirdparty_oauth_provider", "provider")).toEqual([
      { name: "GitHub", value: "github" },
    ]);
    const redirect_to = `${origin}/account`;
    await flow.act("connect_thirdparty_oauth_provider", { provider: "google", redirect_to });
    expect(flow.errors()).toEqual(["value_invalid_error"]);
    await flow.act("connect_thirdparty_oauth_provider", {
      provider: "github",
      redirect_to: "https://evil.example",
    });
    expect(flow.errors()).toEqual(["value_invalid_error"]);
    await flow.act("connect_thirdparty_oauth_provider", { provider: "github" });
    expect(flow.errors()).toEqual(["value_missing_error"]);
    await flow.act("connect_thirdparty_oauth_provider", { provider: "github", redirect_to });
    expect(flow.state).toMatchObject({
      name: "thirdparty",
      payload: { redirect_url: expect.stringContaining("https://github.com/") },
    });
    expect((await flow.act("back")).name).toBe("profile_init");
    const { flow: all } = await profileFlow({ identities: ["google", "github"] }, runtime);
    expect(all.state.actions).not.toHaveProperty("connect_thirdparty_oauth_provider");
  });

  test("is rate limited per minute", async () => {
    const limited = { STILE_RATE_LIMITER_ENABLED: "true", STILE_RATE_LIMITER_STARTS_PER_MINUTE: "4" };
    const { flow } = await profileFlow({}, configured({ ...github, ...limited }));
    for (let attempts = 0; attempts < 12 && !flow.state.error; attempts += 1) {
      await flow.act("connect_thirdparty_oauth_provider", {
        provider: "github",
        redirect_to: `${origin}/account`,
      });
      if (!flow.state.error) await flow.act("back");
    }
    expect(flow.errors()).toEqual(["rate_limit_exceeded"]);
  });

  test("is disconnected unless it is the last login method", async () => {
    const runtime = configured(google);
    const { flow } = await profileFlow({ identities: ["google"] }, runtime);
    const [identity] = user(flow).identities ?? [];
    expect(allowed(flow, "disconnect_thirdparty_oauth_provider", "identity_id")).toEqual([
      { name: "Google", value: identity?.identity_id },
    ]);
    await flow.act("disconnect_thirdparty_oauth_provider", { identity_id: randomUUID() });
    expect(flow.errors()).toEqual(["value_invalid_error"]);
    await flow.act("disconnect_thirdparty_oauth_provider", { identity_id: identity?.identity_id });
    expect(user(flow).identities).toBeUndefined();
    const { flow: alone } = await profileFlow({ emails: 0, identities: ["google"] }, runtime);
    expect(alone.state.actions).not.toHaveProperty("disconnect_thirdparty_oauth_provider");
  });
});

describe("the picture", () => {
  test("is set and removed", async () => {
    const { flow, owner } = await profileFlow();
    await flow.act("picture_update", { picture: jpegPicture("square").toString("base64url") });
    expect(flow.state.payload.picture_path).toBeDefined();
    await flow.act("picture_delete");
    expect(flow.state.payload.picture_path).toBeUndefined();
    expect(await audited(owner, "profile_changed")).toBe(2);
  });
});

describe("the name", () => {
  test("is changed as a whole, and in its parts where the account has them", async () => {
    const { owner, flow } = await profileFlow();
    expect(Object.keys(flow.state.actions.name_update?.inputs ?? {})).toEqual(["name"]);
    await flow.act("name_update", { name: "  Ada Lovelace " });
    expect(user(flow)).toMatchObject({ name: "Ada Lovelace" });
    await base.database.write
      .update(schema.users)
      .set({ givenName: "Ada" })
      .where(eq(schema.users.id, owner.userId));
    const again = await owner.manage();
    await again.act("name_update", { given_name: "Augusta", family_name: "King" });
    expect(user(again)).toMatchObject({ given_name: "Augusta", family_name: "King" });
    expect(user(again)).not.toHaveProperty("name");
    expect(await audited(owner, "profile_changed")).toBe(2);
  });

  test("is one line of at most 255 characters", async () => {
    const { flow } = await profileFlow();
    for (const name of ["a".repeat(256), "Ada\nLovelace", "\ud800", 7]) {
      expect(await flow.act("name_update", { name })).toMatchObject({ status: 400, name: "profile_init" });
    }
    expect(user(flow)).not.toHaveProperty("name");
  });

  test("stays as it is if users may not change it", async () => {
    const { flow } = await profileFlow({}, configured({ STILE_ACCOUNT_ALLOW_NAME_CHANGE: "false" }));
    expect(flow.state.actions).not.toHaveProperty("name_update");
  });
});

describe("what belongs to an account", () => {
  test("has a place where the operator has a database of places", async () => {
    const { owner } = await profileFlow({ passkeys: 1 });
    const { webauthnCredentials } = schema;
    await base.database.write
      .update(webauthnCredentials)
      .set({ lastUsedIpAddress: "198.51.100.0" })
      .where(eq(webauthnCredentials.userId, owner.userId));
    const berlin = { city: "Berlin", country: "Germany" };
    const asked: string[] = [];
    const find = (address: string) => {
      asked.push(address);
      return berlin;
    };
    const { payload } = (await owner.manage({ as: { ...configured(), locations: { find } } })).state;
    expect(asked).toContain("198.51.100.0");
    expect(payload).toMatchObject({
      session_locations: { [owner.sessionId]: berlin },
      credential_uses: { [owner.passkeys[0] ?? ""]: { location: berlin } },
    });
    expect(JSON.stringify(payload.user)).not.toContain("Berlin");
    expect((await owner.manage()).state.payload).toMatchObject({ session_locations: {} });
  });

  test("is shown: codes that are left, phones, trusted browsers and where passkeys were used", async () => {
    const { owner } = await profileFlow({ recoveryCodes: true, totp: true, passkeys: 1, phones: 1 });
    await trust(owner);
    const [phone] = owner.phones;
    const { webauthnCredentials } = schema;
    await base.database.write
      .update(webauthnCredentials)
      .set({
        aaguid: "bada5566-a7aa-401f-bd96-45619a55120d",
        lastUsedIpAddress: "192.0.2.0",
        lastUsedUserAgent: "Mozilla/5.0 (Windows NT 10.0; rv:140.0) Gecko/20100101 Firefox/140.0",
      })
      .where(eq(webauthnCredentials.userId, owner.userId));
    const { payload } = (await owner.manage()).state;
    expect(payload).toMatchObject({
      recovery_codes_left: 1,
      phones: [{ id: phone, name: "Pixel", model: "Pixel 9" }],
      trusted_browsers: [{ last_used_at: expect.any(String), expires_at: expect.any(String) }],
      credential_uses: {
        [owner.passkeys[0] ?? ""]: {
          authenticator: "1Password",
          user_agent: "Windows (Firefox)",
          ip_address: "192.0.2.x",
        },
      },
    });
    expect(payload).not.toHaveProperty("metadata_editor");
  });

  test("of another account is neither shown nor removed", async () => {
    const { owner: other } = await profileFlow({ totp: true, phones: 1 });
    await trust(other);
    const [phone] = other.phones;
    const [browser] = await base.database.read
      .select()
      .from(schema.trustedDevices)
      .where(eq(schema.trustedDevices.userId, other.userId));
    const { owner } = await profileFlow({ totp: true, phones: 1 });
    await trust(owner);
    const flow = await owner.manage();
    expect(JSON.stringify(flow.state.payload)).not.toContain(phone);
    expect(await flow.act("authenticator_delete", { authenticator_id: phone })).toMatchObject({
      error: { code: "not_found" },
    });
    expect(await flow.act("trusted_device_delete", { trusted_device_id: browser?.id })).toMatchObject({
      error: { code: "not_found" },
    });
    expect(await rowsOf("trustedDevices", other)).toBe(1);
  });

  test("the trust in a browser can be ended", async () => {
    const { owner } = await profileFlow();
    await trust(owner);
    await trust(owner);
    const flow = await owner.manage();
    const [first, second] = flow.state.payload.trusted_browsers as { id: string }[];
    await flow.act("trusted_device_delete", { trusted_device_id: first?.id });
    expect(flow.state.payload.trusted_browsers).toMatchObject([{ id: second?.id }]);
    expect(await audited(owner, "trusted_device_revoked")).toBe(1);
  });

  test("the access of an application can be ended, and of no other", async () => {
    const on = configured({ STILE_OPENID_ENABLED: "true" });
    const { owner: other } = await profileFlow({ applications: ["reader", "theirs"] }, on);
    const { owner, flow } = await profileFlow({ applications: ["reader", "shop"] }, on);
    for (const application_id of ["theirs", "nothing"])
      expect(await flow.act("application_revoke", { application_id })).toMatchObject({
        error: { code: "not_found" },
      });
    await flow.act("application_revoke", { application_id: "reader" });
    expect(flow.state.payload.applications).toMatchObject([{ id: "shop", scopes: ["openid", "email"] }]);
    expect(await audited(owner, "consent_withdrawn")).toBe(1);
    expect((await other.manage()).state.payload.applications).toHaveLength(2);
    const off = await owner.manage({ as: configured() });
    expect(off.state.payload).not.toHaveProperty("applications");
    expect(off.state.actions).not.toHaveProperty("application_revoke");
  });

  test("a phone can be removed, with the recovery codes if it was the last second factor", async () => {
    const runtime = configured({ STILE_MFA_AUTHENTICATOR_ENABLED: "true" });
    const { owner } = await profileFlow({ recoveryCodes: true, phones: 1 }, runtime);
    const [phone] = owner.phones;
    await trust(owner);
    const flow = await owner.manage();
    await flow.act("authenticator_delete", { authenticator_id: phone });
    expect(flow.state.payload).toMatchObject({ phones: [], trusted_browsers: [], recovery_codes_left: 0 });
    expect(flow.state.actions).not.toHaveProperty("recovery_codes_create");
    expect(await rowsOf("recoveryCodes", owner)).toBe(0);
    expect(await audited(owner, "authenticator_deregistered")).toBe(1);
  });

  test("the last phone cannot be removed if a second factor is required", async () => {
    const runtime = configured({
      STILE_MFA_AUTHENTICATOR_ENABLED: "true",
      STILE_MFA_OPTIONAL: "false",
    });
    const { flow: one } = await profileFlow({ phones: 1 }, runtime);
    expect(one.state.actions).not.toHaveProperty("authenticator_delete");
    const { flow: two } = await profileFlow({ phones: 2 }, runtime);
    expect(two.state.actions).toHaveProperty("authenticator_delete");
  });

  test.each([
    ["the audit log", {}],
    [
      "the sessions, if the audit log is not stored",
      {
        STILE_AUDIT_LOG_STORAGE_ENABLED: "false",
        STILE_AUDIT_LOG_CONSOLE_OUTPUT_ENABLED: "true",
      },
    ],
  ])("sign-ins of the last 30 days are those of %s", async (_, settings) => {
    const { owner } = await profileFlow({}, configured(settings));
    const own = { tenantId: base.tenant.id, userId: owner.userId };
    const dayMs = 24 * 3_600_000;
    const { auditLogs, sessions } = schema;
    for (const days of [31, 29, ...Array(12).fill(1)]) {
      const createdAt = new Date(Date.now() - days * dayMs);
      const place = { ipAddress: "192.0.2.77", userAgent: "Chrome/140.0.0.0", createdAt };
      await base.database.write.insert(auditLogs).values([
        { ...own, ...place, id: randomUUID(), type: "login_success", details: {} },
        { ...own, ...place, id: randomUUID(), type: "user_created", details: { by: "admin" } },
      ]);
      await base.database.write.insert(sessions).values({
        ...own,
        ...place,
        id: randomUUID(),
        authenticatedAt: createdAt,
        factors: [],
        amr: [],
        lastUsedAt: createdAt,
        expiresAt: new Date(Date.now() + dayMs),
      });
    }
    const flow = await owner.manage({ as: configured(settings) });
    const shown = flow.state.payload.sign_ins as { at: string; ip_address?: string }[];
    expect(shown).toHaveLength(10);
    expect(shown.filter(({ ip_address }) => ip_address !== undefined)).toContainEqual(
      expect.objectContaining({ ip_address: "192.0.2.x", user_agent: "Chrome", outcome: "success" }),
    );
    await base.database.write
      .delete(auditLogs)
      .where(
        and(
          eq(auditLogs.userId, owner.userId),
          eq(auditLogs.ipAddress, "192.0.2.77"),
          lt(auditLogs.createdAt, new Date(Date.now() - dayMs / 2)),
          gt(auditLogs.createdAt, new Date(Date.now() - 2 * dayMs)),
        ),
      );
    await base.database.write
      .delete(sessions)
      .where(
        and(
          eq(sessions.userId, owner.userId),
          lt(sessions.createdAt, new Date(Date.now() - dayMs / 2)),
          gt(sessions.createdAt, new Date(Date.now() - 2 * dayMs)),
        ),
      );
    const few = (await owner.manage({ as: configured(settings) })).state.payload.sign_ins as { at: string }[];
    expect(few.filter(({ at }) => Date.parse(at) < Date.now() - dayMs)).toHaveLength(1);
  });
});

test("recent sign-ins tell methods and failures, which push no sign-in out", async () => {
  const { owner } = await profileFlow({}, configured());
  const own = { tenantId: base.tenant.id, userId: owner.userId, ipAddress: "2001:db8:1:2::7" };
  for (let number = 0; number < 12; number += 1)
    await base.database.write.insert(schema.auditLogs).values({
      ...own,
      id: randomUUID(),
      type: "login_failure",
      userAgent: "Chrome/140.0.0.0",
      details: { method: "password", reason: "wrong" },
    });
  await base.database.write.insert(schema.auditLogs).values({
    ...own,
    id: randomUUID(),
    type: "login_success",
    createdAt: new Date(Date.now() - 60_000),
    details: { methods: ["password", "totp"] },
  });
  const shown = (await owner.manage()).state.payload.sign_ins as { outcome: string; methods?: string[] }[];
  expect(shown.filter(({ outcome }) => outcome === "failure")).toEqual(
    Array(5).fill(
      expect.objectContaining({
        methods: ["password"],
        ip_address: "2001:db8:1:…",
        user_agent: "Chrome",
      }),
    ),
  );
  expect(shown.filter(({ outcome }) => outcome === "success")).toMatchObject([
    { methods: ["password", "totp"] },
  ]);
});

describe("a session", () => {
  test("that an administrator created says so, and the owner's own does not", async () => {
    const { owner } = await profileFlow();
    await createUserSession(requestContext(base), owner.userId, { userAgent: "Chrome/140", ipAddress: null });
    const sessions = sessionsOf(await owner.manage()) as {
      current: boolean;
      created_by_administrator?: true;
    }[];
    expect(sessions.filter(({ created_by_administrator }) => created_by_administrator)).toMatchObject([
      { user_agent: "Chrome", current: false },
    ]);
    expect(sessions.length).toBeGreaterThan(1);
  });

  test("can be ended unless it is the current one, alone or with all others", async () => {
    const { owner, flow } = await profileFlow();
    expect(flow.state.actions).not.toHaveProperty("session_delete");
    const [one] = [await owner.signInElsewhere(), await owner.signInElsewhere()];
    const again = await owner.manage();
    const values = allowed(again, "session_delete", "session_id")?.map(({ value }) => value);
    expect(values).toHaveLength(2);
    expect(values).not.toContain(owner.sessionId);
    for (const session_id of [owner.sessionId, randomUUID()]) {
      await again.act("session_delete", { session_id });
      expect(again.errors()).toEqual(["value_invalid_error"]);
    }
    await again.act("session_delete", { session_id: one });
    expect(sessionsOf(again)).toHaveLength(2);
    await again.act("session_delete_others");
    expect(sessionsOf(again)).toMatchObject([{ id: owner.sessionId, current: true }]);
    expect(again.state.actions).not.toHaveProperty("session_delete_others");
    expect(await audited(owner, "session_revoked")).toBe(2);
  });

  describe("other than the current one end with a change, if the user asks for that", () => {
    const changes: [string, AccountContents, (flow: Walk) => Record<string, unknown>][] = [
      ["password_update", { password: true }, () => ({ password: "seven herons under the bridge" })],
      ["password_delete", { password: true }, () => ({})],
      ["otp_secret_delete", { totp: true }, () => ({})],
      [
        "security_key_delete",
        { securityKeys: 1 },
        (flow) => ({ security_key_id: user(flow).security_keys?.[0]?.id }),
      ],
      [
        "webauthn_credential_delete",
        { passkeys: 1 },
        (flow) => ({ passkey_id: user(flow).passkeys?.[0]?.id }),
      ],
      [
        "disconnect_thirdparty_oauth_provider",
        { password: true, identities: ["google"] },
        (flow) => ({ identity_id: user(flow).identities?.[0]?.identity_id }),
      ],
    ];
    const runtime = () => configured({ ...google, STILE_PASSWORD_OPTIONAL: "true" });

    test.each(changes)("%s", async (action, has, inputOf) => {
      const { owner } = await profileFlow(has, runtime());
      await owner.signInElsewhere();
      const flow = await owner.manage();
      expect(flow.state.actions[action]?.inputs.end_other_sessions).toEqual({
        name: "end_other_sessions",
        type: "boolean",
        required: false,
        hidden: false,
      });
      await flow.act(action, { ...inputOf(flow), end_other_sessions: true });
      expect(flow.errors()).toEqual([]);
      expect(sessionsOf(flow)).toMatchObject([{ id: owner.sessionId, current: true }]);
      expect(await rowsOf("sessions", owner)).toBe(1);
      expect(await audited(owner, "session_revoked")).toBe(1);
    });

    test.each(changes)("not with %s otherwise", async (action, has, inputOf) => {
      for (const choice of [{}, { end_other_sessions: false }]) {
        const { owner } = await profileFlow(has, runtime());
        await owner.signInElsewhere();
        const flow = await owner.manage();
        await flow.act(action, { ...inputOf(flow), ...choice });
        expect(flow.errors()).toEqual([]);
        expect(await rowsOf("sessions", owner)).toBe(2);
      }
    });

    test("and stay if the change fails", async () => {
      const { owner } = await profileFlow({ password: true });
      await owner.signInElsewhere();
      const flow = await owner.manage();
      await flow.act("password_update", { password: "short", end_other_sessions: true });
      expect(flow.errors()).toEqual(["value_too_short_error"]);
      expect(await rowsOf("sessions", owner)).toBe(2);
    });

    test("but not if there are none, or revocation is disabled", async () => {
      const { flow: alone } = await profileFlow({ password: true });
      expect(alone.state.actions.password_update?.inputs.end_other_sessions).toMatchObject({ hidden: true });
      const { owner } = await profileFlow(
        { password: true },
        configured({ STILE_SESSION_ALLOW_REVOCATION: "false" }),
      );
      await owner.signInElsewhere();
      const flow = await owner.manage();
      expect(flow.state.actions.password_update?.inputs).not.toHaveProperty("end_other_sessions");
      const input = { password: "seven herons under the bridge", end_other_sessions: true };
      expect((await flow.act("password_update", input)).status).toBe(400);
      expect(await rowsOf("sessions", owner)).toBe(2);
    });
  });

  test("cannot be ended if revocation is disabled", async () => {
    const { owner } = await profileFlow({}, configured({ STILE_SESSION_ALLOW_REVOCATION: "false" }));
    await owner.signInElsewhere();
    const flow = await owner.manage();
    expect(flow.state.actions).not.toHaveProperty("session_delete");
    expect(flow.state.actions).not.toHaveProperty("session_delete_others");
  });
});

describe("metadata", () => {
  test("are patched and shown", async () => {
    const { flow } = await profileFlow();
    await flow.act("patch_metadata", { patch_metadata: { theme: "dark", size: { width: 1 } } });
    await flow.act("patch_metadata", { patch_metadata: { theme: null, size: { height: 2 } } });
    expect(user(flow).metadata?.unsafe_metadata).toEqual({ size: { width: 1, height: 2 } });
  });

  test("A90 accept any member names, and only JSON objects", async () => {
    const { flow } = await profileFlow();
    const rejected = [1, "text", true, [], { a: "x".repeat(3000) }, { a: "\0" }, { a: "\ud800" }];
    for (const patch_metadata of rejected) {
      await flow.act("patch_metadata", { patch_metadata });
      expect(flow.errors()).toEqual(["invalid_metadata_error"]);
    }
    await flow.act("patch_metadata", {});
    expect(flow.errors()).toEqual(["value_missing_error"]);
    const patch_metadata = JSON.parse(
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}',
    );
    await flow.act("patch_metadata", { patch_metadata });
    expect(flow.state.status).toBe(200);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

const profileStates = ["profile_init", "webauthn_credential_verification"] as const;

describe("the declarations of the profile", () => {
  const declared = profileStates.flatMap((state) =>
    Object.entries(states[state].actions).map(([action, { to, errors }]) => ({ state, action, to, errors })),
  );

  test("every target of a profile action was taken", () => {
    const untaken = declared
      .flatMap(({ state, action, to }) => to.map((target) => ({ state, action, target })))
      // `profile-step-up.test.ts` covers reauthentication.
      .filter(({ target }) => target !== REAUTHENTICATE)
      .map(({ state, action, target }) => `profile ${state} ${action} ${target}`)
      .filter((edge) => !taken.edges.has(edge));
    expect(untaken).toEqual([]);
  });

  test("every error was returned", () => {
    const missingErrors = declared
      .flatMap(({ state, action, errors }) => errors.map((code) => `${state} ${action} ${code}`))
      .filter((refusal) => !refusal.endsWith("flow_discontinuity_error"))
      .filter((refusal) => !taken.errors.has(refusal));
    expect(missingErrors).toEqual([]);
  });
});
