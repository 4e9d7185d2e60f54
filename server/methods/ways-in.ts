import { circumstance, holds } from "../conditions/condition.ts";
import type { Config } from "../config/schema.ts";
import { loginIdentifiers } from "../identity/identifiers.ts";
import { firstFactors } from "./index.ts";
import type { Method, MethodFacts } from "./method.ts";

/** That an account has a method. */
export const hasMethod = ({ name, has, credentials }: Method) =>
  circumstance<{ facts: MethodFacts }>(name, ({ facts }) => has(facts), {
    holds: `the account has ${credentials}`,
    fails: `the account has no ${credentials}`,
  });

/** Whether an account with these facts can sign in: by a method that identifies it, or by an identifier and another one. */
export function canSignIn(facts: MethodFacts, config: Config): boolean {
  const hasIdentifier = loginIdentifiers(config).some(({ kind }) => facts[kind] !== null);
  return firstFactors.some(
    ({ has, firstFactor: { identifies, enabled } }) =>
      holds(enabled, { config }) && has(facts) && (identifies || hasIdentifier),
  );
}
