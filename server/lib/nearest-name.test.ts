import { describe, expect, test } from "vitest";
import { nearestName } from "./nearest-name.ts";

describe("the nearest name", () => {
  const names = ["password.min_length", "password", "passkey", "port", "smtp_url"];

  test.each([
    ["pasword", "password"],
    ["passwrod", "password"],
    ["PASSKEY", "passkey"],
    ["password.minlength", "password.min_length"],
    ["smpt_url", "smtp_url"],
    ["prot", "port"],
  ])("of %s is %s", (name, nearest) => {
    expect(nearestName(name, names)).toBe(nearest);
  });

  test.each(["", "colour", "x".repeat(100_000), "p"])("of a name like no other does not exist", (name) => {
    expect(nearestName(name, names)).toBeNull();
  });
});
