import { ClientSecretPost } from "openid-client";
import type { Config } from "../../config/schema.ts";
import type { ProviderStatement } from "../provider-facts.ts";
import { commonSettings, type Provider, standardClaims } from "./provider.ts";

/**
 * Microsoft Entra ID. Whoever runs a directory writes what they like into the `email` of its people, and
 * `preferred_username` is a name and no address; so an address is verified only where the directory has proved that it
 * owns the domain (`xms_edov`, an optional claim that the application has to ask for in its registration) or a
 * directory for customers says `email_verified`.
 */
export function microsoft(settings: Config["third_party"]["providers"]["microsoft"]): Provider {
  return {
    ...commonSettings(settings),
    id: "microsoft",
    name: "Microsoft",
    authenticate: () => ClientSecretPost(settings.secret),
    server: { issuer: `https://login.microsoftonline.com/${encodeURIComponent(settings.tenant)}/v2.0` },
    scopes: ["openid", "profile", "email"],
    pkce: true,
    idToken: "verified",
    nonce: true,
    readStatement: async ({ claims }) => microsoftStatement(claims ?? {}),
  };
}

const yes: unknown[] = [true, "true", 1, "1"];

/** @param claims of an ID token of version 2.0 */
export function microsoftStatement(claims: Record<string, unknown>): ProviderStatement {
  return {
    ...standardClaims(claims),
    emailVerified: yes.includes(claims.xms_edov) || claims.email_verified === true,
  };
}
