import type { Tenant } from "../config/tenant.ts";
import type { Claims } from "../keys/jwt.ts";
import type { Json } from "../lib/go-template.ts";
import { isCanonicalUuid } from "../lib/uuid.ts";
import type { Session } from "../objects/session.ts";
import { type ActorClaim, actorClaim } from "./impersonation.ts";

/** `typ` of session tokens; tokens of other purposes have other types. */
export const SESSION_TOKEN_TYPE = "JWT";

/**
 * The claims of a session token. They contain no personal data, because browsers store the token; the claims of
 * `session.jwt_template` come beside them.
 */
export interface SessionTokenClaims {
  iss: string;
  /** The audience, which also distinguishes tenants. */
  aud: string[];
  /** The user's id. */
  sub: string;
  session_id: string;
  iat: number;
  exp: number;
  /** Authentication method references (RFC 8176); absent if there are none. */
  amr?: string[];
  /** The operator who acts as the user; absent for the user (RFC 8693, 4.1). */
  act?: ActorClaim;
}

/** The claims in client form: `payload.claims` at `success`, and the response of `/sessions/validate`. */
export interface SessionClaims {
  subject: string;
  session_id: string;
  /** RFC 3339 */
  expiration: string;
  issued_at: string;
  audience: string[];
  issuer: string;
  amr?: string[];
  email?: { address: string; is_primary: boolean; is_verified: boolean };
  username?: string;
  /** As in the token. */
  act?: ActorClaim;
  /** Claims of `session.jwt_template`. */
  [custom: string]: Json | ActorClaim | undefined;
}

/** Data of the user that a client may see beside the token's claims. */
export interface UserClaims {
  /** The primary address. */
  email?: string | null;
  emailVerified?: boolean;
  username?: string | null;
}

/** How a token reaches the service: in the session cookie, or in a header that an application sets. */
export type TokenCarrier = "cookie" | "header";

/**
 * The parameter of a token's header that says that it was issued in a cookie. A copy of it in a header of a request is bound to the
 * device of its session as well; tokens that were issued for headers are not.
 */
export const IN_COOKIE = "in_cookie";

/** `iss` of a tenant's tokens. */
export function issuerOf({ config }: Tenant): string {
  return config.session.issuer || config.base_url;
}

/** `aud` of a tenant's tokens. */
export function audienceOf({ config }: Tenant): string[] {
  const { audience } = config.session;
  return audience.length > 0 ? audience : [config.webauthn.relying_party.id];
}

/** The claims of a session's token. */
export function tokenClaims(
  tenant: Tenant,
  session: Pick<Session, "id" | "userId" | "amr" | "createdAt" | "expiresAt" | "impersonation">,
): SessionTokenClaims {
  return {
    iss: issuerOf(tenant),
    aud: audienceOf(tenant),
    sub: session.userId,
    session_id: session.id,
    iat: Math.floor(session.createdAt.getTime() / 1000),
    exp: Math.floor(session.expiresAt.getTime() / 1000),
    ...(session.amr.length > 0 ? { amr: session.amr } : {}),
    ...actorClaim(session),
  };
}

/**
 * Parses verified claims as those of a session; null if they have another shape.
 *
 * @returns `custom`: the claims of `session.jwt_template`
 */
export function asSessionClaims(
  claims: Claims,
): { claims: SessionTokenClaims; custom: Record<string, Json> } | null {
  // Who acts is read of the session.
  const { iss, aud, sub, session_id, iat, exp, amr, act: _act, ...custom } = claims;
  if (typeof sub !== "string" || typeof session_id !== "string" || !isCanonicalUuid(session_id)) return null;
  if (typeof iss !== "string" || typeof iat !== "number" || typeof exp !== "number") return null;
  if (!isStrings(aud) || !(amr === undefined || isStrings(amr))) return null;
  return {
    claims: { iss, aud, sub, session_id, iat, exp, ...(amr ? { amr } : {}) },
    custom: custom as Record<string, Json>,
  };
}

/** Converts the claims of a token to client form. */
export function clientClaims(
  claims: SessionTokenClaims,
  person: UserClaims,
  custom: Record<string, Json>,
): SessionClaims {
  const { email, emailVerified = false, username } = person;
  return {
    ...custom,
    subject: claims.sub,
    session_id: claims.session_id,
    expiration: new Date(claims.exp * 1000).toISOString(),
    issued_at: new Date(claims.iat * 1000).toISOString(),
    audience: claims.aud,
    issuer: claims.iss,
    ...(claims.amr ? { amr: claims.amr } : {}),
    ...(claims.act ? { act: claims.act } : {}),
    ...(email ? { email: { address: email, is_primary: true, is_verified: emailVerified } } : {}),
    ...(username ? { username } : {}),
  };
}

function isStrings(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}
