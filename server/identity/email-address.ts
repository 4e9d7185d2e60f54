import { domainToASCII } from "node:url";

/**
 * Dot-atom of RFC 5322 3.2.3 in lower case. Left out are the signs of old source routes (`%`, `!`), pipes and
 * backquotes: no mailbox of today needs them, and some relays still act on them.
 */
const localPart = /^[a-z0-9#$&'*+/=?^_{}~-]+(?:\.[a-z0-9#$&'*+/=?^_{}~-]+)*$/;

/** RFC 1035 2.3.1, as RFC 1123 2.1 relaxed it. */
const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** At least one letter: a host of digits alone is an IP address to whoever resolves it. */
const topLevel = /[a-z]/;

/** What a host may not hold before it is turned to ASCII: a URL parser would read more into it than a host. */
const forbiddenInDomain = /[\s"#%(),/:;<>?@[\\\]^`{|}]/;

/**
 * Brings an e-mail address into the one form in which it is stored, compared and sent to: trimmed, compatibility
 * forms resolved (NFKC), lower case, an internationalised domain in Punycode, no trailing dot.
 *
 * Quoted local parts, comments, display names, lists and local parts beyond ASCII are refused: they are where one
 * program reads another recipient than the next.
 *
 * @param input what was typed
 * @param maxLength most characters of the canonical form; RFC 5321 4.5.3.1 allows 254 at the most
 * @returns the canonical form, or null when this is no address
 */
export function parseEmailAddress(input: string, maxLength: number): string | null {
  // NFKC can lengthen a text eighteenfold; what is this long has no canonical form that is short enough.
  if (input.length > 1024 || !input.isWellFormed()) return null;
  const [local = "", domain = "", ...rest] = input.trim().normalize("NFKC").toLowerCase().split("@");
  if (rest.length > 0 || local.length > 64 || !localPart.test(local)) return null;
  const host = canonicalDomain(domain);
  if (host === null) return null;
  const address = `${local}@${host}`;
  return address.length <= Math.min(maxLength, 254) ? address : null;
}

/** The mailbox's name, before the `@` of a canonical address. */
export function localPartOf(address: string): string {
  return address.slice(0, address.lastIndexOf("@"));
}

function canonicalDomain(domain: string): string | null {
  if (forbiddenInDomain.test(domain)) return null;
  const ascii = domainToASCII(domain).replace(/\.$/, "");
  const labels = ascii.split(".");
  const last = labels.at(-1) ?? "";
  const valid =
    labels.length > 1 && labels.every((part) => label.test(part)) && topLevel.test(last) && last.length > 1;
  return valid && ascii.length <= 253 ? ascii : null;
}
