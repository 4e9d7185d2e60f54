import { expect, test } from "vitest";
import { loadConfig } from "../../config/load.ts";
import { isPasskeyOrigin } from "./origin.ts";

const config = (environment: Record<string, string>) =>
  loadConfig({ BASE_URL: "https://login.example.com", ...environment }, import.meta.dirname);

const allowing = (...origins: string[]) =>
  config({ STILE_PASSKEY_SERVER_CORS_ALLOWED_ORIGINS: JSON.stringify(origins) });

test("allows the origins of the relying party by default", () => {
  const own = config({ STILE_PASSKEY_SERVER_RELYING_PARTY_ORIGINS: "https://shop.login.example.com" });
  expect(isPasskeyOrigin("https://shop.login.example.com", own)).toBe(true);
  expect(isPasskeyOrigin("https://login.example.com", own)).toBe(false);
});

test.each([
  ["https://app.example.com", "https://app.example.com", true],
  ["https://APP.example.com", "https://app.example.com", true],
  ["https://app.example.com", "http://app.example.com", false],
  ["https://app.example.com", "https://APP.example.com", false],
  ["https://*.example.com", "HTTPS://a.example.com", false],
  ["https://app.example.com", "https://app.example.com:8443", false],
  ["https://*.example.com", "https://a.example.com", true],
  ["https://*.example.com", "https://a.b.example.com", true],
  ["https://*.example.com", "https://example.com", false],
  ["https://*.example.com", "https://a.example.com.evil.net", false],
  ["https://*.example.com", "https://evil.net/.example.com", false],
  ["https://*.example.com", "https://evilexample.com", false],
  ["https://*.example.com", "http://a.example.com", false],
  ["*.example.local", "https://a.example.local", true],
  ["*.example.local", "http://a.example.local", false],
  ["http://localhost:*", "http://localhost:8888", true],
  ["https://a.example.com", "https://aXexample.com", false],
  ["https://app.example.com", "null", false],
])("A38 with %s allowed, the origin %s: %s", (pattern, origin, allowed) => {
  expect(isPasskeyOrigin(origin, allowing(pattern))).toBe(allowed);
});

test("A96 rejects an overlong origin without matching a pattern", () => {
  const nested = allowing("https://*.*.*.example.com");
  const originWith = (labels: number) => `https://${"a.".repeat(labels)}example.com`;
  expect(isPasskeyOrigin(originWith(121), nested)).toBe(true);
  expect(isPasskeyOrigin(originWith(8_000), nested)).toBe(false);
});

test("* allows every origin if a second setting confirms it, but never null", () => {
  const open = config({
    STILE_PASSKEY_SERVER_CORS_ALLOWED_ORIGINS: "*",
    STILE_PASSKEY_SERVER_CORS_ALLOW_UNSAFE_WILDCARD: "true",
  });
  expect(isPasskeyOrigin("https://any.example.net", open)).toBe(true);
  expect(isPasskeyOrigin("null", open)).toBe(false);
  const secure = config({
    STILE_PASSKEY_SERVER_CORS_ALLOWED_ORIGINS: "https://*",
    STILE_PASSKEY_SERVER_CORS_ALLOW_UNSAFE_WILDCARD: "true",
  });
  expect(isPasskeyOrigin("https://any.example.net", secure)).toBe(true);
  expect(isPasskeyOrigin("http://any.example.net", secure)).toBe(false);
});
