import { circumstance, holds } from "../conditions/condition.ts";
import { enrolledMethods, firstFactors, type SecondFactorMethod } from "../methods/index.ts";
import type { Method } from "../methods/method.ts";
import {
  acceptedFactors,
  canEnrol,
  canUse,
  hasSecondFactor,
  includesSecondFactor,
  isAccepted,
  isMultiFactor,
} from "../methods/second-factors.ts";
import { meetsOne } from "../openid/authentication-context.ts";
import type { FlowData } from "./data.ts";
import type { StateName } from "./names.ts";
import type { Situation } from "./situation.ts";

/**
 * Returns the state that verifies the second factor, if one is required: the first that the client can use, in the order of
 * their ranks. A trusted device skips it at a login. It is still required at reauthentication and before a credential changes (NIST SP 800-63B-4, 4.1.2.1 and
 * 4.2.2.2).
 */
export function secondFactorSteps({ type, data, facts, config }: Situation): StateName[] {
  if (!hasSecondFactor(facts, config) || isMultiFactor(data.factors)) return [];
  // Enrolment in this flow has just verified it.
  if (data.enrolled) return [];
  if (facts.deviceTrusted && type !== "profile" && !changesCredentials(data) && !isAskedForMore(data))
    return [];
  const accepted = asAskedFor(acceptedFactors(facts, config), data);
  // If this client can use none of them, the state reports what is missing.
  const [first] = [...accepted.filter((method) => canUse(method, data.capabilities, config)), ...accepted];
  return first ? [first.secondFactor.state] : [];
}

/** Whether the application asks for a class of authentication that is not met yet. */
const isAskedForMore = ({ classes, factors }: FlowData) =>
  classes !== undefined && !meetsOne(factors, classes);

/** Those first that resist phishing, where that is asked for. */
const asAskedFor = (accepted: SecondFactorMethod[], { classes }: FlowData) =>
  classes?.some((name) => name === "phr" || name === "phrh")
    ? accepted.toSorted((one, other) => Number(resistsPhishing(other)) - Number(resistsPhishing(one)))
    : accepted;

const resistsPhishing = ({ strength }: Method) => strength.resistsPhishing;

/** Whether the application asks for several factors, so that a second one is set up without a choice. */
const mustEnrol = (data: FlowData) =>
  data.classes?.includes("urn:stile:mfa") === true && isAskedForMore(data);

/** Whether this sign-in will write a new password or link an identity. */
const changesCredentials = ({ recovering, pending }: FlowData) =>
  recovering === true || pending.identity !== undefined;

/**
 * Whether a second factor must be enrolled. If optional, it is offered to single-factor sign-ins where the configuration
 * says so; if required, every single-factor sign-in must enrol one. An application that asks for several factors requires it
 * where it is possible.
 */
export function needsEnrolment({ type, data, facts, config }: Situation): boolean {
  const { mfa, password } = config;
  if (!mfa.enabled || hasSecondFactor(facts, config) || data.completedStates.includes("mfa_method_chooser"))
    return false;
  const isRegistration = type === "registration" || data.signedUp === "created";
  const hasPasswordLogin = password.enabled && facts.hasPassword;
  const hasCodeLogin = firstFactors.some(
    ({ has, firstFactor }) =>
      firstFactor.codeTo !== null && holds(firstFactor.enabled, { config }) && has(facts),
  );
  const isEnrolmentPossible = enrolledMethods.some((method) =>
    canEnrol(method, facts, data.capabilities, config),
  );
  if (mfa.optional && mustEnrol(data)) return isEnrolmentPossible && !isMultiFactor(data.factors);
  if (mfa.optional) {
    const byThirdParty = data.factors[0]?.method === "third_party";
    const isOffered = isRegistration ? mfa.acquire_on_registration : mfa.acquire_on_login;
    return isOffered && isEnrolmentPossible && !byThirdParty && (hasPasswordLogin || hasCodeLogin);
  }
  // Without a usable method the state reports what is missing, and cannot be passed.
  if (!enrolledMethods.some((method) => isAccepted(method, config))) return false;
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

/** That this flow may add a passkey or a security key to the account: see `mayAddCredential`. */
export const isFullyAuthenticated = circumstance<Pick<Situation, "data" | "facts" | "config">>(
  "authenticated",
  mayAddCredential,
  {
    holds: "the account has no accepted second factor, or this flow has verified several factors",
    fails: "the account has an accepted second factor, which this flow has not verified",
  },
);

/** That the application asks for several factors, so that a second one is set up without a choice. */
export const isAskedForSecondFactor = circumstance<Pick<Situation, "data">>(
  "asked_classes",
  ({ data }) => mustEnrol(data),
  {
    holds: "the application asks for several factors",
    fails: "the application does not ask for several factors",
  },
);

/** Whether to offer `device_trust`. */
export function offersDeviceTrust({ data, facts, config }: Situation): boolean {
  const { mfa } = config;
  const hasVerified = includesSecondFactor(data.factors) || data.enrolled === true;
  return mfa.enabled && mfa.device_trust_policy === "prompt" && hasVerified && !facts.deviceTrusted;
}
