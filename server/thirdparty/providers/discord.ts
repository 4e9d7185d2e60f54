import { asObject, type BuiltInSettings, oauthProvider } from "./provider.ts";

/**
 * Discord, OAuth 2. `/users/@me` returns the user: `verified` refers to the email address, `avatar` is the hash of a
 * picture.
 */
export const discord = (settings: BuiltInSettings) =>
  oauthProvider(settings, {
    id: "discord",
    name: "Discord",
    server: {
      metadata: {
        issuer: "https://discord.com",
        authorization_endpoint: "https://discord.com/oauth2/authorize",
        token_endpoint: "https://discord.com/api/v10/oauth2/token",
      },
    },
    scopes: ["identify", "email"],
    reauthentication: { prompt: "consent" },
    async readStatement({ fetchJson }) {
      const user = asObject(await fetchJson("https://discord.com/api/v10/users/@me"));
      const { id, username, global_name, email, verified, avatar } = user;
      return {
        subject: id,
        email,
        emailVerified: verified,
        name: global_name ?? username,
        ...(typeof id === "string" && typeof avatar === "string" ? { picture: pictureUrl(id, avatar) } : {}),
      };
    },
  });

const pictureUrl = (...names: [id: string, avatar: string]) =>
  `https://cdn.discordapp.com/avatars/${names.map(encodeURIComponent).join("/")}.png`;
