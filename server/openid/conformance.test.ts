import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as openid from "openid-client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FlowClient, flowClient } from "../testing/flow-client.ts";
import {
  type OpenidApplication,
  openidApplication,
  REDIRECT_URI,
  visit,
} from "../testing/openid-application.ts";
import { type RunningServer, startServer } from "../testing/server.ts";

/** What the plans of the OpenID conformance suite ask for, beside the other tests; `docs/openid-conformance.md` has each. */

const secret = "a secret of the shop that has enough characters";
const goodbye = "https://app.example.com/goodbye";
const password = "correct horse battery staple";
let server: RunningServer;
let shop: OpenidApplication;
let browser: FlowClient;

beforeAll(async () => {
  const clients = {
    shop: {
      name: "The shop",
      secret,
      redirect_uris: [REDIRECT_URI, `${REDIRECT_URI}?a=b`],
      post_logout_redirect_uris: [goodbye],
    },
  };
  server = await startServer({
    env: {
      STILE_OPENID_ENABLED: "true",
      STILE_OPENID_CLIENTS: JSON.stringify(clients),
      STILE_EMAIL_REQUIRE_VERIFICATION: "false",
      STILE_PASSKEY_ENABLED: "false",
      STILE_MFA_ENABLED: "false",
      STILE_RATE_LIMITER_ENABLED: "false",
    },
  });
  shop = await openidApplication(server.url, { clientId: "shop", secret });
  browser = flowClient(server.url);
  await browser.start("registration");
  await browser.act("register_client_capabilities", { webauthn_available: false });
  await browser.act("register_login_identifier", { email: "ada@example.com" });
  await browser.act("register_password", { new_password: password });
  expect(browser.state.name).toBe("success");
});
afterAll(() => server.stop());

describe("an authorization request succeeds", () => {
  test.each([
    ["with scopes in any order", { scope: "email openid profile" }],
    ["with scopes that are not known", { scope: "openid address unheard-of" }],
    ["with all scopes", { scope: "openid profile email phone" }],
    ["with a parameter that is not known", { extra: "foobar" }],
    ["with display=page", { display: "page" }],
    ["with display=popup", { display: "popup" }],
    ["with ui_locales", { ui_locales: "sv" }],
    ["with claims_locales", { claims_locales: "sv" }],
    ["with acr_values", { acr_values: "urn:mace:incommon:iap:silver" }],
    ["with login_hint", { login_hint: "ada@example.com" }],
    ["with max_age that is not over", { max_age: "10000" }],
    [
      "with claims that are essential",
      { claims: JSON.stringify({ userinfo: { name: { essential: true } } }) },
    ],
  ])("%s", async (_, parameters) => {
    const { url, checks } = await shop.request(parameters as Record<string, string>);
    const returned = await visit(browser, url);
    expect(returned.searchParams.get("error")).toBeNull();
    const tokens = await openid.authorizationCodeGrant(shop.config, returned, checks);
    expect(tokens.claims()).toMatchObject({ iss: server.url, aud: "shop" });
  });

  test("without a nonce", async () => {
    const { url, checks } = await shop.request();
    url.searchParams.delete("nonce");
    const { expectedNonce: _, ...rest } = checks;
    const tokens = await openid.authorizationCodeGrant(shop.config, await visit(browser, url), rest);
    expect(tokens.claims()).not.toHaveProperty("nonce");
  });

  test("with id_token_hint of the user", async () => {
    const { id_token: hint = "" } = await shop.signIn(browser);
    const tokens = await shop.signIn(browser, { id_token_hint: hint, prompt: "none" });
    expect(tokens.claims()?.aud).toBe("shop");
  });

  test("with an address that has a query, which stays", async () => {
    const { url } = await shop.request({ redirect_uri: `${REDIRECT_URI}?a=b` });
    const { searchParams } = await visit(browser, url);
    expect([searchParams.get("a"), searchParams.get("code")]).toEqual(["b", expect.any(String)]);
  });

  test("by a form", async () => {
    const { url, checks } = await shop.request();
    const body = url.searchParams;
    const answer = await browser.request(url.pathname, { method: "POST", body });
    expect(answer.status).toBe(303);
    const returned = await visit(browser, new URL(answer.headers.get("location") ?? "", server.url));
    await openid.authorizationCodeGrant(shop.config, returned, checks);
  });
});

test("a form that is huge or none is refused", async () => {
  const post = (body: string, type: string) =>
    browser.request("/oauth/authorize", { method: "POST", body, headers: { "content-type": type } });
  const form = "application/x-www-form-urlencoded";
  expect((await post(`client_id=${"x".repeat(9_000)}`, form)).status).toBe(413);
  expect((await post(`client_id=${"x".repeat(900_000)}`, form)).status).toBe(413);
  expect((await post("{}", "application/json")).status).toBe(400);
  expect((await post("", form)).status).toBe(303);
});

describe("an authorization request is refused at the application", () => {
  test.each([
    ["without response_type", { response_type: "" }, "invalid_request"],
    ["with an implicit response_type", { response_type: "id_token" }, "unsupported_response_type"],
    ["with prompt=none and another one", { prompt: "none login" }, "invalid_request"],
    ["with a prompt that is not known", { prompt: "unheard-of" }, "invalid_request"],
    ["with a request object", { request: "eyJhbGciOiJub25lIn0.e30." }, "request_not_supported"],
    ["with the address of a request object", { request_uri: "https://evil.example/" }, /request_uri/],
    ["with max_age that is no number", { max_age: "x" }, "invalid_request"],
    ["with claims that are no JSON", { claims: "{" }, "invalid_request"],
    ["with id_token_hint that is no token", { id_token_hint: "x" }, "invalid_request"],
  ])("%s", async (_, parameters, error) => {
    const asked = parameters as Record<string, string>;
    const { url } = await shop.request(asked);
    if (asked.response_type === "") url.searchParams.delete("response_type");
    const returned = await visit(browser, url);
    expect(returned.origin + returned.pathname).toBe(REDIRECT_URI);
    // An implicit answer is in the fragment.
    const answer = returned.hash ? new URLSearchParams(returned.hash.slice(1)) : returned.searchParams;
    expect(answer.get("error")).toMatch(error);
    expect(answer.get("state")).toBe(url.searchParams.get("state"));
    expect(answer.get("iss")).toBe(server.url);
  });
});

describe("UserInfo", () => {
  test.each([
    ["by GET", (token: string) => ({ headers: { authorization: `Bearer ${token}` } })],
    [
      "by POST with a header",
      (token: string) => ({ method: "POST", headers: { authorization: `Bearer ${token}` } }),
    ],
    [
      "by POST with a form",
      (token: string) => ({ method: "POST", body: new URLSearchParams({ access_token: token }) }),
    ],
  ])("answers %s", async (_, init) => {
    const tokens = await shop.signIn(browser, { scope: "openid email" });
    const answer = await fetch(`${server.url}/oauth/userinfo`, init(tokens.access_token));
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ sub: tokens.claims()?.sub, email: "ada@example.com" });
  });

  test("tells how to get a token where there is none", async () => {
    const answer = await fetch(`${server.url}/oauth/userinfo`);
    expect(answer.status).toBe(401);
    expect(answer.headers.get("www-authenticate")).toMatch(/^Bearer /);
  });
});

describe("the metadata", () => {
  test("names addresses of this issuer alone, and only what is supported", async () => {
    const metadata = shop.config.serverMetadata();
    const addresses = Object.entries(metadata).filter(([name]) => /(?:_endpoint|_uri|^issuer)$/.test(name));
    for (const [, address] of addresses) expect(String(address).startsWith(server.url)).toBe(true);
    expect(metadata).toMatchObject({
      response_types_supported: ["code"],
      subject_types_supported: ["public"],
      token_endpoint_auth_methods_supported: ["client_secret_basic", "private_key_jwt", "none"],
      request_uri_parameter_supported: false,
      claims_parameter_supported: true,
    });
    expect(metadata.id_token_signing_alg_values_supported).toContain("RS256");
    const jwks = (await (await fetch(String(metadata.jwks_uri))).json()) as {
      keys: { kid: string; use: string }[];
    };
    expect(jwks.keys.length).toBeGreaterThan(0);
    expect(jwks.keys.every((key) => key.use === "sig" && !("d" in key))).toBe(true);
  });
});

describe("signing out", () => {
  /** A browser that has signed in to the application, and its ID token. */
  async function signedIn() {
    const other = flowClient(server.url);
    await other.start("login");
    await other.act("register_client_capabilities", { webauthn_available: false });
    await other.act("continue_with_login_identifier", { email: "ada@example.com" });
    if (other.state.name !== "login_password") await other.act("continue_to_password_login");
    await other.act("password_login", { password });
    const { id_token: hint = "" } = await shop.signIn(other);
    return { other, hint };
  }
  const leave = (by: FlowClient, query: Record<string, string>) =>
    by.request(`/oauth/logout?${new URLSearchParams(query)}`);
  const isSignedIn = async (by: FlowClient) =>
    ((await (await by.request("/sessions/validate")).json()) as { is_valid: boolean }).is_valid;

  test("and without state leads back without", async () => {
    const { other, hint } = await signedIn();
    const answer = await leave(other, { id_token_hint: hint, post_logout_redirect_uri: goodbye });
    expect([answer.status, answer.headers.get("location")]).toEqual([303, goodbye]);
    expect(await isSignedIn(other)).toBe(false);
  });

  test("without an address ends on a page of the service", async () => {
    const { other, hint } = await signedIn();
    expect((await leave(other, { id_token_hint: hint })).status).toBe(200);
    expect(await isSignedIn(other)).toBe(false);
  });

  test.each([
    ["without parameters asks", {}],
    ["with state alone asks", { state: "cart-1" }],
  ])("%s", async (_, query) => {
    const { other } = await signedIn();
    const answer = await leave(other, query);
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("Sign out?")]);
    expect(await isSignedIn(other)).toBe(true);
  });

  test("with an address to which a query was added is refused", async () => {
    const { other, hint } = await signedIn();
    const query = { id_token_hint: hint, post_logout_redirect_uri: `${goodbye}?a=b` };
    expect((await leave(other, query)).status).toBe(400);
    expect(await isSignedIn(other)).toBe(true);
  });

  test("with an ID token whose algorithm was changed to none is refused", async () => {
    const { other, hint } = await signedIn();
    const [, body = ""] = hint.split(".");
    const head = Buffer.from(JSON.stringify({ alg: "none" })).toString("base64url");
    expect((await leave(other, { id_token_hint: `${head}.${body}.` })).status).toBe(400);
    // Of no known client: the page asks, as without one.
    expect((await leave(other, { id_token_hint: "nothing" })).status).toBe(200);
    expect(await isSignedIn(other)).toBe(true);
  });
});

test("the page about the suite names tests that exist", () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/openid-conformance.md"), "utf8");
  const text = [
    "conformance.test.ts",
    "openid-client.test.ts",
    "back-channel-logout.test.ts",
    "front-channel-logout.test.ts",
  ]
    .map((name) => readFileSync(join(import.meta.dirname, name), "utf8"))
    .join();
  const named = page
    .split("\n")
    .filter((line) => line.startsWith("| `"))
    .flatMap((line) => [...line.matchAll(/"([^"]+)"/g)].map(([, title = ""]) => title));
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter((title) => !text.includes(`"${title}"`))).toEqual([]);
});
