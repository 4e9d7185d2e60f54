import type { ClientMetadata } from "oidc-provider";
import type { Config } from "../config/schema.ts";
import { scopesOfUsers } from "./asked-permissions.ts";
import type { SigningAlgorithm } from "./signing.ts";

/**
 * Translates the clients of the configuration to the metadata of RFC 7591, 2.
 *
 * @param algorithm of the key that signs ID tokens
 */
export function clientsOf({ openid }: Config, algorithm: SigningAlgorithm): ClientMetadata[] {
  return Object.entries(openid.clients).map(([client_id, client]) => ({
    client_id,
    client_name: client.name,
    ...(client.secret === undefined ? {} : { client_secret: client.secret }),
    ...(client.jwks === undefined ? {} : { jwks: client.jwks as ClientMetadata["jwks"] }),
    token_endpoint_auth_method: authenticationOf(client),
    redirect_uris: client.redirect_uris,
    post_logout_redirect_uris: client.post_logout_redirect_uris,
    grant_types: client.grants,
    response_types: client.grants.includes("authorization_code") ? ["code"] : [],
    // None at all would be every scope. Those of resources are asked for with their resource.
    scope: client.scopes.filter((scope) => scopesOfUsers.has(scope)).join(" ") || "openid",
    id_token_signed_response_alg: algorithm,
    require_pushed_authorization_requests: client.require_par,
    dpop_bound_access_tokens: client.require_dpop,
  }));
}

function authenticationOf({ secret, jwks }: Config["openid"]["clients"][string]) {
  if (jwks !== undefined) return "private_key_jwt";
  return secret === undefined ? "none" : "client_secret_basic";
}
