import { matchesPattern } from "./address-pattern.ts";

/** Redirect URLs requested by clients. */

export const MAX_REDIRECT_LENGTH = 2048;

/**
 * Parses an absolute http(s) URL that all parsers interpret in the same way: no credentials, no fragment, no characters
 * that parsers drop or convert.
 *
 * @returns null for any other text, or one of more than 2048 characters
 */
export function parseRedirectTarget(text: string): URL | null {
  if (text.length > MAX_REDIRECT_LENGTH || /[\s\\#]/.test(text) || hasControls(text) || !URL.canParse(text))
    return null;
  const url = new URL(text);
  if (url.protocol !== "https:" && url.protocol !== "http:") return null;
  return url.username === "" && url.password === "" ? url : null;
}

function hasControls(text: string): boolean {
  return [...text].some((character) => character < " " || character === "\u007f");
}

/**
 * Whether a URL is on the list. An entry without `*` must be equal; others are patterns (`address-pattern.ts`).
 */
export function isAllowedRedirect(target: URL, allowed: readonly string[]): boolean {
  return allowed.some((entry) => {
    if (!entry.includes("*")) return URL.canParse(entry) && new URL(entry).href === target.href;
    // Proxies may decode an encoded slash.
    if (/%2f|%5c/i.test(target.pathname)) return false;
    return matchesPattern(entry, target);
  });
}
