import { createPrivateKey } from "node:crypto";
import { SignJWT } from "jose";
import { ClientSecretPost } from "openid-client";
import type { Config } from "../../config/schema.ts";
import type { ProviderStatement } from "../provider-facts.ts";
import { mapClaims } from "./claims.ts";
import { asObject, openIdProvider } from "./provider.ts";

type Settings = Config["third_party"]["providers"]["apple"];

const issuer = "https://appleid.apple.com";

/** Lifetime of a generated client secret, which is used at once. Apple accepts up to six months. */
const CLIENT_SECRET_SECONDS = 300;

/**
 * Apple, OpenID Connect with `response_mode=form_post`. The ID token lacks the name, which comes beside it at the first
 * sign-in only. It passes through the browser unsigned, so it is used for display only.
 */
export const apple = (settings: Settings) =>
  openIdProvider(settings, {
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
    parameters: { ...(settings.prompt ? { prompt: settings.prompt } : {}), response_mode: "form_post" },
    reauthentication: {},
    readStatement: async ({ claims, user }) => appleStatement(claims ?? {}, user),
  });

/**
 * Returns the configured secret, or a JWT in its place, signed with ES256 by the team's key.
 *
 * @throws if neither is configured, or the key is invalid
 */
export async function clientSecret(settings: Settings): Promise<string> {
  const { secret, team_id, key_id, private_key, client_id } = settings;
  if (secret !== undefined) return secret;
  if (!team_id || !key_id || !private_key)
    throw new Error("apple needs a secret, or team_id, key_id and private_key");
  // Environment variables often contain line ends as `\\n`.
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
 * @param claims of the ID token; `email_verified` is a boolean or a string
 * @param user JSON: `{"name": {"firstName", "lastName"}, "email"}`
 */
function appleStatement(claims: Record<string, unknown>, user: string | null): ProviderStatement {
  const { firstName, lastName } = asObject(asObject(parseJson(user)).name);
  const name = [firstName, lastName].filter((part) => typeof part === "string" && part !== "").join(" ");
  return { ...mapClaims(claims), givenName: firstName, familyName: lastName, name };
}

function parseJson(json: string | null): unknown {
  try {
    return json === null ? null : JSON.parse(json);
  } catch {
    return null;
  }
}
