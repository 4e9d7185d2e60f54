import type { Action, State } from "../define.ts";
import type { StateName } from "../names.ts";
import { accountChoice } from "./account-choice.ts";
import { accountDeleted } from "./account-deleted.ts";
import { consent } from "./consent.ts";
import { consentAnswered } from "./consent-answered.ts";
import { credentialOnboardingChooser } from "./credential-onboarding-chooser.ts";
import { deviceCode } from "./device-code.ts";
import { deviceTrust } from "./device-trust.ts";
import { loginAuthenticator } from "./login-authenticator.ts";
import { loginInit } from "./login-init.ts";
import { loginMethodChooser } from "./login-method-chooser.ts";
import { loginOtp } from "./login-otp.ts";
import { loginPasskey } from "./login-passkey.ts";
import { loginPassword } from "./login-password.ts";
import { loginPasswordRecovery } from "./login-password-recovery.ts";
import { loginSecurityKey } from "./login-security-key.ts";
import { loginSms } from "./login-sms.ts";
import { mfaMethodChooser } from "./mfa-method-chooser.ts";
import { mfaOtpSecretCreation } from "./mfa-otp-secret-creation.ts";
import { mfaPhoneCreation } from "./mfa-phone-creation.ts";
import { mfaSecurityKeyCreation } from "./mfa-security-key-creation.ts";
import { onboardingCreatePasskey } from "./onboarding-create-passkey.ts";
import { onboardingEmail } from "./onboarding-email.ts";
import { onboardingUsername } from "./onboarding-username.ts";
import { onboardingVerifyPasskeyAttestation } from "./onboarding-verify-passkey-attestation.ts";
import { passcodeConfirmation } from "./passcode-confirmation.ts";
import { passwordCreation } from "./password-creation.ts";
import { phoneConfirmation } from "./phone-confirmation.ts";
import { preflight } from "./preflight.ts";
import { profileInit } from "./profile-init.ts";
import { registrationInit } from "./registration-init.ts";
import { success } from "./success.ts";
import { thirdparty } from "./thirdparty.ts";
import { webauthnCredentialVerification } from "./webauthn-credential-verification.ts";

const table = {
  preflight,
  account_choice: accountChoice,
  login_init: loginInit,
  login_passkey: loginPasskey,
  login_method_chooser: loginMethodChooser,
  login_password: loginPassword,
  login_password_recovery: loginPasswordRecovery,
  passcode_confirmation: passcodeConfirmation,
  phone_confirmation: phoneConfirmation,
  password_creation: passwordCreation,
  onboarding_email: onboardingEmail,
  onboarding_username: onboardingUsername,
  credential_onboarding_chooser: credentialOnboardingChooser,
  onboarding_create_passkey: onboardingCreatePasskey,
  onboarding_verify_passkey_attestation: onboardingVerifyPasskeyAttestation,
  registration_init: registrationInit,
  thirdparty,
  login_otp: loginOtp,
  login_security_key: loginSecurityKey,
  login_authenticator: loginAuthenticator,
  login_sms: loginSms,
  mfa_method_chooser: mfaMethodChooser,
  mfa_otp_secret_creation: mfaOtpSecretCreation,
  mfa_security_key_creation: mfaSecurityKeyCreation,
  mfa_phone_creation: mfaPhoneCreation,
  device_trust: deviceTrust,
  profile_init: profileInit,
  webauthn_credential_verification: webauthnCredentialVerification,
  account_deleted: accountDeleted,
  device_code: deviceCode,
  consent,
  consent_answered: consentAnswered,
  success,
} satisfies Record<StateName, State>;

/** The table of states. */
export const states: Record<StateName, State> = table;

export type States = typeof table;

const actionNames: ReadonlySet<string> = new Set(
  Object.values(states).flatMap(({ actions }) =>
    Object.entries<Action>(actions).flatMap(([name, { aliases }]) => [name, ...aliases]),
  ),
);

/** Whether a state has an action of this name, or one that it is an alias of. */
export const isActionName = (text: string) => actionNames.has(text);
