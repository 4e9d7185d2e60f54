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
 * Time after the end of a bound cookie in which it is still accepted. Requests that carry it may be under way, and a cookie
 * that a refresh has replaced is in those that were sent before its answer arrived.
 */
const TOLERANCE_MS = 60_000;

/** Time after a registration in which requests without the cookie are accepted: they were sent before its answer arrived. */
const REGISTRATION_MS = 10_000;

/** Browsers send one cookie of a name, or one for each path and domain. */
const MAX_VALUES = 8;

/** The values of the bound cookie in a request; `unknown`: the caller passes on a token alone, as servers of applications do. */
export type BoundValues = readonly string[] | "unknown";

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
export function isOnDevice({ config }: Tenant, session: Session, shown: BoundValues, now: Date): boolean {
  if (!bindsSessions(config)) return true;
  const { mode } = config.session.device_bound;
  if (shown === "unknown" && mode === "offered") return true;
  const { boundKey, boundSince, boundAt, createdAt } = session;
  const age = (since: Date) => now.getTime() - since.getTime();
  const lifetime = lifetimeMs(config) + TOLERANCE_MS;
  if (!boundKey || !boundSince || !boundAt) return mode === "offered" || age(createdAt) <= lifetime;
  if (age(boundSince) <= REGISTRATION_MS) return true;
  const hashes = shown === "unknown" ? [] : shown.slice(0, MAX_VALUES).map(sha256);
  const has = (hash: Buffer | null) => hash !== null && hashes.some((other) => other.equals(hash));
  return (
    (has(session.boundHash) && age(boundAt) <= lifetime) ||
    (has(session.boundHashBefore) && age(boundAt) <= TOLERANCE_MS)
  );
}

/** Milliseconds for which a browser keeps the bound cookie. */
export function lifetimeMs({ session }: Config): number {
  return session.device_bound.lifetime * 1000;
}
