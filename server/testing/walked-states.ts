import type { FlowCoverage } from "../flow/coverage.ts";
import { declaredErrors, edgesOf } from "../flow/graph.ts";
import type { FlowType, StateName } from "../flow/names.ts";
import { states } from "../flow/states/index.ts";

/** The test of `server/flow` that covers all edges and errors of a state. A state without one does not compile. */
const walkedBy: Record<StateName, string> = {
  preflight: "engine",
  account_choice: "account-choice",
  login_init: "engine",
  login_passkey: "engine",
  login_method_chooser: "engine",
  login_password: "engine",
  login_password_recovery: "engine",
  passcode_confirmation: "engine",
  password_creation: "engine",
  onboarding_email: "engine",
  onboarding_username: "engine",
  credential_onboarding_chooser: "engine",
  onboarding_create_passkey: "engine",
  onboarding_verify_passkey_attestation: "engine",
  registration_init: "engine",
  success: "engine",
  login_otp: "second-factors",
  phone_confirmation: "codes-by-sms",
  login_sms: "codes-by-sms",
  mfa_phone_creation: "codes-by-sms",
  mfa_method_chooser: "second-factors",
  mfa_otp_secret_creation: "second-factors",
  device_trust: "second-factors",
  login_security_key: "security-keys",
  mfa_security_key_creation: "security-keys",
  login_authenticator: "login-authenticator",
  thirdparty: "third-party",
  profile_init: "profile",
  webauthn_credential_verification: "profile",
  account_deleted: "profile",
  consent: "consent",
  device_code: "consent",
  consent_answered: "consent",
};

/** The flows whose edges are covered separately. Other flows share the declarations of their states. */
const walkedFlows: readonly FlowType[] = ["login", "registration"];

/** Whether one of these flows may offer an action. */
function isWalked(state: StateName, action: string): boolean {
  return walkedFlows.some((flow) => states[state].actions[action]?.flows.includes(flow));
}

/** Returns the declared edges and errors of a test's states that its walks have not covered. */
export function untaken(taken: FlowCoverage, test: string): string[] {
  const own = (state: StateName) => walkedBy[state] === test;
  const declared = walkedFlows
    .flatMap(edgesOf)
    .filter(({ from }) => own(from))
    .map(({ flow, from, action, to }) => `${flow} ${from} ${action} ${to}`);
  const errors = declaredErrors()
    .filter(({ state, action }) => own(state) && isWalked(state, action))
    .map(({ state, action, code }) => `${state} ${action} ${code}`);
  return [
    ...declared.filter((edge) => !taken.edges.has(edge)),
    ...errors.filter((error) => !taken.errors.has(error)),
  ];
}
