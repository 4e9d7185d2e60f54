import { describe, expect, test } from "vitest";
import { loadConfig } from "../../config/load.ts";
import { corsHeaders, preflightHeaders } from "../answer/cors.ts";
import { isDisallowedOrigin, isSameOrigin } from "./origin.ts";

const base = { BASE_URL: "https://login.example.com" };
const closed = loadConfig(base, "/nowhere");
const open = loadConfig(
  { ...base, STILE_CORS_ALLOW_ORIGINS: "https://app.example.com,http://localhost:4000" },
  "/nowhere",
);

const from = (headers: Record<string, string>) => new Headers({ host: "login.example.com", ...headers });

describe("A37 isDisallowedOrigin", () => {
  test.each([
    ["is false for a client other than a browser", {}, false],
    [
      "is false for our page",
      { "sec-fetch-site": "same-origin", origin: "https://login.example.com" },
      false,
    ],
    ["is false for our page in an older browser", { origin: "https://login.example.com" }, false],
    ["is false for our page without a referrer", { "sec-fetch-site": "same-origin", origin: "null" }, false],
    ["is false for an address typed by the user", { "sec-fetch-site": "none" }, false],
    ["is true for another site", { "sec-fetch-site": "cross-site", origin: "https://evil.example" }, true],
    ["is true for another site in an older browser", { origin: "https://evil.example" }, true],
    ["is true for another site that hides its origin", { "sec-fetch-site": "cross-site" }, true],
    ["is true for a sandboxed frame", { origin: "null" }, true],
    [
      "is true for a sibling host",
      { "sec-fetch-site": "same-site", origin: "https://blog.example.com" },
      true,
    ],
    [
      "is true for the same host by plain http",
      { "sec-fetch-site": "cross-site", origin: "http://login.example.com" },
      true,
    ],
    [
      "is false for a listed origin",
      { "sec-fetch-site": "same-site", origin: "https://app.example.com" },
      false,
    ],
  ])("%s", (_, headers, foreign) => {
    expect(isDisallowedOrigin(from(headers), open)).toBe(foreign);
  });

  test("is true for an origin that is not listed", () => {
    expect(isDisallowedOrigin(from({ origin: "https://app.example.com" }), closed)).toBe(true);
  });
});

describe("isSameOrigin", () => {
  test.each([
    ["is true for our page", { "sec-fetch-site": "same-origin" }, true],
    ["is true for our page in an older browser", { origin: "https://login.example.com" }, true],
    [
      "is true for our page under another name of this host",
      { origin: "http://localhost:3000", host: "localhost:3000" },
      true,
    ],
    ["is false for a client other than a browser", {}, false],
    ["is false for a listed origin", { origin: "https://app.example.com" }, false],
    [
      "is false for another site",
      { "sec-fetch-site": "cross-site", origin: "https://login.example.com" },
      false,
    ],
    ["is false for a sibling host", { "sec-fetch-site": "same-site" }, false],
    ["is false for an address typed by the user", { "sec-fetch-site": "none" }, false],
    ["is false for the origin null", { origin: "null" }, false],
    ["is false for a malformed origin", { origin: "login.example.com" }, false],
  ])("%s", (_, headers, own) => {
    expect(isSameOrigin(from(headers), open)).toBe(own);
  });
});

describe("CORS", () => {
  test("A38 echoes a listed origin, with credentials and exposed headers", () => {
    expect(corsHeaders("https://app.example.com", open)).toEqual({
      Vary: "Origin",
      "Access-Control-Allow-Origin": "https://app.example.com",
      "Access-Control-Allow-Credentials": "true",
      "Access-Control-Expose-Headers":
        "Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, X-Session-Lifetime, X-Session-Retention",
    });
  });

  test("exposes X-Auth-Token only where it is sent", () => {
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
  ])("A38 sends no CORS headers to %s", (origin) => {
    expect(corsHeaders(origin, open)).toEqual({ Vary: "Origin" });
    expect(preflightHeaders(origin, "content-type", open)).toEqual({});
  });

  test("does not vary by origin without a list", () => {
    expect(corsHeaders("https://app.example.com", closed)).toEqual({});
  });

  test("allows methods and the requested headers for two hours in a preflight", () => {
    expect(preflightHeaders("https://app.example.com", "content-type,x-language", open)).toEqual({
      "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE, OPTIONS",
      "Access-Control-Allow-Headers": "content-type,x-language",
      "Access-Control-Max-Age": "7200",
    });
  });
});
