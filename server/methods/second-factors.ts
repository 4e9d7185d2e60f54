import type { Factor } from "#db/schema/sessions";
import type { Config } from "../config/schema.ts";
import { type EnrolledMethod, methods, type SecondFactorMethod, secondFactors } from "./index.ts";
import type { Method, MethodCapabilities, MethodFacts, OwnSecondFactor } from "./method.ts";

const all: readonly Method[] = methods;

/** Every second factor that an account can have alone, the one to ask for first. */
export const rankedSecondFactors = secondFactors.toSorted(
  (one, other) => one.secondFactor.rank - other.secondFactor.rank,
);

/**
 * Whether these factors include a second factor.
 *
 * @param factors in the order in which they were verified. A method that can be either is no second factor where the
 *   sign-in began with it, nor is its repetition
 */
export function includesSecondFactor(factors: readonly Pick<Factor, "method">[]): boolean {
  return factors.some((factor, position) => {
    const method = all.find(({ name }) => name === factor.method);
    const isOther = position > 0 && factor.method !== factors[0]?.method;
    return method?.secondFactor != null && (method.firstFactor === null || isOther);
  });
}

/**
 * Whether these factors amount to multi-factor authentication: a second factor, or one multi-factor authenticator. A
 * passkey is one only if the authenticator verified the user (NIST SP 800-63B-4, 3.1.7), an identity provider only if
 * it is trusted for it; `userVerified` records both.
 */
export function isMultiFactor(factors: readonly Pick<Factor, "method" | "userVerified">[]): boolean {
  return includesSecondFactor(factors) || factors.some(({ userVerified }) => userVerified === true);
}

/** Whether the configuration accepts a method as a second factor. */
export function isAccepted({ secondFactor }: SecondFactorMethod, { mfa }: Pick<Config, "mfa">): boolean {
  return mfa.enabled && secondFactor.isAccepted(mfa);
}

/** Whether the configuration accepts a method as a second factor, and this client can use it. */
export function canUse(
  method: SecondFactorMethod,
  capabilities: MethodCapabilities,
  config: Pick<Config, "mfa">,
): boolean {
  return isAccepted(method, config) && method.secondFactor.canUse(capabilities, config.mfa);
}

/** Whether an account has a method as a second factor, accepted or not. */
export function isSetUp(method: SecondFactorMethod, facts: MethodFacts): boolean {
  const { isSetUp: asSecondFactor = () => true }: OwnSecondFactor = method.secondFactor;
  return method.has(facts) && asSecondFactor(facts);
}

/** Whether an account has a method that the configuration accepts as a second factor. */
export function hasAccepted(
  method: SecondFactorMethod,
  facts: MethodFacts,
  config: Pick<Config, "mfa">,
): boolean {
  return isSetUp(method, facts) && isAccepted(method, config);
}

/** Whether a second factor counts only while the account has no other. */
export const isLastResort = ({ secondFactor }: SecondFactorMethod) =>
  (secondFactor as OwnSecondFactor).isLastResort === true;

/**
 * The second factors of an account that the configuration accepts, the one to ask for first. A last resort is one only if
 * there is no other: it does not depend on what the client can use, which an attacker's client would deny.
 */
export function acceptedFactors(facts: MethodFacts, config: Pick<Config, "mfa">): SecondFactorMethod[] {
  const accepted = rankedSecondFactors.filter((method) => hasAccepted(method, facts, config));
  const preferred = accepted.filter((method) => !isLastResort(method));
  return preferred.length > 0 ? preferred : accepted;
}

/** Whether the account has a second factor that the configuration accepts. */
export function hasSecondFactor(facts: MethodFacts, config: Pick<Config, "mfa">): boolean {
  return acceptedFactors(facts, config).length > 0;
}

/**
 * Whether an account may set a method up as a second factor with this client: a last resort only if it has neither
 * another second factor, accepted or not, nor a method that resists phishing.
 */
export function canEnrol(
  method: EnrolledMethod,
  facts: MethodFacts,
  capabilities: MethodCapabilities,
  config: Pick<Config, "mfa">,
): boolean {
  if (!canUse(method, capabilities, config)) return false;
  if (!isLastResort(method)) return true;
  return !all.some(
    ({ name, has, secondFactor, strength }) =>
      name !== method.name && has(facts) && (secondFactor?.kind === "own" || strength.resistsPhishing),
  );
}

/** Whether the account has a second factor for which its recovery codes are kept. */
export function keepsRecoveryCodes(facts: MethodFacts, config: Pick<Config, "mfa">): boolean {
  return secondFactors.some(
    (method) =>
      isSetUp(method, facts) && (method.secondFactor.outlastsSettings || isAccepted(method, config)),
  );
}
