import { describe, expect, test } from "vitest";
import { loadConfig } from "../config/load.ts";
import { corsHeaders, preflightHeaders } from "./cors.ts";
import { isDisallowedOrigin, isSameOrigin } from "./origin.ts";

const base = { BASE_URL: "https://login.example.com" };
const closed = loadConfig(base, "/nowhere");
const open = loadConfig(
  { ...base, STILE_CORS_ALLOW_ORIGINS: "https://app.example.com,http://localhost:4000" },
  "/nowhere",
);

const from = (headers: Record<string, string>) => new Headers({ host: "login.example.com", ...headers });

describe("A37 a flow is not for other sites", () => {
  test.each([
    ["no browser", {}, false],
    ["our page", { "sec-fetch-site": "same-origin", origin: "https://login.example.com" }, false],
    ["our page in an older browser", { origin: "https://login.example.com" }, false],
    ["our page without a referrer", { "sec-fetch-site": "same-origin", origin: "null" }, false],
    ["an address typed by hand", { "sec-fetch-site": "none" }, false],
    ["another site", { "sec-fetch-site": "cross-site", origin: "https://evil.example" }, true],
    ["another site in an older browser", { origin: "https://evil.example" }, true],
    ["another site that hides its origin", { "sec-fetch-site": "cross-site" }, true],
    ["a sandboxed frame", { origin: "null" }, true],
    ["a sibling host", { "sec-fetch-site": "same-site", origin: "https://blog.example.com" }, true],
    [
      "the same host by plain http",
      { "sec-fetch-site": "cross-site", origin: "http://login.example.com" },
      true,
    ],
    ["a listed origin", { "sec-fetch-site": "same-site", origin: "https://app.example.com" }, false],
  ])("%s", (_, headers, foreign) => {
    expect(isDisallowedOrigin(from(headers), open)).toBe(foreign);
  });

  test("an origin is foreign unless it is listed", () => {
    expect(isDisallowedOrigin(from({ origin: "https://app.example.com" }), closed)).toBe(true);
  });
});

describe("what our own page alone may call", () => {
  test.each([
    ["our page", { "sec-fetch-site": "same-origin" }, true],
    ["our page in an older browser", { origin: "https://login.example.com" }, true],
    [
      "our page under another name of this host",
      { origin: "http://localhost:3000", host: "localhost:3000" },
      true,
    ],
    ["no browser", {}, false],
    ["a listed origin", { origin: "https://app.example.com" }, false],
    ["another site", { "sec-fetch-site": "cross-site", origin: "https://login.example.com" }, false],
    ["a sibling host", { "sec-fetch-site": "same-site" }, false],
    ["an address typed by hand", { "sec-fetch-site": "none" }, false],
    ["no origin to speak of", { origin: "null" }, false],
    ["an origin that is none", { origin: "login.example.com" }, false],
  ])("%s", (_, headers, own) => {
    expect(isSameOrigin(from(headers), open)).toBe(own);
  });
});

describe("CORS", () => {
  test("A38 a listed origin is echoed, with credentials and the headers that clients read", () => {
    expect(corsHeaders("https://app.example.com", open)).toEqual({
      Vary: "Origin",
      "Access-Control-Allow-Origin": "https://app.example.com",
      "Access-Control-Allow-Credentials": "true",
      "Access-Control-Expose-Headers":
        "Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Session-Lifetime, X-Session-Retention",
    });
  });

  test("X-Auth-Token is exposed only where it is sent", () => {
    const config = loadConfig(
      {
        ...base,
        STILE_CORS_ALLOW_ORIGINS: "https://app.example.com",
        STILE_SESSION_ENABLE_AUTH_TOKEN_HEADER: "true",
      },
      "/nowhere",
    );
    expect(corsHeaders("https://app.example.com", config)["Access-Control-Expose-Headers"]).toContain(
      "X-Auth-Token",
    );
  });

  test.each([
    "https://evil.example",
    "null",
    "https://app.example.com.evil.example",
    "https://evilapp.example.com",
    "https://app.example.com:8443",
    "http://app.example.com",
    "HTTPS://APP.EXAMPLE.COM",
    "https://app.example.com/",
    "*",
  ])("A38 %s is told nothing", (origin) => {
    expect(corsHeaders(origin, open)).toEqual({ Vary: "Origin" });
    expect(preflightHeaders(origin, "content-type", open)).toEqual({});
  });

  test("without a list there is nothing to vary by", () => {
    expect(corsHeaders("https://app.example.com", closed)).toEqual({});
  });

  test("a preflight is told the methods, its own headers, and two hours", () => {
    expect(preflightHeaders("https://app.example.com", "content-type,x-language", open)).toEqual({
      "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE, OPTIONS",
      "Access-Control-Allow-Headers": "content-type,x-language",
      "Access-Control-Max-Age": "7200",
    });
  });
});
