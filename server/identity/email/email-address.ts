import { domainToASCII } from "node:url";

const MAX_INPUT_CHARACTERS = 1024;

/** RFC 5321, 4.5.3.1. */
const MAX_LOCAL_PART_CHARACTERS = 64;
const MAX_ADDRESS_CHARACTERS = 254;
const MAX_DOMAIN_CHARACTERS = 253;

/**
 * Dot-atom of RFC 5322, 3.2.3, in lower case, without the characters of source routes (`%`, `!`), pipes and backquotes:
 * current mailboxes do not need them, and some relays still interpret them.
 */
const localPart = /^[a-z0-9#$&'*+/=?^_{}~-]+(?:\.[a-z0-9#$&'*+/=?^_{}~-]+)*$/;

/** RFC 1035, 2.3.1, as relaxed by RFC 1123, 2.1. */
const label = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** At least one letter: resolvers read a host of digits as an IP address. */
const topLevel = /[a-z]/;

/** Characters rejected before conversion to ASCII, because a URL parser gives them a meaning. */
const forbiddenInDomain = /[\s"#%(),/:;<>?@[\\\]^`{|}]/;

/**
 * Converts an email address to the canonical form that is stored, compared and sent to: trimmed, NFKC, lower case, an
 * internationalised domain in Punycode, no trailing dot.
 *
 * Rejects quoted local parts, comments, display names, lists and local parts beyond ASCII: mail programs disagree on the
 * recipient that they name.
 *
 * @param input as entered by the user
 * @param maxLength of the canonical form, in characters; at most 254 (RFC 5321, 4.5.3.1) take effect
 * @returns null if the input is not an accepted address
 */
export function parseEmailAddress(input: string, maxLength: number): string | null {
  // Bounds the work of normalization.
  if (input.length > MAX_INPUT_CHARACTERS || !input.isWellFormed()) return null;
  const [local = "", domain = "", ...rest] = input.trim().normalize("NFKC").toLowerCase().split("@");
  if (rest.length > 0 || local.length > MAX_LOCAL_PART_CHARACTERS || !localPart.test(local)) return null;
  const host = canonicalDomain(domain);
  if (host === null) return null;
  const address = `${local}@${host}`;
  return address.length <= Math.min(maxLength, MAX_ADDRESS_CHARACTERS) ? address : null;
}

/** Returns the part before the `@` of a canonical address. */
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
  return valid && ascii.length <= MAX_DOMAIN_CHARACTERS ? ascii : null;
}
