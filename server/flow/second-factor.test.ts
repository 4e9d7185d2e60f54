import { describe, expect, test } from "vitest";
import { loadConfig } from "../config/load.ts";
import { type FlowData, flowData } from "./data.ts";
import { type Facts, noFacts } from "./facts.ts";
import type { FlowType, StateName } from "./names.ts";
import { plan } from "./plan.ts";
import { canUseSecurityKeys, mayAddCredential } from "./second-factor.ts";

const at = "2026-01-01T00:00:00.000Z";
const password = { method: "password" as const, at };
const passkey = { method: "passkey" as const, at, userVerified: true };
const presence = { method: "passkey" as const, at, userVerified: false };
const provider = { method: "third_party" as const, at, provider: "google" };
const trustedProvider = { ...provider, userVerified: true };
const code = { method: "totp" as const, at };
const key = { method: "security_key" as const, at };

const capable = { webauthn: true, conditionalMediation: false, platformAuthenticator: true };
const ada: Facts = { ...noFacts, hasPassword: true, email: "ada@example.com", emailVerified: true };
const withApp: Facts = { ...ada, hasTotp: true };
const withKey: Facts = { ...ada, hasSecurityKey: true };
const withBoth: Facts = { ...withApp, hasSecurityKey: true };
const withPhone: Facts = { ...ada, hasAuthenticator: true };
const withAll: Facts = { ...withBoth, hasAuthenticator: true };
const answer = { method: "authenticator" as const, at };

interface Case {
  type?: FlowType;
  facts?: Facts;
  data?: Partial<FlowData>;
  settings?: Record<string, string>;
}

/** Plans without credential states, which are irrelevant here. */
function planned({ type = "login", facts = ada, data = {}, settings = {} }: Case): StateName[] {
  const config = loadConfig(
    {
      STILE_PASSKEY_ACQUIRE_ON_LOGIN: "never",
      STILE_PASSKEY_ACQUIRE_ON_REGISTRATION: "never",
      ...settings,
    },
    "/nowhere",
  );
  const remembered = flowData.parse({
    capabilities: capable,
    completedStates: ["preflight"],
    userId: "3f0a4c9e-0000-4000-8000-000000000001",
    factors: [password],
    ...data,
  });
  return plan({ type, facts, config, data: remembered });
}

const phones = { STILE_MFA_AUTHENTICATOR_ENABLED: "true" };

const noWebauthn = { ...capable, webauthn: false };
const noPlatform = { ...capable, platformAuthenticator: false };

describe("the second factor that a login requires", () => {
  test.each<[string, Case, StateName | null]>([
    ["none without an enrolled factor", {}, null],
    ["an authenticator app", { facts: withApp }, "login_otp"],
    ["a security key", { facts: withKey }, "login_security_key"],
    ["the key before the app", { facts: withBoth }, "login_security_key"],
    [
      "the app where the client cannot use keys",
      { facts: withBoth, data: { capabilities: noWebauthn } },
      "login_otp",
    ],
    [
      "the key all the same where there is nothing else",
      { facts: withKey, data: { capabilities: noWebauthn } },
      "login_security_key",
    ],
    [
      "the app where the device lacks the configured kind of authenticator",
      {
        facts: withBoth,
        data: { capabilities: noPlatform },
        settings: { STILE_MFA_SECURITY_KEYS_AUTHENTICATOR_ATTACHMENT: "platform" },
      },
      "login_otp",
    ],
    ["an authenticator if enabled", { facts: withPhone, settings: phones }, "login_authenticator"],
    ["no authenticator if disabled", { facts: withPhone }, null],
    [
      "the app in place of a phone where they are not",
      { facts: { ...withApp, hasAuthenticator: true } },
      "login_otp",
    ],
    ["the key before the authenticator", { facts: withAll, settings: phones }, "login_security_key"],
    [
      "the phone before the app, where the client cannot use keys",
      { facts: withAll, data: { capabilities: noWebauthn }, settings: phones },
      "login_authenticator",
    ],
    [
      "the phone rather than a key that the client cannot use",
      {
        facts: { ...withKey, hasAuthenticator: true },
        data: { capabilities: noWebauthn },
        settings: phones,
      },
      "login_authenticator",
    ],
    [
      "no phone where second factors are off",
      { facts: withPhone, settings: { ...phones, STILE_MFA_ENABLED: "false" } },
      null,
    ],
    [
      "none after a phone",
      { facts: withPhone, data: { factors: [password, answer] }, settings: phones },
      null,
    ],
    [
      "an authenticator after a passkey without user verification",
      { facts: withPhone, data: { factors: [presence] }, settings: phones },
      "login_authenticator",
    ],
    [
      "no phone in a trusted browser",
      { facts: { ...withPhone, deviceTrusted: true }, settings: phones },
      null,
    ],
    [
      "an authenticator at reauthentication",
      {
        type: "profile",
        facts: { ...withPhone, deviceTrusted: true },
        data: { steppingUp: true },
        settings: phones,
      },
      "login_authenticator",
    ],
    [
      "an authenticator before a forgotten password is replaced, trusted browser or not",
      { facts: { ...withPhone, deviceTrusted: true }, data: { recovering: true }, settings: phones },
      "login_authenticator",
    ],
    [
      "none if second factors are disabled",
      { facts: withBoth, settings: { STILE_MFA_ENABLED: "false" } },
      null,
    ],
    ["none if apps are disabled", { facts: withApp, settings: { STILE_MFA_TOTP_ENABLED: "false" } }, null],
    ["none twice", { facts: withApp, data: { factors: [password, code] } }, null],
    ["none after a passkey with user verification", { facts: withApp, data: { factors: [passkey] } }, null],
    [
      "one after a passkey without user verification",
      { facts: withApp, data: { factors: [presence] } },
      "login_otp",
    ],
    ["one after an identity provider", { facts: withApp, data: { factors: [provider] } }, "login_otp"],
    [
      "none after a provider that is trusted for it",
      { facts: withApp, data: { factors: [trustedProvider] } },
      null,
    ],
    ["none in a trusted browser", { facts: { ...withApp, deviceTrusted: true } }, null],
    [
      "one at reauthentication, trusted browser or not",
      { type: "profile", facts: { ...withApp, deviceTrusted: true }, data: { steppingUp: true } },
      "login_otp",
    ],
    [
      "one before a forgotten password is replaced",
      { facts: withApp, data: { recovering: true } },
      "login_otp",
    ],
    [
      "one after SAML",
      { type: "token_exchange", facts: withApp, data: { factors: [provider] } },
      "login_otp",
    ],
  ])("%s", (_, given, expected) => {
    const [head] = planned(given);
    if (expected) expect(head).toBe(expected);
    else expect(["login_otp", "login_security_key", "login_authenticator"]).not.toContain(head);
  });
});

const mandatory = { STILE_MFA_OPTIONAL: "false" };
const atLogin = { STILE_MFA_ACQUIRE_ON_LOGIN: "true" };

describe("enrolment of a second factor", () => {
  test.each<[string, Case, boolean]>([
    ["is not offered at login by default", {}, false],
    ["is offered at login if configured", { settings: atLogin }, true],
    ["is offered at registration by default", { type: "registration" }, true],
    [
      "is not offered twice",
      { settings: atLogin, data: { completedStates: ["preflight", "mfa_method_chooser"] } },
      false,
    ],
    [
      "is not offered with an enrolled factor",
      { settings: atLogin, facts: withApp, data: { factors: [password, code] } },
      false,
    ],
    [
      "is not offered with a registered authenticator",
      { settings: { ...atLogin, ...phones }, facts: withPhone, data: { factors: [password, answer] } },
      false,
    ],
    [
      "is required with nothing but a disabled authenticator",
      { settings: mandatory, facts: withPhone },
      true,
    ],
    [
      "is not offered after a passkey alone",
      {
        settings: { ...atLogin, STILE_EMAIL_USE_FOR_AUTHENTICATION: "false" },
        facts: { ...ada, hasPassword: false },
      },
      false,
    ],
    [
      "is not offered if the client cannot use any",
      { settings: { ...atLogin, STILE_MFA_TOTP_ENABLED: "false" }, data: { capabilities: noWebauthn } },
      false,
    ],
    [
      "is not offered after an identity provider",
      { settings: atLogin, data: { factors: [provider] } },
      false,
    ],
    ["is required at every login if mandatory", { settings: mandatory }, true],
    [
      "is required even if the client cannot use any, which is reported",
      { settings: { ...mandatory, STILE_MFA_TOTP_ENABLED: "false" }, data: { capabilities: noWebauthn } },
      true,
    ],
    ["is required after an identity provider", { settings: mandatory, data: { factors: [provider] } }, true],
    [
      "is not required after a passkey with user verification",
      { settings: mandatory, data: { factors: [passkey] } },
      false,
    ],
    [
      "is required after a passkey without user verification",
      { settings: mandatory, data: { factors: [presence] } },
      true,
    ],
  ])("%s", (_, given, expected) => {
    expect(planned(given).includes("mfa_method_chooser")).toBe(expected);
  });

  test("comes after a missing password and before the passkey", () => {
    const situation = {
      type: "registration" as const,
      facts: { ...ada, hasPassword: false },
      data: { email: "ada@example.com", factors: [] },
      settings: { STILE_PASSKEY_ACQUIRE_ON_REGISTRATION: "always" },
    };
    expect(planned(situation)).toEqual([
      "passcode_confirmation",
      "password_creation",
      "mfa_method_chooser",
      "onboarding_create_passkey",
      "success",
    ]);
  });
});

describe("trust in a browser", () => {
  test.each<[string, Case, boolean]>([
    ["is asked for after a second factor", { facts: withApp, data: { factors: [password, code] } }, true],
    [
      "is asked for after a phone",
      { facts: withPhone, data: { factors: [password, answer] }, settings: phones },
      true,
    ],
    ["is asked for after a security key", { facts: withKey, data: { factors: [password, key] } }, true],
    [
      "is asked for after enrolment",
      { facts: withApp, data: { enrolled: true, factors: [password, code] } },
      true,
    ],
    ["is not asked for without a second factor", {}, false],
    ["is not asked for after a passkey", { facts: withApp, data: { factors: [passkey] } }, false],
    [
      "is not asked for twice",
      { facts: withApp, data: { factors: [password, code], completedStates: ["preflight", "device_trust"] } },
      false,
    ],
    [
      "is not asked for if the policy is never",
      {
        facts: withApp,
        data: { factors: [password, code] },
        settings: { STILE_MFA_DEVICE_TRUST_POLICY: "never" },
      },
      false,
    ],
    [
      "is not asked for if the policy is always",
      {
        facts: withApp,
        data: { factors: [password, code] },
        settings: { STILE_MFA_DEVICE_TRUST_POLICY: "always" },
      },
      false,
    ],
  ])("%s", (_, given, expected) => {
    expect(planned(given).includes("device_trust")).toBe(expected);
  });
});

const nothing = { webauthn: false, conditionalMediation: false, platformAuthenticator: false };
const keys = { ...nothing, webauthn: true };
const everything = { webauthn: true, conditionalMediation: true, platformAuthenticator: true };
const attachment = (value: string) => ({ STILE_MFA_SECURITY_KEYS_AUTHENTICATOR_ATTACHMENT: value });

describe("canUseSecurityKeys", () => {
  test.each([
    [{}, undefined, true],
    [{}, nothing, false],
    [{}, keys, true],
    [{}, everything, true],
    [attachment("platform"), undefined, true],
    [attachment("platform"), keys, false],
    [attachment("platform"), { ...everything, webauthn: false }, false],
    [attachment("platform"), everything, true],
    [attachment("no_preference"), keys, true],
    [{ STILE_MFA_ENABLED: "false" }, everything, false],
    [{ STILE_MFA_SECURITY_KEYS_ENABLED: "false" }, everything, false],
  ])("%j %j: %s", (settings, capabilities, can) => {
    expect(canUseSecurityKeys(capabilities, loadConfig(settings, "/nowhere"))).toBe(can);
  });
});

const may = (facts: object, data: object, settings: Record<string, string> = {}) =>
  mayAddCredential({
    data: flowData.parse(data),
    facts: { ...noFacts, ...facts },
    config: loadConfig(settings, "/nowhere"),
  });

describe("mayAddCredential, with a second factor", () => {
  const facts = { hasTotp: true, deviceTrusted: true };

  test.each([
    ["no factor", []],
    ["a password in a trusted browser", [password]],
    ["a passkey without user verification", [{ method: "passkey", at, userVerified: false }]],
  ])("is false after %s", (_what, factors) => {
    expect(may(facts, { factors })).toBe(false);
  });

  test.each([
    ["an authenticator app", [password, { method: "totp", at }]],
    ["a security key", [password, { method: "security_key", at }]],
    ["a phone", [password, { method: "authenticator", at }]],
    ["a recovery code", [password, { method: "recovery_code", at }]],
    ["a passkey with user verification", [{ method: "passkey", at, userVerified: true }]],
  ])("is true after %s", (_what, factors) => {
    expect(may(facts, { factors })).toBe(true);
  });

  test("is true after enrolment in this flow", () => {
    expect(may(facts, { factors: [password], enrolled: true })).toBe(true);
  });
});

test("mayAddCredential counts an authenticator only if authenticators are enabled", () => {
  const phones = { STILE_MFA_AUTHENTICATOR_ENABLED: "true" };
  const facts = { hasAuthenticator: true };
  expect(may(facts, { factors: [password] }, phones)).toBe(false);
  expect(may(facts, { factors: [password, { method: "authenticator", at }] }, phones)).toBe(true);
  expect(may(facts, { factors: [password] })).toBe(true);
});

test("mayAddCredential is true without a second factor that the configuration accepts", () => {
  expect(may({}, { factors: [password] })).toBe(true);
  const off = { STILE_MFA_ENABLED: "false" };
  expect(may({ hasTotp: true, hasSecurityKey: true }, { factors: [password] }, off)).toBe(true);
});
