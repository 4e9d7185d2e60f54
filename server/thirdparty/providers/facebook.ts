import { createHmac } from "node:crypto";
import { asObject, type BuiltInSettings, oauthProvider } from "./provider.ts";

const graph = "https://graph.facebook.com/v21.0";

/**
 * Facebook, OAuth 2. `/me` of the Graph API returns the user, and requires a proof with the app secret. It does not say
 * whether the address is verified, so it counts as unverified.
 */
export const facebook = (settings: BuiltInSettings) =>
  oauthProvider(settings, {
    id: "facebook",
    name: "Facebook",
    server: {
      metadata: {
        issuer: "https://www.facebook.com",
        authorization_endpoint: "https://www.facebook.com/v21.0/dialog/oauth",
        token_endpoint: `${graph}/oauth/access_token`,
      },
    },
    scopes: ["email", "public_profile"],
    reauthentication: { auth_type: "reauthenticate" },
    async readStatement({ fetchJson, accessToken }) {
      const user = asObject(await fetchJson(profileUrl(accessToken, settings.secret ?? "")));
      const { id, name, email, first_name, last_name } = user;
      const { url, is_silhouette } = asObject(asObject(user.picture).data);
      return {
        subject: id,
        email,
        emailVerified: false,
        name,
        givenName: first_name,
        familyName: last_name,
        ...(is_silhouette === true ? {} : { picture: url }),
      };
    },
  });

/** `appsecret_proof` is the HMAC-SHA-256 of the access token with the app secret, in hexadecimal. */
function profileUrl(accessToken: string, secret: string): string {
  const url = new URL(`${graph}/me`);
  url.searchParams.set("fields", "id,name,email,first_name,last_name,picture");
  url.searchParams.set("appsecret_proof", createHmac("sha256", secret).update(accessToken).digest("hex"));
  return url.href;
}
