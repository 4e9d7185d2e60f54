import type { State } from "../define.ts";
import type { StateName } from "../names.ts";
import { credentialOnboardingChooser } from "./credential-onboarding-chooser.ts";
import { loginInit } from "./login-init.ts";
import { loginMethodChooser } from "./login-method-chooser.ts";
import { loginPasskey } from "./login-passkey.ts";
import { loginPassword } from "./login-password.ts";
import { loginPasswordRecovery } from "./login-password-recovery.ts";
import { onboardingCreatePasskey } from "./onboarding-create-passkey.ts";
import { onboardingEmail } from "./onboarding-email.ts";
import { onboardingUsername } from "./onboarding-username.ts";
import { onboardingVerifyPasskeyAttestation } from "./onboarding-verify-passkey-attestation.ts";
import { passcodeConfirmation } from "./passcode-confirmation.ts";
import { passwordCreation } from "./password-creation.ts";
import { preflight } from "./preflight.ts";
import { registrationInit } from "./registration-init.ts";
import { success } from "./success.ts";

/** The table of states. */
export const states: Record<StateName, State> = {
  preflight,
  login_init: loginInit,
  login_passkey: loginPasskey,
  login_method_chooser: loginMethodChooser,
  login_password: loginPassword,
  login_password_recovery: loginPasswordRecovery,
  passcode_confirmation: passcodeConfirmation,
  password_creation: passwordCreation,
  onboarding_email: onboardingEmail,
  onboarding_username: onboardingUsername,
  credential_onboarding_chooser: credentialOnboardingChooser,
  onboarding_create_passkey: onboardingCreatePasskey,
  onboarding_verify_passkey_attestation: onboardingVerifyPasskeyAttestation,
  registration_init: registrationInit,
  success,
};
