import { expect, test } from "vitest";
import { maskedIdentifier } from "./masked-identifier.ts";

test.each([
  ["ada@example.com", "a•••@example.com"],
  ["grace@example.com", "g•••e@example.com"],
  ["a@example.com", "a•••@example.com"],
  ['"a@b"@example.com', '"•••"@example.com'],
  ["+4915112345678", "•••78"],
  ["lovelace", "l•••e"],
  ["ada", "a•••"],
  ["🦢swan🦢", "🦢•••🦢"],
])("%s is shown as %s", (identifier, shown) => {
  expect(maskedIdentifier(identifier)).toBe(shown);
});
