import { BlockList, isIPv4 } from "node:net";
import { canonicalAddress } from "../../lib/ip-address.ts";

/** Stands for a peer without a usable address. All of them share one rate limit. */
const UNKNOWN = "unknown";

/**
 * The proxies whose `X-Forwarded-For` is trusted.
 *
 * @param ranges addresses or CIDR ranges, validated by the configuration
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
 * The address of the client: the peer's, or, behind a trusted proxy, the rightmost hop of `X-Forwarded-For` that is not
 * a trusted proxy. Hops left of it may be forged by the client.
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
 * Whether an address is that of a trusted proxy.
 *
 * @param text the address in any notation
 */
export function isTrusted(text: string, trusted: BlockList): boolean {
  const address = canonicalAddress(text);
  return address !== null && trusted.check(address, isIPv4(address) ? "ipv4" : "ipv6");
}

/**
 * The key for rate limits: the IPv4 address, or the /64 prefix of an IPv6 address, since a client usually controls a
 * whole /64.
 *
 * @param address as `clientAddress` returns it
 */
export function sourceOf(address: string): string {
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.split("::");
  const left = head === "" ? [] : head.split(":");
  // A dotted ending stands for two groups.
  const right = tail === undefined || tail === "" ? [] : tail.replace(/[\d.]+\.\d+$/, "0:0").split(":");
  const missing = tail === undefined ? 0 : 8 - left.length - right.length;
  const groups = [...left, ...Array<string>(missing).fill("0"), ...right];
  return `${groups.slice(0, 4).join(":")}::/64`;
}

/** Whether an address, in any notation, is a loopback address. */
export function isLoopback(text: string): boolean {
  const address = canonicalAddress(text);
  return address !== null && (address === "::1" || /^127\./.test(address));
}
