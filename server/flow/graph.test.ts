import { describe, expect, test } from "vitest";
import { deadEnds, diagram, edgesOf, graph, statesOf } from "./graph.ts";
import { flowTypes, stateNames } from "./names.ts";
import { states } from "./states/index.ts";

/**
 * interface.md 3, decisions.md 2 and flow-reference.md 5, by hand: what each state offers when every guard holds. Ours
 * beyond them: `recovery_code_validate`, `recovery_codes_create`, `session_delete_others`.
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
  login_passkey: ["webauthn_verify_assertion_response", "back"],
  login_password: ["password_login", "continue_to_passcode_confirmation_recovery", "back"],
  login_password_recovery: ["password_recovery"],
  login_method_chooser: [
    "continue_to_password_login",
    "continue_to_passcode_confirmation",
    "webauthn_generate_request_options",
    "back",
  ],
  passcode_confirmation: ["verify_passcode", "resend_passcode", "back"],
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
  login_otp: ["otp_code_validate", "continue_to_login_security_key", "recovery_code_validate", "back"],
  login_security_key: [
    "webauthn_generate_request_options",
    "continue_to_login_otp",
    "recovery_code_validate",
    "back",
  ],
  mfa_method_chooser: [
    "continue_to_otp_secret_creation",
    "continue_to_security_key_creation",
    "skip",
    "back",
  ],
  mfa_otp_secret_creation: ["otp_code_verify", "back"],
  mfa_security_key_creation: ["webauthn_generate_creation_options", "back"],
  device_trust: ["trust_device", "skip", "back"],
  webauthn_credential_verification: ["webauthn_verify_attestation_response", "back"],
  profile_init: [
    "account_delete",
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
    "patch_metadata",
    "session_delete",
    "session_delete_others",
  ],
  account_deleted: [],
  success: [],
};

test("every state declares the actions of the interface, and no others", () => {
  const declared = Object.fromEntries(
    stateNames.map((name) => [name, Object.keys(states[name].actions).sort()]),
  );
  const expected = Object.fromEntries(
    Object.entries(offered).map(([name, actions]) => [name, [...actions].sort()]),
  );
  expect(declared).toEqual(expected);
});

test("every state stands under its own name", () => {
  for (const name of stateNames) expect(states[name].name).toBe(name);
});

test("every state belongs to a flow", () => {
  expect([...new Set(flowTypes.flatMap(statesOf))].sort()).toEqual([...stateNames].sort());
});

describe.each(flowTypes)("in %s", (flow) => {
  test("every state can reach where the flow is meant to arrive", () => {
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

test("the published graph holds every edge and every declared error", () => {
  const published = graph();
  expect(Object.keys(published.flows)).toEqual([...flowTypes]);
  expect(published.errors).toContainEqual({
    state: "passcode_confirmation",
    action: "verify_passcode",
    code: "passcode_invalid",
  });
});
