import type { Factor } from "#db/schema/sessions";
import type { Config } from "../config/schema.ts";
import { methods, type SecondFactorMethod, secondFactors } from "./index.ts";
import type { Method, MethodCapabilities, MethodFact, MethodFacts } from "./method.ts";

const all: readonly Method[] = methods;

/** Every second factor that an account can have alone, the one to ask for first. */
export const rankedSecondFactors = secondFactors.toSorted(
  (one, other) => one.secondFactor.rank - other.secondFactor.rank,
);

/** Whether these factors include a second factor. */
export function includesSecondFactor(factors: readonly Pick<Factor, "method">[]): boolean {
  return factors.some((factor) =>
    all.some(({ name, secondFactor }) => secondFactor !== null && name === factor.method),
  );
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

/** Whether an account has a method that the configuration accepts as a second factor. */
export function hasAccepted(
  method: SecondFactorMethod,
  facts: Pick<MethodFacts, MethodFact>,
  config: Pick<Config, "mfa">,
): boolean {
  return facts[method.fact] && isAccepted(method, config);
}

/** The second factors of an account that the configuration accepts, the one to ask for first. */
export function acceptedFactors(
  facts: Pick<MethodFacts, MethodFact>,
  config: Pick<Config, "mfa">,
): SecondFactorMethod[] {
  return rankedSecondFactors.filter((method) => hasAccepted(method, facts, config));
}

/** Whether the account has a second factor that the configuration accepts. */
export function hasSecondFactor(facts: Pick<MethodFacts, MethodFact>, config: Pick<Config, "mfa">): boolean {
  return acceptedFactors(facts, config).length > 0;
}

/** Whether the account has a second factor for which its recovery codes are kept. */
export function keepsRecoveryCodes(
  facts: Pick<MethodFacts, MethodFact>,
  config: Pick<Config, "mfa">,
): boolean {
  return secondFactors.some(
    (method) => facts[method.fact] && (method.secondFactor.outlastsSettings || isAccepted(method, config)),
  );
}
