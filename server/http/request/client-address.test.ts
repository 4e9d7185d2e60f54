import { describe, expect, test } from "vitest";
import { clientAddress, isLoopback, sourceOf, trustedProxies } from "./client-address.ts";

const noProxies = trustedProxies([]);
const proxies = trustedProxies(["10.0.0.0/8", "2001:db8:ffff::/48", "192.0.2.1"]);

describe("clientAddress", () => {
  test.each([
    ["203.0.113.7", "198.51.100.1", "203.0.113.7"],
    ["203.0.113.7", "10.0.0.1, 198.51.100.1", "203.0.113.7"],
    ["::ffff:203.0.113.7", null, "203.0.113.7"],
  ])(
    "A18 returns the peer %s and ignores X-Forwarded-For if the peer is not a trusted proxy",
    (peer, header, address) => {
      expect(clientAddress(peer, header, noProxies)).toBe(address);
      expect(clientAddress(peer, header, proxies)).toBe(address);
    },
  );

  test.each([
    ["one proxy", "10.1.2.3", "198.51.100.1", "198.51.100.1"],
    ["a proxy that is mapped into IPv6", "::ffff:10.1.2.3", "198.51.100.1", "198.51.100.1"],
    ["two proxies", "10.1.2.3", "198.51.100.1, 192.0.2.1", "198.51.100.1"],
    ["forged hops left of the client", "10.1.2.3", "1.1.1.1, 198.51.100.1", "198.51.100.1"],
    ["a proxy by IPv6", "2001:db8:ffff::1", "2001:DB8::1", "2001:db8::1"],
    ["proxies only", "10.1.2.3", "10.0.0.9, 10.0.0.8", "10.0.0.9"],
    ["no header", "10.1.2.3", null, "10.1.2.3"],
    ["an empty header", "10.1.2.3", "", "10.1.2.3"],
    ["malformed in the header", "10.1.2.3", "198.51.100.1, evil", "10.1.2.3"],
    ["malformed left of the client", "10.1.2.3", "evil, 198.51.100.1", "198.51.100.1"],
    ["a port", "10.1.2.3", "198.51.100.1:4711", "198.51.100.1"],
  ])("A18 returns the rightmost hop that is not a trusted proxy: %s", (_, peer, header, address) => {
    expect(clientAddress(peer, header, proxies)).toBe(address);
  });

  test("returns unknown for a peer without an address", () => {
    expect(clientAddress("", "198.51.100.1", proxies)).toBe("unknown");
  });
});

test.each([
  ["192.0.2.7", "192.0.2.7"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
  ["2001:db8:1:2::9", "2001:db8:1:2::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["::1", "0:0:0:0::/64"],
  ["2001:db8::", "2001:db8:0:0::/64"],
  ["::192.0.2.7", "0:0:0:0::/64"],
  ["unknown", "unknown"],
])("A19 counts %s as the source %s", (address, source) => {
  expect(sourceOf(address)).toBe(source);
});

test("A19 counts every address of a /64 as one source, in any notation", () => {
  const spellings = [
    "2001:db8:1:2::1",
    "2001:0DB8:0001:0002:ffff::",
    "2001:db8:1:2:a:b:c:d%eth1",
    "[2001:db8:1:2::ff]:99",
  ];
  const sources = spellings.map((peer) => sourceOf(clientAddress(peer, null, noProxies)));
  expect(new Set(sources).size).toBe(1);
});

test.each([
  ["127.0.0.1", true],
  ["127.8.8.8", true],
  ["::1", true],
  ["::ffff:127.0.0.1", true],
  ["192.0.2.1", false],
  ["::2", false],
  ["localhost", false],
])("isLoopback(%s) is %s", (address, own) => {
  expect(isLoopback(address)).toBe(own);
});
