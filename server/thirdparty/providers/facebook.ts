import { createHmac } from "node:crypto";
import { ClientSecretPost } from "openid-client";
import type { Config } from "../../config/schema.ts";
import type { ProviderStatement } from "../provider-facts.ts";
import { asObject, commonSettings, type Provider } from "./provider.ts";

const graph = "https://graph.facebook.com/v21.0";

/**
 * Facebook, OAuth 2. `/me` of the Graph API returns the user, and requires a proof with the app secret. It does not say
 * whether the address is verified, so it counts as unverified.
 */
export function facebook(settings: Config["third_party"]["providers"]["facebook"]): Provider {
  return {
    ...commonSettings(settings),
    id: "facebook",
    name: "Facebook",
    authenticate: () => ClientSecretPost(settings.secret),
    server: {
      metadata: {
        issuer: "https://www.facebook.com",
        authorization_endpoint: "https://www.facebook.com/v21.0/dialog/oauth",
        token_endpoint: `${graph}/oauth/access_token`,
      },
    },
    scopes: ["email", "public_profile"],
    reauthentication: { auth_type: "reauthenticate" },
    pkce: true,
    idToken: null,
    nonce: false,
    readStatement: async ({ fetchJson, accessToken }) =>
      facebookStatement(await fetchJson(profileUrl(accessToken, settings.secret ?? ""))),
  };
}

/** `appsecret_proof` is the HMAC-SHA-256 of the access token with the app secret, in hexadecimal. */
function profileUrl(accessToken: string, secret: string): string {
  const url = new URL(`${graph}/me`);
  url.searchParams.set("fields", "id,name,email,first_name,last_name,picture");
  url.searchParams.set("appsecret_proof", createHmac("sha256", secret).update(accessToken).digest("hex"));
  return url.href;
}

/** @param answer a User node of the Graph API */
function facebookStatement(answer: unknown): ProviderStatement {
  const { id, name, email, first_name, last_name, picture } = asObject(answer);
  const { url, is_silhouette } = asObject(asObject(picture).data);
  return {
    subject: id,
    email,
    emailVerified: false,
    name,
    givenName: first_name,
    familyName: last_name,
    ...(is_silhouette === true ? {} : { picture: url }),
  };
}
