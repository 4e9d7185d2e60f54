import { parsePattern, patternFault, type Wildcard, type WildcardPattern } from "../lib/wildcard-pattern.ts";

/**
 * URL patterns: `*` matches within a host label or path segment, `**` across labels or segments. In a host both match at
 * least one character. A query is matched by the part of the pattern after its `?`.
 */

const patternParts = /^(https?:\/\/)([^/?#]+)(\/[^?#]*)?(\?[^#]*)?$/;

/** `https://app.example**`: every URL of that origin, a notation of other services. */
const wholeOrigin = /^(https?:\/\/[^/?#*]+)\*\*$/;

/** A host that ends in a wildcard would match domains registered by others. A wildcard port is allowed. */
const wildcardEnd = /\*(?::[^:\]]*)?$/;

/** A parsed pattern of URLs: every URL of an origin, or a pattern of the text of a normalized URL. */
export type AddressPattern = { origin: string } | { text: WildcardPattern };

/** @returns null if no URL can match, or the pattern has more wildcards or characters than are matched */
export function parseAddressPattern(pattern: string): AddressPattern | null {
  if (patternFault(pattern)) return null;
  const [, origin] = wholeOrigin.exec(pattern) ?? [];
  if (origin !== undefined) return URL.canParse(origin) ? { origin: new URL(origin).origin } : null;
  const parts = patternParts.exec(pattern);
  if (!parts) return null;
  const [, scheme = "", host = "", path = "/", query = ""] = parts;
  if (wildcardEnd.test(host.replace(/:\*$/, ""))) return null;
  const text = parsePattern([
    scheme,
    ...split(host.toLowerCase(), wildcard("./:?", 1), wildcard("/:?", 1)),
    ...split(path, wildcard("/?", 0), wildcard("?", 0)),
    ...split(query, wildcard("", 0), wildcard("", 0)),
  ]);
  return text && { text };
}

const wildcard = (excluded: string, least: 0 | 1): Wildcard => ({
  takes: (character) => !excluded.includes(character),
  least,
});

/**
 * Splits a part of a pattern at its wildcards.
 *
 * @param within what `*` stands for
 * @param across what `**` stands for
 */
function split(pattern: string, within: Wildcard, across: Wildcard): (string | Wildcard)[] {
  return pattern
    .split(/(\*+)/)
    .map((part) => (part.startsWith("*") ? (part === "*" ? within : across) : part));
}
