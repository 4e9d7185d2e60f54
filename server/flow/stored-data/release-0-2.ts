import type { StateName } from "../names.ts";

/** What release 0.2 stores of a flow, which is format 1. It writes no number of it. */
export const FORMAT_OF_0_2 = 1;

/**
 * The states of release 0.2, and where a flow in them goes on. A state that is removed does not compile here: name the
 * nearest one that its data satisfies.
 */
const states = {
  preflight: "preflight",
  login_init: "login_init",
  login_passkey: "login_passkey",
  login_method_chooser: "login_method_chooser",
  login_password: "login_password",
  login_password_recovery: "login_password_recovery",
  passcode_confirmation: "passcode_confirmation",
  password_creation: "password_creation",
  onboarding_email: "onboarding_email",
  onboarding_username: "onboarding_username",
  credential_onboarding_chooser: "credential_onboarding_chooser",
  onboarding_create_passkey: "onboarding_create_passkey",
  onboarding_verify_passkey_attestation: "onboarding_verify_passkey_attestation",
  registration_init: "registration_init",
  thirdparty: "thirdparty",
  login_otp: "login_otp",
  login_security_key: "login_security_key",
  login_authenticator: "login_authenticator",
  mfa_method_chooser: "mfa_method_chooser",
  mfa_otp_secret_creation: "mfa_otp_secret_creation",
  mfa_security_key_creation: "mfa_security_key_creation",
  device_trust: "device_trust",
  profile_init: "profile_init",
  webauthn_credential_verification: "webauthn_credential_verification",
  account_deleted: "account_deleted",
  success: "success",
} as const satisfies Record<string, StateName>;

/** States whose sealed payload may hold recovery codes, which are shown once only now. */
const statesWithCodes: readonly string[] = ["success", "profile_init"];

type Json = Record<string, unknown>;

/** A stored flow, before it is validated. */
export interface UnvalidatedFlow {
  state: unknown;
  data: unknown;
  history: unknown;
}

/** Converts a flow that release 0.2 stored to the present names. Values are validated afterwards. */
export function fromRelease02({ state, data, history }: UnvalidatedFlow): UnvalidatedFlow {
  return {
    state: stateFrom02(state),
    data: dataFrom02(data),
    history: Array.isArray(history)
      ? history.map((entry) =>
          isObject(entry) ? { state: stateFrom02(entry.state), data: dataFrom02(entry.data) } : entry,
        )
      : history,
  };
}

/** Whether the sealed members of a payload of release 0.2 are left out. */
export function hidesSecretsOf02(state: string): boolean {
  return statesWithCodes.includes(state);
}

function stateFrom02(state: unknown): unknown {
  return typeof state === "string" && Object.hasOwn(states, state)
    ? states[state as keyof typeof states]
    : state;
}

function dataFrom02(data: unknown): unknown {
  if (!isObject(data)) return data;
  const { answered, creating, passcode, ...same } = data;
  return {
    ...same,
    ...(Array.isArray(answered) ? { completedStates: answered.map(stateFrom02) } : {}),
    ...(creating === undefined ? {} : { credentialKind: creating }),
    ...(isObject(passcode) ? { passcode: passcodeFrom02(passcode) } : {}),
  };
}

function passcodeFrom02({ genuine, ...same }: Json): Json {
  return typeof genuine === "boolean" ? { ...same, decoy: !genuine } : same;
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
