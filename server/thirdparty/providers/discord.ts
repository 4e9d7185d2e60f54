import { ClientSecretPost } from "openid-client";
import type { Config } from "../../config/schema.ts";
import type { Statement } from "../provider-facts.ts";
import { fromSettings, type Provider, record } from "./provider.ts";

/** Discord speaks OAuth 2; who this is, it tells at `/users/@me`. */
export function discord(settings: Config["third_party"]["providers"]["discord"]): Provider {
  return {
    ...fromSettings(settings),
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
    pkce: true,
    idToken: null,
    nonce: false,
    state: async ({ ask }) => discordStatement(await ask("https://discord.com/api/v10/users/@me")),
  };
}

/** @param answer a user object; `verified` says whether the e-mail address is, `avatar` is the hash of a picture */
export function discordStatement(answer: unknown): Statement {
  const { id, username, global_name, email, verified, avatar } = record(answer);
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
