import { createHash } from "node:crypto";
import { decodeJwt, decodeProtectedHeader, exportJWK, generateKeyPair, SignJWT } from "jose";
import * as openid from "openid-client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type FlowClient, flowClient } from "../testing/flow-client.ts";
import {
  newBrowser,
  type OpenidApplication,
  openidApplication,
  REDIRECT_URI,
  type Tokens,
  visit,
} from "../testing/openid-application.ts";
import { type RunningServer, startServer } from "../testing/server.ts";
import { type SmtpCatcher, startSmtp } from "../testing/smtp.ts";

/** The provider from outside: the built server, and `openid-client`. */

const secret = "a secret of the shop that has enough characters";
const resource = "https://api.example.com/orders";
const password = "correct horse battery staple";
const email = "ada@example.com";

let server: RunningServer;
let smtp: SmtpCatcher;
let shop: OpenidApplication;
let page: OpenidApplication;

/** That of a client which authenticates by it. */
const clientKey = await generateKeyPair("ES256", { extractable: true });

beforeAll(async () => {
  smtp = await startSmtp();
  const clients = {
    shop: {
      name: "The shop",
      secret,
      redirect_uris: [REDIRECT_URI],
      post_logout_redirect_uris: ["https://app.example.com/goodbye"],
      grants: ["authorization_code", "refresh_token", "client_credentials"],
      scopes: ["openid", "profile", "email", "phone", "offline_access", "orders:read"],
    },
    page: { name: "A page", redirect_uris: [REDIRECT_URI] },
    narrow: { name: "Narrow", secret, redirect_uris: [REDIRECT_URI], scopes: ["openid"] },
    machine: { name: "Machine", secret, grants: ["client_credentials"], scopes: ["orders:read"] },
    pushing: { name: "Pushes", secret, redirect_uris: [REDIRECT_URI], require_par: true },
    signing: {
      name: "Signing",
      jwks: { keys: [await exportJWK(clientKey.publicKey)] },
      redirect_uris: [REDIRECT_URI],
      grants: ["authorization_code", "client_credentials"],
    },
    tool: {
      name: "A tool on the device",
      application_type: "native",
      redirect_uris: ["http://127.0.0.1/callback"],
    },
    bound: { name: "Bound", secret, redirect_uris: [REDIRECT_URI], require_dpop: true },
  };
  server = await startServer({
    env: {
      SMTP_URL: smtp.url,
      STILE_OPENID_ENABLED: "true",
      STILE_OPENID_CLIENTS: JSON.stringify(clients),
      STILE_OPENID_RESOURCES: JSON.stringify({ [resource]: { scopes: ["orders:read"] } }),
      STILE_PASSKEY_ENABLED: "false",
      STILE_MFA_ENABLED: "false",
      STILE_RATE_LIMITER_ENABLED: "false",
    },
  });
  shop = await openidApplication(server.url, { clientId: "shop", secret });
  page = await openidApplication(server.url, { clientId: "page" });
  await newAccount(email);
});
afterAll(async () => {
  await server.stop();
  await smtp.close();
});

let accounts = 0;

/** Registers an account. @returns its address */
async function newAccount(address = `grace-${++accounts}@example.com`): Promise<string> {
  const client = flowClient(server.url);
  await client.start("registration");
  await client.act("register_client_capabilities", { webauthn_available: false });
  await client.act("register_login_identifier", { email: address });
  await client.act("verify_passcode", { code: await smtp.codeFor(address) });
  await client.act("register_password", { new_password: password });
  expect(client.state.name).toBe("success");
  return address;
}

/** Signs in at the service, in the browser. */
async function signIn(browser: FlowClient, address = email): Promise<void> {
  await browser.start("login");
  await browser.act("register_client_capabilities", { webauthn_available: false });
  await browser.act("continue_with_login_identifier", { email: address });
  if (browser.state.name !== "login_password") await browser.act("continue_to_password_login");
  await browser.act("password_login", { password });
  expect(browser.state.name).toBe("success");
}

async function signedIn(address = email): Promise<FlowClient> {
  const browser = newBrowser(server);
  await signIn(browser, address);
  return browser;
}

describe("discovery", () => {
  test("names the tenant's address as issuer, and what the provider supports", () => {
    expect(shop.config.serverMetadata()).toMatchObject({
      issuer: server.url,
      authorization_endpoint: `${server.url}/oauth/authorize`,
      token_endpoint: `${server.url}/oauth/token`,
      userinfo_endpoint: `${server.url}/oauth/userinfo`,
      jwks_uri: `${server.url}/.well-known/jwks.json`,
      response_types_supported: ["code"],
      code_challenge_methods_supported: ["S256"],
      authorization_response_iss_parameter_supported: true,
    });
  });

  test("is the same for OAuth", async () => {
    const [one, other] = await Promise.all(
      ["openid-configuration", "oauth-authorization-server"].map(async (name) =>
        (await fetch(`${server.url}/.well-known/${name}`)).json(),
      ),
    );
    expect(one).toEqual(other);
  });
});

describe("a visitor without a session", () => {
  test("signs in on the page of the service, and returns with a code", async () => {
    const browser = newBrowser(server);
    const { url, checks } = await shop.request({ scope: "openid email" });
    const waiting = await browser.request(`${url.pathname}${url.search}`);
    const signInPage = new URL(waiting.headers.get("location") ?? "");
    expect(signInPage.pathname).toBe("/login");
    const resume = new URL(signInPage.searchParams.get("redirect_to") ?? "");
    expect((await browser.request(`${signInPage.pathname}${signInPage.search}`)).status).toBe(303);
    await signIn(browser);
    const returned = await visit(browser, resume);
    expect(returned.href.startsWith(REDIRECT_URI)).toBe(true);
    const tokens = await openid.authorizationCodeGrant(shop.config, returned, checks);
    const claims = tokens.claims();
    expect(claims).toMatchObject({ iss: server.url, aud: "shop", amr: ["pwd"], acr: "urn:stile:sign-in" });
    const info = await openid.fetchUserInfo(shop.config, tokens.access_token, claims?.sub ?? "");
    expect(info).toEqual({ sub: claims?.sub, email, email_verified: true });
  });

  test("A206 is not let in by the address of the request alone: another browser is refused", async () => {
    const { url } = await shop.request();
    const waiting = await newBrowser(server).request(`${url.pathname}${url.search}`);
    const signInPage = new URL(waiting.headers.get("location") ?? "");
    const resume = new URL(signInPage.searchParams.get("redirect_to") ?? "");
    const stranger = await signedIn();
    const answer = await stranger.request(resume.pathname);
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: "invalid_request" }]);
  });

  test("A207 is not let in by a cookie of the library that names the session of another visitor", async () => {
    const victim = await signedIn();
    const { session_id } = decodeJwt(victim.cookies.get("service") ?? "");
    const stranger = newBrowser(server);
    stranger.cookies.set("openid_visitor", String(session_id));
    const { url } = await shop.request({ prompt: "none" });
    expect((await visit(stranger, url)).searchParams.get("error")).toBe("login_required");
  });

  test("finds the page in a language that the application asks for, with the identifier filled in", async () => {
    const browser = newBrowser(server);
    const { url } = await shop.request({ login_hint: email, ui_locales: "xx fr-CA de" });
    const page = await visit(browser, url);
    expect(`${page.pathname}${page.search}`).toBe("/?lang=fr");
    const html = await (await browser.request(`${page.pathname}${page.search}`)).text();
    expect(html).toMatch(/<html[^>]* lang="fr"/);
    expect(html).toContain(`value="${email}"`);
    // Of the next user of the browser no identifier is expected.
    await browser.request("/logout", { method: "POST" });
    expect(await (await browser.request("/?lang=fr")).text()).not.toContain(email);
  });

  test("is led to the registration with prompt=create", async () => {
    const browser = newBrowser(server);
    const { url, checks } = await shop.request({ prompt: "create" });
    const page = await visit(browser, url);
    expect(`${page.pathname}${page.search}`).toBe("/?flow=registration");
    const resume = `/oauth/authorize/${browser.cookies.get("openid_resume")}`;
    await signIn(browser);
    const returned = await visit(browser, new URL(resume, server.url));
    await openid.authorizationCodeGrant(shop.config, returned, checks);
  });

  test("is not asked with prompt=none: the application gets login_required", async () => {
    const { url } = await shop.request({ prompt: "none" });
    const returned = await visit(newBrowser(server), url);
    expect(returned.searchParams.get("error")).toBe("login_required");
    expect(returned.searchParams.get("iss")).toBe(server.url);
  });
});

describe("a visitor with a session", () => {
  test("goes on by a form that submits itself, where the application asks for that", async () => {
    const { url } = await shop.request({ response_mode: "form_post" });
    const browser = await signedIn();
    const answer = await browser.request(`${url.pathname}${url.search}`);
    const page = await answer.text();
    const [, script = ""] = /<script>(.*?)<\/script>/s.exec(page) ?? [];
    const hash = createHash("sha256").update(script).digest("base64");
    expect(page).toContain(`action="${REDIRECT_URI}"`);
    expect(answer.headers.get("content-security-policy")).toContain(`script-src 'sha256-${hash}'`);
  });

  test("goes on at once, with a confidential and with a public client", async () => {
    const browser = await signedIn();
    for (const application of [shop, page]) {
      const tokens = await application.signIn(browser, { prompt: "none" });
      expect(tokens.claims()).toMatchObject({ iss: server.url, amr: ["pwd"] });
    }
  });

  test("signs in again for prompt=login and for max_age, and the token says when", async () => {
    for (const parameters of [{ prompt: "login" }, { max_age: "0" }]) {
      const browser = await signedIn();
      const { url, checks } = await shop.request(parameters as Record<string, string>);
      const page = await visit(browser, url);
      expect(page.pathname).toBe("/");
      const resume = `/oauth/authorize/${browser.cookies.get("openid_resume")}`;
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      const before = Math.floor(Date.now() / 1000);
      await signIn(browser);
      const returned = await visit(browser, new URL(resume, server.url));
      const tokens = await openid.authorizationCodeGrant(shop.config, returned, {
        ...checks,
        ...("max_age" in parameters ? { maxAge: 5 } : {}),
      });
      expect(Number(tokens.claims()?.auth_time)).toBeGreaterThanOrEqual(before);
    }
  });

  test("may be another user after prompt=select_account, and is asked although there is a session", async () => {
    const browser = await signedIn();
    const { url, checks } = await shop.request({ prompt: "select_account" });
    expect((await visit(browser, url)).pathname).toBe("/");
    const resume = `/oauth/authorize/${browser.cookies.get("openid_resume")}`;
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await signIn(browser);
    const returned = await visit(browser, new URL(resume, server.url));
    await openid.authorizationCodeGrant(shop.config, returned, checks);
  });

  test("is asked again by the page when it returns without a new sign-in", async () => {
    const browser = await signedIn();
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    const { url } = await shop.request({ prompt: "login" });
    await visit(browser, url);
    const resume = `/oauth/authorize/${browser.cookies.get("openid_resume")}`;
    expect((await visit(browser, new URL(resume, server.url))).pathname).toBe("/");
  });

  test("has no session at the provider once it has signed out", async () => {
    const browser = await signedIn();
    await shop.signIn(browser);
    await browser.request("/logout", { method: "POST" });
    const { url } = await shop.request({ prompt: "none" });
    expect((await visit(browser, url)).searchParams.get("error")).toBe("login_required");
  });
});

describe("signing out at an application", () => {
  const goodbye = "https://app.example.com/goodbye";
  const sessionOf = async (browser: FlowClient) =>
    ((await (await browser.request("/sessions/validate")).json()) as { is_valid: boolean }).is_valid;

  test("with the ID token ends the session, and leads back with state", async () => {
    const browser = await signedIn();
    const { id_token = "" } = await shop.signIn(browser);
    const url = openid.buildEndSessionUrl(shop.config, {
      id_token_hint: id_token,
      post_logout_redirect_uri: goodbye,
      state: "cart-1",
    });
    expect((await visit(browser, url)).href).toBe(`${goodbye}?state=cart-1`);
    expect(await sessionOf(browser)).toBe(false);
  });

  test("A213 without one, or with that of another user, asks: the session stays until the button is pressed", async () => {
    const browser = await signedIn();
    const { id_token = "" } = await shop.signIn(browser);
    const [head, body = "", signature] = id_token.split(".");
    const other = { ...decodeJwt(id_token), sub: "00000000-0000-4000-8000-000000000000" };
    const forged = [head, Buffer.from(JSON.stringify(other)).toString("base64url"), signature].join(".");
    expect(body).not.toBe("");
    const asking = await browser.request(`/oauth/logout?client_id=shop&post_logout_redirect_uri=${goodbye}`);
    expect([asking.status, await asking.text()]).toEqual([200, expect.stringContaining("Sign out?")]);
    expect((await browser.request(`/oauth/logout?id_token_hint=${forged}`)).status).toBe(400);
    const press = (headers: Record<string, string>) =>
      browser.request("/oauth/logout", {
        method: "POST",
        headers,
        body: new URLSearchParams({ client_id: "shop", post_logout_redirect_uri: goodbye, pressed: "true" }),
      });
    expect((await press({ origin: "https://evil.example" })).status).toBe(200);
    expect(await sessionOf(browser)).toBe(true);
    const pressed = await press({ origin: server.url });
    expect(await pressed.text()).toContain(goodbye);
    expect(await sessionOf(browser)).toBe(false);
  });

  test("A213 a form of another site, with which the browser sends no session, has it forget nothing", async () => {
    const sent = (site: string) =>
      fetch(`${server.url}/oauth/logout`, {
        method: "POST",
        headers: {
          "sec-fetch-site": site,
          origin: site === "same-origin" ? server.url : "https://evil.example",
        },
        body: new URLSearchParams(),
      });
    expect((await sent("cross-site")).headers.getSetCookie()).toEqual([]);
    expect((await sent("same-origin")).headers.getSetCookie()).not.toEqual([]);
  });

  test("A213 leads to no address that is not the client's", async () => {
    const browser = newBrowser(server);
    for (const query of [
      "client_id=shop&post_logout_redirect_uri=https://evil.example/",
      `client_id=shop&post_logout_redirect_uri=${goodbye}/`,
      `client_id=unknown&post_logout_redirect_uri=${goodbye}`,
    ])
      expect([query, (await browser.request(`/oauth/logout?${query}`)).status]).toEqual([query, 400]);
    const without = await browser.request(`/oauth/logout?post_logout_redirect_uri=https://evil.example/`);
    expect([without.status, (await without.text()).includes("evil.example")]).toEqual([200, false]);
  });
});

describe("tokens", () => {
  test("for a resource are JWTs that name it, and are of no use at UserInfo", async () => {
    const browser = await signedIn();
    const { url, checks } = await shop.request({ scope: "openid orders:read", resource });
    const returned = await visit(browser, url);
    const tokens = await openid.authorizationCodeGrant(shop.config, returned, checks);
    expect(decodeProtectedHeader(tokens.access_token)).toMatchObject({ typ: "at+jwt", alg: "RS256" });
    expect(decodeJwt(tokens.access_token)).toMatchObject({
      iss: server.url,
      aud: resource,
      client_id: "shop",
      scope: "orders:read",
      sub: tokens.claims()?.sub,
    });
    const refused = await fetch(`${server.url}/oauth/userinfo`, {
      headers: { authorization: `Bearer ${tokens.access_token}` },
    });
    expect(refused.status).toBe(401);
  });

  test("for a resource that is not configured are refused", async () => {
    const { url } = await shop.request({ resource: "https://other.example.com/" });
    const returned = await visit(await signedIn(), url);
    expect(returned.searchParams.get("error")).toBe("invalid_target");
  });

  test("of the service itself come to a client by its credentials", async () => {
    const tokens = await openid.clientCredentialsGrant(shop.config, { resource, scope: "orders:read" });
    expect(decodeJwt(tokens.access_token)).toMatchObject({
      aud: resource,
      sub: "shop",
      scope: "orders:read",
    });
  });

  test("are introspected and revoked by their client", async () => {
    const tokens = await shop.signIn(await signedIn());
    const { sub } = tokens.claims() ?? {};
    expect(await openid.tokenIntrospection(shop.config, tokens.access_token)).toMatchObject({
      active: true,
      client_id: "shop",
      sub,
    });
    await openid.tokenRevocation(shop.config, tokens.access_token);
    expect(await openid.tokenIntrospection(shop.config, tokens.access_token)).toEqual({ active: false });
  });

  test("end with the session that they were issued in, unless they have offline_access", async () => {
    const browser = await signedIn();
    const bound = await shop.signIn(browser);
    const offline = await shop.signIn(browser, { scope: "openid offline_access", prompt: "consent" });
    await browser.request("/logout", { method: "POST" });
    await expect(openid.refreshTokenGrant(shop.config, bound.refresh_token ?? "")).rejects.toMatchObject({
      error: "invalid_grant",
    });
    const renewed = await openid.refreshTokenGrant(shop.config, offline.refresh_token ?? "");
    expect(renewed.access_token).toEqual(expect.any(String));
  });
});

describe("tokens that outlive sessions (offline_access)", () => {
  const asked = { scope: "openid offline_access", prompt: "consent" };
  const refresh = (tokens: Tokens) => openid.refreshTokenGrant(shop.config, tokens.refresh_token ?? "");

  test("A218 end when the user ends all other sessions: a thief of a session may have got them", async () => {
    const thief = await signedIn();
    const stolen = await shop.signIn(thief, asked);
    const owner = await signedIn();
    await owner.start("profile");
    await owner.act("register_client_capabilities", { webauthn_available: false });
    await owner.act("session_delete_others");
    await expect(refresh(stolen)).rejects.toMatchObject({ error: "invalid_grant" });
  });

  test("A218 are not issued for a code whose session has ended", async () => {
    const browser = await signedIn();
    const { url, checks } = await shop.request(asked);
    const returned = await visit(browser, url);
    await browser.request("/logout", { method: "POST" });
    const redeemed = openid.authorizationCodeGrant(shop.config, returned, checks);
    await expect(redeemed).rejects.toMatchObject({ error: "invalid_grant" });
  });

  test("live on after the session, also where the application was signed in to before without them", async () => {
    const browser = await signedIn();
    await shop.signIn(browser);
    const tokens = await shop.signIn(browser, asked);
    await browser.request("/logout", { method: "POST" });
    expect((await refresh(tokens)).refresh_token).toEqual(expect.any(String));
  });
});

describe("a refresh token", () => {
  test("A208 is replaced by each use, and the former one ends the family", async () => {
    const first = await shop.signIn(await signedIn());
    const second = await openid.refreshTokenGrant(shop.config, first.refresh_token ?? "");
    expect(second.refresh_token).not.toBe(first.refresh_token);
    await expect(openid.refreshTokenGrant(shop.config, first.refresh_token ?? "")).rejects.toMatchObject({
      error: "invalid_grant",
    });
    await expect(openid.refreshTokenGrant(shop.config, second.refresh_token ?? "")).rejects.toMatchObject({
      error: "invalid_grant",
    });
  });

  test("A208 that is used fifty times at once is used by one, and the family ends", async () => {
    const first = await shop.signIn(await signedIn());
    const uses = await Promise.allSettled(
      Array.from({ length: 50 }, () => openid.refreshTokenGrant(shop.config, first.refresh_token ?? "")),
    );
    const used = uses.filter((use) => use.status === "fulfilled");
    expect(used.length).toBeLessThanOrEqual(1);
    const refused = uses.filter((use) => use.status === "rejected");
    expect(new Set(refused.map(({ reason }) => reason.error))).toEqual(new Set(["invalid_grant"]));
    for (const { value } of used)
      await expect(openid.refreshTokenGrant(shop.config, value.refresh_token ?? "")).rejects.toMatchObject({
        error: "invalid_grant",
      });
  });
});

describe("a native application", () => {
  test("of the operator's own signs in at any port of the device, with PKCE and without a secret or a question", async () => {
    const tool = await openidApplication(server.url, { clientId: "tool" });
    const browser = await signedIn();
    for (const port of [4711, 50_999]) {
      const redirect_uri = `http://127.0.0.1:${port}/callback`;
      const tokens = await tool.signIn(browser, { redirect_uri, scope: "openid email" });
      expect(tokens.claims()?.aud).toBe("tool");
    }
  });

  test.each([
    "http://127.0.0.2:4711/callback",
    "http://127.0.0.1:4711/other",
    "http://localhost:4711/callback",
    "https://127.0.0.1:4711/callback",
    "http://127.0.0.1.evil.example/callback",
  ])("A210 is not sent to %s", async (redirect_uri) => {
    const tool = await openidApplication(server.url, { clientId: "tool" });
    const { url } = await tool.request({ redirect_uri });
    const answer = await (await signedIn()).request(`${url.pathname}${url.search}`);
    expect([answer.status, answer.headers.get("location")]).toEqual([400, null]);
  });
});

describe("an authorization code", () => {
  test("A209 is redeemed once; a second use ends what was issued", async () => {
    const browser = await signedIn();
    const { url, checks } = await shop.request();
    const returned = await visit(browser, url);
    const tokens = await openid.authorizationCodeGrant(shop.config, returned, checks);
    await expect(openid.authorizationCodeGrant(shop.config, returned, checks)).rejects.toMatchObject({
      error: "invalid_grant",
    });
    expect(await openid.tokenIntrospection(shop.config, tokens.access_token)).toEqual({ active: false });
  });

  test("A209 is of no use to another client, or with another verifier or address", async () => {
    const browser = await signedIn();
    const redeem = async (change: (form: URLSearchParams) => void, by = `shop:${secret}`) => {
      const { url, checks } = await shop.request();
      const returned = await visit(browser, url);
      const form = new URLSearchParams({
        grant_type: "authorization_code",
        code: returned.searchParams.get("code") ?? "",
        redirect_uri: REDIRECT_URI,
        code_verifier: checks.pkceCodeVerifier,
      });
      change(form);
      const authorization = `Basic ${Buffer.from(by.replaceAll(" ", "+")).toString("base64")}`;
      const answer = await fetch(`${server.url}/oauth/token`, {
        method: "POST",
        headers: { authorization },
        body: form,
      });
      return [answer.status, ((await answer.json()) as { error?: string }).error];
    };
    expect(await redeem(() => {})).toEqual([200, undefined]);
    expect(await redeem(() => {}, `bound:${secret}`)).toEqual([400, "invalid_grant"]);
    expect(await redeem((form) => form.set("code_verifier", "x".repeat(43)))).toEqual([400, "invalid_grant"]);
    expect(await redeem((form) => form.delete("code_verifier"))).toEqual([400, "invalid_grant"]);
    expect(await redeem((form) => form.set("redirect_uri", `${REDIRECT_URI}/`))).toEqual([
      400,
      "invalid_grant",
    ]);
  });
});

describe("an authorization request that waits", () => {
  const resumeOf = (browser: FlowClient) =>
    new URL(`/oauth/authorize/${browser.cookies.get("openid_resume")}`, server.url);

  test("A219 is gone on with once, also by twenty returns at once", async () => {
    const browser = newBrowser(server);
    await visit(browser, (await shop.request()).url);
    const resume = resumeOf(browser);
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const returns = await Promise.all(
      Array.from({ length: 20 }, () => fetch(resume, { headers: { cookie }, redirect: "manual" })),
    );
    expect(returns.filter(({ status }) => status === 303)).toHaveLength(1);
    expect(returns.filter(({ status }) => status === 400)).toHaveLength(19);
  });

  test("A220 for the user of an ID token is not answered by another user's session", async () => {
    const browser = await signedIn();
    const { id_token: hint = "" } = await shop.signIn(browser);
    const other = await signedIn(await newAccount());
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    await visit(other, (await shop.request({ id_token_hint: hint })).url);
    expect((await visit(other, resumeOf(other))).pathname).toBe("/");
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    await signIn(other, await newAccount());
    const returned = await visit(other, resumeOf(other));
    expect(returned.searchParams.get("error")).toBe("unmet_authentication_requirements");
  });

  test("for a sign-in that the user cannot give ends with an error, and not with another question", async () => {
    const browser = await signedIn();
    const claims = JSON.stringify({ id_token: { acr: { essential: true, value: "phr" } } });
    await visit(browser, (await shop.request({ claims })).url);
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    await signIn(browser);
    const returned = await visit(browser, resumeOf(browser));
    expect(returned.searchParams.get("error")).toBe("unmet_authentication_requirements");
  });
});

describe("a client", () => {
  test("A221 gets no claim by name that none of its scopes has", async () => {
    const narrow = await openidApplication(server.url, { clientId: "narrow", secret });
    const claims = JSON.stringify({ userinfo: { email: null }, id_token: { email: null, acr: null } });
    const tokens = await narrow.signIn(await signedIn(), { claims });
    expect(tokens.claims()).not.toHaveProperty("email");
    expect(tokens.claims()).toHaveProperty("acr");
    const sub = tokens.claims()?.sub ?? "";
    expect(await openid.fetchUserInfo(narrow.config, tokens.access_token, sub)).toEqual({ sub });
  });

  test("that has scopes of an API alone gets tokens for it", async () => {
    const machine = await openidApplication(server.url, { clientId: "machine", secret });
    const tokens = await openid.clientCredentialsGrant(machine.config, { resource, scope: "orders:read" });
    expect(decodeJwt(tokens.access_token)).toMatchObject({ aud: resource, scope: "orders:read" });
    // The answer tells what is left of what was asked for, and there is none where nothing is.
    const more = await openid.clientCredentialsGrant(machine.config, {
      resource,
      scope: "orders:read orders:write",
    });
    expect(more.scope).toBe("orders:read");
    const none = openid.clientCredentialsGrant(machine.config, { resource, scope: "orders:write" });
    await expect(none).rejects.toMatchObject({ error: "invalid_scope" });
  });

  test("is signed in at the same moment as another one in the same browser", async () => {
    const browser = await signedIn();
    const narrow = await openidApplication(server.url, { clientId: "narrow", secret });
    const tokens = await Promise.all([shop, page, narrow].map((application) => application.signIn(browser)));
    expect(tokens.map((one) => one.claims()?.aud)).toEqual(["shop", "page", "narrow"]);
  });
});

describe("an authorization request", () => {
  const refusedWith = async (parameters: Record<string, string>) => {
    const { url } = await shop.request(parameters);
    const returned = await visit(await signedIn(), url);
    return returned.host === "app.example.com" ? returned.searchParams.get("error") : "not sent";
  };

  test("A210 with an address that differs by anything is not sent there", async () => {
    for (const address of [
      "https://app.example.com/Callback",
      "https://app.example.com/callback/",
      "https://app.example.com:444/callback",
      "https://app.example.com/callback?x=1",
      "https://app.example.com/callback#x",
      "https://app.example.com/%63allback",
      "http://app.example.com/callback",
      "https://app.example.com.evil.example/callback",
    ])
      expect([address, await refusedWith({ redirect_uri: address })]).toEqual([address, "not sent"]);
  });

  test("A211 without a challenge, or with one that is plain, is refused", async () => {
    expect(await refusedWith({ code_challenge_method: "plain" })).toBe("invalid_request");
    const { url } = await shop.request();
    url.searchParams.delete("code_challenge");
    url.searchParams.delete("code_challenge_method");
    expect((await visit(await signedIn(), url)).searchParams.get("error")).toBe("invalid_request");
  });

  test("of a client that has to push it is refused when it comes in the address", async () => {
    const pushing = await openidApplication(server.url, { clientId: "pushing", secret });
    const browser = await signedIn();
    const { url, checks } = await pushing.request();
    expect((await visit(browser, url)).searchParams.get("error")).toBe("invalid_request");
    const parameters = new URLSearchParams(url.searchParams);
    const pushed = await openid.buildAuthorizationUrlWithPAR(pushing.config, parameters);
    const tokens = await openid.authorizationCodeGrant(pushing.config, await visit(browser, pushed), checks);
    expect(tokens.claims()?.aud).toBe("pushing");
  });
});

describe("a request of an application", () => {
  const post = (path: string, form: Record<string, string>) =>
    fetch(`${server.url}${path}`, {
      method: "POST",
      headers: {
        authorization: `Basic ${Buffer.from(`shop:${secret.replaceAll(" ", "+")}`).toString("base64")}`,
      },
      body: new URLSearchParams(form),
    });

  test("A212 that is huge, twice the same, or nonsense is answered with an error of the standard", async () => {
    const asked = Object.fromEntries((await shop.request()).url.searchParams);
    const claims = JSON.stringify({ userinfo: { ["x".repeat(20_000)]: null } });
    expect((await post("/oauth/par", { ...asked, claims })).status).toBe(413);
    const twice = await fetch(`${server.url}/oauth/token`, {
      method: "POST",
      body: "grant_type=refresh_token&grant_type=authorization_code&client_id=page",
    });
    expect([twice.status, (await twice.json()).error]).toEqual([400, "invalid_request"]);
    for (const [body, type] of [
      ["{}", "application/json"],
      ["%%%", "application/x-www-form-urlencoded"],
      ["", "text/plain"],
    ] as const) {
      const answer = await fetch(`${server.url}/oauth/token`, {
        method: "POST",
        headers: { "content-type": type },
        body,
      });
      expect([answer.status, typeof (await answer.json()).error]).toEqual([400, "string"]);
    }
    for (const value of ["x".repeat(5_000), "\u0000", "../../etc"]) {
      const answer = await post("/oauth/token", { grant_type: "refresh_token", refresh_token: value });
      expect([answer.status, (await answer.json()).error]).toEqual([400, "invalid_grant"]);
    }
  });

  test("of a page may carry a token, once its browser has asked", async () => {
    const tokens = await shop.signIn(await signedIn());
    const ask = async (origin: string) => {
      const preflight = await fetch(`${server.url}/oauth/userinfo`, {
        method: "OPTIONS",
        headers: {
          origin,
          "access-control-request-method": "GET",
          "access-control-request-headers": "authorization",
        },
      });
      const answer = await fetch(`${server.url}/oauth/userinfo`, {
        headers: { origin, authorization: `Bearer ${tokens.access_token}` },
      });
      const of = ({ headers }: Response, name: string) => headers.get(`access-control-allow-${name}`);
      return [
        of(preflight, "origin"),
        of(preflight, "headers"),
        of(answer, "origin"),
        of(answer, "credentials"),
      ];
    };
    const own = "https://app.example.com";
    expect(await ask(own)).toEqual([own, "authorization", own, null]);
    const evil = "https://evil.example";
    expect(await ask(evil)).toEqual([evil, "authorization", null, null]);
  });

  test("of a page of another origin is answered to that of the client alone", async () => {
    const ask = async (origin: string) => {
      const answer = await fetch(`${server.url}/oauth/token`, {
        method: "POST",
        headers: { origin },
        body: new URLSearchParams({ grant_type: "refresh_token", refresh_token: "x", client_id: "page" }),
      });
      return answer.headers.get("access-control-allow-origin");
    };
    expect(await ask("https://app.example.com")).toBe("https://app.example.com");
    expect(await ask("https://evil.example")).toBeNull();
  });
});

describe("a token that is bound to a key (DPoP)", () => {
  test("A217 is taken once with one proof, also by twenty requests at once", async () => {
    const key = await openid.randomDPoPKeyPair("ES256", { extractable: true });
    const bound = await openidApplication(server.url, { clientId: "bound", secret, dpop: key });
    const { access_token: token } = await bound.signIn(await signedIn());
    const ath = createHash("sha256").update(token).digest("base64url");
    const address = `${server.url}/oauth/userinfo`;
    const proof = async (claims: Record<string, unknown> = {}) => {
      const usual = { htm: "GET", htu: address, ath, jti: crypto.randomUUID() };
      const jwk = await exportJWK(key.publicKey);
      return new SignJWT({ ...usual, ...claims })
        .setIssuedAt()
        .setProtectedHeader({ typ: "dpop+jwt", alg: "ES256", jwk })
        .sign(key.privateKey);
    };
    const ask = (DPoP: string) => fetch(address, { headers: { authorization: `DPoP ${token}`, DPoP } });
    const one = await proof();
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(one)));
    expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
    expect(answers.every(({ status }) => status < 500)).toBe(true);
    for (const wrong of [{ htm: "POST" }, { htu: `${server.url}/oauth/token` }, { ath: "x" }])
      expect((await ask(await proof(wrong))).ok).toBe(false);
  });

  test("is issued and taken with the proof of the key alone", async () => {
    const key = await openid.randomDPoPKeyPair();
    const bound = await openidApplication(server.url, { clientId: "bound", secret, dpop: key });
    const tokens = await bound.signIn(await signedIn());
    expect(tokens.token_type).toBe("dpop");
    const { sub = "" } = tokens.claims() ?? {};
    const DPoP = openid.getDPoPHandle(bound.config, key);
    const info = await openid.fetchUserInfo(bound.config, tokens.access_token, sub, { DPoP });
    expect(info.sub).toBe(sub);
    const without = await fetch(`${server.url}/oauth/userinfo`, {
      headers: { authorization: `Bearer ${tokens.access_token}` },
    });
    expect(without.status).toBe(401);
    const unbound = await openidApplication(server.url, { clientId: "bound", secret });
    await expect(unbound.signIn(await signedIn())).rejects.toMatchObject({ error: "invalid_grant" });
  });
});

describe("a client with a key (private_key_jwt)", () => {
  /** What it sends to authenticate. */
  async function assertion(claims: Record<string, unknown> = {}, key = clientKey.privateKey) {
    const now = Math.floor(Date.now() / 1000);
    const usual = { iss: "signing", sub: "signing", aud: server.url, jti: crypto.randomUUID() };
    const signed = new SignJWT({ ...usual, iat: now, exp: now + 60, ...claims });
    return signed.setProtectedHeader({ alg: "ES256" }).sign(key);
  }

  const authenticate = (client_assertion: string) =>
    fetch(`${server.url}/oauth/token`, {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "client_credentials",
        client_id: "signing",
        client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        client_assertion,
      }),
    });

  test("authenticates by what it signs", async () => {
    const { privateKey } = clientKey;
    const signing = await openidApplication(server.url, { clientId: "signing", privateKey });
    const tokens = await signing.signIn(await signedIn());
    expect(tokens.claims()?.aud).toBe("signing");
  });

  test("A216 is refused by another key, for another audience or client, and by what is valid for long", async () => {
    const other = await generateKeyPair("ES256");
    const now = Math.floor(Date.now() / 1000);
    for (const refused of [
      assertion({}, other.privateKey),
      assertion({ aud: "https://evil.example" }),
      assertion({ iss: "shop", sub: "shop" }),
      assertion({ exp: now - 60 }),
      assertion({ exp: 99_999_999_999 }),
      Promise.resolve("nothing"),
    ]) {
      const answer = await authenticate(await refused);
      expect([400, 401]).toContain(answer.status);
      expect(await answer.json()).toHaveProperty(
        "error",
        expect.stringMatching(/^invalid_(client|request)$/),
      );
    }
  });

  test("A216 authenticates once by one JWT, also by twenty requests at once", async () => {
    const signed = await assertion();
    const answers = await Promise.all(Array.from({ length: 20 }, () => authenticate(signed)));
    expect(answers.filter(({ ok }) => ok)).toHaveLength(1);
    expect(answers.every(({ status }) => status < 500)).toBe(true);
    expect((await authenticate(signed)).ok).toBe(false);
  });
});
