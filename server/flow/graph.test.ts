import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { flowTypesOfSessions } from "#db/schema/flows";
import type { Account } from "../account/account.ts";
import type { CredentialProfile } from "../account/profile.ts";
import { loadConfig } from "../config/load.ts";
import type { Session } from "../objects/session.ts";
import { storedNothing } from "../testing/stored-nothing.ts";
import { type FlowData, flowData } from "./data.ts";
import { noFacts } from "./facts.ts";
import { deadEnds, diagram, edgesOf, graph, statesOf } from "./graph.ts";
import { type FlowType, flowTypes, isOfSession, type StateName, stateNames } from "./names.ts";
import { show, showError } from "./show.ts";
import { states } from "./states/index.ts";
import { viewOf } from "./view.ts";

/**
 * Actions that each state offers when every guard holds, written by hand. Beyond the original protocol:
 * `login_authenticator` and the actions that lead to it, `recovery_code_validate`, `recovery_codes_create`,
 * `session_delete_others`, `continue_to_login_method_chooser`.
 */
const offered: Record<string, string[]> = {
  preflight: ["register_client_capabilities"],
  login_init: [
    "continue_with_login_identifier",
    "webauthn_generate_request_options",
    "webauthn_verify_assertion_response",
    "thirdparty_oauth",
    "remember_me",
  ],
  login_passkey: ["webauthn_verify_assertion_response", "continue_to_login_method_chooser", "back"],
  login_password: [
    "password_login",
    "continue_to_passcode_confirmation_recovery",
    "continue_to_login_method_chooser",
    "back",
  ],
  login_password_recovery: ["password_recovery"],
  login_method_chooser: [
    "thirdparty_oauth",
    "continue_to_password_login",
    "continue_to_passcode_confirmation",
    "continue_to_phone_confirmation",
    "webauthn_generate_request_options",
    "back",
  ],
  passcode_confirmation: ["verify_passcode", "resend_passcode", "continue_to_login_method_chooser", "back"],
  phone_confirmation: ["verify_passcode", "resend_passcode", "continue_to_login_method_chooser", "back"],
  password_creation: ["register_password", "skip", "back"],
  onboarding_email: ["email_address_set", "skip"],
  onboarding_username: ["username_set", "skip"],
  credential_onboarding_chooser: [
    "continue_to_passkey_registration",
    "continue_to_password_registration",
    "skip",
    "back",
  ],
  onboarding_create_passkey: ["webauthn_generate_creation_options", "skip", "back"],
  onboarding_verify_passkey_attestation: ["webauthn_verify_attestation_response", "back"],
  registration_init: ["register_login_identifier", "thirdparty_oauth", "remember_me"],
  thirdparty: ["exchange_token", "back"],
  login_otp: [
    "otp_code_validate",
    "continue_to_login_security_key",
    "continue_to_login_authenticator",
    "recovery_code_validate",
    "back",
  ],
  login_security_key: [
    "webauthn_generate_request_options",
    "continue_to_login_otp",
    "continue_to_login_authenticator",
    "recovery_code_validate",
    "back",
  ],
  login_authenticator: [
    "authenticator_verify",
    "continue_to_login_otp",
    "continue_to_login_security_key",
    "recovery_code_validate",
    "back",
  ],
  login_sms: [
    "verify_passcode",
    "resend_passcode",
    "continue_to_login_otp",
    "continue_to_login_security_key",
    "continue_to_login_authenticator",
    "recovery_code_validate",
    "back",
  ],
  mfa_method_chooser: [
    "continue_to_otp_secret_creation",
    "continue_to_security_key_creation",
    "continue_to_phone_creation",
    "skip",
    "back",
  ],
  mfa_otp_secret_creation: ["otp_code_verify", "back"],
  mfa_security_key_creation: ["webauthn_generate_creation_options", "back"],
  mfa_phone_creation: ["phone_set", "back"],
  device_trust: ["trust_device", "skip", "back"],
  webauthn_credential_verification: ["webauthn_verify_attestation_response", "back"],
  account_choice: ["account_choose", "account_other", "account_forget"],
  device_code: ["device_code_verify"],
  consent: ["consent_allow", "consent_deny"],
  consent_answered: [],
  profile_init: [
    "account_delete",
    "authenticator_delete",
    "name_update",
    "picture_update",
    "picture_delete",
    "trusted_device_delete",
    "application_revoke",
    "connect_thirdparty_oauth_provider",
    "disconnect_thirdparty_oauth_provider",
    "continue_to_otp_secret_creation",
    "otp_secret_delete",
    "recovery_codes_create",
    "security_key_create",
    "security_key_delete",
    "webauthn_credential_create",
    "webauthn_credential_rename",
    "webauthn_credential_delete",
    "email_create",
    "email_delete",
    "email_set_primary",
    "email_verify",
    "password_create",
    "password_update",
    "password_delete",
    "username_create",
    "username_update",
    "username_delete",
    "phone_set",
    "phone_delete",
    "patch_metadata",
    "session_delete",
    "session_delete_others",
  ],
  account_deleted: [],
  success: [],
};

/** Further names of actions, under which published clients know them. */
const aliases: Record<string, string[]> = { onboarding_username: ["username_create"] };

test("every state declares the actions of the interface, and no others", () => {
  const declared = Object.fromEntries(
    stateNames.map((name) => [name, Object.keys(states[name].actions).sort()]),
  );
  const expected = Object.fromEntries(
    Object.entries(offered).map(([name, actions]) => [name, [...actions].sort()]),
  );
  expect(declared).toEqual(expected);
});

test("the flows of sessions are those that the table names", () => {
  expect(flowTypes.filter(isOfSession)).toEqual(flowTypesOfSessions);
});

/** Every feature enabled, with choices everywhere. */
const everything = {
  STILE_USERNAME_ENABLED: "true",
  STILE_EMAIL_OPTIONAL: "true",
  STILE_PASSWORD_OPTIONAL: "true",
  STILE_ACCOUNT_ALLOW_DELETION: "true",
  STILE_SESSION_COOKIE_RETENTION: "prompt",
  STILE_THIRD_PARTY_PROVIDERS_GITHUB_ENABLED: "true",
  STILE_THIRD_PARTY_PROVIDERS_GITHUB_CLIENT_ID: "us",
  STILE_THIRD_PARTY_PROVIDERS_GITHUB_SECRET: "s",
  STILE_THIRD_PARTY_PROVIDERS_GOOGLE_ENABLED: "true",
  STILE_THIRD_PARTY_PROVIDERS_GOOGLE_CLIENT_ID: "us",
  STILE_THIRD_PARTY_PROVIDERS_GOOGLE_SECRET: "s",
  STILE_MFA_AUTHENTICATOR_ENABLED: "true",
  STILE_PASSKEY_ACQUIRE_ON_REGISTRATION: "conditional",
  STILE_PASSWORD_ACQUIRE_ON_REGISTRATION: "conditional",
  STILE_PHONE_ENABLED: "true",
  STILE_PHONE_ALLOWED_COUNTRIES: "DE",
  STILE_OPENID_ENABLED: "true",
};
const generous = loadConfig(everything, "/nowhere");

/** The same, with a code by SMS as second factor: it cannot be both. */
const withSmsAsSecondFactor = loadConfig(
  { ...everything, STILE_PHONE_USE_FOR_AUTHENTICATION: "false", STILE_MFA_SMS_ENABLED: "true" },
  "/nowhere",
);

const at = new Date();
const credential = (id: string) => ({ id }) as CredentialProfile;
const times = { created_at: "", updated_at: "" };

/** Full and empty accounts, because some actions add what others remove. */
const accounts: Account[] = [
  {
    profile: {
      id: "u",
      user_id: "u",
      emails: [
        { id: "1", address: "ada@example.com", is_verified: true, is_primary: true },
        { id: "2", address: "ada@example.org", is_verified: false, is_primary: false },
      ],
      username: { id: "n", username: "ada", ...times },
      phone_number: "+4915112345678",
      phone_number_verified: true,
      passkeys: [credential("a"), credential("b")],
      security_keys: [credential("c")],
      mfa_config: { auth_app_set_up: true, totp_enabled: true, security_keys_enabled: true },
      identities: [{ id: "s", provider: "Google", identity_id: "i" }],
      picture: "https://example.com/ada.png",
      ...times,
    },
    stored: storedNothing,
    has: { hasPassword: true, hasTotp: true },
    picture: null,
    identities: [{ id: "i", provider: "google", subject: "s", email: null }],
    sessions: ["s1", "s2"].map(
      (id) => ({ id, createdAt: at, authenticatedAt: at, expiresAt: at, lastUsedAt: at }) as Session,
    ),
    sessionLocations: {},
    handles: {},
    credentialUses: {},
    belongings: {
      recoveryCodesLeft: 10,
      phones: [{ id: "p", name: "Phone", created_at: "", last_used_at: "" }],
      trustedBrowsers: [{ id: "b", last_used_at: "", expires_at: "" }],
      signIns: [],
      applications: [{ id: "shop", application: null, allowed: null, since: "" }],
    },
  },
  {
    profile: {
      id: "u",
      user_id: "u",
      mfa_config: { auth_app_set_up: false, totp_enabled: true, security_keys_enabled: true },
      ...times,
    },
    stored: storedNothing,
    has: { hasPassword: false, hasTotp: false },
    picture: null,
    identities: [],
    sessions: [],
    sessionLocations: {},
    handles: {},
    credentialUses: {},
    belongings: { recoveryCodesLeft: 0, phones: [], trustedBrowsers: [], signIns: [], applications: [] },
  },
];

const capabilities = { webauthn: true, conditionalMediation: true, platformAuthenticator: true };
/** Lists what a state offers in any of its situations. */
function offeredIn(
  flow: FlowType,
  name: StateName,
  data: Partial<FlowData>,
  account: Account,
  config = generous,
): string[] {
  const remembered = flowData.parse({
    capabilities,
    userId: randomUUID(),
    sessionId: "00000000-0000-4000-8000-000000000001",
    completedStates: ["preflight"],
    email: "ada@example.com",
    emailVerified: true,
    credentialKind: "passkey",
    ...data,
  });
  const facts = {
    ...noFacts,
    email: "ada@example.com",
    emailVerified: true,
    ...(flow === "login" && data.factors
      ? { hasTotp: true, hasSecurityKey: true, hasAuthenticator: true, hasRecoveryCode: true }
      : {}),
  };
  const owner = flow === "profile" ? { ...anOwner, account } : null;
  const record = {
    id: "f",
    type: flow,
    state: name,
    version: 1,
    data: remembered,
    payload: {},
    secrets: {},
    wanted: null,
  };
  const previous = data.lastMethod ? "login_method_chooser" : "preflight";
  const history = [{ state: previous, data: remembered } as const];
  const view = viewOf({ ...record, history }, facts, config, owner);
  return Object.keys(show({ ...record, history }, view, states[name], null, "").actions);
}

const password = { method: "password" as const, at: "2026-01-01T00:00:00.000Z" };
const anOwner = { session: { id: "s1", authenticatedAt: new Date(), factors: [] } as never, now: new Date() };

test.each(stateNames)("%s offers the actions that the interface lists if every guard holds", (name) => {
  const situations: Partial<FlowData>[] = [
    {},
    { factors: [password] },
    { steppingUp: true },
    { lastMethod: { method: "password" } },
    { choice: { request: "r1", accounts: [{ key: "k1", name: "a•••@example.com" }] } },
    // The plan reaches these after the second factor, where they can be skipped.
    { completedStates: ["preflight", "mfa_method_chooser"] },
    { completedStates: ["preflight", "mfa_method_chooser", "onboarding_create_passkey"] },
  ];
  const all = flowTypes
    .filter((flow) => statesOf(flow).includes(name))
    .flatMap((flow) =>
      [generous, withSmsAsSecondFactor].flatMap((config) =>
        situations.flatMap((data) =>
          accounts.flatMap((account) => offeredIn(flow, name, data, account, config)),
        ),
      ),
    );
  expect([...new Set(all)].sort()).toEqual([...(offered[name] ?? []), ...(aliases[name] ?? [])].sort());
});

test("offers authenticator actions only if authenticators are enabled", () => {
  const [account] = accounts as [Account];
  for (const name of stateNames) {
    const off = offeredIn("login", name, { factors: [password] }, account, loadConfig({}, "/nowhere"));
    expect(off).not.toContain("continue_to_login_authenticator");
  }
});

test("the error state has no actions", () => {
  expect(showError("technical_error")).toMatchObject({ name: "error", actions: {}, csrf_token: "" });
});

test("every state is listed under its own name", () => {
  for (const name of stateNames) expect(states[name].name).toBe(name);
});

test("every state belongs to a flow", () => {
  expect([...new Set(flowTypes.flatMap(statesOf))].sort()).toEqual([...stateNames].sort());
});

describe.each(flowTypes)("in %s", (flow) => {
  test("every state can reach the destination of the flow", () => {
    expect(deadEnds(flow)).toEqual([]);
  });

  test("no action leads to a state outside the flow", () => {
    const inside: string[] = [...statesOf(flow), "NEXT", "STAY", "BACK", "PROOF"];
    for (const edge of edgesOf(flow)) expect(inside).toContain(edge.to);
  });

  test("the diagram draws every state", () => {
    for (const state of statesOf(flow)) expect(diagram(flow)).toContain(state);
  });
});

test("the published graph contains every edge and every declared error", () => {
  const published = graph();
  expect(Object.keys(published.flows)).toEqual([...flowTypes]);
  expect(published.errors).toContainEqual({
    state: "passcode_confirmation",
    action: "verify_passcode",
    code: "passcode_invalid",
  });
  expect(published.aliases).toEqual([
    { state: "onboarding_username", action: "username_create", alias_of: "username_set" },
  ]);
});
