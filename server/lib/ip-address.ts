import { isIP, isIPv4, SocketAddress } from "node:net";

/**
 * Returns the canonical form of an address: IPv6 as in RFC 5952, without brackets, port or zone; IPv4 mapped into IPv6
 * as IPv4.
 *
 * @returns null if the text is not an IP address
 */
export function canonicalAddress(text: string): string | null {
  if (isIPv4(text)) return text;
  const bare = withoutPort(text.trim());
  const family = isIP(bare);
  if (family === 4) return bare;
  if (family !== 6) return null;
  // A dual-stack socket reports every IPv4 peer in this form, and `SocketAddress` is slow.
  const dotted = /^::ffff:([\d.]+)$/i.exec(bare)?.[1];
  if (dotted !== undefined && isIPv4(dotted)) return dotted;
  const { address } = new SocketAddress({ address: bare, family: "ipv6" });
  const mapped = address.startsWith("::ffff:") ? address.slice("::ffff:".length) : "";
  return isIPv4(mapped) ? mapped : address;
}

/** Removes the port that some proxies add: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function withoutPort(text: string): string {
  const bracketed = /^\[([^\]]*)\](?::\d+)?$/.exec(text);
  if (bracketed) return bracketed[1] ?? "";
  const dotted = /^([\d.]+):\d+$/.exec(text);
  return dotted ? (dotted[1] ?? "") : text;
}
