import { ClientSecretPost } from "openid-client";
import type { Config } from "../../config/schema.ts";
import type { ProviderStatement } from "../provider-facts.ts";
import { asObject, commonSettings, type Provider } from "./provider.ts";

const api = "https://api.github.com";

/** GitHub, OAuth 2. `/user` returns the user, `/user/emails` all addresses. */
export function github(settings: Config["third_party"]["providers"]["github"]): Provider {
  return {
    ...commonSettings(settings),
    id: "github",
    name: "GitHub",
    authenticate: () => ClientSecretPost(settings.secret),
    server: {
      metadata: {
        issuer: "https://github.com/login/oauth",
        authorization_endpoint: "https://github.com/login/oauth/authorize",
        token_endpoint: "https://github.com/login/oauth/access_token",
      },
    },
    scopes: ["read:user", "user:email"],
    reauthentication: { prompt: "select_account" },
    pkce: true,
    idToken: null,
    nonce: false,
    readStatement: async ({ fetchJson }) =>
      githubStatement(await fetchJson(`${api}/user`), await fetchJson(`${api}/user/emails`)),
  };
}

/**
 * @param user the account; its `email` is the public one, not known to be verified
 * @param emails `[{email, primary, verified}]`
 */
function githubStatement(user: unknown, emails: unknown): ProviderStatement {
  const { id, name, login, avatar_url } = asObject(user);
  const addresses = Array.isArray(emails) ? emails.map(asObject) : [];
  const primary = addresses.find((address) => address.primary === true);
  return {
    subject: id,
    email: primary?.email,
    emailVerified: primary?.verified === true,
    name: name ?? login,
    picture: avatar_url,
  };
}
