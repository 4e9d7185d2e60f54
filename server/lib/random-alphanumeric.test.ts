import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { randomAlphanumeric } from "./random-alphanumeric.ts";

test("returns the requested number of letters and digits", () => {
  for (const length of [0, 1, 32, 44]) {
    expect(randomAlphanumeric({ randomBytes }, length)).toMatch(new RegExp(`^[0-9A-Za-z]{${length}}$`));
  }
});

test("skips bytes that would favour the first characters", () => {
  const bytes = [248, 255, 0, 61, 62];
  const platform = { randomBytes: (size: number) => Buffer.alloc(size, Buffer.from(bytes)) };
  expect(randomAlphanumeric(platform, 3)).toBe("0z0");
});
