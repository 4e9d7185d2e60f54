import {
  all,
  always,
  any,
  circumstance,
  explain,
  holds,
  named,
  not,
  reasonName,
} from "../conditions/condition.ts";
import { configured, fact } from "../conditions/leaves.ts";
import { type VerifiedIdentifier, verifiedIdentifiers } from "../identity/identifiers.ts";
import { canSignIn } from "../methods/ways-in.ts";
import {
  completed,
  createdAccount,
  hasFactor,
  isByProvider,
  isRecovering,
  isSignedUp,
} from "./circumstances.ts";
import { credentialSteps } from "./credential-steps.ts";
import { confirmationStates } from "./expected-codes.ts";
import type { FlowType, StateName } from "./names.ts";
import type { Reasons } from "./observed-step.ts";
import { deviceTrustStep, enrolmentStep, secondFactorSteps } from "./second-factor.ts";
import type { PlannedStep, Situation } from "./situation.ts";

/**
 * Returns the remaining states of a flow in order; the first one is the next state (`nextState`). The list ends at `success`, at
 * `profile_init`, or at the state that identifies the user, because the later states depend on the account. Computed
 * again at every step.
 */
export function plan(situation: Situation): StateName[] {
  const states: StateName[] = [];
  for (const { state, when, ends } of plannedSteps[situation.type]) {
    if (!holds(when, situation)) continue;
    states.push(state);
    if (ends) break;
  }
  return states;
}

/** The first state of a plan, and the reasons of the states that it passes over before that one. */
export interface NextState {
  state: StateName;
  passedOver: Reasons;
}

/** Returns the next state of a flow, the first one of its plan. */
export function nextState(situation: Situation): NextState {
  const passedOver = new Map<StateName, string[]>();
  for (const { state, when } of plannedSteps[situation.type]) {
    const { holds: isNext, by } = explain(when, situation);
    const names = by.map(reasonName);
    // A state has several places.
    if (!isNext) passedOver.set(state, [...new Set([...(passedOver.get(state) ?? []), ...names])]);
    else {
      passedOver.delete(state);
      return { state, passedOver: Object.fromEntries(passedOver) };
    }
  }
  throw new Error("The plan is empty.");
}

const isStarted = completed("preflight");

const preflight: PlannedStep = { state: "preflight", when: not(isStarted) };

const choosesAccount = circumstance<Situation>("choice", ({ data }) => data.choice !== undefined, {
  holds: "the application asks for an account of the browser",
  fails: "the application does not ask for an account of the browser",
});

const isIdentified = circumstance<Situation>(
  "account",
  ({ data }) => data.userId !== undefined || data.signedUp !== undefined,
  { holds: "the account is identified", fails: "the account is not identified yet" },
);

const isSteppingUp = circumstance<Situation>("stepping_up", ({ data }) => data.steppingUp === true, {
  holds: "the user authenticates again",
  fails: "the user does not authenticate again",
});

const hasAuthorization = circumstance<Situation>(
  "authorization",
  ({ data }) => data.authorization !== undefined,
  { holds: "it is known who asks", fails: "it is not known yet who asks" },
);

const verifiesAddress = circumstance<Situation>(
  "address",
  ({ data }) => data.passcode?.purpose === "email_verification",
  { holds: "the address is being verified", fails: "no address is being verified" },
);

/** That a missing identifier is asked for by flows of this kind. */
const acquires = (kind: "email" | "username", noun: string) =>
  all(
    configured(`${kind}.enabled`),
    named(
      { holds: `the policy asks for a missing ${noun}`, fails: `the policy asks for no ${noun}` },
      any(
        all(createdAccount, configured(`${kind}.acquire_on_registration`)),
        all(not(createdAccount), configured(`${kind}.acquire_on_login`)),
      ),
    ),
    not(fact(kind)),
    not(completed(`onboarding_${kind}`)),
  );

const missingIdentifiers = [
  { state: "onboarding_username", when: acquires("username", "username") },
  { state: "onboarding_email", when: all(acquires("email", "address"), not(verifiesAddress)) },
] as const satisfies PlannedStep[];

const verification: PlannedStep = { state: "passcode_confirmation", when: verifiesAddress };

const recovery: PlannedStep = { state: "login_password_recovery", when: isRecovering };

const success: PlannedStep = { state: "success", when: always };

const entered = ({ kind }: VerifiedIdentifier) =>
  circumstance<Situation>(kind, ({ data }) => data[kind] !== undefined, {
    holds: `a new ${kind} was entered`,
    fails: `no new ${kind} was entered`,
  });

const isToBeVerified = ({ kind, verified, requiresVerification }: VerifiedIdentifier) =>
  circumstance<Situation>(verified, ({ data, config }) => requiresVerification(config) && !data[verified], {
    holds: `the ${kind} has to be verified`,
    fails: `the ${kind} has not to be verified`,
  });

/** The states in which a registration verifies its identifiers. */
const verifications = verifiedIdentifiers.map(
  (identifier): PlannedStep => ({
    state: confirmationStates[identifier.kind],
    when: all(not(isSignedUp), entered(identifier), isToBeVerified(identifier)),
  }),
);

/** The states of each type of flow in their order. A state has several places where its order depends on the situation. */
export const plannedSteps: Record<FlowType, readonly PlannedStep[]> = {
  login: [
    preflight,
    {
      state: "account_choice",
      when: all(isStarted, not(hasFactor), choosesAccount, not(completed("account_choice"))),
    },
    { state: "login_init", when: not(all(isStarted, hasFactor)), ends: true },
    ...secondFactorSteps(always),
    recovery,
    verification,
    ...missingIdentifiers,
    // A user who signs in through an identity provider is not asked for other credentials.
    ...credentialSteps(not(isByProvider)),
    enrolmentStep,
    deviceTrustStep(always),
    success,
  ],
  registration: [
    preflight,
    { state: "registration_init", when: not(all(isStarted, isIdentified)), ends: true },
    ...secondFactorSteps(isSignedUp),
    ...verifications,
    { ...verification, when: all(isSignedUp, verification.when) },
    ...missingIdentifiers.map((step) => ({ ...step, when: all(isSignedUp, step.when) })),
    ...credentialSteps(not(all(isSignedUp, isByProvider))),
    enrolmentStep,
    deviceTrustStep(isSignedUp),
    success,
  ],
  profile: [
    preflight,
    ...secondFactorSteps(all(isStarted, isSteppingUp, hasFactor)),
    { state: "profile_init", when: always },
  ],
  token_exchange: [
    { state: "thirdparty", when: not(hasFactor), ends: true },
    ...secondFactorSteps(always),
    verification,
    ...missingIdentifiers,
    enrolmentStep,
    deviceTrustStep(always),
    success,
  ],
  consent: [
    { state: "device_code", when: not(hasAuthorization) },
    { state: "consent", when: hasAuthorization },
  ],
};

/** Every state that the plan of a flow type may name, the first one first. */
export const plannableStates = Object.fromEntries(
  Object.entries(plannedSteps).map(([type, steps]) => [type, [...new Set(steps.map(({ state }) => state))]]),
) as unknown as Record<FlowType, readonly [StateName, ...StateName[]]>;

/**
 * Whether `state` may be skipped without locking the user out: it is the first state of the plan, and the user will be
 * able to sign in without it.
 */
export function canSkip(situation: Situation, state: StateName): boolean {
  // Guards do not know whether the device is trusted. In this state the second factor is already verified or skipped.
  const facts = { ...situation.facts, deviceTrusted: true };
  if (plan({ ...situation, facts })[0] !== state) return false;
  const { data } = situation;
  return willBeAbleToSignIn({
    ...situation,
    data: { ...data, completedStates: [...data.completedStates, state] },
  });
}

/** That `state`, the first of the plan, may be skipped: see `canSkip`. */
export const canDoWithout = (state: StateName) =>
  circumstance<Situation>("plan", (situation) => canSkip(situation, state), {
    holds: "the user will be able to sign in without this step",
    fails: "the user would not be able to sign in without this step",
  });

export const staysAbleToSignIn = circumstance<Situation>(
  "ways_in",
  (situation) => willBeAbleToSignIn(situation),
  {
    holds: "the user will be able to sign in again",
    fails: "the user would not be able to sign in again",
  },
);

/** Whether the user will be able to sign in again after completing the plan. */
export function willBeAbleToSignIn(situation: Situation): boolean {
  const { facts, config } = situation;
  const remaining = plan(situation);
  const includesChooser = remaining.includes("credential_onboarding_chooser");
  const after = {
    ...facts,
    hasPasskey: facts.hasPasskey || includesChooser || remaining.includes("onboarding_create_passkey"),
    hasPassword: facts.hasPassword || includesChooser || remaining.includes("password_creation"),
  };
  return canSignIn(after, config);
}
