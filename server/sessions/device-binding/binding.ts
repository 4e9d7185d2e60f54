import type { Config } from "../../config/schema.ts";
import type { Tenant } from "../../config/tenant.ts";
import { sha256 } from "../../lib/sha256.ts";
import type { Session } from "../../objects/session.ts";

/**
 * Device-bound session credentials (W3C draft `webappsec-dbsc`, February 2026; "DBSC" in citations). A browser registers a
 * public key for its session. From then on the session cookie is worth nothing without a second one, which lives some
 * minutes and which the browser gets for a proof of the private key. That key stays in the device.
 */

/**
 * Time for requests under way. After the end of a bound cookie it is still accepted, after a refresh the one before, and
 * after a registration none is needed: browsers take up to half a minute until they send it.
 */
export const UNDER_WAY_MS = 60_000;

/** Browsers send one cookie of a name, or one for each path and domain. */
const MAX_VALUES = 8;

/** The values of the bound cookie in a request; `not_passed_on`: a server of an application sends the token alone. */
export type BoundValues = readonly string[] | "not_passed_on";

/**
 * Whether sessions of a tenant are bound. A cookie for all hosts of a domain is renewed on each of them only if the binding
 * covers the whole site. Tokens in headers are not bound: DPoP is for those.
 */
export function bindsSessions({ session }: Config): boolean {
  const { device_bound, cookie, enable_auth_token_header } = session;
  const isCovered = cookie.domain === "" || device_bound.include_site;
  return device_bound.mode !== "off" && !enable_auth_token_header && isCovered;
}

/**
 * Whether a request with a session cookie may use the session, as far as its device is concerned.
 *
 * `Secure-Session-Skipped` (DBSC, 9.5) is no reason to accept it: the holder of a stolen cookie can send that header too.
 */
export function isOnItsDevice({ config }: Tenant, session: Session, sent: BoundValues, now: Date): boolean {
  // A browser of an operator binds nothing: the session lasts an hour at most.
  if (!bindsSessions(config) || session.impersonation !== null) return true;
  const { mode } = config.session.device_bound;
  if (sent === "not_passed_on" && mode === "offered") return true;
  const { boundAt, boundHash, boundUntil, previousBoundHash, previousBoundUntil, createdAt } = session;
  const isWithin = (milliseconds: number, since: Date) => now.getTime() - since.getTime() <= milliseconds;
  if (!boundAt) return mode === "offered" || isWithin(lifetimeMs(config) + UNDER_WAY_MS, createdAt);
  if (isWithin(UNDER_WAY_MS, boundAt)) return true;
  const hashes = sent === "not_passed_on" ? [] : sent.slice(0, MAX_VALUES).map(sha256);
  const has = (hash: Buffer | null) => hash !== null && hashes.some((other) => other.equals(hash));
  const isCurrent = has(boundHash) && boundUntil !== null && isWithin(UNDER_WAY_MS, boundUntil);
  const isPrevious = has(previousBoundHash) && previousBoundUntil !== null && now <= previousBoundUntil;
  return isCurrent || isPrevious;
}

/** Milliseconds for which a browser keeps the bound cookie. */
export function lifetimeMs({ session }: Config): number {
  return session.device_bound.lifetime * 1000;
}
