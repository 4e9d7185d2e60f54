import { asObject, type BuiltInSettings, oauthProvider } from "./provider.ts";

const api = "https://api.github.com";

/**
 * GitHub, OAuth 2. `/user` returns the user, whose `email` is the public one and not known to be verified; `/user/emails`
 * returns all addresses.
 */
export const github = (settings: BuiltInSettings) =>
  oauthProvider(settings, {
    id: "github",
    name: "GitHub",
    server: {
      metadata: {
        issuer: "https://github.com/login/oauth",
        authorization_endpoint: "https://github.com/login/oauth/authorize",
        token_endpoint: "https://github.com/login/oauth/access_token",
      },
    },
    scopes: ["read:user", "user:email"],
    reauthentication: { prompt: "select_account" },
    async readStatement({ fetchJson }) {
      const { id, name, login, avatar_url } = asObject(await fetchJson(`${api}/user`));
      const emails = await fetchJson(`${api}/user/emails`);
      const addresses = Array.isArray(emails) ? emails.map(asObject) : [];
      const primary = addresses.find((address) => address.primary === true);
      return {
        subject: id,
        email: primary?.email,
        emailVerified: primary?.verified === true,
        name: name ?? login,
        picture: avatar_url,
      };
    },
  });
