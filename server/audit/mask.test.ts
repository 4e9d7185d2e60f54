import { expect, it } from "vitest";
import { maskAddress, maskDetails, maskName, maskSource, shownNetwork } from "./mask.ts";

it.each([
  ["jane.doe@example.com", "j***@example.com"],
  ["j@example.com", "j***@example.com"],
  ['"a@b"@example.com', '"***@example.com'],
  ["jane", "j***"],
  ["😀x", "😀***"],
])("masks the name %s, and a masked one no further", (name, masked) => {
  expect(maskName(name)).toBe(masked);
  expect(maskName(masked)).toBe(masked);
});

it.each([
  ["192.0.2.77", "192.0.2.0"],
  ["2001:db8:1:2::7", "2001:db8:1::"],
  ["2001:db8:1:2::/64", "2001:db8:1::"],
  ["2001:db8::7", "2001:db8::"],
  ["fe80::1", "fe80::"],
  ["::1", "::"],
  ["unknown", "unknown"],
])("masks the address %s, and a masked one no further", (address, masked) => {
  expect(maskAddress(address)).toBe(masked);
  expect(maskAddress(masked)).toBe(masked);
});

it("masks the members of details that hold names, and addresses only where they are to be masked", () => {
  const details = { email: "a@b.example", source: "192.0.2.7", method: "totp", tries: 3, username: null };
  expect(maskDetails(details, { mask: true, mask_ip_addresses: false })).toEqual({
    ...details,
    email: "a***@b.example",
  });
  expect(maskDetails(details, { mask: false, mask_ip_addresses: true })).toEqual({
    ...details,
    source: "192.0.2.0",
  });
  expect(maskSource("192.0.2.7", { mask: true, mask_ip_addresses: false })).toBe("192.0.2.7");
  expect(maskSource("192.0.2.7", { mask: false, mask_ip_addresses: true })).toBe("192.0.2.0");
  expect(maskSource(null, { mask: true, mask_ip_addresses: true })).toBeNull();
});

it.each([
  ["127.0.0.1", "127.0.0.x"],
  ["192.0.2.0", "192.0.2.x"],
  ["2001:db8:1:2::7", "2001:db8:1:…"],
  ["2001:db8::7", "2001:db8:0:…"],
  ["2001:db8:1::", "2001:db8:1:…"],
  ["::1", "0:0:0:…"],
  ["::", "0:0:0:…"],
  ["not an address", "not an address"],
])("shows the network of %s as %s, which is no address", (address, shown) => {
  expect(shownNetwork(address)).toBe(shown);
});
