import { ClientSecretPost } from "openid-client";
import type { Config } from "../../config/schema.ts";
import { commonSettings, type Provider, standardClaims } from "./provider.ts";

/** Google, OpenID Connect. `email_verified` is true for addresses that Google has verified. */
export function google(settings: Config["third_party"]["providers"]["google"]): Provider {
  return {
    ...commonSettings(settings),
    id: "google",
    name: "Google",
    authenticate: () => ClientSecretPost(settings.secret),
    server: {
      metadata: {
        issuer: "https://accounts.google.com",
        authorization_endpoint: "https://accounts.google.com/o/oauth2/v2/auth",
        token_endpoint: "https://oauth2.googleapis.com/token",
        jwks_uri: "https://www.googleapis.com/oauth2/v3/certs",
      },
    },
    scopes: ["openid", "email", "profile"],
    reauthentication: { prompt: "select_account" },
    pkce: true,
    idToken: "verified",
    nonce: true,
    readStatement: async ({ claims }) => standardClaims(claims ?? {}),
  };
}
