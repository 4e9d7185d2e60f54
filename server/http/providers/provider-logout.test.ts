import { createHash, randomUUID } from "node:crypto";
import { decodeJwt } from "jose";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { openIdSessionOf } from "../../sessions/provider-sessions.ts";
import { type ProviderBrowser, startOidcProvider } from "../../testing/oidc-provider.ts";
import { openForTests, runtimeForTests } from "../../testing/open-for-tests.ts";
import { newAddress } from "../../testing/people.ts";
import {
  chooseMethod,
  password,
  type RestWalk,
  restRegistration,
  restWalk,
} from "../../testing/rest-walk.ts";
import type { TestRuntime } from "../../testing/runtime.ts";
import { type Visitor, visitor } from "../../testing/visitor.ts";
import { endSessionUrl } from "../../thirdparty/oauth.ts";
import { providerNetwork } from "../../thirdparty/provider-fetch.ts";
import { findProvider } from "../../thirdparty/providers/index.ts";

/** Sign-outs that end the session at an OpenID Connect provider too (RP-Initiated Logout 1.0). */

const home = "http://localhost:3000/";
const shop = "https://shop.example.com/goodbye";
const app = "https://app.example.com/account";

const acme = await openForTests(
  startOidcProvider([`${home}thirdparty/callback`], [`${home}thirdparty/logout`]),
);
const { acme: known } = JSON.parse(acme.settings.STILE_THIRD_PARTY_CUSTOM_PROVIDERS ?? "");
const settingsOf = (...providers: object[]) => ({
  STILE_THIRD_PARTY_ALLOWED_REDIRECT_URLS: app,
  STILE_CORS_ALLOW_ORIGINS: new URL(app).origin,
  STILE_THIRD_PARTY_CUSTOM_PROVIDERS: JSON.stringify({
    acme: Object.assign({ ...known, rp_initiated_logout: true }, ...providers),
    other: { ...known, display_name: "Other", rp_initiated_logout: true },
  }),
  STILE_OPENID_ENABLED: "true",
  STILE_OPENID_CLIENTS: JSON.stringify({
    shop: { name: "Shop", redirect_uris: [shop], post_logout_redirect_uris: [shop] },
  }),
});
const runtime = await runtimeForTests(settingsOf());

/** Follows the callback, and returns the token that it gives. */
async function tokenOf(browser: Visitor, callback: URL): Promise<string> {
  const response = await browser.request(callback.pathname + callback.search);
  return new URL(response.headers.get("location") ?? "").searchParams.get("hanko_token") ?? "";
}

interface SignedIn {
  name: string;
  email: string;
  flow: RestWalk;
  browser: Visitor;
  atAcme: ProviderBrowser;
  userId: string;
}

/** Clicks on "Continue with Acme" in a browser, and goes there. */
async function clickAcme(
  atAcme: ProviderBrowser,
  name: string,
  { at = runtime, provider = "custom_acme" }: { at?: TestRuntime; provider?: string } = {},
) {
  const flow = await restWalk(at, "login");
  await flow.act("register_client_capabilities");
  await flow.act("thirdparty_oauth", { provider, redirect_to: home });
  const { back, asked } = await atAcme.open(String(flow.state.payload.redirect_url), name);
  return { flow, back, asked };
}

async function signIn(
  options: { at?: TestRuntime; provider?: string; name?: string } = {},
): Promise<SignedIn> {
  const name = options.name ?? randomUUID();
  const email = newAddress();
  acme.person(name, { email, email_verified: true });
  const atAcme = acme.browser();
  const { flow, back } = await clickAcme(atAcme, name, options);
  await flow.act("exchange_token", { token: await tokenOf(flow.visitor, back) });
  expect(flow.state.name).toBe("success");
  const { subject: userId } = flow.state.payload.claims as { subject: string };
  return { name, email, flow, browser: flow.visitor, atAcme, userId };
}

const rows = () => runtime.database.read.select().from(schema.providerSessions);

/** The rows of a browser's session. */
async function rowsOf({ userId }: Pick<SignedIn, "userId">) {
  const { rows: found } = await runtime.database.write.$client.query(
    `select p.* from provider_sessions p join sessions s on s.tenant_id = p.tenant_id and s.id = p.session_id
      where s.user_id = $1`,
    [userId],
  );
  return found;
}

const signOut = (browser: Visitor, query = "") => browser.request(`/logout${query}`, { method: "POST" });

const pathOf = (address: string | null) => {
  const url = new URL(address ?? "");
  return url.pathname + url.search;
};

/** Goes on with a sign-out: to the provider, back, and to where it was to lead. */
async function goOn(browser: Visitor, atAcme: ProviderBrowser, next: string | null) {
  const sent = await browser.request(pathOf(next));
  expect(sent.status).toBe(303);
  const request = new URL(sent.headers.get("location") ?? "");
  const { back, asked } = await atAcme.open(request.href, null);
  expect(asked).toBe(false);
  return { request, back, returned: await browser.request(pathOf(back.href)) };
}

const isValid = async (browser: Visitor) =>
  ((await (await browser.request("/sessions/validate")).json()) as { is_valid: boolean }).is_valid;

describe("signing out", () => {
  test("ends the session at the provider, which asks at the next click who the user is", async () => {
    const { name, browser, atAcme } = await signIn();
    expect((await clickAcme(atAcme, name)).asked).toBe(false);

    const answer = await signOut(browser);
    expect(answer.status).toBe(204);
    expect(browser.cookies.has("service")).toBe(false);
    const next = answer.headers.get("x-provider-logout");
    expect(next).toMatch(/^http:\/\/localhost:3000\/logout\/provider\?state=[\w-]{43}$/);
    const { request, returned } = await goOn(browser, atAcme, next);
    expect(request.origin).toBe(acme.issuer);
    expect(request.searchParams.get("client_id")).toBe(acme.clientId);
    expect(request.searchParams.get("post_logout_redirect_uri")).toBe(`${home}thirdparty/logout`);
    expect(decodeJwt(request.searchParams.get("id_token_hint") ?? "").sub).toBe(name);
    expect(returned.status).toBe(303);
    expect(returned.headers.get("location")).toBe(home);

    expect((await clickAcme(atAcme, name)).asked).toBe(true);
  });

  test("ends it here alone where the setting is off, as a session of before does", async () => {
    const off = runtime.configured(settingsOf({ rp_initiated_logout: false }));
    const { name, browser, atAcme } = await signIn({ at: off });
    const answer = await signOut(browser);
    expect([answer.status, answer.headers.get("x-provider-logout")]).toEqual([204, null]);
    expect((await clickAcme(atAcme, name)).asked).toBe(false);

    // Signed in before the setting was switched on.
    const before = await signIn({ at: off });
    const same = visitor(runtime);
    for (const [key, value] of before.browser.cookies) same.cookies.set(key, value);
    const later = await signOut(same);
    expect([later.status, later.headers.get("x-provider-logout")]).toEqual([204, null]);
  });

  test("with a form of the page is answered with a page that goes on by itself", async () => {
    const { browser, atAcme } = await signIn();
    const answer = await browser.submit("/logout", {});
    expect(answer.status).toBe(200);
    expect(browser.cookies.has("service")).toBe(false);
    const [, path = ""] = /^0;url=(.+)$/.exec(answer.headers.get("refresh") ?? "") ?? [];
    expect(await answer.text()).toContain(`href="${path}"`);
    const { returned } = await goOn(browser, atAcme, new URL(path, home).href);
    expect(returned.headers.get("location")).toBe(home);
  });

  test("by an application leads through the provider to the application", async () => {
    const { browser, atAcme, userId } = await signIn();
    const verifier = "v".repeat(43);
    const query = new URLSearchParams({
      client_id: "shop",
      redirect_uri: shop,
      response_type: "code",
      scope: "openid",
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256",
    });
    const authorized = await browser.request(`/oauth/authorize?${query}`);
    const code = new URL(authorized.headers.get("location") ?? "").searchParams.get("code") ?? "";
    const tokens = await browser.request("/oauth/token", {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "authorization_code",
        client_id: "shop",
        redirect_uri: shop,
        code,
        code_verifier: verifier,
      }),
    });
    const { id_token } = (await tokens.json()) as { id_token: string };
    expect(decodeJwt(id_token).sub).toBe(userId);
    const logout = new URLSearchParams({
      id_token_hint: id_token,
      post_logout_redirect_uri: shop,
      state: "s1",
    });
    const answer = await browser.request(`/oauth/logout?${logout}`);
    expect(answer.status).toBe(303);
    expect(browser.cookies.has("service")).toBe(false);
    const { returned } = await goOn(browser, atAcme, answer.headers.get("location"));
    expect(returned.status).toBe(303);
    expect(returned.headers.get("location")).toBe(`${shop}?state=s1`);
  });

  test("by the page that asks for an application goes on by itself too, and ends on a page", async () => {
    const { browser, atAcme } = await signIn();
    const asked = await browser.request("/oauth/logout");
    expect(await asked.text()).toContain('action="/oauth/logout"');
    const answer = await browser.submit("/oauth/logout", { pressed: "true" });
    const [, path = ""] = /^0;url=(.+)$/.exec(answer.headers.get("refresh") ?? "") ?? [];
    const { returned } = await goOn(browser, atAcme, new URL(path, home).href);
    expect(returned.status).toBe(200);
    expect(await returned.text()).toContain("You are signed out");
  });

  test("leads back to the page of a script, if users may return to it", async () => {
    const { browser, atAcme } = await signIn();
    const query = `?redirect_to=${encodeURIComponent(app)}`;
    const answer = await browser.request(`/logout${query}`, {
      method: "POST",
      headers: { origin: new URL(app).origin, "sec-fetch-site": "cross-site" },
    });
    expect(answer.headers.get("access-control-expose-headers")).toContain("X-Provider-Logout");
    const { returned } = await goOn(browser, atAcme, answer.headers.get("x-provider-logout"));
    expect(returned.headers.get("location")).toBe(app);
  });

  test("is complete here if the provider cannot be reached, and leads on", async () => {
    const { browser } = await signIn();
    const answer = await signOut(browser);
    const network = providerNetwork(runtime);
    const { fetch } = network;
    network.documents.clear();
    network.fetch = () => Promise.reject(new TypeError("fetch failed"));
    try {
      const sent = await browser.request(pathOf(answer.headers.get("x-provider-logout")));
      expect([sent.status, sent.headers.get("location")]).toEqual([303, home]);
    } finally {
      network.fetch = fetch;
    }
  });

  /** A browser to which another site has given a session cookie, beside its own. */
  const cookiesWith = (
    planted: readonly SignedIn[],
    own: SignedIn,
    names = [...own.browser.cookies.keys()],
  ) =>
    [
      ...planted.map(({ browser }) => `service=${browser.cookies.get("service")}`),
      ...names.map((name) => `${name}=${own.browser.cookies.get(name)}`),
    ].join("; ");

  const signOutWith = async (cookie: string) => {
    const headers = { cookie };
    const answer = await visitor(runtime).request("/logout", { method: "POST", headers });
    return answer.headers.get("x-provider-logout");
  };

  const hinted = (request: URL) => decodeJwt(request.searchParams.get("id_token_hint") ?? "").sub;

  test("A295 is not kept from the provider of its user by a planted session, and goes there first", async () => {
    const planted = [await signIn(), await signIn()];
    const own = await signIn();
    const { browser, atAcme } = own;
    let next: string | null = await signOutWith(cookiesWith(planted, own));
    const users: unknown[] = [];
    while (next !== home) {
      const { request, returned } = await goOn(browser, atAcme, next);
      users.push(hinted(request));
      next = returned.headers.get("location");
    }
    expect(users).toEqual([own.name, planted[1]?.name, planted[0]?.name]);
    expect((await clickAcme(atAcme, own.name)).asked).toBe(true);
  });

  test("A295 goes there also if the browser no longer says who has signed in with it", async () => {
    const planted = await signIn();
    const own = await signIn();
    const first = await signOutWith(cookiesWith([planted], own, ["service"]));
    const one = await goOn(own.browser, own.atAcme, first);
    const two = await goOn(own.browser, own.atAcme, one.returned.headers.get("location"));
    expect([hinted(one.request), hinted(two.request)].sort()).toEqual([own.name, planted.name].sort());
    expect(two.returned.headers.get("location")).toBe(home);
    expect((await clickAcme(own.atAcme, own.name)).asked).toBe(true);
  });

  test("A295 goes to four providers at most", async () => {
    const planted: SignedIn[] = [];
    for (let number = 0; number < 5; number += 1) planted.push(await signIn());
    const own = await signIn();
    let next: string | null = await signOutWith(cookiesWith(planted, own));
    const users: unknown[] = [];
    while (next !== home) {
      const { request, returned } = await goOn(own.browser, own.atAcme, next);
      users.push(hinted(request));
      next = returned.headers.get("location");
    }
    expect([users.length, users[0]]).toEqual([4, own.name]);
    expect(await isValid(own.browser)).toBe(false);
    for (const one of planted) expect(await isValid(one.browser)).toBe(false);
  });

  test("of a browser with two sessions leaves nothing of either", async () => {
    const one = await signIn();
    const other = await signIn();
    expect(await signOutWith(cookiesWith([one], other))).not.toBeNull();
    expect(await isValid(one.browser)).toBe(false);
    expect(await isValid(other.browser)).toBe(false);
    const left = [...(await rowsOf(one)), ...(await rowsOf(other))];
    expect(left).toEqual([]);
  });

  test("everywhere else goes to no provider, and keeps nothing of the sessions there", async () => {
    const { name, browser, userId } = await signIn();
    const other = await signIn({ name });
    expect(other.userId).toBe(userId);
    expect(await rowsOf({ userId })).toHaveLength(2);
    const before = new Set((await rows()).map(({ id }) => id));
    const profile = await restWalk(runtime, "profile", browser);
    await profile.act("register_client_capabilities");
    await profile.act("session_delete_others");
    expect(await isValid(other.browser)).toBe(false);
    expect(await rowsOf({ userId })).toHaveLength(1);
    const after = (await rows()).map(({ id }) => id);
    expect([after.length, after.every((id) => before.has(id))]).toEqual([before.size - 1, true]);
    expect((await signOut(other.browser)).status).toBe(401);
  });
});

describe("the session at the provider", () => {
  test("is that of the provider of the sign-in, of an account that is linked to two", async () => {
    const { name, browser, userId } = await signIn();
    await signOut(browser);
    const profile = await signIn({ name });
    const flow = await restWalk(runtime, "profile", profile.browser);
    await flow.act("register_client_capabilities");
    await flow.act("connect_thirdparty_oauth_provider", { provider: "custom_other", redirect_to: home });
    expect(flow.state.name).toBe("thirdparty");
    const { back } = await profile.atAcme.open(String(flow.state.payload.redirect_url), name);
    await flow.act("exchange_token", { token: await tokenOf(profile.browser, back) });
    expect(flow.state.name).toBe("profile_init");
    expect((await rowsOf({ userId })).map(({ provider }) => provider)).toEqual(["custom_acme"]);

    const byOther = await signIn({ name, provider: "custom_other" });
    expect(byOther.userId).toBe(userId);
    const providers = (await rowsOf({ userId })).map(({ provider }) => provider).sort();
    expect(providers).toEqual(["custom_acme", "custom_other"]);
  });

  test("goes over to the session that a reauthentication issues", async () => {
    const { name, browser, atAcme, userId } = await signIn();
    const [before] = await rowsOf({ userId });
    await runtime.database.write.$client.query(
      "update sessions set authenticated_at = authenticated_at - interval '1 hour' where user_id = $1",
      [userId],
    );
    const flow = await restWalk(runtime, "profile", browser);
    await flow.act("register_client_capabilities");
    await flow.act("password_create", { password: "nine otters under the bridge" });
    await flow.act("thirdparty_oauth", { provider: "custom_acme", redirect_to: home });
    const { back } = await atAcme.open(String(flow.state.payload.redirect_url), name);
    await flow.act("exchange_token", { token: await tokenOf(browser, back) });
    expect(flow.state.name).toBe("profile_init");
    const [after, ...more] = await rowsOf({ userId });
    expect(more).toEqual([]);
    expect(after.session_id).not.toBe(before.session_id);
    expect(after.id).not.toBe(before.id);
    const { returned } = await goOn(
      browser,
      atAcme,
      (await signOut(browser)).headers.get("x-provider-logout"),
    );
    expect(returned.headers.get("location")).toBe(home);
  });

  test("goes over to the session of a further sign-in of the same user by a password", async () => {
    const { email, browser, userId } = await signIn();
    const profile = await restWalk(runtime, "profile", browser);
    await profile.act("register_client_capabilities");
    await profile.act("password_create", { password });
    const [before] = await rowsOf({ userId });
    const again = await restWalk(runtime, "login", browser);
    await again.act("register_client_capabilities");
    await again.act("continue_with_login_identifier", { email });
    await chooseMethod(again, "continue_to_password_login");
    await again.act("password_login", { password });
    expect(again.state.name).toBe("success");
    const [after, ...more] = await rowsOf({ userId });
    expect(more).toEqual([]);
    expect([after.id, after.session_id === before.session_id]).toEqual([before.id, false]);
  });

  test("is the newer one of a further sign-in at the provider", async () => {
    const { name, browser, atAcme, userId } = await signIn();
    const [before] = await rowsOf({ userId });
    const flow = await restWalk(runtime, "login", browser);
    await flow.act("register_client_capabilities");
    await flow.act("thirdparty_oauth", { provider: "custom_acme", redirect_to: home });
    const { back } = await atAcme.open(String(flow.state.payload.redirect_url), name);
    await flow.act("exchange_token", { token: await tokenOf(browser, back) });
    const [after, ...more] = await rowsOf({ userId });
    expect([more, (await rows()).some(({ id }) => id === before.id)]).toEqual([[], false]);
    expect(after.session_id).not.toBe(before.session_id);
  });

  test("A254 is ended by the id of the client alone where the ID token is too long for an address", async () => {
    expect(openIdSessionOf("t".repeat(6000))).toEqual({ idToken: "t".repeat(6000) });
    expect(openIdSessionOf("t".repeat(6001))).toEqual({});
    const found = findProvider(runtime.config, "custom_acme");
    if (!found) throw new Error("the provider is not enabled");
    const context = { runtime, tenant: runtime.tenant };
    const url = await endSessionUrl(context, found, { idToken: undefined, state: "s" });
    expect(Object.fromEntries(url?.searchParams ?? [])).toEqual({
      client_id: acme.clientId,
      post_logout_redirect_uri: `${home}thirdparty/logout`,
      state: "s",
    });
  });

  test("is stored sealed, and not at all after a sign-in by other means", async () => {
    const { name, userId } = await signIn();
    const [row] = await rowsOf({ userId });
    expect(row.sealed.toString("latin1")).not.toContain(Buffer.from(name).toString("base64url"));
    expect(row.sealed.toString("latin1")).not.toContain("eyJ");
    const before = (await rows()).length;
    const { visitor: browser } = await restRegistration(runtime, newAddress());
    expect((await rows()).length).toBe(before);
    expect((await signOut(browser)).headers.get("x-provider-logout")).toBeNull();
  });
});

describe("A250 a sign-out at a provider is taken once", () => {
  test("and a forged or repeated `state` leads to our own page, and nowhere else", async () => {
    const { browser, atAcme } = await signIn();
    const answer = await signOut(browser, `?redirect_to=${encodeURIComponent("https://evil.example/")}`);
    const { back, returned } = await goOn(browser, atAcme, answer.headers.get("x-provider-logout"));
    expect(returned.headers.get("location")).toBe(home);
    for (const path of [
      pathOf(back.href),
      `/thirdparty/logout?state=${"A".repeat(43)}`,
      "/thirdparty/logout?state=x&redirect_to=https://evil.example/",
      `/thirdparty/logout?state=${"A".repeat(43)}&state=${"B".repeat(43)}`,
      "/thirdparty/logout",
      `/logout/provider?state=${"A".repeat(43)}`,
      pathOf(answer.headers.get("x-provider-logout")),
    ]) {
      const again = await browser.request(path);
      expect([again.status, again.headers.get("location")]).toEqual([303, home]);
    }
  });

  test("and the token of a sign-in is none", async () => {
    const name = randomUUID();
    acme.person(name, { email: newAddress(), email_verified: true });
    const { flow, back } = await clickAcme(acme.browser(), name);
    const token = await tokenOf(flow.visitor, back);
    for (const path of [`/logout/provider?state=${token}`, `/thirdparty/logout?state=${token}`]) {
      const answer = await flow.visitor.request(path);
      expect([answer.status, answer.headers.get("location")]).toEqual([303, home]);
    }
    await flow.act("exchange_token", { token });
    expect((await signOut(flow.visitor)).headers.get("x-provider-logout")).not.toBeNull();
  });

  test("and expires", async () => {
    const { browser } = await signIn();
    const next = (await signOut(browser)).headers.get("x-provider-logout");
    await runtime.database.write.$client.query(
      "update provider_sessions set expires_at = now() - interval '1 second' where session_id is null",
    );
    const late = await browser.request(pathOf(next));
    expect([late.status, late.headers.get("location")]).toEqual([303, home]);
  });

  test("and needs a request of our own or an allowed page", async () => {
    const { browser } = await signIn();
    const forged = await browser.request("/logout", {
      method: "POST",
      headers: { origin: "https://evil.example", "sec-fetch-site": "cross-site" },
    });
    expect([forged.status, forged.headers.get("x-provider-logout")]).toEqual([403, null]);
    expect(await isValid(browser)).toBe(true);
  });

  test("and no link preview uses it up", async () => {
    const { browser, atAcme } = await signIn();
    const next = (await signOut(browser)).headers.get("x-provider-logout");
    for (const path of [pathOf(next), pathOf(next).replace("/logout/provider", "/thirdparty/logout")])
      expect((await browser.request(path, { method: "HEAD" })).status).toBe(204);
    const { returned } = await goOn(browser, atAcme, next);
    expect(returned.headers.get("location")).toBe(home);
  });
});

describe("A251 the address of a provider's sign-out", () => {
  test.each([
    ["no address", undefined],
    ["without TLS", "http://id.example.com/logout"],
    ["a script", "javascript:alert(1)"],
    ["credentials", "https://user:word@id.example.com/logout"],
    ["no URL", "/logout"],
    ["no text", { href: "https://id.example.com/logout" }],
  ])("is passed over if discovery names %s", async (_, endpoint) => {
    const strict = runtime.configured({
      ...settingsOf({ issuer: "https://id.example.com" }),
      NODE_ENV: "production",
      SECRET_KEYS: "a secret of production",
      BASE_URL: "https://login.example.com",
    });
    const { browser } = await signIn();
    const answer = await signOut(browser);
    const asked: string[] = [];
    const network = providerNetwork(strict);
    network.documents.clear();
    network.fetch = async (url) => {
      asked.push(String(url));
      return Response.json({
        issuer: "https://id.example.com",
        authorization_endpoint: "https://id.example.com/authorize",
        token_endpoint: "https://id.example.com/token",
        jwks_uri: "https://id.example.com/jwks",
        ...(endpoint === undefined ? {} : { end_session_endpoint: endpoint }),
      });
    };
    const sent = await visitor(strict).request(pathOf(answer.headers.get("x-provider-logout")));
    expect([sent.status, sent.headers.get("location")]).toEqual([303, home]);
    expect(asked).toEqual(["https://id.example.com/.well-known/openid-configuration"]);
  });

  test.each([
    ["with the hint that its ID tokens have", { login_hint: "O.CiQ0" }, "O.CiQ0"],
    ["without one where that is no text", { login_hint: ["O.CiQ0"] }, null],
    ["without one where there is none", {}, null],
  ])("is opened %s", async (_, claims, hint) => {
    const at = runtime.configured(settingsOf({ end_session_endpoint: "https://id.example.com/logout" }));
    const found = findProvider(at.config, "custom_acme");
    if (!found) throw new Error("the provider is not enabled");
    const idToken = `e30.${Buffer.from(JSON.stringify(claims)).toString("base64url")}.AA`;
    const url = await endSessionUrl({ runtime: at, tenant: at.tenant }, found, { idToken, state: "s" });
    expect(url?.searchParams.get("logout_hint")).toBe(hint);
    expect(url?.searchParams.get("id_token_hint")).toBe(idToken);
    const encrypted = { idToken: "a.b.c.d.e", state: "s" };
    const other = await endSessionUrl({ runtime: at, tenant: at.tenant }, found, encrypted);
    expect(other?.searchParams.has("logout_hint")).toBe(false);
    expect(other?.searchParams.get("client_id")).toBe(acme.clientId);
  });

  test("is opened by the browser alone, with its own query kept", async () => {
    const there = "https://id.example.com/logout?policy=1";
    const at = runtime.configured(settingsOf({ end_session_endpoint: there }));
    const { browser } = await signIn({ at });
    const answer = await signOut(browser);
    const asked: string[] = [];
    const network = providerNetwork(at);
    const { fetch } = network;
    network.fetch = async (url) => {
      asked.push(String(url));
      return new Response(null, { status: 500 });
    };
    const sent = await browser.request(pathOf(answer.headers.get("x-provider-logout")));
    network.fetch = fetch;
    const url = new URL(sent.headers.get("location") ?? "");
    expect([url.origin, url.pathname, url.searchParams.get("policy")]).toEqual([
      "https://id.example.com",
      "/logout",
      "1",
    ]);
    expect(asked).toEqual([]);
  });
});
