import { isIP } from "node:net";
import { isPublicAddress } from "./public-address.ts";

/** Why an address cannot be a callback. */
export type CallbackRejection =
  | "is not an address"
  | "must begin with https://"
  | "must begin with https://, unless webhooks.allow_private_targets is set"
  | "must not contain a user or password"
  | "must not contain a fragment"
  | "has a port that is not allowed"
  | "leads to an address that is not public"
  | "is too long";

const MAX_CALLBACK_CHARACTERS = 2048;

/** Ports below 1024 that a receiver may listen on. */
const lowPorts = new Set([80, 443]);

/** Ports from 1024 on that other protocols use (Fetch standard, 2.9, "port blocking"). */
const otherProtocols = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697,
  10_080,
]);

/** Host names for the machine itself, and those of its network (RFC 6761, RFC 6762, RFC 8375, ICANN SAC113). */
const localName = /(?:^|\.)(?:localhost|local|internal|intranet|home\.arpa|lan|corp|home)$/;

/**
 * Judges the text of a callback's address. The addresses that its host name resolves to are judged at each connection.
 *
 * @param allowPrivate accepts http, and private hosts
 * @returns the address, or why it is rejected
 */
export function judgeCallback(
  text: string,
  { allowPrivate }: { allowPrivate: boolean },
): { ok: true; url: URL } | { ok: false; reason: CallbackRejection } {
  const reject = (reason: CallbackRejection) => ({ ok: false, reason }) as const;
  if (text.length > MAX_CALLBACK_CHARACTERS) return reject("is too long");
  // `URL` removes white space and control characters silently.
  if (!/^[\x21-\x7e]+$/.test(text) || !URL.canParse(text)) return reject("is not an address");
  const url = new URL(text);
  const isHttp = url.protocol === "http:" && allowPrivate;
  if (url.protocol === "http:" && !allowPrivate)
    return reject("must begin with https://, unless webhooks.allow_private_targets is set");
  if (url.protocol !== "https:" && !isHttp) return reject("must begin with https://");
  if (url.username !== "" || url.password !== "") return reject("must not contain a user or password");
  if (url.hash !== "" || text.includes("#")) return reject("must not contain a fragment");
  const port = Number(url.port || (isHttp ? 80 : 443));
  if (otherProtocols.has(port) || (port < 1024 && !lowPorts.has(port)))
    return reject("has a port that is not allowed");
  if (allowPrivate) return { ok: true, url };
  // `URL` has turned decimal, octal and hexadecimal spellings of IPv4 into the dotted one.
  const host = url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
  const isPublic = isIP(host) !== 0 ? isPublicAddress(host) : host.includes(".") && !localName.test(host);
  return isPublic ? { ok: true, url } : reject("leads to an address that is not public");
}
