import type { Config } from "../config/schema.ts";
import type { FlowData } from "./data.ts";
import type { Facts } from "./facts.ts";
import type { StateName } from "./names.ts";
import type { Situation } from "./situation.ts";

type Factor = FlowData["factors"][number];

const secondFactors: readonly Factor["method"][] = ["totp", "security_key", "authenticator", "recovery_code"];

/** Whether these proofs include a second factor by itself. */
export function showsSecondFactor(factors: readonly Pick<Factor, "method">[]): boolean {
  return factors.some(({ method }) => secondFactors.includes(method));
}

/**
 * Whether these proofs are worth two: a second factor was shown, or one proof that is two by itself. A passkey is one
 * only when the authenticator verified its user (NIST SP 800-63B-4, 3.1.7), a third party only where it is trusted
 * for that; both say so by `userVerified`.
 */
export function isProvedTwice(factors: readonly Pick<Factor, "method" | "userVerified">[]): boolean {
  return showsSecondFactor(factors) || factors.some(({ userVerified }) => userVerified === true);
}

/** Whether the account has a phone that answers requests, and that counts here. */
export function answersRequests(
  { hasAuthenticator }: Pick<Facts, "hasAuthenticator">,
  { mfa }: Config,
): boolean {
  return mfa.enabled && mfa.authenticator.enabled && hasAuthenticator;
}

/**
 * Whether security keys are second factors here, and this client can use the kind that is configured: where that is
 * the device's own authenticator, the device needs one. Otherwise `platform_authenticator_required` says what is
 * missing.
 *
 * @param capabilities what the client said of its browser. A flow that never asks knows nothing of them; then the
 *   browser will tell
 */
export function canUseSecurityKeys(capabilities: FlowData["capabilities"], config: Config): boolean {
  const { enabled, security_keys } = config.mfa;
  if (!enabled || !security_keys.enabled) return false;
  if (!capabilities) return true;
  const needsPlatform = security_keys.authenticator_attachment === "platform";
  return capabilities.webauthn && (capabilities.platformAuthenticator || !needsPlatform);
}

/** Whether the account has a second factor that counts here. */
export function hasSecondFactor(
  facts: Pick<Facts, "hasTotp" | "hasSecurityKey" | "hasAuthenticator">,
  config: Config,
): boolean {
  const { mfa } = config;
  return (
    mfa.enabled &&
    ((mfa.totp.enabled && facts.hasTotp) ||
      (mfa.security_keys.enabled && facts.hasSecurityKey) ||
      answersRequests(facts, config))
  );
}

/**
 * The second factor that has to be shown. A security key goes first, where the client can use it, since no other site
 * can have its answer; then a phone that answers requests; then a code of an app, which has to be typed. A trusted
 * browser saves it at a login, and never when somebody who is signed in proves who they are once more, nor
 * when a new way in is to be written (NIST SP 800-63B-4, 4.1.2.1 and 4.2.2.2).
 */
export function secondFactorOwed({ type, data, facts, config }: Situation): StateName[] {
  if (!hasSecondFactor(facts, config) || isProvedTwice(data.factors)) return [];
  // Whoever has just set one up has it at hand.
  if (data.enrolled) return [];
  if (facts.deviceTrusted && type !== "profile" && !changesWaysIn(data)) return [];
  const byApp = config.mfa.totp.enabled && facts.hasTotp;
  const byKey = config.mfa.security_keys.enabled && facts.hasSecurityKey;
  if (byKey && canUseSecurityKeys(data.capabilities, config)) return ["login_security_key"];
  if (answersRequests(facts, config)) return ["login_authenticator"];
  // With nothing but a key that this client cannot use, the state says what is missing.
  return byApp ? ["login_otp"] : ["login_security_key"];
}

/** Whether this sign-in is about to write a new password, or the identity that it came by. */
const changesWaysIn = ({ recovering, pending }: FlowData) =>
  recovering === true || pending.identity !== undefined;

/**
 * Whether a second factor is to be set up. Where it is optional, it is offered when the configuration says so, to
 * whoever comes in by one factor alone; where it is not, nobody comes in by one factor without setting one up.
 */
export function enrolmentOwed({ type, data, facts, config }: Situation): boolean {
  const { mfa, password, email } = config;
  if (!mfa.enabled || hasSecondFactor(facts, config) || data.answered.includes("mfa_method_chooser"))
    return false;
  const registers = type === "registration" || data.signedUp === "created";
  const byPassword = password.enabled && facts.hasPassword;
  const byCode = email.enabled && email.use_for_authentication && facts.email !== null;
  const means = mfa.totp.enabled || canUseSecurityKeys(data.capabilities, config);
  if (mfa.optional) {
    const byThirdParty = data.factors[0]?.method === "third_party";
    const asked = registers ? mfa.acquire_on_registration : mfa.acquire_on_login;
    return asked && means && !byThirdParty && (byPassword || byCode);
  }
  // With no means at all the state says what is missing, and there is no way past it.
  if (!mfa.totp.enabled && !mfa.security_keys.enabled) return false;
  return registers ? byPassword || byCode || data.signedUp !== undefined : !isProvedTwice(data.factors);
}

/**
 * Whether this flow may add a passkey or a security key to an account. Whoever holds one needs no other proof from
 * then on, so adding one takes as much proof as the account asks for (NIST SP 800-63B-4 section 4.1.2.1): a browser
 * that is trusted to skip the second factor has not shown it, nor has a flow that was begun before there was one.
 */
export function mayAddCredential({
  data,
  facts,
  config,
}: Pick<Situation, "data" | "facts" | "config">): boolean {
  return !hasSecondFactor(facts, config) || isProvedTwice(data.factors) || data.enrolled === true;
}

/** Whether this browser may be trusted from now on, and nobody has said yet whether it shall. */
export function trustOwed({ data, facts, config }: Situation): boolean {
  const { mfa } = config;
  const shown = showsSecondFactor(data.factors) || data.enrolled === true;
  return mfa.enabled && mfa.device_trust_policy === "prompt" && shown && !facts.deviceTrusted;
}
