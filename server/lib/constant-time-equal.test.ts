import { expect, test } from "vitest";
import { constantTimeEqual } from "./constant-time-equal.ts";

test.each([
  ["secret", "secret", true],
  ["", "", true],
  ["secret", "secreT", false],
  ["secret", "secrets", false],
  ["secret", "", false],
  ["secret", Buffer.from("secret"), true],
])("compares %j with %j: %j", (one, other, expected) => {
  expect(constantTimeEqual(one, other)).toBe(expected);
});
