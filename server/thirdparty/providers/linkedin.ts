import { ClientSecretPost } from "openid-client";
import type { Config } from "../../config/schema.ts";
import { commonSettings, type Provider, standardClaims } from "./provider.ts";

/**
 * LinkedIn, OpenID Connect. It rejects PKCE from clients with a secret, and its ID tokens carry no nonce, so only `state`
 * and its cookie bind a code to the browser.
 */
export function linkedin(settings: Config["third_party"]["providers"]["linkedin"]): Provider {
  return {
    ...commonSettings(settings),
    id: "linkedin",
    name: "LinkedIn",
    authenticate: () => ClientSecretPost(settings.secret),
    server: {
      metadata: {
        issuer: "https://www.linkedin.com/oauth",
        authorization_endpoint: "https://www.linkedin.com/oauth/v2/authorization",
        token_endpoint: "https://www.linkedin.com/oauth/v2/accessToken",
        jwks_uri: "https://www.linkedin.com/oauth/openid/jwks",
      },
    },
    scopes: ["openid", "profile", "email"],
    reauthentication: {},
    pkce: false,
    idToken: "verified",
    nonce: false,
    readStatement: async ({ claims }) => standardClaims(claims ?? {}),
  };
}
