import { ClientSecretPost } from "openid-client";
import type { Config } from "../../config/schema.ts";
import type { ProviderStatement } from "../provider-facts.ts";
import { asObject, commonSettings, type Provider } from "./provider.ts";

/** Discord, OAuth 2. `/users/@me` returns the user. */
export function discord(settings: Config["third_party"]["providers"]["discord"]): Provider {
  return {
    ...commonSettings(settings),
    id: "discord",
    name: "Discord",
    authenticate: () => ClientSecretPost(settings.secret),
    server: {
      metadata: {
        issuer: "https://discord.com",
        authorization_endpoint: "https://discord.com/oauth2/authorize",
        token_endpoint: "https://discord.com/api/v10/oauth2/token",
      },
    },
    scopes: ["identify", "email"],
    reauthentication: { prompt: "consent" },
    pkce: true,
    idToken: null,
    nonce: false,
    readStatement: async ({ fetchJson }) =>
      discordStatement(await fetchJson("https://discord.com/api/v10/users/@me")),
  };
}

/** @param answer a user object; `verified` refers to the email address, `avatar` is the hash of a picture */
function discordStatement(answer: unknown): ProviderStatement {
  const { id, username, global_name, email, verified, avatar } = asObject(answer);
  return {
    subject: id,
    email,
    emailVerified: verified,
    name: global_name ?? username,
    ...(typeof id === "string" && typeof avatar === "string"
      ? {
          picture: `https://cdn.discordapp.com/avatars/${encodeURIComponent(id)}/${encodeURIComponent(avatar)}.png`,
        }
      : {}),
  };
}
