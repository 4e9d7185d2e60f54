import type { ClientMetadata } from "oidc-provider";
import type { Config } from "../config/schema.ts";
import { isAboutUsers } from "./scopes-of-users.ts";
import type { SigningAlgorithm } from "./signing.ts";
import type { ClientDescription } from "./unlisted-clients.ts";

/**
 * Translates the clients of the configuration to the metadata of RFC 7591, 2.
 *
 * @param algorithm of the key that signs ID tokens
 */
export function clientsOf(config: Config, algorithm: SigningAlgorithm): ClientMetadata[] {
  const { openid } = config;
  return Object.entries(openid.clients).map(([client_id, client]) => ({
    client_id,
    client_name: client.name,
    ...(client.secret === undefined ? {} : { client_secret: client.secret }),
    ...(client.jwks === undefined ? {} : { jwks: client.jwks as ClientMetadata["jwks"] }),
    token_endpoint_auth_method: authenticationOf(client),
    redirect_uris: client.redirect_uris,
    post_logout_redirect_uris: client.post_logout_redirect_uris,
    ...sessionOf(client),
    // The library refuses a grant that is off.
    grant_types: client.grants.flatMap((grant) => {
      if (grant === "token_exchange") return [TOKEN_EXCHANGE];
      return grant === "device_code" ? (openid.device_flow ? [DEVICE_GRANT] : []) : [grant];
    }),
    response_types: client.grants.includes("authorization_code") ? ["code"] : [],
    scope: scopesAboutUsers(config, client.scopes),
    application_type: client.application_type,
    subject_type: client.subject_type,
    id_token_signed_response_alg: algorithm,
    require_pushed_authorization_requests: client.require_par,
    dpop_bound_access_tokens: client.require_dpop,
  }));
}

/**
 * A client that is told of the end of a session has its name (`sid`) in its ID tokens. The library knows the back channel
 * alone, and sends nothing itself.
 */
function sessionOf({ backchannel_logout_uri, frontchannel_logout_uri }: Config["openid"]["clients"][string]) {
  const told = backchannel_logout_uri ?? frontchannel_logout_uri;
  return told === undefined
    ? {}
    : { backchannel_logout_uri: told, backchannel_logout_session_required: true };
}

/**
 * Translates what a client that is not listed says of itself to the metadata of RFC 7591, 2.
 *
 * @param more what it does not say itself
 */
export function metadataOf<More extends Partial<ClientMetadata>>(
  config: Pick<Config, "openid">,
  description: ClientDescription,
  more: More,
) {
  const { client_name, client_uri, policy_uri, tos_uri, jwks, jwks_uri, redirect_uris } = description;
  const { grant_types, token_endpoint_auth_method } = description;
  const isWeb = redirect_uris.every((address) => address.startsWith("https://"));
  const said = { client_name, client_uri, policy_uri, tos_uri, jwks, jwks_uri, token_endpoint_auth_method };
  return {
    ...(Object.fromEntries(Object.entries(said).filter(([, value]) => value)) as Partial<ClientMetadata>),
    // A client on a device may listen at any port of it. Its user is asked each time: any program there can claim its id (RFC 8252, 7.3 and 8.6).
    application_type: isWeb ? ("web" as const) : ("native" as const),
    redirect_uris,
    grant_types: ["authorization_code", ...(grant_types.includes("refresh_token") ? ["refresh_token"] : [])],
    response_types: ["code" as const],
    scope: scopesAboutUsers(config, config.openid.unlisted_scopes),
    ...more,
  };
}

/** RFC 8693, 2.1. */
export const TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";

/** RFC 8628, 3.4. */
const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";

/** None at all would be every scope. Those of resources are asked for with their resource. */
const scopesAboutUsers = (config: Pick<Config, "openid">, scopes: readonly string[]) =>
  scopes.filter((scope) => isAboutUsers(config, scope)).join(" ") || "openid";

function authenticationOf({ secret, jwks }: Config["openid"]["clients"][string]) {
  if (jwks !== undefined) return "private_key_jwt";
  return secret === undefined ? "none" : "client_secret_basic";
}
