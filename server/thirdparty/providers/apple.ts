import { createPrivateKey } from "node:crypto";
import { SignJWT } from "jose";
import { ClientSecretPost } from "openid-client";
import type { Config } from "../../config/schema.ts";
import type { ProviderStatement } from "../provider-facts.ts";
import { asObject, commonSettings, type Provider, standardClaims } from "./provider.ts";

type Settings = Config["third_party"]["providers"]["apple"];

const issuer = "https://appleid.apple.com";

/** How long a client secret that we make is good for; it is used at once. Apple takes up to six months. */
const CLIENT_SECRET_SECONDS = 300;

/**
 * Apple answers by a form that the browser posts, and its ID token says all there is but the name. That comes beside
 * the token, at the very first sign-in alone, and through the browser: it is good for a greeting and for nothing else.
 */
export function apple(settings: Settings): Provider {
  const common = commonSettings(settings);
  return {
    ...common,
    id: "apple",
    name: "Apple",
    authenticate: async () => ClientSecretPost(await clientSecret(settings)),
    server: {
      metadata: {
        issuer,
        authorization_endpoint: `${issuer}/auth/authorize`,
        token_endpoint: `${issuer}/auth/token`,
        jwks_uri: `${issuer}/auth/keys`,
      },
    },
    scopes: ["openid", "name", "email"],
    parameters: { ...common.parameters, response_mode: "form_post" },
    pkce: true,
    idToken: "verified",
    nonce: true,
    readStatement: async ({ claims, user }) => appleStatement(claims ?? {}, user),
  };
}

/**
 * The configured secret, or the JWT that stands for one: ES256 by the key of the team.
 *
 * @throws when there is neither, or the key is none
 */
export async function clientSecret(settings: Settings): Promise<string> {
  const { secret, team_id, key_id, private_key, client_id } = settings;
  if (secret !== undefined) return secret;
  if (!team_id || !key_id || !private_key)
    throw new Error("apple needs a secret, or team_id, key_id and private_key");
  // In an environment variable, line ends are often written as two characters.
  const key = createPrivateKey(private_key.replaceAll("\\n", "\n"));
  const now = Math.floor(Date.now() / 1000);
  return new SignJWT()
    .setProtectedHeader({ alg: "ES256", kid: key_id })
    .setIssuer(team_id)
    .setSubject(client_id)
    .setAudience(issuer)
    .setIssuedAt(now)
    .setExpirationTime(now + CLIENT_SECRET_SECONDS)
    .sign(key);
}

/**
 * @param claims of the ID token; `email_verified` is a boolean or its word
 * @param user JSON: `{"name": {"firstName", "lastName"}, "email"}`
 */
export function appleStatement(claims: Record<string, unknown>, user: string | null): ProviderStatement {
  const { firstName, lastName } = asObject(asObject(parseJson(user)).name);
  const name = [firstName, lastName].filter((part) => typeof part === "string" && part !== "").join(" ");
  return { ...standardClaims(claims), givenName: firstName, familyName: lastName, name };
}

function parseJson(json: string | null): unknown {
  try {
    return json === null ? null : JSON.parse(json);
  } catch {
    return null;
  }
}
