import { LANGUAGE_COOKIE } from "#server/http/language";

/**
 * Carries the language that a visitor chose by `?lang=`: as a header from the proxy to the page, and as a cookie to
 * the steps after it. It is a wish and proves nothing.
 */
export const LANGUAGE = LANGUAGE_COOKIE;

/** @param query of the page's address; @returns the tag it names, if it could be one (RFC 5646, 2.1) */
export function languageWish(query: URLSearchParams): string | null {
  const tag = query.get("lang");
  return tag !== null && /^[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8}){0,2}$/.test(tag) ? tag : null;
}
