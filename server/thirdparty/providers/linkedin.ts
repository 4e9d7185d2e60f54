import { type BuiltInSettings, openIdProvider } from "./provider.ts";

/**
 * LinkedIn, OpenID Connect. It rejects PKCE from clients with a secret, and its ID tokens carry no nonce, so only `state`
 * and its cookie bind a code to the browser.
 */
export const linkedin = (settings: BuiltInSettings) =>
  openIdProvider(settings, {
    id: "linkedin",
    name: "LinkedIn",
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
    nonce: false,
  });
