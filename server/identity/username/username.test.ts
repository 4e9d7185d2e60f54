import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseUsername } from "./username.ts";

const limits = { min_length: 3, max_length: 32 };
const parse = (input: string) => parseUsername(input, limits);

describe("A8 converts a look-alike of a username to that username, or rejects it", () => {
  test.each([
    ["Admin", "admin"],
    [" admin ", "admin"],
    ["ＡＤＭＩＮ", "admin"],
    ["ﬁnn_1", "finn_1"],
    ["ſam", "sam"],
    ["\u212aate", "kate"],
  ])("converts %s to %s", (input, username) => {
    expect(parse(input)).toEqual({ ok: true, value: username });
  });

  test.each([
    "аdmin",
    "admin\u200b",
    "ADMİN",
    "ad\u00admin",
    "adm\u0131n",
    "αdmin",
    "admi\u0301n",
    "ad min",
    "ad-min",
    "a.b",
    "ad\0min",
    "adm\ud800n",
    "用户名",
  ])("rejects %j", (input) => {
    expect(parse(input)).toEqual({ ok: false, reason: "invalid_username_error" });
  });
});

test("measures the length of the canonical form", () => {
  expect(parse("ab")).toEqual({ ok: false, reason: "value_too_short_error" });
  expect(parse("  ab  ")).toEqual({ ok: false, reason: "value_too_short_error" });
  expect(parse("")).toEqual({ ok: false, reason: "value_too_short_error" });
  expect(parse("abc")).toEqual({ ok: true, value: "abc" });
  expect(parse("ﬁx")).toEqual({ ok: true, value: "fix" });
  expect(parse("a".repeat(32)).ok).toBe(true);
  expect(parse("a".repeat(33))).toEqual({ ok: false, reason: "value_too_long_error" });
  expect(parse("a".repeat(1_048_576))).toEqual({ ok: false, reason: "value_too_long_error" });
});

test("returns ASCII within the limits, which is its own canonical form, for any input", () => {
  const inputs = fc.oneof(
    fc.string({ unit: "binary", maxLength: 40 }),
    fc.string({ unit: "grapheme", maxLength: 40 }),
    fc.stringMatching(/^[A-Za-z0-9_]{1,40}$/),
  );
  fc.assert(
    fc.property(inputs, (input) => {
      const parsed = parse(input);
      if (!parsed.ok) return;
      expect(parsed.value).toMatch(/^[a-z0-9_]{3,32}$/);
      expect(parse(parsed.value)).toEqual(parsed);
    }),
    { numRuns: 2000 },
  );
});

test("ignores case", () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z0-9_]{3,32}$/), (username) => {
      expect(parse(username.toUpperCase())).toEqual({ ok: true, value: username });
    }),
  );
});
