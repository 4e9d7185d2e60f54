import type { Config } from "../config/schema.ts";
import { claimsOf, isAboutUsers } from "./scopes-of-users.ts";
import { scopesOfClient } from "./unlisted-clients.ts";
import type { Permissions } from "./waiting-authorization.ts";

const ofSession = new Set(["sub", "sid", "auth_time", "acr", "amr", "iss"]);

/** Whether a claim says nothing about the user but how the session began. No one is asked for these. */
export const isOfSession = (claim: string): boolean => ofSession.has(claim);

/** Who acts as the user (RFC 8693, 4.1). A client that names it is told as one that does not: neither allowed nor refused. */
export const ACTOR_CLAIM = "act";

/**
 * What an authorization request asks its user for.
 *
 * @param parameters those of the request, which the library has accepted
 */
export function askedPermissions(
  config: Pick<Config, "openid">,
  { client_id, scope, claims, resource }: Record<string, unknown>,
): Permissions {
  const ofClient = scopesOfClient(config, String(client_id));
  const mayHave = new Set(ofClient);
  const scopes = typeof scope === "string" ? scope.split(" ").filter((name) => mayHave.has(name)) : [];
  const indicators = [resource ?? []].flat().filter((value) => typeof value === "string");
  const ofResources = indicators.map((indicator) => {
    const known = new Set(config.openid.resources[indicator]?.scopes);
    return [indicator, scopes.filter((name) => known.has(name))] as const;
  });
  return {
    scopes: scopes.filter((name) => isAboutUsers(config, name)),
    claims: claimsByName(claims).filter((name) => claimsOf(config, ofClient).has(name)),
    // A token for an API names the user there, whatever it may do.
    resources: Object.fromEntries(ofResources),
  };
}

/** The claims that the parameter `claims` names (OpenID Connect Core, 5.5). */
function claimsByName(claims: unknown): string[] {
  if (typeof claims !== "string") return [];
  const { userinfo, id_token } = JSON.parse(claims) as Record<string, object | null | undefined>;
  const named = new Set([...Object.keys(userinfo ?? {}), ...Object.keys(id_token ?? {})]);
  return [...named];
}
