import { circumstance } from "../conditions/condition.ts";
import { verifiedIdentifiers } from "../identity/identifiers.ts";
import { rankedSecondFactors } from "../methods/second-factors.ts";
import { canSignIn } from "../methods/ways-in.ts";
import { confirmationStates } from "./expected-codes.ts";
import type { FlowType, StateName } from "./names.ts";
import { mayAddCredential, needsEnrolment, offersDeviceTrust, secondFactorSteps } from "./second-factor.ts";
import type { Situation } from "./situation.ts";

/**
 * Returns the remaining states of a flow in order; the first one is the next state. The list ends at `success`, at
 * `profile_init`, or at the state that identifies the user, because the later states depend on the account. Computed
 * again at every step.
 */
export function plan(situation: Situation): StateName[] {
  return plans[situation.type](situation);
}

const plans = {
  login: (situation) => {
    const { data } = situation;
    if (!data.completedStates.includes("preflight")) return ["preflight", "login_init"];
    if (data.factors.length > 0) return stepsAfterFirstFactor(situation);
    const chooses = data.choice !== undefined && !data.completedStates.includes("account_choice");
    return [...stepIf("account_choice", chooses), "login_init"];
  },
  registration: (situation) => {
    const { data } = situation;
    if (!data.completedStates.includes("preflight")) return ["preflight", "registration_init"];
    if (data.signedUp) return stepsAfterFirstFactor(situation);
    if (!data.userId) return ["registration_init"];
    const rest = [...verificationSteps(situation), ...credentialSteps(situation)];
    return [...withEnrolment(situation, rest), "success"];
  },
  profile: (situation) => {
    const { data } = situation;
    if (!data.completedStates.includes("preflight")) return ["preflight", "profile_init"];
    const reauthenticating = data.steppingUp === true && data.factors.length > 0;
    return [...(reauthenticating ? secondFactorSteps(situation) : []), "profile_init"];
  },
  token_exchange: (situation) =>
    situation.data.factors.length === 0 ? ["thirdparty"] : stepsAfterFirstFactor(situation),
  consent: ({ data }) => [data.authorization ? "consent" : "device_code"],
} satisfies Record<FlowType, (situation: Situation) => StateName[]>;

const secondFactorStates = rankedSecondFactors.map(({ secondFactor }) => secondFactor.state);

const afterFirstFactor = [
  ...secondFactorStates,
  "login_password_recovery",
  "passcode_confirmation",
  "onboarding_username",
  "onboarding_email",
  "mfa_method_chooser",
] as const;

const credentials = [
  "credential_onboarding_chooser",
  "onboarding_create_passkey",
  "password_creation",
] as const;

/** Lists every state that the plan of a flow type may name. */
export const plannableStates = {
  login: [
    "preflight",
    "account_choice",
    "login_init",
    ...afterFirstFactor,
    ...credentials,
    "device_trust",
    "success",
  ],
  registration: [
    "preflight",
    "registration_init",
    ...afterFirstFactor.filter((state) => state !== "login_password_recovery"),
    ...Object.values(confirmationStates).filter((state) => state !== "passcode_confirmation"),
    ...credentials,
    "device_trust",
    "success",
  ],
  profile: ["preflight", "profile_init", ...secondFactorStates],
  token_exchange: [
    "thirdparty",
    ...afterFirstFactor.filter((state) => state !== "login_password_recovery"),
    "device_trust",
    "success",
  ],
  consent: ["device_code", "consent"],
} as const satisfies Record<FlowType, readonly StateName[]>;

/** Returns the states that remain after a first factor or an identity provider has identified the account. */
function stepsAfterFirstFactor(situation: Situation): StateName[] {
  const { data, facts, config } = situation;
  const { email, username } = config;
  const isCompleted = (state: StateName) => data.completedStates.includes(state);
  const when = data.signedUp === "created" ? "acquire_on_registration" : "acquire_on_login";
  // A user who signs in through an identity provider is not asked for other credentials.
  const byThirdParty = situation.type === "token_exchange" || data.factors[0]?.method === "third_party";
  const rest = [
    ...stepIf("login_password_recovery", situation.type === "login" && data.recovering === true),
    ...stepIf("passcode_confirmation", data.passcode?.purpose === "email_verification"),
    ...stepIf(
      "onboarding_username",
      username.enabled && username[when] && !facts.username && !isCompleted("onboarding_username"),
    ),
    ...stepIf(
      "onboarding_email",
      email.enabled &&
        email[when] &&
        !facts.email &&
        data.passcode?.purpose !== "email_verification" &&
        !isCompleted("onboarding_email"),
    ),
    ...(byThirdParty ? [] : credentialSteps(situation)),
  ];
  return [
    ...secondFactorSteps(situation),
    ...withEnrolment(situation, rest),
    ...stepIf("device_trust", offersDeviceTrust(situation) && !isCompleted("device_trust")),
    "success",
  ];
}

/** Returns the states in which a registration verifies its identifiers. */
function verificationSteps({ data, config }: Situation): StateName[] {
  return verifiedIdentifiers.flatMap(({ kind, verified, requiresVerification }) =>
    stepIf(
      confirmationStates[kind],
      data[kind] !== undefined && requiresVerification(config) && !data[verified],
    ),
  );
}

/**
 * Adds the enrolment of a second factor after everything else: a passkey, which is offered before it, can make it
 * unnecessary.
 */
function withEnrolment(situation: Situation, rest: StateName[]): StateName[] {
  return needsEnrolment(situation) ? [...rest, "mfa_method_chooser"] : rest;
}

/**
 * Returns the states that ask for missing credentials. The policy `always` asks for each missing credential;
 * `conditional` asks only if the account has neither a passkey nor a password. If both policies are conditional, the
 * user chooses.
 */
function credentialSteps({ type, data, facts, config }: Situation): StateName[] {
  const { passkey, password } = config;
  const when = type === "registration" ? "acquire_on_registration" : "acquire_on_login";
  const isCompleted = (state: StateName) => data.completedStates.includes(state);
  const usable = {
    passkey: passkey.enabled && data.capabilities?.webauthn === true,
    password: password.enabled,
  };
  const declined = hasDeclinedPasskey({ data, facts, config });
  const policy = {
    passkey: usable.passkey ? passkey[when] : "never",
    // `login_password_recovery` sets the password.
    password: usable.password && !data.recovering ? password[when] : "never",
  };
  const has = { passkey: usable.passkey && facts.hasPasskey, password: usable.password && facts.hasPassword };
  const hasNeither = !has.passkey && !has.password;
  const wants = (kind: "passkey" | "password") =>
    policy[kind] === "always" ? !has[kind] : policy[kind] === "conditional" && hasNeither;
  const wantsPasskey =
    wants("passkey") &&
    !declined &&
    !isCompleted("onboarding_create_passkey") &&
    mayAddCredential({ data, facts, config });
  const wantsPassword = wants("password") && !isCompleted("password_creation");
  const bothConditional = policy.passkey === "conditional" && policy.password === "conditional";
  if (bothConditional && (declined || isCompleted("credential_onboarding_chooser"))) return [];
  if (!wantsPasskey || !wantsPassword) {
    return [
      ...stepIf("onboarding_create_passkey", wantsPasskey),
      ...stepIf("password_creation", wantsPassword),
    ];
  }
  if (bothConditional) return ["credential_onboarding_chooser"];
  // A conditional credential is asked for only if the other one was skipped.
  if (policy.password === "conditional") return ["onboarding_create_passkey"];
  if (policy.passkey === "conditional") return ["password_creation"];
  return !password.optional && passkey.optional
    ? ["password_creation", "onboarding_create_passkey"]
    : ["onboarding_create_passkey", "password_creation"];
}

/**
 * Whether the user has declined a passkey at most `passkey.offer_again_after` seconds before this sign-in. The first
 * factor dates the sign-in, so the plan does not change while the flow runs.
 */
function hasDeclinedPasskey({ data, facts, config }: Omit<Situation, "type">): boolean {
  const [first] = data.factors;
  if (!first || !facts.passkeyDeclinedAt) return false;
  const elapsed = Date.parse(first.at) - facts.passkeyDeclinedAt.getTime();
  return elapsed < config.passkey.offer_again_after * 1000;
}

function stepIf(state: StateName, condition: boolean): StateName[] {
  return condition ? [state] : [];
}

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

export const hasDeclined = circumstance<Situation>("passkey_declined", hasDeclinedPasskey, {
  holds: "the user has declined a passkey within `passkey.offer_again_after`",
  fails: "the user has not declined a passkey within `passkey.offer_again_after`",
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
