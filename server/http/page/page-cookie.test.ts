import { expect, test, vi } from "vitest";
import { loadConfig } from "../../config/load.ts";
import type { Tenant } from "../../config/tenant.ts";
import { createVault } from "../../keys/vault.ts";
import type { Runtime } from "../../runtime.ts";
import { openPageCookie, pageCookie } from "./page-cookie.ts";

const tenant: Tenant = { id: "00000000-0000-4000-8000-000000000001", config: loadConfig({}, "/nowhere") };
const flow = { flowId: "f", token: "t", resume: "r", codeVerifier: "v" };
const oldKey = "the key of last year";
const newKey = "the key of this year";

/** The parts of a runtime that page cookies use. */
const runtime = (...keys: string[]) => ({ vault: createVault(keys) }) as Runtime;
const sent = (setCookie: string) => setCookie.split(";")[0] ?? "";

test("opens a sealed cookie", async () => {
  const cookie = sent(await pageCookie(runtime(oldKey), tenant, "login", flow));
  expect(await openPageCookie(runtime(oldKey), tenant, "login", cookie)).toEqual(flow);
});

test("reads cookies of a rotated secret key until that key is removed", async () => {
  const cookie = sent(await pageCookie(runtime(oldKey), tenant, "login", flow));
  expect(await openPageCookie(runtime(newKey, oldKey), tenant, "login", cookie)).toEqual(flow);
  expect(await openPageCookie(runtime(newKey), tenant, "login", cookie)).toBeNull();
});

test("A68 rejects another tenant's cookie", async () => {
  const cookie = sent(await pageCookie(runtime(oldKey), { ...tenant, id: "other" }, "login", flow));
  expect(await openPageCookie(runtime(oldKey), tenant, "login", cookie)).toBeNull();
});

test("A39 finds the cookie beside a planted one", async () => {
  const cookie = sent(await pageCookie(runtime(oldKey), tenant, "login", flow));
  expect(
    await openPageCookie(runtime(oldKey), tenant, "login", `stile-login-${tenant.id}=planted; ${cookie}`),
  ).toEqual(flow);
});

test.each([
  ["https://login.example.com", "__Host-stile-login", true],
  ["http://localhost:3000", "stile-login", true],
  ["https://login.example.com", "__Secure-stile-login", false],
  ["https://login.example.com/t/acme", "__Secure-stile-login", false],
  ["https://login.example.com/t/acme", "__Host-stile-login", false],
])("A127 at %s finds a flow under %s of an earlier version: %s", async (base_url, former, isFound) => {
  const own: Tenant = { ...tenant, config: { ...tenant.config, base_url } };
  const cookie = sent(await pageCookie(runtime(oldKey), own, "login", flow));
  const [name = "", seal = ""] = cookie.split(/=(.*)/);
  expect(name).toBe(`${base_url.startsWith("https") ? "__Host-" : ""}stile-login-${tenant.id}`);
  const opened = await openPageCookie(runtime(oldKey), own, "login", `${former}=${seal}`);
  expect(opened).toEqual(isFound ? flow : null);
});

test("accepts a seal for the lifetime of its cookie, with a minute of clock tolerance", async () => {
  const to = { to: "https://app.example/" };
  const cookie = sent(await pageCookie(runtime(oldKey), tenant, "destination", to, 600));
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 590_000 });
  try {
    expect(await openPageCookie(runtime(oldKey), tenant, "destination", cookie)).toEqual(to);
    vi.setSystemTime(Date.now() + 80_000);
    expect(await openPageCookie(runtime(oldKey), tenant, "destination", cookie)).toBeNull();
  } finally {
    vi.useRealTimers();
  }
});

test("keeps the largest cookie below the size limit of browsers", async () => {
  const longest = {
    to: `https://app.example/${"x".repeat(1800)}`,
    codeChallenge: "c".repeat(43),
    state: "s".repeat(512),
  };
  expect((await pageCookie(runtime(oldKey), tenant, "destination", longest)).length).toBeLessThan(4096);
  const finished = {
    ...flow,
    finished: 99,
    redirectTo: `${longest.to}?code=${"c".repeat(43)}&state=${longest.state}`,
  };
  expect((await pageCookie(runtime(oldKey), tenant, "registration", finished)).length).toBeLessThan(4096);
});
