import { describe, expect, test, vi } from "vitest";
import { pages } from "../../../hosted/answer.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import type { TestRuntime } from "../../testing/runtime.ts";
import { handle } from "../dispatch.ts";
import { pagePaths } from "./page-requests.ts";

const base = "http://localhost:3000";
const browser = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
const program = { accept: "application/json" };

const runtime = await runtimeForTests();

const ask = (path: string, init: RequestInit = {}, on = runtime, peer = "192.0.2.1") =>
  handle(
    new Request(base + path, { ...init, headers: { host: "localhost:3000", ...init.headers } }),
    { peer, requestId: "request-1" },
    on,
  );

test("the paths are those of the pages", () => {
  expect(new Set(Object.keys(pages))).toEqual(pagePaths);
});

describe("an unknown path", () => {
  test.each([
    ["a program that accepts JSON", "/nope", { headers: program }],
    [
      "a program that accepts a JSON type with a suffix",
      "/nope",
      { headers: { accept: "application/problem+json" } },
    ],
    ["a program, under an unknown tenant", "/t/nope/account", { headers: program }],
    [
      "a POST in JSON",
      "/nope",
      { method: "POST", body: "{}", headers: { "content-type": "application/json" } },
    ],
    ["a DELETE", "/nope", { method: "DELETE" }],
  ])("is answered in JSON to %s", async (_who, path, init) => {
    const response = await ask(path, init);
    expect([response?.status, await response?.json()]).toEqual([404, { code: 404, message: "Not found." }]);
    expect(response?.headers.get("x-content-type-options")).toBe("nosniff");
  });

  test("is a page for a person, also after a form", async () => {
    expect(await ask("/nope", { headers: browser })).toBeNull();
    const response = await ask("/nope", {
      method: "POST",
      body: new URLSearchParams({ a: "b" }),
      headers: browser,
    });
    expect([response?.status, response?.headers.get("content-type")]).toEqual([
      404,
      "text/html; charset=utf-8",
    ]);
    expect(await response?.text()).toContain("<h1>There is no page here</h1>");
  });

  test("is no path of a page", async () => {
    for (const path of ["/", "/account", "/confirm?token=x", "/embed"])
      expect(await ask(path, { headers: program })).toBeNull();
  });
});

test.each([
  ["/account/", "/account"],
  ["/account/?lang=de", "/account?lang=de"],
  ["//account", "/account"],
  ["//evil.example/", "/evil.example"],
  ["/%5Cevil.example/", "/%5Cevil.example"],
])("redirects %s to %s, with security headers", async (path, location) => {
  const response = await ask(path, { headers: browser });
  expect([response?.status, response?.headers.get("location")]).toEqual([308, location]);
  expect(Object.fromEntries(response?.headers ?? [])).toMatchObject({
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  });
});

describe("A126 a source that displays many pages", () => {
  const limited = () =>
    runtime.configured({ STILE_RATE_LIMITER_ENABLED: "true", STILE_RATE_LIMITER_PAGES_PER_MINUTE: "3" });

  test("has to wait: a person gets a page, a program gets JSON, and other sources are served", async () => {
    const on = limited();
    for (const path of ["/", "/account", "/nope"])
      expect(await ask(path, { headers: browser }, on, "198.51.100.1")).toBeNull();
    const german = { ...browser, "accept-language": "de" };
    const page = await ask("/", { headers: german }, on, "198.51.100.1");
    expect([page?.status, page?.headers.get("retry-after")]).toEqual([
      429,
      expect.stringMatching(/^[1-9]\d?$/),
    ]);
    expect(await page?.text()).toMatch(
      /<html lang="de" dir="ltr">[\s\S]*<h1>Einen Augenblick, bitte<\/h1>[\s\S]*Bitte warten Sie \d+ Sekunden?,/,
    );
    const data = await ask("/", {}, on, "198.51.100.1");
    expect([data?.status, await data?.json()]).toEqual([429, { code: 429, message: expect.any(String) }]);
    expect(await ask("/", { headers: browser }, on, "198.51.100.2")).toBeNull();
  });

  test("still gets files and the API", async () => {
    const on = limited();
    for (let page = 0; page < 4; page++) await ask("/", { headers: browser }, on, "198.51.100.3");
    expect((await ask("/assets/missing.js", {}, on, "198.51.100.3"))?.status).toBe(404);
    expect((await ask("/health/alive", {}, on, "198.51.100.3"))?.status).toBe(200);
  });

  test("gets the page if the count fails", async () => {
    const log = { ...runtime.log, warn: vi.fn() } as unknown as TestRuntime["log"];
    const rates = { ...runtime.rates, consumeShared: () => Promise.reject(new Error("no database")) };
    expect(await ask("/", { headers: browser }, { ...runtime, rates, log })).toBeNull();
    expect(log.warn).toHaveBeenCalledOnce();
  });
});
