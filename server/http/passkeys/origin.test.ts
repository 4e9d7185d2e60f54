import { describe, expect, test } from "vitest";
import { loadConfig } from "../../config/load.ts";
import { StepBudget } from "../../lib/step-budget.ts";
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
  const nested = allowing("https://*.*.example.com");
  const originWith = (labels: number) => `https://${"a.".repeat(labels)}example.com`;
  expect(isPasskeyOrigin(originWith(121), nested)).toBe(true);
  const budget = new StepBudget(0);
  expect(isPasskeyOrigin(originWith(8_000), nested, budget)).toBe(false);
  expect(budget.spent).toBe(0);
});

test("a wildcard neither begins nor ends with a dot", () => {
  const shops = allowing("https://shop*.example.com", "https://*-x.example.com");
  expect(isPasskeyOrigin("https://shop1.a.example.com", shops)).toBe(true);
  expect(isPasskeyOrigin("https://shop.a.example.com", shops)).toBe(false);
  expect(isPasskeyOrigin("https://a.-x.example.com", shops)).toBe(false);
  expect(isPasskeyOrigin("https://a..b-x.example.com", shops)).toBe(false);
});

describe("A138 of an origin of 190 dashes", () => {
  const dashes = `https://${"-".repeat(190)}`;

  test("a pattern with more than two wildcards in its host is not matched at all", () => {
    const config = allowing();
    config.passkey_server.cors.allowed_origins = ["https://*-*-*-*-*-x.example"];
    const budget = new StepBudget(1_000_000);
    expect(isPasskeyOrigin(dashes, config, budget)).toBe(false);
    expect(budget.spent).toBe(0);
  });

  test.each([
    ["https://*-*-x.example", "-x.example"],
    [`https://*${"-".repeat(90)}*-x.example`, "-x.example"],
    ["https://*-*.example", ".example"],
  ])("%.30s takes at most three steps for each character", (pattern, end) => {
    const budget = new StepBudget(1_000_000);
    for (const origin of [dashes + end, `${dashes}.${end}`])
      isPasskeyOrigin(origin, allowing(pattern), budget);
    expect(budget.spent).toBeGreaterThan(190);
    expect(budget.spent).toBeLessThan(2 * 3 * 210);
  });

  test("a list at its bounds stays within the budget, so that no entry is left out", () => {
    const slow = Array.from({ length: 99 }, (_, at) => `https://*-*-${at}x.example`);
    const config = allowing(...slow, "https://*-*-z.example");
    expect(isPasskeyOrigin(`${dashes}-z.example`, config)).toBe(true);
  });
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
