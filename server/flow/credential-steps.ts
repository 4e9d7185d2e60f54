import { all, any, type Condition, circumstance, named, not } from "../conditions/condition.ts";
import { capability, configured, configuredAs, fact, flowIs } from "../conditions/leaves.ts";
import { completed, isRecovering } from "./circumstances.ts";
import { mayAddCredential } from "./second-factor.ts";
import type { PlannedStep, Situation } from "./situation.ts";

/**
 * When a flow asks for a missing passkey or password. The policy `always` asks for each missing credential;
 * `conditional` asks only if the account has neither a passkey nor a password. If both policies are conditional, the
 * user chooses.
 */

type Kind = "passkey" | "password";

/** What makes a flow ask; `never` does not. */
type Policy = "always" | "conditional";

/** That a credential has this policy in this type of flow. */
const policyIs = (kind: Kind, policy: Policy): Condition<Situation> =>
  named(
    {
      holds: `the policy of the ${kind} is \`${policy}\``,
      fails: `the policy of the ${kind} is not \`${policy}\``,
    },
    any(
      all(flowIs("registration"), configuredAs(`${kind}.acquire_on_registration`, policy)),
      all(not(flowIs("registration")), configuredAs(`${kind}.acquire_on_login`, policy)),
    ),
  );

const usable = {
  passkey: all(configured("passkey.enabled"), capability("webauthn")),
  password: configured("password.enabled"),
} as const;

const follows: Record<Kind, (policy: Policy) => Condition<Situation>> = {
  passkey: (policy) => all(usable.passkey, policyIs("passkey", policy)),
  // `login_password_recovery` sets the password.
  password: (policy) => all(usable.password, not(isRecovering), policyIs("password", policy)),
};

const has: Record<Kind, Condition<Situation>> = {
  passkey: all(usable.passkey, fact("hasPasskey")),
  password: all(usable.password, fact("hasPassword")),
};

const lacks = (kind: Kind) =>
  named(
    {
      holds: `the policy asks for a missing ${kind}`,
      fails: `the policy asks for no ${kind}`,
    },
    any(
      all(follows[kind]("always"), not(has[kind])),
      all(follows[kind]("conditional"), not(has.passkey), not(has.password)),
    ),
  );

/**
 * That the user has declined a passkey at most `passkey.offer_again_after` seconds before this sign-in. The first
 * factor dates the sign-in, so the plan does not change while the flow runs.
 */
export const hasDeclinedPasskey = circumstance<Pick<Situation, "data" | "facts" | "config">>(
  "declined_passkey",
  ({ data, facts, config }) => {
    const [first] = data.factors;
    if (!first || !facts.passkeyDeclinedAt) return false;
    const elapsed = Date.parse(first.at) - facts.passkeyDeclinedAt.getTime();
    return elapsed < config.passkey.offer_again_after * 1000;
  },
  {
    holds: "the user has declined a passkey within `passkey.offer_again_after`",
    fails: "the user has not declined a passkey within `passkey.offer_again_after`",
  },
);

const asksForPasskey = named(
  { holds: "a passkey is to be asked for", fails: "no passkey is to be asked for" },
  all(
    lacks("passkey"),
    not(hasDeclinedPasskey),
    not(completed("onboarding_create_passkey")),
    mayAddCredential,
  ),
);

const asksForPassword = named(
  { holds: "a password is to be asked for", fails: "no password is to be asked for" },
  all(lacks("password"), not(completed("password_creation"))),
);

const areBothConditional = named(
  {
    holds: "the policies of passkey and password are both `conditional`",
    fails: "the policies of passkey and password are not both `conditional`",
  },
  all(follows.passkey("conditional"), follows.password("conditional")),
);

/** Nothing is asked for any more once the user has chosen between the two, or has declined. */
const isOpen = named(
  {
    holds: "the user has not chosen between passkey and password yet",
    fails: "the user has chosen between passkey and password, or has declined",
  },
  not(all(areBothConditional, any(hasDeclinedPasskey, completed("credential_onboarding_chooser")))),
);

/** Beside the other one, a conditional credential is asked for only if that was skipped. */
const besides = (kind: Kind, other: Condition<Situation>) =>
  named(
    {
      holds: `the other credential does not stand in for the ${kind}`,
      fails: `the other credential stands in for the ${kind}`,
    },
    any(not(other), all(not(areBothConditional), not(follows[kind]("conditional")))),
  );

const isPasswordFirst = all(not(configured("password.optional")), configured("passkey.optional"));

/** The states that ask for missing credentials. @param more what else is needed */
export function credentialSteps(more: Condition<Situation>): PlannedStep[] {
  const creatingPassword = all(more, isOpen, asksForPassword, besides("password", asksForPasskey));
  return [
    {
      state: "credential_onboarding_chooser",
      when: all(more, isOpen, areBothConditional, asksForPasskey, asksForPassword),
    },
    { state: "password_creation", when: all(creatingPassword, isPasswordFirst) },
    {
      state: "onboarding_create_passkey",
      when: all(more, isOpen, asksForPasskey, besides("passkey", asksForPassword)),
    },
    { state: "password_creation", when: all(creatingPassword, not(isPasswordFirst)) },
  ];
}
