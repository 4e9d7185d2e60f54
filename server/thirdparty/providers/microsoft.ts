import { ClientSecretPost } from "openid-client";
import type { Config } from "../../config/schema.ts";
import type { ProviderStatement } from "../provider-facts.ts";
import { commonSettings, type Provider, standardClaims } from "./provider.ts";

/**
 * Microsoft Entra ID. Administrators of a directory can set any `email`, and `preferred_username` is not an address. So an
 * address is verified only if the directory has proved ownership of the domain (`xms_edov`, an optional claim that the
 * app registration must request), or a customer directory states `email_verified`.
 */
export function microsoft(settings: Config["third_party"]["providers"]["microsoft"]): Provider {
  return {
    ...commonSettings(settings),
    id: "microsoft",
    name: "Microsoft",
    authenticate: () => ClientSecretPost(settings.secret),
    server: { issuer: `https://login.microsoftonline.com/${encodeURIComponent(settings.tenant)}/v2.0` },
    scopes: ["openid", "profile", "email"],
    reauthentication: { prompt: "login" },
    pkce: true,
    idToken: "verified",
    nonce: true,
    readStatement: async ({ claims }) => microsoftStatement(claims ?? {}),
  };
}

const trueValues: unknown[] = [true, "true", 1, "1"];

/** @param claims of an ID token of version 2.0 */
function microsoftStatement(claims: Record<string, unknown>): ProviderStatement {
  return {
    ...standardClaims(claims),
    emailVerified: trueValues.includes(claims.xms_edov) || claims.email_verified === true,
  };
}
