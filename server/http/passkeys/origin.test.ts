import { expect, test } from "vitest";
import { loadConfig } from "../../config/load.ts";
import { isPasskeyOrigin } from "./origin.ts";

const config = (environment: Record<string, string>) =>
  loadConfig({ BASE_URL: "https://login.example.com", ...environment }, import.meta.dirname);

const listing = (...origins: string[]) =>
  config({ STILE_PASSKEY_SERVER_CORS_ALLOWED_ORIGINS: JSON.stringify(origins) });

test("where nothing is listed, the relying party's own pages may call, and no others", () => {
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
])("A38 with %s listed, a page of %s: %s", (listed, origin, allowed) => {
  expect(isPasskeyOrigin(origin, listing(listed))).toBe(allowed);
});

test("A96 an origin that no page can have is not looked at by any pattern", () => {
  const nested = listing("https://*.*.*.example.com");
  const named = (labels: number) => `https://${"a.".repeat(labels)}example.com`;
  expect(isPasskeyOrigin(named(121), nested)).toBe(true);
  expect(isPasskeyOrigin(named(8_000), nested)).toBe(false);
});

test("* alone stands for every origin, where the operator has said twice that it shall, and never for none", () => {
  const open = config({
    STILE_PASSKEY_SERVER_CORS_ALLOWED_ORIGINS: "*",
    STILE_PASSKEY_SERVER_CORS_ALLOW_UNSAFE_WILDCARD: "true",
  });
  expect(isPasskeyOrigin("https://anybody.example.net", open)).toBe(true);
  expect(isPasskeyOrigin("null", open)).toBe(false);
  const secure = config({
    STILE_PASSKEY_SERVER_CORS_ALLOWED_ORIGINS: "https://*",
    STILE_PASSKEY_SERVER_CORS_ALLOW_UNSAFE_WILDCARD: "true",
  });
  expect(isPasskeyOrigin("https://anybody.example.net", secure)).toBe(true);
  expect(isPasskeyOrigin("http://anybody.example.net", secure)).toBe(false);
});
