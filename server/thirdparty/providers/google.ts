import { type BuiltInSettings, openIdProvider } from "./provider.ts";

/** Google, OpenID Connect. `email_verified` is true for addresses that Google has verified. */
export const google = (settings: BuiltInSettings) =>
  openIdProvider(settings, {
    id: "google",
    name: "Google",
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
  });
