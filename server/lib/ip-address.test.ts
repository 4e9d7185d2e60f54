import { expect, test } from "vitest";
import { canonicalAddress } from "./ip-address.ts";

test.each([
  ["2001:DB8:0:0:0:0:0:1", "2001:db8::1"],
  ["::FFFF:192.0.2.7", "192.0.2.7"],
  ["::ffff:c000:207", "192.0.2.7"],
  ["fe80::1%eth0", "fe80::1"],
  ["[2001:db8::1]:443", "2001:db8::1"],
  [" 192.0.2.7 ", "192.0.2.7"],
  ["192.0.2.7:80", "192.0.2.7"],
  ["192.0.2", null],
  ["0x7f.1", null],
  ["::1::", null],
  ["", null],
])("A19 canonicalizes %s", (text, canonical) => {
  expect(canonicalAddress(text)).toBe(canonical);
});
