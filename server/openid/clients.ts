import type { ClientMetadata } from "oidc-provider";
import type { Config } from "../config/schema.ts";
import { claimsOfScopes } from "./claims.ts";

/** Scopes about users; the others are those of resources. */
const ofUsers = new Set<string>(["openid", "offline_access", ...Object.keys(claimsOfScopes)]);

/** Translates the clients of the configuration to the metadata of RFC 7591, 2. */
export function clientsOf({ openid, session }: Config): ClientMetadata[] {
  return Object.entries(openid.clients).map(([client_id, client]) => ({
    client_id,
    client_name: client.name,
    ...(client.secret === undefined ? {} : { client_secret: client.secret }),
    token_endpoint_auth_method: client.secret === undefined ? "none" : "client_secret_basic",
    redirect_uris: client.redirect_uris,
    post_logout_redirect_uris: client.post_logout_redirect_uris,
    grant_types: client.grants,
    response_types: client.grants.includes("authorization_code") ? ["code"] : [],
    scope: client.scopes.filter((scope) => ofUsers.has(scope)).join(" "),
    id_token_signed_response_alg: session.algorithm,
    require_pushed_authorization_requests: client.require_par,
    dpop_bound_access_tokens: client.require_dpop,
  }));
}
