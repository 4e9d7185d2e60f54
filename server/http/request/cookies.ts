import type { Config } from "../../config/schema.ts";
import type { Tenant } from "../../config/tenant.ts";
import { pathPrefix } from "./tenant-path.ts";

/**
 * Returns every value of a cookie in a `Cookie` header (RFC 6265, 4.2.1), in order. A sibling host can plant a second
 * cookie of the same name, and the order does not tell them apart.
 */
export function cookieValues(header: string | null, name: string): string[] {
  if (header === null) return [];
  const start = `${name}=`;
  return header
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(start))
    .map((pair) => unquote(pair.slice(start.length)));
}

function unquote(value: string): string {
  return value.length > 1 && value.startsWith('"') && value.endsWith('"') ? value.slice(1, -1) : value;
}

/** Attributes of a cookie (RFC 6265bis, 4.1.2). All cookies are `HttpOnly`. */
export interface CookieAttributes {
  /** Seconds; without it the cookie lasts until the browser is closed. 0 removes it. */
  maxAge?: number;
  sameSite: "strict" | "lax" | "none";
  secure: boolean;
  domain?: string;
  /** Default: the path of the tenant. */
  path?: string;
  /** Kept apart for each site that holds the frame (CHIPS); browsers keep it although they block other sites' cookies. */
  partitioned?: boolean;
}

const sameSiteWord = { strict: "Strict", lax: "Lax", none: "None" } as const;

/**
 * A `Set-Cookie` value. Cookies of a tenant that shares its host with others are limited to the tenant's own path, unless
 * another is given.
 *
 * @param value must need no quoting: a JWT, a sealed value, or the empty string
 */
export function formatCookie(
  config: Config,
  name: string,
  value: string,
  attributes: CookieAttributes,
): string {
  const { maxAge, sameSite, secure, domain, path = pathPrefix(config) || "/", partitioned } = attributes;
  return [
    `${name}=${value}`,
    `Path=${path}`,
    ...(domain ? [`Domain=${domain}`] : []),
    ...(maxAge === undefined ? [] : [`Max-Age=${maxAge}`]),
    "HttpOnly",
    ...(secure ? ["Secure"] : []),
    `SameSite=${sameSiteWord[sameSite]}`,
    ...(partitioned ? ["Partitioned"] : []),
  ].join("; ");
}

/** Whether browsers reach this service over TLS, so that cookies may be marked `Secure`. */
export function isSecure(config: Config): boolean {
  return config.base_url.startsWith("https:");
}

/** The cookie of a trusted device. `SameSite=None`, since pages of other sites may use this service. */
export function deviceCookie(config: Config, value: string, maxAge: number): string {
  const { device_trust_cookie_name } = config.mfa;
  return formatCookie(config, device_trust_cookie_name, value, { maxAge, sameSite: "none", secure: true });
}

/**
 * Name of the cookie of account marks. Over https it is bound to the host, so that no sibling host can plant or remove
 * it; such cookies have no path (RFC 6265bis, 4.1.3.2), so the name tells tenants apart.
 */
function markCookieName({ config, id }: Tenant): string {
  return isSecure(config) ? `__Host-stile-marks-${id}` : `stile-marks-${id}`;
}

/** The value of the cookie of account marks in a `Cookie` header; null without one. */
export function markIn(cookies: string | null, tenant: Tenant): string | null {
  return cookieValues(cookies, markCookieName(tenant))[0] ?? null;
}

/** The cookie of account marks. `SameSite=None`, since pages of other sites may use this service. */
export function markCookie(tenant: Tenant, value: string, maxAge: number): string {
  const { config } = tenant;
  return formatCookie(config, markCookieName(tenant), value, {
    maxAge,
    sameSite: "none",
    secure: true,
    ...(isSecure(config) ? { path: "/" } : {}),
  });
}

/** The cookie that binds a request to an identity provider to the browser that started it. */
export const THIRD_PARTY_STATE_COOKIE = "third-party-state";

/** `SameSite=None`, since a provider's page may post the response. */
export function thirdPartyStateCookie(config: Config, value: string, maxAge: number): string {
  return formatCookie(config, THIRD_PARTY_STATE_COOKIE, value, { maxAge, sameSite: "none", secure: true });
}
