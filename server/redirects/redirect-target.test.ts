import { describe, expect, test } from "vitest";
import { StepBudget } from "../lib/step-budget.ts";
import { MAX_MATCHING_STEPS } from "../lib/wildcard-pattern.ts";
import { isAllowedRedirect, parseRedirectTarget } from "./redirect-target.ts";

describe("patterns", () => {
  test.each([
    ["https://app.example/*", "https://app.example/a", true],
    ["https://app.example/*", "https://app.example/", true],
    ["https://app.example/*", "https://app.example/a/b", false],
    ["https://app.example/**", "https://app.example/a/b", true],
    ["https://app.example/**", "https://app.example/a?b=c", false],
    ["https://app.example/**?*", "https://app.example/a?b=c", true],
    ["https://app.example/a*z", "https://app.example/abcz", true],
    ["https://app.example/a*z", "https://app.example/ab/cz", false],
    ["https://*.app.example/cb", "https://one.app.example/cb", true],
    ["https://*.app.example/cb", "https://one.two.app.example/cb", false],
    ["https://**.app.example/cb", "https://one.two.app.example/cb", true],
    ["https://*.app.example/cb", "https://app.example/cb", false],
    ["https://*.app.example/cb", "https://evil.example/.app.example/cb", false],
    ["https://**.app.example/cb", "https://evil.example/x.app.example/cb", false],
    ["https://app.example*/cb", "https://app.example.evil/cb", false],
    ["https://app.example**", "https://app.example/a?b=c", true],
    ["https://app.example**", "https://app.example.evil.net/", false],
    ["https://app.example**", "https://app.example:8443/", false],
    ["http://127.0.0.1**", "http://127.0.0.1/", true],
    ["http://127.0.0.1**", "http://127.0.0.1.evil.net/", false],
    ["https://app.example*", "https://app.exampleevil/", false],
    ["https://app.example*:*/cb", "https://app.exampleevil:1/cb", false],
    ["http://localhost:*/cb", "http://localhost:4000/cb", true],
    ["http://localhost:*/cb", "https://localhost:4000/cb", false],
    ["https://app.example/*", "https://app.example/%2f%2fevil", false],
    ["https://app.example/*", "https://app.example/%5cevil", false],
    ["https://app.example/**/../x", "https://app.example/x", false],
    ["https://app.examp.e/*", "https://appxexamp.e/a", false],
    ["javascript:*", "javascript:alert(1)", false],
    ["*", "https://evil.example/", false],
    ["https://APP.example/*", "https://app.example/a", true],
  ])("A46 %s and %s: %s", (pattern, address, allowed) => {
    expect(isAllowedRedirect(new URL(address), [pattern])).toBe(allowed);
  });

  const { length } = "https://app.example/";
  const longest = (path: string) => new URL(`https://app.example/${path.padEnd(1_999 - length, path)}z`);

  /** Has the parts of slow patterns in their order, and a slash where their wildcards cannot pass. */
  const slowest = new URL(`https://app.example/${"a".repeat(1_900)}/${"a".repeat(75)}bz`);

  test.each([
    "https://app.example/*a*a*b*z",
    `https://app.example/*${"a".repeat(100)}*${"a".repeat(100)}*b*z`,
    `https://app.example/*${"a".repeat(220)}*bz`,
  ])("A96 A139 a URL of 2000 characters costs a pattern 8 steps for each at most: %.40s", (pattern) => {
    const budget = new StepBudget(Number.POSITIVE_INFINITY);
    expect(isAllowedRedirect(slowest, [pattern], budget)).toBe(false);
    expect(budget.spent).toBeGreaterThan(2_000);
    expect(budget.spent).toBeLessThanOrEqual(8 * 2_000);
  });

  test("A139 a list of slow patterns stops at its bound of steps", () => {
    const slow = Array.from({ length: 100 }, (_, at) => `https://app.example/*a*${"a".repeat(at + 1)}*b*z`);
    const budget = new StepBudget(MAX_MATCHING_STEPS);
    expect(isAllowedRedirect(slowest, slow, budget)).toBe(false);
    expect(budget.spent).toBeGreaterThan(MAX_MATCHING_STEPS);
    expect(budget.spent).toBeLessThanOrEqual(MAX_MATCHING_STEPS + 2_000);
  });

  test.each([
    [
      "28 patterns of 1000 wildcards",
      Array.from({ length: 28 }, () => `https://app.example/${"*/".repeat(1_000)}`),
    ],
    ["a pattern of five wildcards", ["https://app.example/*/*/*/*/*"]],
    ["a pattern of three wildcards in its host", ["https://*.*.*.app.example/"]],
    ["a pattern of 256 characters", [`https://app.example/${"a".repeat(256 - length - 1)}*`]],
  ])("A139 %s are not matched at all", (_, patterns) => {
    const budget = new StepBudget(Number.POSITIVE_INFINITY);
    const paths = [longest("a/"), new URL(`https://app.example/${"a".repeat(300)}`)];
    for (const url of [
      ...paths,
      new URL("https://app.example/1/2/3/4/5"),
      new URL("https://a.b.c.app.example/"),
    ])
      expect(isAllowedRedirect(url, patterns, budget)).toBe(false);
    expect(budget.spent).toBe(0);
  });

  test("A139 patterns that lack a part of a URL cost no steps, so the last of a full list is matched", () => {
    const others = Array.from({ length: 99 }, (_, at) => `https://app.example/*a*b*c${at}*z`);
    const budget = new StepBudget(8 * 2_000);
    expect(isAllowedRedirect(longest("a"), [...others, "https://app.example/*a*a*a*z"], budget)).toBe(true);
    expect(isAllowedRedirect(longest("a"), ["https://app.example/*z"], new StepBudget(1_000))).toBe(false);
  });
});

describe("parseRedirectTarget", () => {
  test.each(["https://app.example/a?b=c", "http://localhost:3000/", "HTTPS://APP.example/./x"])(
    "accepts %s",
    (text) => {
      expect(parseRedirectTarget(text)?.href).toBe(new URL(text).href);
    },
  );

  test.each([
    "",
    "/path",
    "//evil.example",
    "/\\evil.example",
    "https:\\\\evil.example",
    "javascript:alert(1)",
    "data:text/html,x",
    "https://good@evil.example/",
    "https://good.example/#fragment",
    "https://good.example/#",
    " https://good.example/",
    "https://good.example/\t",
    "ht\ntps://good.example/",
    "https://good.example/\0",
    `https://good.example/${"x".repeat(2048)}`,
  ])("A46 rejects %.40j", (text) => {
    expect(parseRedirectTarget(text)).toBeNull();
  });
});
