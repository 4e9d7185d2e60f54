import { describe, expect, test } from "vitest";
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

  test("A96 matches a long URL in linear time", () => {
    const target = new URL(`https://app.example/${"a/".repeat(900)}`);
    expect(isAllowedRedirect(target, ["https://app.example/**a**a**b"])).toBe(false);
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
