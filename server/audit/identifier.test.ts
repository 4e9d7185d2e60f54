import { expect, test } from "vitest";
import { createVault } from "../keys/vault.ts";
import { identifierDigests, maskedIdentifier, maskIdentifier } from "./identifier.ts";

const vault = createVault(["the key of this year"]);

test.each([
  ["unknown@example.com", "u…n@example.com"],
  ["ada@example.com", "a…@example.com"],
  ["a@example.com", "a…@example.com"],
  ["grace_hopper", "g…r"],
  ["ab", "a…"],
  ["+4915112345678", "+49…78"],
  ["", "…"],
  ["😀bc😁@example.com", "😀…😁@example.com"],
])("masks %j as %j", (identifier, masked) => {
  expect(maskIdentifier(identifier)).toBe(masked);
});

test("keeps no more of a long identifier than of the longest address", () => {
  expect(maskIdentifier(`person@${"x".repeat(10_000)}`)).toHaveLength(254);
});

test("A160 gives one identifier another digest in each tenant, and under each secret key", () => {
  const digest = maskedIdentifier(vault, "one", "ada@example.com").identifier_digest;
  expect(digest).toMatch(/^[\w-]{22}$/);
  expect(maskedIdentifier(vault, "two", "ada@example.com").identifier_digest).not.toBe(digest);
  expect(maskedIdentifier(createVault(["another key"]), "one", "ada@example.com").identifier_digest).not.toBe(
    digest,
  );
});

test("finds what was written under an earlier secret key", () => {
  const rotated = createVault(["the key of next year", "the key of this year"]);
  const { identifier_digest } = maskedIdentifier(vault, "one", "ada@example.com");
  expect(identifierDigests(rotated, "one", "ada@example.com")).toContain(identifier_digest);
  expect(identifierDigests(rotated, "two", "ada@example.com")).not.toContain(identifier_digest);
});
