import { LANGUAGE_COOKIE } from "#server/http/language";

/**
 * The name of the header (from the proxy to the page) and of the cookie (for later requests) with the language that a
 * visitor chose by `?lang=`. The value is not trusted.
 */
export const LANGUAGE = LANGUAGE_COOKIE;

/** The language tag in the query of a page's address, or null if it is absent or malformed (RFC 5646, 2.1). */
export function requestedLanguage(query: URLSearchParams): string | null {
  const tag = query.get("lang");
  return tag !== null && /^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,2}$/.test(tag) ? tag : null;
}
