import { describe, expect, test } from "vitest";
import { holds } from "../conditions/condition.ts";
import { loadConfig } from "../config/load.ts";
import { canUse } from "../methods/second-factors.ts";
import { securityKey } from "../methods/security-key/index.ts";
import { type FlowData, flowData } from "./data.ts";
import { type Facts, noFacts } from "./facts.ts";
import type { FlowType, StateName } from "./names.ts";
import { plan } from "./plan.ts";
import { mayAddCredential } from "./second-factor.ts";

const at = "2026-01-01T00:00:00.000Z";
const password = { method: "password" as const, at };
const passkey = { method: "passkey" as const, at, userVerified: true };
const unverifiedPasskey = { method: "passkey" as const, at, userVerified: false };
const provider = { method: "third_party" as const, at, provider: "google" };
const trustedProvider = { ...provider, userVerified: true };
const code = { method: "totp" as const, at };
const key = { method: "security_key" as const, at };

const capable = { webauthn: true, conditionalMediation: false, platformAuthenticator: true };
const ada: Facts = { ...noFacts, hasPassword: true, email: "ada@example.com", emailVerified: true };
const withApp: Facts = { ...ada, hasTotp: true };
const withKey: Facts = { ...ada, hasSecurityKey: true };
const withBoth: Facts = { ...withApp, hasSecurityKey: true };
const withAuthenticator: Facts = { ...ada, hasAuthenticator: true };
const withAll: Facts = { ...withBoth, hasAuthenticator: true };
const authenticatorFactor = { method: "authenticator" as const, at };

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
  const parsed = flowData.parse({
    capabilities: capable,
    completedStates: ["preflight"],
    userId: "3f0a4c9e-0000-4000-8000-000000000001",
    factors: [password],
    ...data,
  });
  return plan({ type, facts, config, data: parsed });
}

const authenticatorsEnabled = { STILE_MFA_AUTHENTICATOR_ENABLED: "true" };

const noWebauthn = { ...capable, webauthn: false };
const noPlatform = { ...capable, platformAuthenticator: false };

describe("the second factor of a sign-in", () => {
  test.each<[string, Case, StateName | null]>([
    ["is not required without an enrolled factor", {}, null],
    ["is an app if one is enrolled", { facts: withApp }, "login_otp"],
    ["is a security key if one is enrolled", { facts: withKey }, "login_security_key"],
    ["is a security key rather than an app", { facts: withBoth }, "login_security_key"],
    [
      "is an app if the client cannot use security keys",
      { facts: withBoth, data: { capabilities: noWebauthn } },
      "login_otp",
    ],
    [
      "is a security key without an alternative, even if the client cannot use it",
      { facts: withKey, data: { capabilities: noWebauthn } },
      "login_security_key",
    ],
    [
      "is an app if the client lacks the configured kind of security key",
      {
        facts: withBoth,
        data: { capabilities: noPlatform },
        settings: { STILE_MFA_SECURITY_KEYS_AUTHENTICATOR_ATTACHMENT: "platform" },
      },
      "login_otp",
    ],
    [
      "is an authenticator if authenticators are enabled",
      { facts: withAuthenticator, settings: authenticatorsEnabled },
      "login_authenticator",
    ],
    ["is not an authenticator if authenticators are disabled", { facts: withAuthenticator }, null],
    [
      "is an app rather than a disabled authenticator",
      { facts: { ...withApp, hasAuthenticator: true } },
      "login_otp",
    ],
    [
      "is a security key rather than an authenticator",
      { facts: withAll, settings: authenticatorsEnabled },
      "login_security_key",
    ],
    [
      "is an authenticator rather than an app if the client cannot use security keys",
      { facts: withAll, data: { capabilities: noWebauthn }, settings: authenticatorsEnabled },
      "login_authenticator",
    ],
    [
      "is an authenticator rather than a security key that the client cannot use",
      {
        facts: { ...withKey, hasAuthenticator: true },
        data: { capabilities: noWebauthn },
        settings: authenticatorsEnabled,
      },
      "login_authenticator",
    ],
    [
      "is not an authenticator if second factors are disabled",
      { facts: withAuthenticator, settings: { ...authenticatorsEnabled, STILE_MFA_ENABLED: "false" } },
      null,
    ],
    [
      "is not required again after an authenticator",
      {
        facts: withAuthenticator,
        data: { factors: [password, authenticatorFactor] },
        settings: authenticatorsEnabled,
      },
      null,
    ],
    [
      "is an authenticator after a passkey without user verification",
      { facts: withAuthenticator, data: { factors: [unverifiedPasskey] }, settings: authenticatorsEnabled },
      "login_authenticator",
    ],
    [
      "is not an authenticator on a trusted device",
      { facts: { ...withAuthenticator, deviceTrusted: true }, settings: authenticatorsEnabled },
      null,
    ],
    [
      "is an authenticator at reauthentication, even on a trusted device",
      {
        type: "profile",
        facts: { ...withAuthenticator, deviceTrusted: true },
        data: { steppingUp: true },
        settings: authenticatorsEnabled,
      },
      "login_authenticator",
    ],
    [
      "is an authenticator before a forgotten password is replaced, even on a trusted device",
      {
        facts: { ...withAuthenticator, deviceTrusted: true },
        data: { recovering: true },
        settings: authenticatorsEnabled,
      },
      "login_authenticator",
    ],
    [
      "is not required if second factors are disabled",
      { facts: withBoth, settings: { STILE_MFA_ENABLED: "false" } },
      null,
    ],
    [
      "is not required if apps are disabled",
      { facts: withApp, settings: { STILE_MFA_TOTP_ENABLED: "false" } },
      null,
    ],
    ["is not required twice", { facts: withApp, data: { factors: [password, code] } }, null],
    [
      "is not required after a passkey with user verification",
      { facts: withApp, data: { factors: [passkey] } },
      null,
    ],
    [
      "is required after a passkey without user verification",
      { facts: withApp, data: { factors: [unverifiedPasskey] } },
      "login_otp",
    ],
    [
      "is required after an identity provider",
      { facts: withApp, data: { factors: [provider] } },
      "login_otp",
    ],
    [
      "is not required after a provider that is trusted for it",
      { facts: withApp, data: { factors: [trustedProvider] } },
      null,
    ],
    ["is not required on a trusted device", { facts: { ...withApp, deviceTrusted: true } }, null],
    [
      "is required at reauthentication, even on a trusted device",
      { type: "profile", facts: { ...withApp, deviceTrusted: true }, data: { steppingUp: true } },
      "login_otp",
    ],
    [
      "is required before a forgotten password is replaced",
      { facts: withApp, data: { recovering: true } },
      "login_otp",
    ],
    [
      "is required after SAML",
      { type: "token_exchange", facts: withApp, data: { factors: [provider] } },
      "login_otp",
    ],
  ])("%s", (_, situation, expected) => {
    const [head] = planned(situation);
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
    ["is not offered at registration by default", { type: "registration" }, false],
    [
      "is offered at registration if configured",
      { type: "registration", settings: { STILE_MFA_ACQUIRE_ON_REGISTRATION: "true" } },
      true,
    ],
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
      {
        settings: { ...atLogin, ...authenticatorsEnabled },
        facts: withAuthenticator,
        data: { factors: [password, authenticatorFactor] },
      },
      false,
    ],
    [
      "is required if the only factor is a disabled authenticator",
      { settings: mandatory, facts: withAuthenticator },
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
      { settings: mandatory, data: { factors: [unverifiedPasskey] } },
      true,
    ],
  ])("%s", (_, situation, expected) => {
    expect(planned(situation).includes("mfa_method_chooser")).toBe(expected);
  });

  test("comes after a missing password and after the passkey", () => {
    const situation = {
      type: "registration" as const,
      facts: { ...ada, hasPassword: false },
      data: { email: "ada@example.com", factors: [] },
      settings: {
        STILE_PASSKEY_ACQUIRE_ON_REGISTRATION: "always",
        STILE_MFA_ACQUIRE_ON_REGISTRATION: "true",
      },
    };
    expect(planned(situation)).toEqual([
      "passcode_confirmation",
      "password_creation",
      "onboarding_create_passkey",
      "mfa_method_chooser",
      "success",
    ]);
  });
});

describe("device_trust", () => {
  test.each([true, false])(
    "comes after the choice of a first credential, with email verification %j",
    (verifies) => {
      const settings = {
        STILE_PASSKEY_ACQUIRE_ON_REGISTRATION: "conditional",
        STILE_PASSWORD_ACQUIRE_ON_REGISTRATION: "conditional",
        STILE_MFA_ACQUIRE_ON_REGISTRATION: "true",
        STILE_EMAIL_REQUIRE_VERIFICATION: String(verifies),
      };
      const facts = { ...ada, hasPassword: false, emailVerified: false };
      const data = { email: "ada@example.com", factors: [] };
      expect(planned({ type: "registration", facts, data, settings })).toEqual([
        ...(verifies ? ["passcode_confirmation"] : []),
        "credential_onboarding_chooser",
        "mfa_method_chooser",
        "success",
      ]);
    },
  );

  test.each<[string, Case, boolean]>([
    ["is offered after a second factor", { facts: withApp, data: { factors: [password, code] } }, true],
    [
      "is offered after an authenticator",
      {
        facts: withAuthenticator,
        data: { factors: [password, authenticatorFactor] },
        settings: authenticatorsEnabled,
      },
      true,
    ],
    ["is offered after a security key", { facts: withKey, data: { factors: [password, key] } }, true],
    [
      "is offered after enrolment",
      { facts: withApp, data: { enrolled: true, factors: [password, code] } },
      true,
    ],
    ["is not offered without a second factor", {}, false],
    ["is not offered after a passkey", { facts: withApp, data: { factors: [passkey] } }, false],
    [
      "is not offered twice",
      { facts: withApp, data: { factors: [password, code], completedStates: ["preflight", "device_trust"] } },
      false,
    ],
    [
      "is not offered if the policy is never",
      {
        facts: withApp,
        data: { factors: [password, code] },
        settings: { STILE_MFA_DEVICE_TRUST_POLICY: "never" },
      },
      false,
    ],
    [
      "is not offered if the policy is always",
      {
        facts: withApp,
        data: { factors: [password, code] },
        settings: { STILE_MFA_DEVICE_TRUST_POLICY: "always" },
      },
      false,
    ],
  ])("%s", (_, situation, expected) => {
    expect(planned(situation).includes("device_trust")).toBe(expected);
  });
});

const noCapabilities = { webauthn: false, conditionalMediation: false, platformAuthenticator: false };
const webauthnOnly = { ...noCapabilities, webauthn: true };
const allCapabilities = { webauthn: true, conditionalMediation: true, platformAuthenticator: true };
const attachment = (value: string) => ({ STILE_MFA_SECURITY_KEYS_AUTHENTICATOR_ATTACHMENT: value });

describe("canUseSecurityKeys", () => {
  test.each([
    [{}, undefined, true],
    [{}, noCapabilities, false],
    [{}, webauthnOnly, true],
    [{}, allCapabilities, true],
    [attachment("platform"), undefined, true],
    [attachment("platform"), webauthnOnly, false],
    [attachment("platform"), { ...allCapabilities, webauthn: false }, false],
    [attachment("platform"), allCapabilities, true],
    [attachment("no_preference"), webauthnOnly, true],
    [{ STILE_MFA_ENABLED: "false" }, allCapabilities, false],
    [{ STILE_MFA_SECURITY_KEYS_ENABLED: "false" }, allCapabilities, false],
  ])("with the settings %j and the capabilities %j returns %s", (settings, capabilities, expected) => {
    expect(canUse(securityKey, capabilities, loadConfig(settings, "/nowhere"))).toBe(expected);
  });
});

const may = (facts: object, data: object, settings: Record<string, string> = {}) =>
  holds(mayAddCredential, {
    data: flowData.parse(data),
    facts: { ...noFacts, ...facts },
    config: loadConfig(settings, "/nowhere"),
  });

describe("mayAddCredential, with a second factor", () => {
  const facts = { hasTotp: true, deviceTrusted: true };

  test.each([
    ["no factor", []],
    ["a password on a trusted device", [password]],
    ["a passkey without user verification", [{ method: "passkey", at, userVerified: false }]],
  ])("is false after %s", (_label, factors) => {
    expect(may(facts, { factors })).toBe(false);
  });

  test.each([
    ["an authenticator app", [password, { method: "totp", at }]],
    ["a security key", [password, { method: "security_key", at }]],
    ["an authenticator", [password, { method: "authenticator", at }]],
    ["a recovery code", [password, { method: "recovery_code", at }]],
    ["a passkey with user verification", [{ method: "passkey", at, userVerified: true }]],
  ])("is true after %s", (_label, factors) => {
    expect(may(facts, { factors })).toBe(true);
  });

  test("is true after enrolment in this flow", () => {
    expect(may(facts, { factors: [password], enrolled: true })).toBe(true);
  });
});

test("mayAddCredential counts an authenticator only if authenticators are enabled", () => {
  const authenticatorsEnabled = { STILE_MFA_AUTHENTICATOR_ENABLED: "true" };
  const facts = { hasAuthenticator: true };
  expect(may(facts, { factors: [password] }, authenticatorsEnabled)).toBe(false);
  expect(may(facts, { factors: [password, { method: "authenticator", at }] }, authenticatorsEnabled)).toBe(
    true,
  );
  expect(may(facts, { factors: [password] })).toBe(true);
});

test("mayAddCredential is true without a second factor that the configuration accepts", () => {
  expect(may({}, { factors: [password] })).toBe(true);
  const off = { STILE_MFA_ENABLED: "false" };
  expect(may({ hasTotp: true, hasSecurityKey: true }, { factors: [password] }, off)).toBe(true);
});
