import { matchesPattern } from "./address-pattern.ts";

/** Addresses that browsers are sent to because somebody asked for it. */

const MAX_REDIRECT_LENGTH = 2048;

/**
 * Reads an absolute http(s) address that means the same to every reader: no user, no fragment, nothing a parser
 * drops or turns.
 *
 * @returns null for anything else, and for what is longer than 2048 characters
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
 * Whether an address is on the list. An entry without `*` is compared whole. In one with `*`, it stands for a part
 * of a host's label or of a path's segment, and `**` for any number of labels or segments; a query has to be in the
 * entry too.
 */
export function isAllowedRedirect(target: URL, allowed: readonly string[]): boolean {
  return allowed.some((entry) => {
    if (!entry.includes("*")) return URL.canParse(entry) && new URL(entry).href === target.href;
    // A pattern matches what it says, not what a proxy might make of an encoded slash.
    if (/%2f|%5c/i.test(target.pathname)) return false;
    return matchesPattern(entry, target);
  });
}
