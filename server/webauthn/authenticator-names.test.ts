import { expect, test } from "vitest";
import { authenticatorName } from "./authenticator-names.ts";

test.each([
  ["fbfc3007-154e-4ecc-8c0b-6e020557d7bd", "iCloud Keychain"],
  ["ea9b8d66-4d01-1d21-3ce4-b6b48cb575d4", "Google Password Manager"],
  ["08987058-cadc-4b81-b6e1-30de50dcbe96", "Windows Hello"],
  ["bada5566-a7aa-401f-bd96-45619a55120d", "1Password"],
  ["d548826e-79b4-db40-a3d8-11116f7e8349", "Bitwarden"],
  ["2fc0579f-8113-47ea-b116-bb5a8db9202a", "YubiKey 5 NFC"],
])("names %s as %s", (aaguid, name) => {
  expect(authenticatorName(aaguid)).toBe(name);
});

test.each([
  "00000000-0000-0000-0000-000000000000",
  "12345678-1234-1234-1234-123456789abc",
  "",
  "constructor",
])("returns null for %j", (aaguid) => {
  expect(authenticatorName(aaguid)).toBeNull();
});
