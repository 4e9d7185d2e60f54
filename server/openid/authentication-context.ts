import type { Factor } from "#db/schema/sessions";
import { methods } from "../methods/index.ts";
import type { Method } from "../methods/method.ts";
import { isMultiFactor } from "../methods/second-factors.ts";

/**
 * Authentication context classes, the strongest first: resistant to phishing with a key that is protected by hardware, and
 * resistant to phishing (OpenID Connect EAP ACR Values 1.0, 3), several factors, and any sign-in.
 */
export const contextClasses = ["phrh", "phr", "urn:stile:mfa", "urn:stile:sign-in"] as const;

export type ContextClass = (typeof contextClasses)[number];

const resistant = new Set<string>(
  (methods as readonly Method[]).filter(({ strength }) => strength.resistsPhishing).map(({ name }) => name),
);

type Verified = readonly Pick<Factor, "method" | "userVerified" | "hardwareProtected">[];

const isMet = {
  phrh: (factors) =>
    factors.some(({ method, hardwareProtected }) => resistant.has(method) && hardwareProtected === true),
  phr: (factors) => factors.some(({ method }) => resistant.has(method)),
  "urn:stile:mfa": isMultiFactor,
  "urn:stile:sign-in": () => true,
} satisfies Record<ContextClass, (factors: Verified) => boolean>;

/** The classes among those that a request names (`acr_values`, OpenID Connect Core, 3.1.2.1), in its order. */
export const knownClasses = (names: readonly unknown[]): ContextClass[] =>
  contextClasses
    .filter((name) => names.includes(name))
    .toSorted((a, b) => names.indexOf(a) - names.indexOf(b));

/**
 * The class that verified factors amount to: the `acr` of an ID token (OpenID Connect Core, 2). Of several, the first that is
 * asked for, so that who asks for one of them is told that it is met; else the strongest.
 */
export function contextClassOf(factors: Verified, asked: readonly ContextClass[] = []): ContextClass {
  const met = [...asked, ...contextClasses].find((name) => isMet[name](factors));
  return met ?? "urn:stile:sign-in";
}

/** Whether verified factors amount to one of the classes that are asked for. */
export const meetsOne = (factors: Verified, asked: readonly ContextClass[]): boolean =>
  asked.some((name) => isMet[name](factors));
