import { type ClientAuth, ClientSecretPost, type ServerMetadata } from "openid-client";
import type { ProviderStatement } from "../provider-facts.ts";
import { mapClaims } from "./claims.ts";

/** The token response of a provider, and functions for further requests. */
export interface ProviderResponses {
  /** Claims of the verified ID token; null if the provider issues none. */
  claims: Record<string, unknown> | null;
  accessToken: string;
  /**
   * Requests a URL of the provider's API with the access token.
   *
   * @throws ThirdPartyError if the response is not 200 with JSON
   */
  fetchJson(url: string): Promise<unknown>;
  /** Requests the userinfo endpoint; verifies that the subject equals that of the ID token (OpenID Connect Core 1.0, 5.3.2). */
  userInfo(): Promise<Record<string, unknown>>;
  /** Callback parameter `user`, which only Apple sends: the user's name, at the first sign-in. */
  user: string | null;
}

/** An OAuth 2 or OpenID Connect provider: its protocol parameters, and how to read its responses. */
export interface Provider {
  /** `google`, `custom_acme` */
  id: string;
  /** Display name. */
  name: string;
  clientId: string;
  authenticate: () => ClientAuth | Promise<ClientAuth>;
  /** The ways of `authenticate`, by their names in metadata (RFC 8414, 2). */
  clientAuthentication: readonly string[];
  /** Its endpoints; those of an issuer are discovered (OpenID Connect Discovery 1.0). */
  server: { issuer: string } | { metadata: ServerMetadata };
  scopes: readonly string[];
  /** Further parameters of the authorization request. */
  parameters: Record<string, string>;
  /**
   * Further parameters that ask the user to authenticate again. With `max_age`, its ID tokens have `auth_time` (OpenID
   * Connect Core 1.0, 3.1.2.1). Empty if the provider has none: the round trip still requires a sign-in there.
   */
  reauthentication: Record<string, string>;
  /** Whether it supports PKCE (RFC 7636). */
  pkce: boolean;
  /**
   * `verified`: it issues ID tokens, whose signature is verified; `direct`: it issues ID tokens without published keys,
   * trusted because they came from it over TLS (OpenID Connect Core 1.0, 3.1.3.7, item 6); null: none.
   */
  idToken: "verified" | "direct" | null;
  /** Whether its ID tokens carry the nonce of the request. */
  nonce: boolean;
  /** The claims that facts are read from, by the names of `attribute_mapping`; null if its API has none of them. */
  attributeMapping: Record<string, string> | null;
  /** Reads the facts about the user from its responses. */
  readStatement(answers: ProviderResponses): Promise<ProviderStatement>;
  /** Link to an account with the same address if both sides have verified it. */
  allowLinking: boolean;
  /** Whether the tenant trusts it for the second factor. */
  satisfiesMfa: boolean;
  /** Whether signing out ends the session there too (OpenID Connect RP-Initiated Logout 1.0). */
  endsSession: boolean;
  /** Where, if the configuration says so; else discovery does. */
  endSessionEndpoint?: string | undefined;
}

/** Settings that every built-in provider has. */
export interface BuiltInSettings {
  client_id: string;
  secret?: string | undefined;
  prompt?: string | undefined;
  allow_linking: boolean;
  satisfies_mfa: boolean;
}

type Stated = Pick<Provider, "id" | "name" | "server" | "scopes" | "reauthentication"> & Partial<Provider>;

/** Makes a built-in provider of OAuth 2, which states how its API tells the user. */
export const oauthProvider = (
  settings: BuiltInSettings,
  stated: Stated & Pick<Provider, "readStatement">,
): Provider => ({
  clientId: settings.client_id,
  authenticate: () => ClientSecretPost(settings.secret),
  clientAuthentication: ["client_secret_post"],
  attributeMapping: null,
  parameters: settings.prompt ? { prompt: settings.prompt } : {},
  pkce: true,
  idToken: null,
  nonce: false,
  allowLinking: settings.allow_linking,
  satisfiesMfa: settings.satisfies_mfa,
  endsSession: false,
  ...stated,
});

/** Makes a built-in provider of OpenID Connect; by default its ID token has the standard claims and the nonce. */
export const openIdProvider = (settings: BuiltInSettings, stated: Stated): Provider =>
  oauthProvider(settings, {
    idToken: "verified",
    nonce: true,
    attributeMapping: {},
    readStatement: async ({ claims }) => mapClaims(claims ?? {}),
    ...stated,
  });

/** Returns an object, or an empty one for any other value. */
export function asObject(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}
