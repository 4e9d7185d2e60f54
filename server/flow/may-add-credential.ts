import type { View } from "./define.ts";
import { hasSecondFactor, isProvedTwice } from "./second-factor.ts";

/**
 * Whether this flow may add a passkey or a security key to an account. Whoever holds one needs no other proof from
 * then on, so adding one takes as much proof as the account asks for (NIST SP 800-63B-4 section 4.1.2.1): a browser
 * that is trusted to skip the second factor has not shown it, nor has a flow that was begun before there was one.
 */
export function mayAddCredential({ data, facts, config }: Pick<View, "data" | "facts" | "config">): boolean {
  return !hasSecondFactor(facts, config) || isProvedTwice(data.factors) || data.enrolled === true;
}
