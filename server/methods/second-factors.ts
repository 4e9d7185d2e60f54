import type { Factor } from "#db/schema/sessions";
import { all, type Condition, circumstance, holds, type Leaf } from "../conditions/condition.ts";
import { type Capabilities, type Capable, configured } from "../conditions/leaves.ts";
import type { Config } from "../config/schema.ts";
import { type EnrolledMethod, methods, type SecondFactorMethod, secondFactors } from "./index.ts";
import type { Method, MethodFacts, OwnSecondFactor } from "./method.ts";

const everyMethod: readonly Method[] = methods;

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
    const method = everyMethod.find(({ name }) => name === factor.method);
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

/** That the configuration accepts a method as a second factor. */
export const acceptsFactor = ({ secondFactor }: SecondFactorMethod) =>
  all(configured("mfa.enabled"), secondFactor.accepted);

/** That the configuration accepts a method as a second factor, and this client can use it. */
export const canUseFactor = (method: SecondFactorMethod) =>
  all(acceptsFactor(method), method.secondFactor.usable);

/** Whether the configuration accepts a method as a second factor. */
export const isAccepted = (method: SecondFactorMethod, config: Pick<Config, "mfa">): boolean =>
  holds(acceptsFactor(method), { config });

/** Whether the configuration accepts a method as a second factor, and this client can use it. */
export function canUse(
  method: SecondFactorMethod,
  capabilities: Capabilities,
  config: Pick<Config, "mfa">,
): boolean {
  return holds(canUseFactor(method), { data: { capabilities }, config });
}

/** Whether an account has a method as a second factor, accepted or not. */
export function isSetUp(method: SecondFactorMethod, facts: MethodFacts): boolean {
  const { isSetUp: asSecondFactor = () => true }: OwnSecondFactor = method.secondFactor;
  return method.has(facts) && asSecondFactor(facts);
}

/** That an account has a method as a second factor, accepted or not. */
export const hasAsSecondFactor = (method: SecondFactorMethod): Leaf<{ facts: MethodFacts }> => ({
  kind: "fact",
  of: method.fact ?? method.name,
  value: "second_factor",
  judge: ({ facts }) => isSetUp(method, facts),
  holds: `the account has ${method.credentials} as a second factor`,
  fails: `the account has no ${method.credentials} as a second factor`,
});

/** That the account has a second factor that the configuration accepts. */
export const hasAcceptedFactor = circumstance<Pick<FactorView, "facts" | "config">>(
  "second_factor",
  ({ facts, config }) => hasSecondFactor(facts, config),
  { holds: "the account has an accepted second factor", fails: "the account has no accepted second factor" },
);

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
 * That an account may set a method up as a second factor with this client: a last resort only if it has neither
 * another second factor, accepted or not, nor a method that resists phishing.
 */
export const canSetUp = (method: EnrolledMethod): Condition<FactorView> =>
  all(canUseFactor(method), ...(isLastResort(method) ? [hasNoneBeside(method)] : []));

/** What the conditions on second factors judge. */
type FactorView = Capable & { facts: MethodFacts; config: Pick<Config, "mfa"> };

const hasNoneBeside = (method: EnrolledMethod) =>
  circumstance<{ facts: MethodFacts }>(
    "other_factors",
    ({ facts }) =>
      !everyMethod.some(
        ({ name, has, secondFactor, strength }) =>
          name !== method.name && has(facts) && (secondFactor?.kind === "own" || strength.resistsPhishing),
      ),
    {
      holds: "the account has neither another second factor nor a method that resists phishing",
      fails: "the account has another second factor or a method that resists phishing",
    },
  );

/** Whether an account may set a method up as a second factor with this client. */
export const canEnrol = (
  method: EnrolledMethod,
  facts: MethodFacts,
  capabilities: Capabilities,
  config: Pick<Config, "mfa">,
): boolean => holds(canSetUp(method), { data: { capabilities }, facts, config });

/** Whether the account has a second factor for which its recovery codes are kept. */
export function keepsRecoveryCodes(facts: MethodFacts, config: Pick<Config, "mfa">): boolean {
  return secondFactors.some(
    (method) =>
      isSetUp(method, facts) && (method.secondFactor.outlastsSettings || isAccepted(method, config)),
  );
}
