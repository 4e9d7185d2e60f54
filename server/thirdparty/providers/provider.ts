import type { ClientAuth, ServerMetadata } from "openid-client";
import type { ProviderStatement } from "../provider-facts.ts";

/** What a provider has answered, and the means to ask it more. */
export interface ProviderResponses {
  /** Claims of the verified ID token; null where the provider gives none. */
  claims: Record<string, unknown> | null;
  accessToken: string;
  /**
   * Asks an address of the provider's API with the access token.
   *
   * @throws ThirdPartyError when it does not answer 200 with JSON
   */
  fetchJson(url: string): Promise<unknown>;
  /** Asks the userinfo endpoint; the subject has to be that of the ID token (OpenID Connect Core 1.0, 5.3.2). */
  userInfo(): Promise<Record<string, unknown>>;
  /** Parameter of the callback that Apple alone sends: the person's name, at the very first sign-in. */
  user: string | null;
}

/** An identity provider that speaks OAuth 2 or OpenID Connect: how to ask it, and how to read its answers. */
export interface Provider {
  /** `google`, `custom_acme` */
  id: string;
  /** For people to read. */
  name: string;
  clientId: string;
  authenticate: () => ClientAuth | Promise<ClientAuth>;
  /** Its addresses; an issuer's are asked for (OpenID Connect Discovery 1.0). */
  server: { issuer: string } | { metadata: ServerMetadata };
  scopes: readonly string[];
  /** Further parameters of the authorization request. */
  parameters: Record<string, string>;
  /** Whether it takes a code verifier (RFC 7636). */
  pkce: boolean;
  /**
   * `verified`: it gives ID tokens, whose signature is checked; `direct`: it gives ID tokens and publishes no keys, so
   * that they count because they came from it over TLS (OpenID Connect Core 1.0, 3.1.3.7, item 6).
   */
  idToken: "verified" | "direct" | null;
  /** Whether its ID tokens carry the nonce of the request. */
  nonce: boolean;
  /** Reads its answers. */
  readStatement(answers: ProviderResponses): Promise<ProviderStatement>;
  /** Link to an account that has the same address, when both sides have verified it. */
  allowLinking: boolean;
  /** The tenant trusts it for the second factor. */
  satisfiesMfa: boolean;
}

/** The parts of a provider that its settings give, the same for all built-in ones. */
export function commonSettings(settings: {
  client_id: string;
  prompt?: string | undefined;
  allow_linking: boolean;
  satisfies_mfa: boolean;
}) {
  return {
    clientId: settings.client_id,
    parameters: settings.prompt ? { prompt: settings.prompt } : ({} as Record<string, string>),
    allowLinking: settings.allow_linking,
    satisfiesMfa: settings.satisfies_mfa,
  };
}

/** An answer as an object, empty for anything else, so that reading a member of it never fails. */
export function asObject(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

/** The standard claims (OpenID Connect Core 1.0, 5.1), from an ID token or from userinfo. */
export function standardClaims(claims: Record<string, unknown>): ProviderStatement {
  return {
    subject: claims.sub,
    email: claims.email,
    emailVerified: claims.email_verified,
    name: claims.name,
    givenName: claims.given_name,
    familyName: claims.family_name,
    picture: claims.picture,
  };
}
