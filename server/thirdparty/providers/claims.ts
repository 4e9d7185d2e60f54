import type { ProviderStatement } from "../provider-facts.ts";

/** The standard claim of each fact (OpenID Connect Core 1.0, 5.1). */
const standardNames: Record<keyof ProviderStatement, string> = {
  subject: "sub",
  email: "email",
  emailVerified: "email_verified",
  name: "name",
  givenName: "given_name",
  familyName: "family_name",
  picture: "picture",
};

/**
 * Maps the claims of an ID token or userinfo response to a statement.
 *
 * @param mapping fact in snake case to claim of the provider; a dot separates nested members. Default: the standard claims
 */
export function mapClaims(
  claims: Record<string, unknown>,
  mapping: Record<string, string> = {},
): ProviderStatement {
  const entries = Object.entries(claimNames(mapping)).map(([fact, name]) => [fact, lookUp(claims, name)]);
  return Object.fromEntries(entries) as unknown as ProviderStatement;
}

/** The name of the claim that each fact is read from. @param mapping as `mapClaims` takes it */
export function claimNames(mapping: Record<string, string>): Record<keyof ProviderStatement, string> {
  const entries = Object.entries(standardNames).map(([fact, standard]) => [
    fact,
    mapping[snakeCase(fact)] ?? mapping[standard] ?? standard,
  ]);
  return Object.fromEntries(entries) as Record<keyof ProviderStatement, string>;
}

function lookUp(claims: Record<string, unknown>, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path];
  let value: unknown = claims;
  for (const step of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string, unknown>)[step];
  }
  return value;
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
