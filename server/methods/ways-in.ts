import type { Config } from "../config/schema.ts";
import { loginIdentifiers } from "../identity/identifiers.ts";
import { firstFactors } from "./index.ts";
import type { MethodFacts } from "./method.ts";

/** Whether an account with these facts can sign in: by a method that identifies it, or by an identifier and another one. */
export function canSignIn(facts: MethodFacts, config: Config): boolean {
  const hasIdentifier = loginIdentifiers(config).some(({ kind }) => facts[kind] !== null);
  return firstFactors.some(
    ({ has, firstFactor: { identifies, isEnabled } }) =>
      isEnabled(config) && has(facts) && (identifies || hasIdentifier),
  );
}
