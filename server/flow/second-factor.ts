import { all, any, type Condition, circumstance, named, not } from "../conditions/condition.ts";
import { configured, configuredAs, fact, flowIs } from "../conditions/leaves.ts";
import { enrolledMethods, firstFactors, type SecondFactorMethod } from "../methods/index.ts";
import type { Method } from "../methods/method.ts";
import {
  acceptedFactors,
  acceptsFactor,
  canSetUp,
  canUse,
  hasAcceptedFactor,
  includesSecondFactor,
  isMultiFactor,
  rankedSecondFactors,
} from "../methods/second-factors.ts";
import { hasMethod } from "../methods/ways-in.ts";
import { meetsOne } from "../openid/authentication-context.ts";
import { completed, createdAccount, isByProvider, isSignedUp } from "./circumstances.ts";
import type { FlowData } from "./data.ts";
import type { PlannedStep, Situation } from "./situation.ts";
import { verifiedFactors } from "./verified-factors.ts";

/** When a flow asks for a second factor, and when for a new one. */

const hasSeveralFactors = circumstance<Pick<Situation, "data">>(
  "several_factors",
  ({ data }) => isMultiFactor(verifiedFactors(data)),
  {
    holds: "this flow has verified multi-factor authentication",
    fails: "this flow has verified a single factor",
  },
);

const hasEnrolled = circumstance<Pick<Situation, "data">>("enrolled", ({ data }) => data.enrolled === true, {
  holds: "this flow has set up a second factor",
  fails: "this flow has set up no second factor",
});

const isTrustedDevice = circumstance<Pick<Situation, "facts">>(
  "trusted_device",
  ({ facts }) => facts.deviceTrusted,
  { holds: "the browser is trusted", fails: "the browser is not trusted" },
);

/** This sign-in will write a new password or link an identity. */
const changesCredentials = circumstance<Pick<Situation, "data">>(
  "changes_credentials",
  ({ data: { recovering, pending } }) => recovering === true || pending.identity !== undefined,
  {
    holds: "the sign-in sets a new password or connects an identity",
    fails: "the sign-in changes no credential",
  },
);

/** Whether the application asks for a class of authentication that is not met yet. */
const lacksClass = (data: FlowData) =>
  data.classes !== undefined && !meetsOne(verifiedFactors(data), data.classes);

const isAskedForMore = circumstance<Pick<Situation, "data">>(
  "asked_classes",
  ({ data }) => lacksClass(data),
  {
    holds: "the application asks for a stronger authentication",
    fails: "the application asks for no stronger authentication",
  },
);

/** That the application asks for several factors, so that a second one is set up without a choice. */
export const isAskedForSecondFactor = circumstance<Pick<Situation, "data">>(
  "asked_factors",
  ({ data }) => data.classes?.includes("urn:stile:mfa") === true && lacksClass(data),
  {
    holds: "the application asks for several factors",
    fails: "the application does not ask for several factors",
  },
);

/** Those first that resist phishing, where that is asked for. */
const asAskedFor = (accepted: SecondFactorMethod[], { classes }: FlowData) =>
  classes?.some((name) => name === "phr" || name === "phrh")
    ? accepted.toSorted((one, other) => Number(resistsPhishing(other)) - Number(resistsPhishing(one)))
    : accepted;

const resistsPhishing = ({ strength }: Method) => strength.resistsPhishing;

/**
 * The second factor that is asked for: the first that the client can use, in the order of their ranks. If it can use none of
 * them, the state reports what is missing.
 */
function firstToAsk({ data, facts, config }: Situation): SecondFactorMethod | undefined {
  const accepted = asAskedFor(acceptedFactors(facts, config), data);
  return accepted.find((method) => canUse(method, data.capabilities, config)) ?? accepted[0];
}

const isAskedFirst = (method: SecondFactorMethod) =>
  circumstance<Situation>(method.name, (situation) => firstToAsk(situation)?.name === method.name, {
    holds: `of the second factors of the account, ${method.credentials} are asked for first`,
    fails: `of the second factors of the account, ${method.credentials} are not those asked for first`,
  });

const needsSecondFactor = named(
  { holds: "a second factor is needed", fails: "no second factor is needed" },
  all(
    hasAcceptedFactor,
    not(hasSeveralFactors),
    // Enrolment in this flow has just verified it.
    not(hasEnrolled),
    any(not(isTrustedDevice), flowIs("profile"), changesCredentials, isAskedForMore),
  ),
);

/**
 * The states that verify the second factor, of which one is asked for. A trusted device skips it at a login. It is still
 * required at reauthentication and before a credential changes (NIST SP 800-63B-4, 4.1.2.1 and 4.2.2.2).
 *
 * @param more what else is needed
 */
export const secondFactorSteps = (more: Condition<Situation>): PlannedStep[] =>
  rankedSecondFactors.map((method) => ({
    state: method.secondFactor.state,
    when: all(more, needsSecondFactor, isAskedFirst(method)),
  }));

const hasSingleFactorLogin = named(
  {
    holds: "the account can sign in with a password or a code",
    fails: "the account can sign in with neither a password nor a code",
  },
  any(
    all(configured("password.enabled"), fact("hasPassword")),
    ...firstFactors
      .filter(({ firstFactor }) => firstFactor.codeTo !== null)
      .map((method) => all(method.firstFactor.enabled, hasMethod(method))),
  ),
);

const isRegistration = named(
  { holds: "the account is new", fails: "the account is not new" },
  any(flowIs("registration"), createdAccount),
);

const isEnrolmentPossible = named(
  {
    holds: "the user can set up a second factor with this client",
    fails: "the user can set up no second factor with this client",
  },
  any(...enrolledMethods.map(canSetUp)),
);

const isEnrolmentAccepted = named(
  {
    holds: "a second factor that users set up is enabled",
    fails: "no second factor that users set up is enabled",
  },
  any(...enrolledMethods.map(acceptsFactor)),
);

/**
 * The user enrols a second factor. If optional, it is offered to single-factor sign-ins where the configuration
 * says so; if required, every single-factor sign-in must enrol one. An application that asks for several factors requires it
 * where it is possible.
 */
const needsEnrolment = all(
  configured("mfa.enabled"),
  not(hasAcceptedFactor),
  not(completed("mfa_method_chooser")),
  any(
    all(configured("mfa.optional"), isAskedForSecondFactor, isEnrolmentPossible, not(hasSeveralFactors)),
    all(
      configured("mfa.optional"),
      not(isAskedForSecondFactor),
      any(
        all(isRegistration, configured("mfa.acquire_on_registration")),
        all(not(isRegistration), configured("mfa.acquire_on_login")),
      ),
      isEnrolmentPossible,
      not(isByProvider),
      hasSingleFactorLogin,
    ),
    all(
      not(configured("mfa.optional")),
      // Without a usable method the state reports what is missing, and cannot be passed.
      isEnrolmentAccepted,
      any(
        all(isRegistration, any(hasSingleFactorLogin, isSignedUp)),
        all(not(isRegistration), not(hasSeveralFactors)),
      ),
    ),
  ),
);

/** A second factor is enrolled after everything else: a passkey, which is offered before it, can make it unnecessary. */
export const enrolmentStep: PlannedStep = { state: "mfa_method_chooser", when: needsEnrolment };

/**
 * That this flow may add a passkey or a security key to an account. Such a credential is sufficient to
 * sign in, so adding one requires the full authentication of the account (NIST SP 800-63B-4, 4.1.2.1). A trusted device
 * that skipped the second factor is not sufficient, nor is a flow that started before the second factor was enrolled.
 */
export const mayAddCredential = named(
  {
    holds: "the user is fully authenticated",
    fails: "the user is not fully authenticated",
  },
  any(not(hasAcceptedFactor), hasSeveralFactors, hasEnrolled),
);

const hasVerifiedSecond = circumstance<Pick<Situation, "data">>(
  "verified_second_factor",
  ({ data }) => includesSecondFactor(data.factors) || data.enrolled === true,
  {
    holds: "this flow has verified a second factor",
    fails: "this flow has verified no second factor",
  },
);

/** The user may trust the browser. @param more what else is needed */
export const deviceTrustStep = (more: Condition<Situation>): PlannedStep => ({
  state: "device_trust",
  when: all(
    more,
    configured("mfa.enabled"),
    configuredAs("mfa.device_trust_policy", "prompt"),
    hasVerifiedSecond,
    not(isTrustedDevice),
    not(completed("device_trust")),
  ),
});
