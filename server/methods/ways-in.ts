import { circumstance, holds, type Leaf } from "../conditions/condition.ts";
import type { Config } from "../config/schema.ts";
import { loginIdentifiers } from "../identity/identifiers.ts";
import { firstFactors } from "./index.ts";
import type { Method, MethodFacts } from "./method.ts";

/** That an account has a method. */
export function hasMethod({ name, has, credentials, firstFactor }: Method): Leaf<{ facts: MethodFacts }> {
  const isCode = firstFactor !== null && firstFactor.codeTo !== null;
  return circumstance(name, ({ facts }) => has(facts), {
    holds: isCode ? `the account can get ${credentials}` : `the account has ${credentials}`,
    fails: isCode ? `the account can get no ${credentials}` : `the account has no ${credentials}`,
  });
}

/** Whether an account with these facts can sign in: by a method that identifies it, or by an identifier and another one. */
export function canSignIn(facts: MethodFacts, config: Config): boolean {
  const hasIdentifier = loginIdentifiers(config).some(({ kind }) => facts[kind] !== null);
  return firstFactors.some(
    ({ has, firstFactor: { identifies, enabled } }) =>
      holds(enabled, { config }) && has(facts) && (identifies || hasIdentifier),
  );
}
