import { BlockList, isIP, isIPv4, SocketAddress } from "node:net";

/** What a peer without a usable address counts as; all of them share one limit. */
const UNKNOWN = "unknown";

/**
 * The proxies whose `X-Forwarded-For` is believed.
 *
 * @param ranges addresses or CIDR ranges, as the configuration has checked them
 */
export function trustedProxies(ranges: readonly string[]): BlockList {
  const trusted = new BlockList();
  for (const range of ranges) {
    const [address = "", bits] = range.split("/");
    const family = isIPv4(address) ? "ipv4" : "ipv6";
    if (bits === undefined) trusted.addAddress(address, family);
    else trusted.addSubnet(address, Number(bits), family);
  }
  return trusted;
}

/**
 * The address a request came from: the peer's, or, where the peer is a trusted proxy, the rightmost hop of
 * `X-Forwarded-For` that is not one. What stands left of that hop was written by whoever sent the request.
 *
 * @param peer address of the other end of the connection
 * @param forwardedFor the `X-Forwarded-For` header, or null
 * @returns the address in canonical form, or `unknown`
 */
export function clientAddress(peer: string, forwardedFor: string | null, trusted: BlockList): string {
  let address = canonicalAddress(peer);
  if (address === null) return UNKNOWN;
  if (forwardedFor === null) return address;
  const hops = forwardedFor.split(",");
  while (isTrusted(address, trusted)) {
    const hop = canonicalAddress(hops.pop() ?? "");
    if (hop === null) break;
    address = hop;
  }
  return address;
}

/**
 * One spelling for each address: IPv6 as in RFC 5952, without brackets, port or zone; IPv4 that is mapped into
 * IPv6 as IPv4.
 *
 * @returns null for what is no address
 */
export function canonicalAddress(text: string): string | null {
  const bare = withoutPort(text.trim());
  const family = isIP(bare);
  if (family === 4) return bare;
  if (family !== 6) return null;
  // A socket for both families spells every IPv4 peer so, and the general way costs as much as a whole short answer.
  const dotted = /^::ffff:([\d.]+)$/i.exec(bare)?.[1];
  if (dotted !== undefined && isIPv4(dotted)) return dotted;
  const { address } = new SocketAddress({ address: bare, family: "ipv6" });
  const mapped = address.startsWith("::ffff:") ? address.slice("::ffff:".length) : "";
  return isIPv4(mapped) ? mapped : address;
}

/** Some proxies name the port too: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function withoutPort(text: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(text);
  if (bracketed) return bracketed[1] ?? "";
  const dotted = /^([\d.]+):\d+$/.exec(text);
  return dotted ? (dotted[1] ?? "") : text;
}

function isTrusted(address: string, trusted: BlockList): boolean {
  return trusted.check(address, isIPv4(address) ? "ipv4" : "ipv6");
}

/**
 * What limits count by: the IPv4 address, or the /64 an IPv6 address lies in, since whoever has one address of a
 * /64 has them all.
 *
 * @param address as `clientAddress` returns it
 */
export function sourceOf(address: string): string {
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.split("::");
  const left = head === "" ? [] : head.split(":");
  // An address that ends in dotted form has two groups there.
  const right = tail === undefined || tail === "" ? [] : tail.replace(/[\d.]+\.\d+$/, "0:0").split(":");
  const missing = tail === undefined ? 0 : 8 - left.length - right.length;
  const groups = [...left, ...Array<string>(missing).fill("0"), ...right];
  return `${groups.slice(0, 4).join(":")}::/64`;
}

/** Whether an address, in any spelling, is this machine's own. */
export function isLoopback(text: string): boolean {
  const address = canonicalAddress(text);
  return address !== null && (address === "::1" || /^127\./.test(address));
}
