import { claimsOfScopes } from "../config/claims-of-scopes.ts";
import type { Config } from "../config/schema.ts";
import { onceFor } from "../lib/once-for.ts";
import type { Permissions } from "./waiting-authorization.ts";

/** Scopes about users: those of the standard, and those of the operator (`openid.scopes`). The others are those of resources. */

type Scopes = Pick<Config["openid"], "scopes">;

/** The claims of each scope that asks for some. */
export const claimsByScope = onceFor(
  ({ scopes }: Scopes): Readonly<Record<string, readonly string[]>> => ({
    ...claimsOfScopes,
    ...Object.fromEntries(Object.entries(scopes).map(([scope, { claims }]) => [scope, Object.keys(claims)])),
  }),
);

const scopesOfUsers = onceFor(
  (openid: Scopes): ReadonlySet<string> =>
    new Set(["openid", "offline_access", ...Object.keys(claimsByScope(openid))]),
);

/** Whether a scope is about users. */
export const isAboutUsers = ({ openid }: Pick<Config, "openid">, scope: string): boolean =>
  scopesOfUsers(openid).has(scope);

/** The claims of scopes. */
export function claimsOf({ openid }: Pick<Config, "openid">, scopes: readonly string[]): ReadonlySet<string> {
  const found = Object.entries(claimsByScope(openid)).filter(([scope]) => scopes.includes(scope));
  return new Set(found.flatMap(([, claims]) => claims));
}

/** The scopes about the user; a claim that is asked for by name stands as the scope that has it. */
export function scopesIn({ openid }: Pick<Config, "openid">, { scopes, claims }: Permissions): string[] {
  const ofClaims = Object.entries(claimsByScope(openid)).flatMap(([scope, names]) =>
    names.some((name) => claims.includes(name)) ? [scope] : [],
  );
  return [...new Set([...scopes, ...ofClaims])];
}
