import type { Factor } from "#db/schema/sessions";
import { methods } from "../methods/index.ts";
import type { Method } from "../methods/method.ts";
import { isMultiFactor } from "../methods/second-factors.ts";

/**
 * Authentication context classes, the strongest first: resistant to phishing (OpenID Connect EAP ACR Values 1.0, 3), several
 * factors, and any sign-in.
 */
export const contextClasses = ["phr", "urn:stile:mfa", "urn:stile:sign-in"] as const;

export type ContextClass = (typeof contextClasses)[number];

const resistant = new Set<string>(
  (methods as readonly Method[]).filter(({ strength }) => strength.resistsPhishing).map(({ name }) => name),
);

/** The strongest class that verified factors amount to: the `acr` of an ID token (OpenID Connect Core, 2). */
export function contextClassOf(factors: readonly Factor[]): ContextClass {
  if (factors.some(({ method }) => resistant.has(method))) return "phr";
  return isMultiFactor(factors) ? "urn:stile:mfa" : "urn:stile:sign-in";
}
