import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { decodeJwt } from "jose";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { loadConfig } from "../config/load.ts";
import type { FlowClient } from "../testing/flow-client.ts";
import {
  type OpenidApplication,
  openidApplication,
  REDIRECT_URI,
  registeredBrowser,
  type Tokens,
  visit,
} from "../testing/openid-application.ts";
import { type RunningServer, startServer } from "../testing/server.ts";
import { runStile } from "../testing/stile.ts";

/** OpenID Connect Front-Channel Logout 1.0 from outside: the built server, and applications whose pages a browser loads. */

const secret = "a secret of the shop that has enough characters";
const goodbye = "https://app.example.com/goodbye";
const forumRedirect = "https://forum.example.com/callback";
const client = { secret, redirect_uris: [REDIRECT_URI], post_logout_redirect_uris: [goodbye] };

/** Which clients were told by the back channel. */
let told: string[] = [];
const receiver = createServer((request, response) => {
  told.push(request.url ?? "");
  request.resume().on("end", () => response.writeHead(200).end());
});

let server: RunningServer;
let shop: OpenidApplication;
let forum: OpenidApplication;
let bank: OpenidApplication;
let quiet: OpenidApplication;
let accounts = 0;

beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const { port } = receiver.address() as AddressInfo;
  const clients = {
    shop: { ...client, name: "Shop", frontchannel_logout_uri: "https://app.example.com/out?kind=a%20b" },
    forum: {
      ...client,
      name: "Forum",
      redirect_uris: [forumRedirect],
      frontchannel_logout_uri: "https://forum.example.com/out",
    },
    bank: { ...client, name: "Bank", backchannel_logout_uri: `http://127.0.0.1:${port}/bank` },
    quiet: { ...client, name: "Quiet" },
  };
  server = await startServer({
    env: {
      STILE_OPENID_ENABLED: "true",
      STILE_OPENID_CLIENTS: JSON.stringify(clients),
      STILE_OPENID_ALLOW_PRIVATE_LOGOUT_TARGETS: "true",
      STILE_EMAIL_REQUIRE_VERIFICATION: "false",
      STILE_PASSKEY_ENABLED: "false",
      STILE_MFA_ENABLED: "false",
      STILE_RATE_LIMITER_ENABLED: "false",
    },
  });
  const application = (clientId: string) => openidApplication(server.url, { clientId, secret });
  shop = await application("shop");
  forum = await application("forum");
  bank = await application("bank");
  quiet = await application("quiet");
});
afterAll(async () => {
  await server.stop();
  receiver.close();
});
beforeEach(() => {
  told = [];
});

const newBrowser = () => registeredBrowser(server, `ada-${++accounts}@example.com`);

const inForum = (browser: FlowClient) => forum.signIn(browser, { redirect_uri: forumRedirect });

const sidOf = (tokens: Tokens) => decodeJwt(tokens.id_token ?? "").sid;

/** A page that signs a browser out of applications: its answer, and what it loads and leads to. */
async function pageAt(browser: FlowClient, address: string) {
  const { pathname, search } = new URL(address, server.url);
  const answer = await browser.request(pathname + search);
  const body = await answer.text();
  const unescaped = (text = "") => text.replaceAll("&amp;", "&");
  return {
    answer,
    body,
    frames: [...body.matchAll(/<iframe [^>]*src="([^"]*)"/g)].map(([, src]) => unescaped(src)),
    next: unescaped(/<a data-followed href="([^"]*)"/.exec(body)?.[1]) || null,
    policy: answer.headers.get("content-security-policy") ?? "",
  };
}

/** Sends a browser to the sign-out of an application. */
async function leave(browser: FlowClient, parameters: Record<string, string>): Promise<URL> {
  return visit(browser, new URL(`/oauth/logout?${new URLSearchParams(parameters)}`, server.url));
}

test("the metadata says that applications are told in the browser, and of which session", () => {
  expect(shop.config.serverMetadata()).toMatchObject({
    frontchannel_logout_supported: true,
    frontchannel_logout_session_supported: true,
  });
});

test("a sign-out for an application loads the pages of all that have one, tells the others, and leads back with state", async () => {
  const browser = await newBrowser();
  const [ofShop, ofForum, ofBank] = [
    await shop.signIn(browser),
    await inForum(browser),
    await bank.signIn(browser),
  ];
  const at = await leave(browser, {
    id_token_hint: ofShop.id_token ?? "",
    post_logout_redirect_uri: goodbye,
    state: "s 1",
  });
  expect(at.pathname).toBe("/oauth/logout/applications");
  expect((await browser.request("/me")).status).toBe(401);

  const { answer, frames, next, policy } = await pageAt(browser, at.href);
  const iss = encodeURIComponent(server.url);
  expect(answer.status).toBe(200);
  expect(frames.toSorted()).toEqual([
    `https://app.example.com/out?kind=a%20b&iss=${iss}&sid=${sidOf(ofShop)}`,
    `https://forum.example.com/out?iss=${iss}&sid=${sidOf(ofForum)}`,
  ]);
  expect(next).toBe(`${goodbye}?state=s+1`);
  expect(sidOf(ofShop)).toEqual(expect.stringMatching(/^[\w-]{43}$/));
  expect(sidOf(ofForum)).not.toBe(sidOf(ofShop));

  const [, allowed = ""] = /frame-src ([^;]*)/.exec(policy) ?? [];
  expect(allowed.split(" ").toSorted()).toEqual(["https://app.example.com", "https://forum.example.com"]);
  expect(policy).toContain("default-src 'none'");
  expect(policy).toMatch(/script-src 'sha256-[^' ]+';/);
  expect(answer.headers.get("referrer-policy")).toBe("no-referrer");
  expect(answer.headers.get("cache-control")).toBe("no-store");
  for (const secretOf of [ofShop.id_token ?? "?", sidOf(ofShop), sidOf(ofForum), "goodbye"])
    expect(at.href).not.toContain(secretOf);

  await expect.poll(() => told, { timeout: 15_000 }).toEqual(["/bank"]);
  expect(sidOf(ofBank)).toEqual(expect.any(String));
  // Reloaded, and opened in another tab.
  expect((await pageAt(browser, at.href)).frames).toEqual(frames);
});

test("a sign-out in a frame goes on through the page, which any page can frame, and no other page of the service can", async () => {
  const browser = await newBrowser();
  const { id_token = "" } = await shop.signIn(browser);
  const request = (address: URL | string) =>
    browser.request(String(address), { headers: { "sec-fetch-dest": "iframe" } });
  const asked = await request("/oauth/logout");
  expect(asked.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
  const query = new URLSearchParams({ id_token_hint: id_token, post_logout_redirect_uri: goodbye });
  const { pathname, search } = new URL(
    (await request(`/oauth/logout?${query}`)).headers.get("location") ?? "",
    server.url,
  );
  const page = await request(pathname + search);
  expect(page.headers.get("content-security-policy")).not.toContain("frame-ancestors");
  expect(page.headers.has("x-frame-options")).toBe(false);
  const left = await request("/oauth/logout");
  expect(left.headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
});

test("a browser whose session has signed in to no such application goes on at once, with no page between", async () => {
  const browser = await newBrowser();
  const { id_token = "" } = await quiet.signIn(browser);
  await bank.signIn(browser);
  expect((await leave(browser, { id_token_hint: id_token, post_logout_redirect_uri: goodbye })).href).toBe(
    goodbye,
  );
  const other = await newBrowser();
  await quiet.signIn(other);
  const answer = await other.request("/logout", { method: "POST" });
  expect([answer.status, answer.headers.get("x-provider-logout")]).toEqual([204, null]);
});

test("a sign-out that leads to no application ends on the page, which says that the user is signed out", async () => {
  const browser = await newBrowser();
  const { id_token = "" } = await shop.signIn(browser);
  const { body, frames, next, policy } = await pageAt(
    browser,
    (await leave(browser, { id_token_hint: id_token })).href,
  );
  expect([frames.length, next]).toEqual([1, null]);
  expect(body).toContain("<h1>You are signed out</h1>\n<p>You can close this page.</p>");
  expect(body).not.toContain("being signed out");
  expect(policy).not.toContain("script-src");
});

test("a press on the page that asks goes on through the page too", async () => {
  const browser = await newBrowser();
  await shop.signIn(browser);
  const answer = await browser.request("/oauth/logout", {
    method: "POST",
    headers: { "sec-fetch-site": "same-origin" },
    body: new URLSearchParams({ client_id: "shop", post_logout_redirect_uri: goodbye, pressed: "true" }),
  });
  expect(answer.status).toBe(303);
  const { frames, next } = await pageAt(browser, answer.headers.get("location") ?? "");
  expect([frames.length, next]).toEqual([1, goodbye]);
});

test("a script and a form of the account page are led there", async () => {
  const browser = await newBrowser();
  await shop.signIn(browser);
  const byScript = await browser.request("/logout", { method: "POST" });
  expect(byScript.status).toBe(204);
  const address = byScript.headers.get("x-provider-logout") ?? "";
  expect(address).toMatch(/\/oauth\/logout\/applications\?state=[\w-]{43}$/);
  expect(address.startsWith(server.url)).toBe(true);
  expect(await pageAt(browser, address)).toMatchObject({
    frames: [expect.any(String)],
    next: `${server.url}/`,
  });

  const other = await newBrowser();
  await shop.signIn(other);
  const byForm = await other.request("/logout", {
    method: "POST",
    headers: { "sec-fetch-site": "same-origin" },
    body: new URLSearchParams(),
  });
  expect(byForm.status).toBe(303);
  const { frames, next } = await pageAt(other, byForm.headers.get("location") ?? "");
  expect([frames.length, next]).toEqual([1, `${server.url}/`]);
});

test("the session of an application keeps its name, also after its user has authenticated again", async () => {
  const browser = await newBrowser();
  const first = await shop.signIn(browser);
  await browser.start("login");
  await browser.act("register_client_capabilities", { webauthn_available: false });
  await browser.act("continue_with_login_identifier", { email: `ada-${accounts}@example.com` });
  if (browser.state.name !== "login_password") await browser.act("continue_to_password_login");
  await browser.act("password_login", { password: "correct horse battery staple" });
  expect(browser.state.name).toBe("success");
  const again = await shop.signIn(browser);
  expect(sidOf(again)).toBe(sidOf(first));
  const { frames } = await pageAt(
    browser,
    (await leave(browser, { id_token_hint: again.id_token ?? "" })).href,
  );
  expect(frames).toEqual([expect.stringContaining(`&sid=${sidOf(first)}`)]);
});

describe("A280 an address of an application that no frame may load", () => {
  const configured = (settings: object) =>
    loadConfig(
      {
        STILE_OPENID_ENABLED: "true",
        STILE_OPENID_CLIENTS: JSON.stringify({ shop: { ...client, name: "Shop", ...settings } }),
      },
      "/nowhere",
    );

  test.each([
    ["of another host", "https://evil.example/out"],
    ["of another port", "https://app.example.com:8443/out"],
    ["of another scheme", "http://app.example.com/out"],
    ["with a fragment", "https://app.example.com/out#x"],
    ["with credentials", "https://user:word@app.example.com/out"],
    ["that is a script", "javascript:alert(1)"],
    ["that is data", "data:text/html,x"],
    ["that is no address", "/out"],
    ["with its own sid", "https://app.example.com/out?sid=x"],
    ["with its own iss", "https://app.example.com/out?a=1&iss=https://evil.example"],
  ])("%s is refused", (_, address) => {
    expect(() => configured({ frontchannel_logout_uri: address })).toThrow("frontchannel_logout_uri");
  });

  test.each(["https://a;sandbox", "https://a,b", "https://*.example.com", "https://a'b"])(
    "whose host has a meaning in a policy is refused: %s",
    (origin) => {
      const settings = { redirect_uris: [`${origin}/callback`], frontchannel_logout_uri: `${origin}/out` };
      expect(() => configured(settings)).toThrow(/is no host name|Invalid URL/);
    },
  );

  test.each([
    "http://app.example.com",
    "http://192.0.2.1",
    "http://127.0.0.1:8080",
    "http://localhost.example.com",
  ])("that browsers do not load in a page over TLS is refused: at %s", (origin) => {
    const settings = { redirect_uris: [`${origin}/callback`], frontchannel_logout_uri: `${origin}/out` };
    expect(() => configured(settings)).toThrow("must be https");
  });

  test.each(["https://[2001:db8::1]", "http://[::1]:8080"])(
    "whose host a policy cannot name is refused: %s",
    (origin) => {
      const settings = { redirect_uris: [`${origin}/callback`], frontchannel_logout_uri: `${origin}/out` };
      expect(() => configured(settings)).toThrow("is no host name");
    },
  );

  test.each(["http://localhost:8080", "http://app.localhost:8080", "https://192.0.2.1"])(
    "is not one at %s",
    (origin) => {
      const settings = { redirect_uris: [`${origin}/callback`], frontchannel_logout_uri: `${origin}/out` };
      expect(configured(settings).openid.clients.shop).toMatchObject(settings);
    },
  );

  test("of a program on the device is refused: any other may listen there", () => {
    const redirect_uris = ["http://localhost:8080/callback"];
    const frontchannel_logout_uri = "http://localhost:8080/out";
    expect(() => configured({ application_type: "native", redirect_uris, frontchannel_logout_uri })).toThrow(
      "redirect_uris at the same origin",
    );
    expect(() => configured({ redirect_uris, frontchannel_logout_uri })).not.toThrow();
  });

  test("that is too long has no effect", () => {
    const { ignored, openid } = configured({
      frontchannel_logout_uri: `https://app.example.com/${"x".repeat(2048)}`,
    });
    expect(ignored.map(({ line }) => line)).toEqual([expect.stringContaining("frontchannel_logout_uri")]);
    expect(openid.clients.shop?.frontchannel_logout_uri).toBeUndefined();
  });

  test("is refused for a client of a tenant, by its administrators and in a terminal", async () => {
    const stile = (args: string[], input = "") =>
      runStile(args, { cwd: server.dataDir, env: server.environment, input });
    const made = await stile(["tenants", "create", "--name", "Acme"]);
    const id = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(made.out)?.[0] ?? "";
    const { secret: _, ...described } = client;
    const settings = { ...described, name: "Wiki", frontchannel_logout_uri: "https://evil.example/out" };
    const create = ["clients", "create", "wiki", "--tenant", id, "--settings", "-"];
    const refused = await stile(create, JSON.stringify(settings));
    expect(refused.out + refused.err).toContain("redirect_uris at the same origin");
    const taken = await stile(
      create,
      JSON.stringify({ ...settings, frontchannel_logout_uri: "https://app.example.com/out" }),
    );
    expect([taken.code, taken.err]).toEqual([0, ""]);
  });
});
