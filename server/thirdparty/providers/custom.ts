import {
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  None,
  type ServerMetadata,
} from "openid-client";
import type { Config } from "../../config/schema.ts";
import type { ProviderStatement } from "../provider-facts.ts";
import { mapClaims } from "./claims.ts";
import type { Provider, ProviderResponses } from "./provider.ts";

type Settings = Config["third_party"]["custom_providers"][string];

/**
 * A custom provider: an OpenID Connect issuer with discovery, or an OAuth 2 provider with configured endpoints.
 * `attribute_mapping` maps its claims.
 *
 * @param key its key in `third_party.custom_providers`
 */
export function custom(key: string, settings: Settings): Provider {
  const { use_discovery, issuer, scopes } = settings;
  const speaksOpenId = scopes.includes("openid") && issuer !== undefined;
  return {
    id: `custom_${key}`,
    name: settings.display_name,
    clientId: settings.client_id,
    authenticate: () => authentication(settings.secret),
    clientAuthentication:
      settings.secret === undefined ? ["none"] : ["client_secret_basic", "client_secret_post"],
    attributeMapping: settings.attribute_mapping,
    server: use_discovery && issuer !== undefined ? { issuer } : { metadata: configuredMetadata(settings) },
    scopes,
    parameters: {
      ...(settings.prompt ? { prompt: settings.prompt } : {}),
      ...(settings.acr_values ? { acr_values: settings.acr_values } : {}),
    },
    reauthentication: speaksOpenId ? { prompt: "login", max_age: "0" } : {},
    pkce: true,
    idToken: speaksOpenId ? (use_discovery ? "verified" : "direct") : null,
    nonce: speaksOpenId,
    readStatement: (answers) => readStatement(settings, answers),
    allowLinking: settings.allow_linking,
    satisfiesMfa: settings.satisfies_mfa,
    endsSession: settings.rp_initiated_logout,
    endSessionEndpoint: settings.end_session_endpoint,
  };
}

/** Returns the client authentication that the server announces; the default is HTTP Basic (RFC 8414, 2). */
function authentication(secret: string | undefined): ClientAuth {
  if (secret === undefined) return None();
  const [basic, post] = [ClientSecretBasic(secret), ClientSecretPost(secret)];
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"];
    const posts = methods.includes("client_secret_post") && !methods.includes("client_secret_basic");
    return (posts ? post : basic)(server, ...rest);
  };
}

function configuredMetadata(settings: Settings): ServerMetadata {
  const { issuer, authorization_endpoint, token_endpoint, userinfo_endpoint } = settings;
  return {
    // Without a configured issuer, a response that names one is rejected.
    issuer: issuer ?? new URL(token_endpoint ?? "").origin,
    ...(authorization_endpoint ? { authorization_endpoint } : {}),
    ...(token_endpoint ? { token_endpoint } : {}),
    ...(userinfo_endpoint ? { userinfo_endpoint } : {}),
  };
}

/**
 * Merges the claims of ID token and userinfo; the token's take precedence, because it is signed. `email_verified` of
 * userinfo applies only to the address of userinfo.
 */
async function readStatement(
  settings: Settings,
  { claims, userInfo }: ProviderResponses,
): Promise<ProviderStatement> {
  const { use_discovery, userinfo_endpoint, attribute_mapping } = settings;
  const signed = mapClaims(claims ?? {}, attribute_mapping);
  if (!use_discovery && userinfo_endpoint === undefined) return signed;
  const asked = await userInfo();
  const all = mapClaims({ ...asked, ...claims }, attribute_mapping);
  const { email } = mapClaims(asked, attribute_mapping);
  return signed.email === undefined || signed.email === email
    ? all
    : { ...all, emailVerified: signed.emailVerified };
}
