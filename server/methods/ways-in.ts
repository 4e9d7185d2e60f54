import { all, any, type Condition, circumstance, holds, type Leaf } from "../conditions/condition.ts";
import { fact } from "../conditions/leaves.ts";
import type { Config } from "../config/schema.ts";
import { loginIdentifiers } from "../identity/identifiers.ts";
import { type FirstFactorMethod, firstFactors } from "./index.ts";
import type { Method, MethodFacts } from "./method.ts";

/** That an account has a method. */
export function hasMethod(method: Method): Leaf<{ facts: MethodFacts }> {
  const { name, fact: belonging, has, credentials } = method;
  const judge = ({ facts }: { facts: MethodFacts }) => has(facts);
  if (belonging) return { ...fact(belonging), judge };
  return {
    kind: "fact",
    of: name,
    judge,
    holds: `the account can get ${credentials}`,
    fails: `the account can get no ${credentials}`,
  };
}

/** What conditions on signing in judge. */
export interface SignInSubject {
  facts: MethodFacts;
  config: Config;
  /** Whether each address of the account has the mail domain of a SAML provider, which the browser is sent to instead. */
  mailLeadsAway?: boolean;
}

const hasLoginIdentifier = circumstance<SignInSubject>(
  "login_identifier",
  ({ facts, config, mailLeadsAway }) =>
    loginIdentifiers(config).some(({ kind }) => facts[kind] !== null && !(kind === "email" && mailLeadsAway)),
  {
    holds: "the account has an identifier that is enabled for signing in",
    fails: "the account has no identifier that is enabled for signing in",
  },
);

/** That an account can sign in with a method: by itself if it identifies the account, or after an identifier. */
export const canSignInWith = (method: FirstFactorMethod): Condition<SignInSubject> =>
  all(
    method.firstFactor.enabled,
    hasMethod(method),
    ...(method.firstFactor.identifies ? [] : [hasLoginIdentifier]),
  );

/** That an account can sign in. */
export const hasWayIn = any(...firstFactors.map(canSignInWith));

/** Whether an account with these facts can sign in. */
export const canSignIn = (facts: MethodFacts, config: Config): boolean => holds(hasWayIn, { facts, config });
