/** Every state, by the protocol's own name. A name without a file in `states/` does not compile. */
export const stateNames = [
  "preflight",
  "login_init",
  "login_passkey",
  "login_method_chooser",
  "login_password",
  "login_password_recovery",
  "passcode_confirmation",
  "password_creation",
  "onboarding_email",
  "onboarding_username",
  "credential_onboarding_chooser",
  "onboarding_create_passkey",
  "onboarding_verify_passkey_attestation",
  "registration_init",
  "thirdparty",
  "login_otp",
  "login_security_key",
  "login_authenticator",
  "mfa_method_chooser",
  "mfa_otp_secret_creation",
  "mfa_security_key_creation",
  "device_trust",
  "profile_init",
  "webauthn_credential_verification",
  "account_deleted",
  "success",
] as const;

export type StateName = (typeof stateNames)[number];

export const flowTypes = ["login", "registration", "profile", "token_exchange"] as const;

export type FlowType = (typeof flowTypes)[number];

/** The head of the plan: whatever is still owed. */
export const NEXT = "NEXT";
/** The same state again. */
export const STAY = "STAY";
/** The state before, with what the flow knew then. */
export const BACK = "BACK";

/** Where somebody who is signed in shows once more who they are: one of the login states, by what the account has. */
export const PROOF = "PROOF";

/** The states that PROOF stands for. */
export const proofStates = [
  "login_method_chooser",
  "login_password",
  "passcode_confirmation",
  "login_passkey",
] as const satisfies readonly StateName[];

/** Where an action may lead. */
export type Target = StateName | typeof NEXT | typeof STAY | typeof BACK | typeof PROOF;
