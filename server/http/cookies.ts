import type { Config } from "../config/schema.ts";
import { pathPrefix } from "./tenant-path.ts";

/**
 * Every value that a `Cookie` header (RFC 6265, 4.2.1) gives for a name, in order. A sibling host can plant a
 * second cookie of the same name, and no order tells them apart.
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

/** Attributes of a cookie of ours (RFC 6265bis, 4.1.2); all of them are `HttpOnly`. */
export interface CookieAttributes {
  /** Seconds; without it the cookie goes with the browser, 0 removes it. */
  maxAge?: number;
  sameSite: "strict" | "lax" | "none";
  secure: boolean;
  domain?: string;
}

const sameSiteWord = { strict: "Strict", lax: "Lax", none: "None" } as const;

/**
 * A `Set-Cookie` value. A tenant that shares its host with others has its cookies for its own addresses alone.
 *
 * @param value one that needs no quoting: a JWT, a seal, or nothing
 */
export function setCookie(config: Config, name: string, value: string, attributes: CookieAttributes): string {
  const { maxAge, sameSite, secure, domain } = attributes;
  return [
    `${name}=${value}`,
    `Path=${pathPrefix(config) || "/"}`,
    ...(domain ? [`Domain=${domain}`] : []),
    ...(maxAge === undefined ? [] : [`Max-Age=${maxAge}`]),
    "HttpOnly",
    ...(secure ? ["Secure"] : []),
    `SameSite=${sameSiteWord[sameSite]}`,
  ].join("; ");
}

/** Whether browsers reach this service over TLS, so that cookies may be marked `Secure`. */
export function isSecure(config: Config): boolean {
  return config.base_url.startsWith("https:");
}

/** The session cookie. */
export function sessionCookie(config: Config, token: string, maxAge: number | undefined): string {
  const { name, domain, same_site } = config.session.cookie;
  return setCookie(config, name, token, {
    ...(maxAge === undefined ? {} : { maxAge }),
    ...(domain ? { domain } : {}),
    sameSite: same_site,
    secure: isSecure(config),
  });
}

/** The cookie of a trusted browser. Pages of other sites that use this service send it along, so it is theirs too. */
export function deviceCookie(config: Config, value: string, maxAge: number): string {
  const { device_trust_cookie_name } = config.mfa;
  return setCookie(config, device_trust_cookie_name, value, { maxAge, sameSite: "none", secure: true });
}

/** Name of the cookie that ties a request to an identity provider to the browser that began it. */
export const thirdPartyStateName = "third-party-state";

/** A provider's own page may post the answer, so other sites send it along. */
export function thirdPartyStateCookie(config: Config, value: string, maxAge: number): string {
  return setCookie(config, thirdPartyStateName, value, { maxAge, sameSite: "none", secure: true });
}

/** Takes the session cookie back. */
export function expiredSessionCookie(config: Config): string {
  return sessionCookie(config, "", 0);
}
