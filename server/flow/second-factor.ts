import type { Config } from "../config/schema.ts";
import type { FlowData } from "./data.ts";
import type { Facts } from "./facts.ts";
import type { StateName } from "./names.ts";
import type { Situation } from "./situation.ts";

type Factor = FlowData["factors"][number];

const secondFactors: readonly Factor["method"][] = ["totp", "security_key", "authenticator", "recovery_code"];

/** Whether these factors include a second factor. */
export function includesSecondFactor(factors: readonly Pick<Factor, "method">[]): boolean {
  return factors.some(({ method }) => secondFactors.includes(method));
}

/**
 * Whether these factors amount to multi-factor authentication: a second factor, or one multi-factor authenticator. A
 * passkey is one only if the authenticator verified the user (NIST SP 800-63B-4, 3.1.7), an identity provider only if
 * it is trusted for it; `userVerified` records both.
 */
export function isMultiFactor(factors: readonly Pick<Factor, "method" | "userVerified">[]): boolean {
  return includesSecondFactor(factors) || factors.some(({ userVerified }) => userVerified === true);
}

/** Whether the account has an authenticator (UAF) and the configuration accepts it as a second factor. */
export function hasUsableAuthenticator(
  { hasAuthenticator }: Pick<Facts, "hasAuthenticator">,
  { mfa }: Config,
): boolean {
  return mfa.enabled && mfa.authenticator.enabled && hasAuthenticator;
}

/**
 * Whether the configuration accepts security keys as a second factor, and this client can use the configured kind. A
 * platform attachment needs a platform authenticator; without one, `platform_authenticator_required` is shown.
 *
 * @param capabilities reported by the client; undefined in flows that do not ask, which leaves the check to the browser
 */
export function canUseSecurityKeys(capabilities: FlowData["capabilities"], config: Config): boolean {
  const { enabled, security_keys } = config.mfa;
  if (!enabled || !security_keys.enabled) return false;
  if (!capabilities) return true;
  const needsPlatform = security_keys.authenticator_attachment === "platform";
  return capabilities.webauthn && (capabilities.platformAuthenticator || !needsPlatform);
}

/** Whether the account has a second factor that the configuration accepts. */
export function hasSecondFactor(
  facts: Pick<Facts, "hasTotp" | "hasSecurityKey" | "hasAuthenticator">,
  config: Config,
): boolean {
  const { mfa } = config;
  return (
    mfa.enabled &&
    ((mfa.totp.enabled && facts.hasTotp) ||
      (mfa.security_keys.enabled && facts.hasSecurityKey) ||
      hasUsableAuthenticator(facts, config))
  );
}

/**
 * Returns the state that verifies the second factor, if one is required. A security key comes first if the client can
 * use it, because it resists phishing; then an authenticator (UAF); then the code of an app. A trusted device skips it
 * at a login. It is still required at reauthentication and before a credential changes (NIST SP 800-63B-4, 4.1.2.1 and
 * 4.2.2.2).
 */
export function secondFactorSteps({ type, data, facts, config }: Situation): StateName[] {
  if (!hasSecondFactor(facts, config) || isMultiFactor(data.factors)) return [];
  // Enrolment in this flow has just verified it.
  if (data.enrolled) return [];
  if (facts.deviceTrusted && type !== "profile" && !changesCredentials(data)) return [];
  const hasUsableApp = config.mfa.totp.enabled && facts.hasTotp;
  const hasUsableKey = config.mfa.security_keys.enabled && facts.hasSecurityKey;
  if (hasUsableKey && canUseSecurityKeys(data.capabilities, config)) return ["login_security_key"];
  if (hasUsableAuthenticator(facts, config)) return ["login_authenticator"];
  // If the only factor is a key that this client cannot use, the state reports what is missing.
  return hasUsableApp ? ["login_otp"] : ["login_security_key"];
}

/** Whether this sign-in will write a new password or link an identity. */
const changesCredentials = ({ recovering, pending }: FlowData) =>
  recovering === true || pending.identity !== undefined;

/**
 * Whether a second factor must be enrolled. If optional, it is offered to single-factor sign-ins where the configuration
 * says so; if required, every single-factor sign-in must enrol one.
 */
export function needsEnrolment({ type, data, facts, config }: Situation): boolean {
  const { mfa, password, email } = config;
  if (!mfa.enabled || hasSecondFactor(facts, config) || data.completedStates.includes("mfa_method_chooser"))
    return false;
  const isRegistration = type === "registration" || data.signedUp === "created";
  const hasPasswordLogin = password.enabled && facts.hasPassword;
  const hasCodeLogin = email.enabled && email.use_for_authentication && facts.email !== null;
  const canEnrol = mfa.totp.enabled || canUseSecurityKeys(data.capabilities, config);
  if (mfa.optional) {
    const byThirdParty = data.factors[0]?.method === "third_party";
    const isOffered = isRegistration ? mfa.acquire_on_registration : mfa.acquire_on_login;
    return isOffered && canEnrol && !byThirdParty && (hasPasswordLogin || hasCodeLogin);
  }
  // Without a usable method the state reports what is missing, and cannot be passed.
  if (!mfa.totp.enabled && !mfa.security_keys.enabled) return false;
  return isRegistration
    ? hasPasswordLogin || hasCodeLogin || data.signedUp !== undefined
    : !isMultiFactor(data.factors);
}

/**
 * Whether this flow may add a passkey or a security key to an account. Such a credential is sufficient to
 * sign in, so adding one requires the full authentication of the account (NIST SP 800-63B-4, 4.1.2.1). A trusted device
 * that skipped the second factor is not sufficient, nor is a flow that started before the second factor was enrolled.
 */
export function mayAddCredential({
  data,
  facts,
  config,
}: Pick<Situation, "data" | "facts" | "config">): boolean {
  return !hasSecondFactor(facts, config) || isMultiFactor(data.factors) || data.enrolled === true;
}

/** Whether to offer `device_trust`. */
export function offersDeviceTrust({ data, facts, config }: Situation): boolean {
  const { mfa } = config;
  const hasVerified = includesSecondFactor(data.factors) || data.enrolled === true;
  return mfa.enabled && mfa.device_trust_policy === "prompt" && hasVerified && !facts.deviceTrusted;
}
