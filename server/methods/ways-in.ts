import type { Config } from "../config/schema.ts";
import { firstFactors } from "./index.ts";
import type { MethodFacts } from "./method.ts";

/** Whether an account has an identifier that the configuration accepts at a sign-in. */
function hasLoginIdentifier(
  { email, username, phone }: Pick<MethodFacts, "email" | "username" | "phone">,
  config: Pick<Config, "email" | "username" | "phone">,
): boolean {
  return (
    (config.email.enabled && config.email.use_as_login_identifier && email !== null) ||
    (config.username.enabled && config.username.use_as_login_identifier && username !== null) ||
    (config.phone.enabled && config.phone.use_as_login_identifier && phone !== null)
  );
}

/** Whether an account with these facts can sign in: by a method that identifies it, or by an identifier and another one. */
export function canSignIn(facts: MethodFacts, config: Config): boolean {
  const hasIdentifier = hasLoginIdentifier(facts, config);
  return firstFactors.some(
    ({ has, firstFactor: { identifies, isEnabled } }) =>
      isEnabled(config) && has(facts) && (identifies || hasIdentifier),
  );
}
