import { BlockList, isIP, isIPv6 } from "node:net";

/**
 * IPv4 ranges that are not the public internet: the IANA IPv4 Special-Purpose Address Registry (RFC 6890), multicast and
 * the reserved class E with the broadcast address, and the address of Azure's platform services.
 */
const privateIpv4 = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "168.63.129.16/32",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.31.196.0/24",
  "192.52.193.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "192.175.48.0/24",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
];

/**
 * The part of IPv6 that is global unicast (RFC 4291, 2.4). Loopback, unique local, link-local and multicast addresses,
 * addresses with IPv4 inside (`::ffff:0:0/96`) and NAT64 (`64:ff9b::/96`, `64:ff9b:1::/48`) are outside.
 */
const globalIpv6 = "2000::/3";

/** Ranges within it that are not: IETF protocols with Teredo, documentation, 6to4, AS112, documentation. */
const privateIpv6 = ["2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20"];

const refused = listOf([...privateIpv4, ...privateIpv6]);
const global = listOf([globalIpv6]);

function listOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = "", bits] = range.split("/");
    list.addSubnet(address, Number(bits), isIPv6(address) ? "ipv6" : "ipv4");
  }
  return list;
}

/**
 * Returns whether an IP address belongs to the public internet.
 *
 * @param address in any spelling that `node:net` knows; text that is not an address is not public
 */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  // A zone names an interface of this machine.
  if (family === 0 || address.includes("%")) return false;
  return family === 4
    ? !refused.check(address, "ipv4")
    : global.check(address, "ipv6") && !refused.check(address, "ipv6");
}
