import { claimsOfScopes } from "../claims-of-scopes.ts";

/** Claims of the OpenID provider that have their meaning from a standard or from the service: settings cannot set them. */
export const reservedClaims: ReadonlySet<string> = new Set([
  // Of every JWT (RFC 7519, 4.1).
  ...["iss", "sub", "aud", "exp", "nbf", "iat", "jti"],
  // Of ID tokens and logout tokens (OpenID Connect Core, 2 and 3.3.2.11; Back-Channel Logout, 2.4).
  ...["auth_time", "nonce", "acr", "amr", "azp", "at_hash", "c_hash", "s_hash", "sid", "events"],
  // Claims of other providers (OpenID Connect Core, 5.6.2).
  ...["_claim_names", "_claim_sources"],
  // Of access tokens and of what is said of them (RFC 9068, 2.2; RFC 7662, 2.2; RFC 7800, 3.1; RFC 8693, 4; RFC 9396, 9).
  ...["scope", "client_id", "cnf", "act", "may_act", "authorization_details"],
  ...["active", "token_type", "username"],
  // Of the session's JWT: another token with it could be taken for one.
  "session_id",
  // Of users, as the account has them (OpenID Connect Core, 5.1).
  ...Object.values(claimsOfScopes).flat(),
  "__proto__",
]);
