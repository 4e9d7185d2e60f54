/** Every state, by its protocol name. A name without an entry in `states/index.ts` does not compile. */
export const stateNames = [
  "preflight",
  "account_choice",
  "login_init",
  "login_passkey",
  "login_method_chooser",
  "login_password",
  "login_password_recovery",
  "passcode_confirmation",
  "phone_confirmation",
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
  "login_sms",
  "mfa_method_chooser",
  "mfa_otp_secret_creation",
  "mfa_security_key_creation",
  "mfa_phone_creation",
  "device_trust",
  "profile_init",
  "webauthn_credential_verification",
  "account_deleted",
  "device_code",
  "consent",
  "consent_answered",
  "success",
] as const;

export type StateName = (typeof stateNames)[number];

export const isStateName = (name: string): name is StateName => stateNames.includes(name as StateName);

export const flowTypes = ["login", "registration", "profile", "token_exchange", "consent"] as const;

export type FlowType = (typeof flowTypes)[number];

/** Whether flows of a type belong to a user who is signed in: they need a session of that user. The others sign in. */
export function isOfSession(type: FlowType): boolean {
  return type === "profile" || type === "consent";
}

/** Whether flows of a type begin with the capabilities of the browser: not those that neither sign in nor create credentials. */
export function beginsWithPreflight(type: FlowType): boolean {
  return type !== "token_exchange" && type !== "consent";
}

/** The first state of the plan (`plan.ts`). */
export const NEXT = "NEXT";
/** The same state again. */
export const STAY = "STAY";
/** The previous state, with its data. */
export const BACK = "BACK";

/**
 * The login state in which a signed-in user reauthenticates; the account's methods decide which. Its value is published
 * in the flow graph, so it keeps its first name.
 */
export const REAUTHENTICATE = "PROOF";

/** The states that REAUTHENTICATE stands for. */
export const reauthenticationStates = [
  "login_method_chooser",
  "login_password",
  "passcode_confirmation",
  "phone_confirmation",
  "login_passkey",
] as const satisfies readonly StateName[];

/** Target of an action. */
export type Target = StateName | typeof NEXT | typeof STAY | typeof BACK | typeof REAUTHENTICATE;
