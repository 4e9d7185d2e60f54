import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { type FakeProvider, startFakeProvider } from "../../testing/fake-provider.ts";
import { startOidcProvider } from "../../testing/oidc-provider.ts";
import { openForTests, runtimeForTests } from "../../testing/open-for-tests.ts";
import { newAddress } from "../../testing/people.ts";
import { playProvider } from "../../testing/provider-answers.ts";
import { type RestWalk, restWalk } from "../../testing/rest-walk.ts";
import type { TestRuntime } from "../../testing/runtime.ts";
import { type Visitor, visitor } from "../../testing/visitor.ts";
import { providerNetwork } from "../../thirdparty/provider-fetch.ts";

const app = "https://app.example";

const acme = await openForTests(startOidcProvider(["http://localhost:3000/thirdparty/callback"]));
const fake = await openForTests(startFakeProvider("client"));
const { acme: settings } = JSON.parse(acme.settings.STILE_THIRD_PARTY_CUSTOM_PROVIDERS ?? "");
const runtime = await runtimeForTests({
  STILE_PASSKEY_ENABLED: "false",
  STILE_CORS_ALLOW_ORIGINS: app,
  STILE_THIRD_PARTY_ALLOWED_REDIRECT_URLS: `${app}/signed-in,${app}/pages/*`,
  STILE_THIRD_PARTY_CUSTOM_PROVIDERS: JSON.stringify({
    acme: settings,
    fake: { display_name: "Fake", client_id: "client", secret: "secret", issuer: fake.issuer },
  }),
});

/** The same with a short time limit for providers. */
const withShortTimeout = runtime.configured({ STILE_THIRD_PARTY_TIMEOUT: "2" });

const home = "http://localhost:3000/";

interface Begun {
  flow: RestWalk;
  browser: Visitor;
  /** The authorization URL. */
  url: URL;
}

/** Starts a sign-in at a provider over the REST interface. */
async function begin(
  given: { provider?: string; redirect_to?: string; code_verifier?: string } = {},
  { as = runtime, headers = {} }: { as?: TestRuntime; headers?: Record<string, string> } = {},
): Promise<Begun> {
  const browser = visitor(as);
  const flow = await restWalk(as, "login", browser);
  await flow.act("register_client_capabilities");
  const href = flow.state.actions.thirdparty_oauth?.href ?? "";
  const input = { provider: "custom_acme", redirect_to: home, ...given };
  const body = { csrf_token: flow.state.csrf_token, input_data: input };
  const state = await (await browser.post(href, body, headers)).json();
  if (state.name !== "thirdparty") throw new Error(JSON.stringify(state));
  return {
    flow: { ...flow, state, act: actor(browser, state) },
    browser,
    url: new URL(state.payload.redirect_url),
  };
}

const actor =
  (browser: Visitor, state: RestWalk["state"]): RestWalk["act"] =>
  async (action, input_data = {}) => {
    const href = state.actions[action]?.href ?? "";
    return (await browser.post(href, { csrf_token: state.csrf_token, input_data })).json();
  };

/** A new user of Acme; returns the name to sign in with. */
function acmeUser(): string {
  const name = randomUUID();
  acme.person(name, { email: newAddress(), email_verified: true, name: "Ada Lovelace" });
  return name;
}

const path = (url: URL) => url.pathname + url.search;

/** The redirect of a callback. */
async function land(browser: Visitor, address: string, init?: RequestInit): Promise<URL> {
  const response = await browser.request(address, init);
  expect(response.status).toBe(303);
  expect(await response.text()).toBe("");
  return new URL(response.headers.get("location") ?? "");
}

const refusal = (url: URL) => [url.searchParams.get("error"), url.searchParams.get("hanko_token")];

const failures = async () => {
  const rows = await runtime.database.read.select().from(schema.auditLogs);
  return rows.filter(({ type }) => type === "thirdparty_signin_signup_failed").map(({ details }) => details);
};
const count = async (table: "users" | "identities" | "sessions" | "exchangeTokens") =>
  (await runtime.database.read.select().from(schema[table])).length;

describe("a user who signs in at a real provider", () => {
  test("is signed in after the token exchange, not before", async () => {
    const { flow, browser, url } = await begin();
    const back = await acme.signIn(url.href, acmeUser());
    const before = [await count("users"), await count("identities"), await count("sessions")];
    const landed = await land(browser, path(back));
    expect(landed.origin + landed.pathname).toBe(home);
    expect([...landed.searchParams.keys()]).toEqual(["hanko_token"]);
    // A45 the callback is a GET that any site can trigger.
    expect(browser.cookies.has("service")).toBe(false);
    expect([await count("users"), await count("identities"), await count("sessions")]).toEqual(before);
    const token = landed.searchParams.get("hanko_token");
    expect(await flow.act("exchange_token", { token })).toMatchObject({
      name: "success",
      payload: { user: { emails: [{ is_verified: true }], identities: [{ provider: "Acme" }] } },
    });
    expect(browser.cookies.has("service")).toBe(true);
  });

  test("has a state cookie for ten minutes that is sent on cross-site requests", async () => {
    const { browser, url, flow } = await begin();
    const state = url.searchParams.get("state") ?? "";
    expect(flow.state.payload).toEqual({ redirect_url: url.href });
    expect(browser.setCookies).toContain(
      `third-party-state=${state}; Path=/; Max-Age=600; HttpOnly; Secure; SameSite=None`,
    );
    await land(browser, path(await acme.signIn(url.href, acmeUser())));
    expect(browser.cookies.has("third-party-state")).toBe(false);
  });

  test("returns to the address of an application, with reserved parameters replaced", async () => {
    const { browser, url } = await begin({ redirect_to: `${app}/pages/x` });
    const landed = await land(browser, path(await acme.signIn(url.href, acmeUser())));
    expect(landed.origin + landed.pathname).toBe(`${app}/pages/x`);
    const again = await begin({ redirect_to: `${home}?error=old&hanko_token=old&flow=registration` });
    const second = await land(again.browser, path(await acme.signIn(again.url.href, acmeUser())));
    expect([...second.searchParams.keys()]).toEqual(["flow", "hanko_token"]);
    expect(second.searchParams.get("hanko_token")).not.toBe("old");
  });

  test("sees our own error message after cancelling", async () => {
    const { browser, url, flow } = await begin();
    const landed = await land(browser, path(await acme.signIn(url.href, null)));
    expect(Object.fromEntries(landed.searchParams)).toEqual({
      error: "access_denied",
      error_description: "The provider did not let you in, or you turned back.",
    });
    expect(await failures()).toContainEqual({
      provider: "custom_acme",
      error: "access_denied",
      reason: "access_denied",
    });
    expect(await flow.act("back")).toMatchObject({ name: "login_init" });
  });
});

describe("A45 a callback", () => {
  test("in another browser is rejected and consumes the request", async () => {
    const { browser, url } = await begin();
    const back = await acme.signIn(url.href, acmeUser());
    const before = await count("exchangeTokens");
    const stranger = visitor(runtime);
    expect(refusal(await land(stranger, path(back)))).toEqual(["invalid_request", null]);
    stranger.cookies.set("third-party-state", "x".repeat(43));
    expect(refusal(await land(stranger, path(back)))).toEqual(["invalid_request", null]);
    expect(refusal(await land(browser, path(back)))).toEqual(["invalid_request", null]);
    expect(await count("exchangeTokens")).toBe(before);
    expect(await failures()).toContainEqual({
      provider: "custom_acme",
      error: "invalid_request",
      reason: "other_browser",
    });
  });

  test("in another browser keeps that browser's own state cookie", async () => {
    const victim = await begin();
    const attacker = await begin();
    const planted = await acme.signIn(attacker.url.href, acmeUser());
    expect(refusal(await land(victim.browser, path(planted)))).toEqual(["invalid_request", null]);
    const landed = await land(victim.browser, path(await acme.signIn(victim.url.href, acmeUser())));
    expect(refusal(landed)).toEqual([null, expect.any(String)]);
  });

  test("is rejected the second time", async () => {
    const { browser, url } = await begin();
    const back = await acme.signIn(url.href, acmeUser());
    const cookie = `third-party-state=${browser.cookies.get("third-party-state")}`;
    expect(refusal(await land(browser, path(back)))[0]).toBeNull();
    expect(refusal(await land(browser, path(back), { headers: { cookie } }))).toEqual([
      "invalid_request",
      null,
    ]);
  });

  test("issues one token for fifty concurrent requests", async () => {
    const { browser, url } = await begin();
    const back = await acme.signIn(url.href, acmeUser());
    const cookie = `third-party-state=${browser.cookies.get("third-party-state")}`;
    const landed = await Promise.all(
      Array.from({ length: 50 }, () => land(visitor(runtime), path(back), { headers: { cookie } })),
    );
    expect(landed.filter(({ searchParams }) => searchParams.has("hanko_token"))).toHaveLength(1);
  });

  test("is rejected after ten minutes", async () => {
    const { browser, url } = await begin();
    const back = await acme.signIn(url.href, acmeUser());
    runtime.advanceClock(601);
    expect(refusal(await land(browser, path(back)))).toEqual(["invalid_request", null]);
  });

  test.each([
    "",
    "?state=",
    `?state=${"x".repeat(43)}&code=c`,
    `?state=${"x".repeat(43)}&state=${"y".repeat(43)}`,
    "?state=%00&code=%ff",
    "?code=c",
    "?error=access_denied",
    "?state[]=x",
  ])("with the unknown state %j redirects to the hosted page and writes nothing", async (query) => {
    const before = await failures();
    const landed = await land(visitor(runtime), `/thirdparty/callback${query}`);
    expect(landed.origin + landed.pathname).toBe(home);
    expect(landed.searchParams.get("error")).toBe("invalid_request");
    expect(await failures()).toEqual(before);
  });

  test("with an unknown state redirects to the configured error address", async () => {
    const as = runtime.configured({ STILE_THIRD_PARTY_ERROR_REDIRECT_URL: `${app}/sorry?a=b` });
    const landed = await land(visitor(as), "/thirdparty/callback?state=x");
    expect(landed.href).toMatch(/^https:\/\/app\.example\/sorry\?a=b&error=invalid_request&/);
  });

  test("with a repeated parameter or without a code is rejected", async () => {
    for (const query of ["code=a&code=b", "iss=x&iss=y&code=c", ""]) {
      const { browser, url } = await begin();
      const state = url.searchParams.get("state");
      const landed = await land(browser, `/thirdparty/callback?state=${state}&${query}`);
      expect(refusal(landed)).toEqual(["invalid_request", null]);
    }
  });

  test("by HEAD consumes nothing", async () => {
    const { browser, url } = await begin();
    const back = await acme.signIn(url.href, acmeUser());
    expect((await browser.request(path(back), { method: "HEAD" })).status).toBe(204);
    expect(refusal(await land(browser, path(back)))[0]).toBeNull();
  });

  test("redirects to the hosted page if the return address was removed from the list", async () => {
    const { browser, url } = await begin({ redirect_to: `${app}/signed-in` });
    const back = await acme.signIn(url.href, acmeUser());
    const as = runtime.configured({ STILE_THIRD_PARTY_ALLOWED_REDIRECT_URLS: "" });
    const cookie = `third-party-state=${browser.cookies.get("third-party-state")}`;
    const landed = await land(visitor(as), path(back), { headers: { cookie } });
    expect(landed.origin).toBe("http://localhost:3000");
    expect(refusal(landed)).toEqual(["invalid_request", null]);
  });

  test("from a provider that was disabled concurrently is rejected", async () => {
    const { browser, url } = await begin();
    const back = await acme.signIn(url.href, acmeUser());
    const as = runtime.configured({ STILE_THIRD_PARTY_CUSTOM_PROVIDERS: "{}" });
    const cookie = `third-party-state=${browser.cookies.get("third-party-state")}`;
    const landed = await land(visitor(as), path(back), { headers: { cookie } });
    expect(refusal(landed)).toEqual(["invalid_request", null]);
  });

  test("A48 with the code of another provider is rejected", async () => {
    const atAcme = await begin();
    const back = await acme.signIn(atAcme.url.href, acmeUser());
    const atFake = await begin({ provider: "custom_fake" });
    fake.reset();
    back.searchParams.set("state", atFake.url.searchParams.get("state") ?? "");
    expect(refusal(await land(atFake.browser, path(back)))).toEqual(["invalid_request", null]);
    // The code of Acme is not sent to the other provider.
    expect(fake.asked.filter((asked) => asked.path === "/token")).toEqual([]);
  });
});

describe("A49 a provider that is", () => {
  test.each<[string, FakeProvider["answers"][string]]>([
    ["slow", () => {}],
    ["broken", (response) => response.writeHead(500).end()],
    ["no provider", (response) => response.end("<html>")],
  ])("%s is reported at the return address, and the flow can go back", async (_, answer) => {
    fake.reset();
    const { browser, flow, url } = await begin({ provider: "custom_fake" }, { as: withShortTimeout });
    fake.answers["/token"] = answer;
    const state = url.searchParams.get("state");
    const landed = await land(browser, `/thirdparty/callback?state=${state}&code=c`);
    expect(refusal(landed)).toEqual(["invalid_request", null]);
    expect(await flow.act("back")).toMatchObject({ name: "login_init" });
  });

  test("slow during discovery is an error of the input `provider`", async () => {
    fake.reset();
    providerNetwork(withShortTimeout).documents.clear();
    fake.answers["/.well-known/openid-configuration"] = () => {};
    const flow = await restWalk(withShortTimeout, "login");
    await flow.act("register_client_capabilities");
    await flow.act("thirdparty_oauth", { provider: "custom_fake", redirect_to: home });
    expect(flow.state).toMatchObject({
      name: "login_init",
      status: 400,
      actions: { thirdparty_oauth: { inputs: { provider: { error: { code: "value_invalid_error" } } } } },
    });
  });
});

describe("a page of another site", () => {
  const headers = { origin: app };
  const verifier = "v".repeat(43);

  test("A47 requires a code verifier of valid length", async () => {
    await expect(begin({}, { headers })).rejects.toThrow("value_missing_error");
    await expect(begin({ code_verifier: "v".repeat(42) }, { headers })).rejects.toThrow(
      "value_too_short_error",
    );
    await expect(begin({ code_verifier: "v".repeat(129) }, { headers })).rejects.toThrow(
      "value_too_long_error",
    );
    await expect(begin({ code_verifier: `${"v".repeat(43)} ` }, { headers })).rejects.toThrow(
      "value_invalid_error",
    );
  });

  test("needs no cookie, and sends the verifier at the exchange", async () => {
    const redirect_to = `${app}/signed-in`;
    const { flow, url } = await begin({ redirect_to, code_verifier: verifier }, { headers });
    expect(url.href).not.toContain(verifier);
    const back = await acme.signIn(url.href, acmeUser());
    const landed = await land(visitor(runtime), path(back));
    expect(landed.origin + landed.pathname).toBe(redirect_to);
    const token = landed.searchParams.get("hanko_token");
    const refused = await flow.act("exchange_token", { token, code_verifier: "w".repeat(43) });
    expect(refused).toMatchObject({ name: "thirdparty", status: 400 });
    expect(
      await actor(flow.visitor, refused)("exchange_token", { token, code_verifier: verifier }),
    ).toMatchObject({
      name: "success",
    });
  });

  test("differs from our own pages, which always need the cookie", async () => {
    for (const origin of ["http://localhost:3000", undefined]) {
      const own = origin ? { headers: { origin } } : {};
      const { url } = await begin({ code_verifier: verifier }, own);
      const back = await acme.signIn(url.href, acmeUser());
      expect(refusal(await land(visitor(runtime), path(back)))).toEqual(["invalid_request", null]);
    }
  });
});

describe("redirect_to", () => {
  test.each([
    "https://evil.example/",
    "//evil.example",
    "/\\evil.example",
    "https:evil.example",
    "https://app.example@evil.example/signed-in",
    "https://app.example.evil.example/signed-in",
    "https://evil.example/?https://app.example/signed-in",
    "javascript:alert(1)",
    "https://app.example/\tsigned-in",
    "https://app.example/\nsigned-in",
    "https://app.example/%2f%2fevil.example",
    "https://app.example/pages/%2f%2fevil.example",
    "https://app.example/pages/a/b",
    "https://аpp.example/signed-in",
    "https://app.example/signed-in#x",
    "https://app.example:8443/signed-in",
    "http://app.example/signed-in",
    "http://localhost:3001/",
    "https://localhost:3000/",
    "http://localhost:3000@evil.example/",
    "/",
  ])("A46 rejects %j", async (redirect_to) => {
    await expect(begin({ redirect_to })).rejects.toThrow('"redirect_to","type":"string","required":true');
    await expect(begin({ redirect_to })).rejects.toThrow("value_invalid_error");
  });

  test("A46 accepts any page of our own", async () => {
    const { url } = await begin({ redirect_to: "http://localhost:3000/account?x=1" });
    expect(url.origin).toBe(acme.issuer);
  });
});

test("accepts the form_post of Apple, and keeps the user's name out of URLs", async () => {
  const as = runtime.configured({
    STILE_THIRD_PARTY_PROVIDERS_APPLE_ENABLED: "true",
    STILE_THIRD_PARTY_PROVIDERS_APPLE_CLIENT_ID: "com.example.login",
    STILE_THIRD_PARTY_PROVIDERS_APPLE_SECRET: "secret",
  });
  const { flow, browser, url } = await begin({ provider: "apple" }, { as });
  const issuer = "https://appleid.apple.com";
  const claims = { iss: issuer, aud: "com.example.login", sub: randomUUID() };
  const answers = { [`${issuer}/auth/token`]: { access_token: "a", token_type: "Bearer" } };
  await playProvider(as, { answers, idToken: { keys: `${issuer}/auth/keys`, claims } }, url);
  const form = new URLSearchParams({
    state: url.searchParams.get("state") ?? "",
    code: "code",
    user: JSON.stringify({ name: { firstName: "Ada", lastName: "Lovelace" } }),
  });
  const landed = await land(browser, "/thirdparty/callback", { method: "POST", body: form });
  expect([...landed.searchParams.keys()]).toEqual(["hanko_token"]);
  const exchanged = await flow.act("exchange_token", { token: landed.searchParams.get("hanko_token") });
  expect(exchanged.name).toBe("onboarding_email");
  const users = await runtime.database.read.select().from(schema.users);
  expect(users.map(({ name }) => name)).toContain("Ada Lovelace");
});

test.each([
  ["application/json", "{}"],
  ["text/plain", "state=x"],
  ["application/x-www-form-urlencoded", `state=${"x".repeat(70_000)}`],
  ["application/x-www-form-urlencoded", "state=%"],
])("redirects an invalid form (%s) to the hosted page", async (type, body) => {
  const init = { method: "POST", body, headers: { "content-type": type } };
  expect(refusal(await land(visitor(runtime), "/thirdparty/callback", init))).toEqual([
    "invalid_request",
    null,
  ]);
});

test("A68 a callback of one tenant is invalid at another", async () => {
  const { id } = await createTenant(runtime, { name: "Another", hosts: [], settings: {} });
  const { browser, url } = await begin();
  const back = await acme.signIn(url.href, acmeUser());
  const cookie = `third-party-state=${browser.cookies.get("third-party-state")}`;
  const otherTenant = await land(visitor(runtime), `/t/${id}${path(back)}`, { headers: { cookie } });
  expect(refusal(otherTenant)).toEqual(["invalid_request", null]);
  // The other tenant did not consume it.
  expect(refusal(await land(browser, path(back)))[0]).toBeNull();
});
