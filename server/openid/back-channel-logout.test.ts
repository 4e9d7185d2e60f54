import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createRemoteJWKSet, decodeJwt, jwtVerify } from "jose";
import * as openid from "openid-client";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type FlowClient, flowClient } from "../testing/flow-client.ts";
import {
  type OpenidApplication,
  openidApplication,
  REDIRECT_URI,
  visit,
} from "../testing/openid-application.ts";
import { type RunningServer, startServer } from "../testing/server.ts";
import { runStile } from "../testing/stile.ts";

/** OpenID Connect Back-Channel Logout 1.0 from outside: the built server, applications that keep sessions, and `jose`. */

const secret = "a secret of the shop that has enough characters";
const goodbye = "https://app.example.com/goodbye";
const password = "correct horse battery staple";

/** What applications were told: where, the media type, and the token. */
interface Told {
  path: string;
  type: string | undefined;
  token: string;
}

let told: Told[] = [];
let status = 200;
const receiver = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    const form = new URLSearchParams(Buffer.concat(chunks).toString());
    const { url: path = "", headers } = request;
    told.push({ path, type: headers["content-type"], token: form.get("logout_token") ?? "" });
    response.writeHead(status).end();
  });
});

let server: RunningServer;
let shop: OpenidApplication;
let forum: OpenidApplication;
let quiet: OpenidApplication;
let accounts = 0;

beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  const { port } = receiver.address() as AddressInfo;
  const client = { secret, redirect_uris: [REDIRECT_URI], post_logout_redirect_uris: [goodbye] };
  const scopes = ["openid", "offline_access"];
  const clients = {
    shop: { ...client, name: "Shop", backchannel_logout_uri: `http://127.0.0.1:${port}/shop`, scopes },
    forum: { ...client, name: "Forum", backchannel_logout_uri: `http://127.0.0.1:${port}/forum?at=1` },
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
      STILE_SESSION_LIMIT: "2",
      STILE_ACCOUNT_ALLOW_DELETION: "true",
    },
  });
  shop = await openidApplication(server.url, { clientId: "shop", secret });
  forum = await openidApplication(server.url, { clientId: "forum", secret });
  quiet = await openidApplication(server.url, { clientId: "quiet", secret });
});
afterAll(async () => {
  await server.stop();
  receiver.close();
});
beforeEach(() => {
  told = [];
  status = 200;
});

type Visitor = FlowClient & { email: string };

async function newVisitor(): Promise<Visitor> {
  const email = `ada-${++accounts}@example.com`;
  const browser = flowClient(server.url);
  await browser.start("registration");
  await browser.act("register_client_capabilities", { webauthn_available: false });
  await browser.act("register_login_identifier", { email });
  await browser.act("register_password", { new_password: password });
  expect(browser.state.name).toBe("success");
  return Object.assign(browser, { email });
}

/** Another browser of the same user. */
async function signedIn(email: string): Promise<FlowClient> {
  const browser = flowClient(server.url);
  await browser.start("login");
  await browser.act("register_client_capabilities", { webauthn_available: false });
  await browser.act("continue_with_login_identifier", { email });
  if (browser.state.name !== "login_password") await browser.act("continue_to_password_login");
  await browser.act("password_login", { password });
  expect(browser.state.name).toBe("success");
  return browser;
}

async function account(browser: FlowClient): Promise<void> {
  await browser.start("profile");
  await browser.act("register_client_capabilities", { webauthn_available: false });
}

const signOut = (browser: FlowClient) => browser.request("/logout", { method: "POST" });

const arrived = (count: number) =>
  expect.poll(() => told.length, { timeout: 15_000 }).toBeGreaterThanOrEqual(count);

/** Waits for so many, and for as long as another one could take. */
async function toldOf(count: number): Promise<Told[]> {
  await arrived(count);
  await new Promise((resolve) => setTimeout(resolve, 300));
  return told.toSorted((one, other) => one.path.localeCompare(other.path));
}

const sidOf = (tokens: openid.TokenEndpointResponse) => decodeJwt(tokens.id_token ?? "").sid;

test("the metadata says that clients are told, and of which session", () => {
  expect(shop.config.serverMetadata()).toMatchObject({
    backchannel_logout_supported: true,
    backchannel_logout_session_supported: true,
  });
});

test("the clients of a session are told that it has ended, each by a token of its own", async () => {
  const browser = await newVisitor();
  const [ofShop, ofForum, ofQuiet] = [
    await shop.signIn(browser),
    await forum.signIn(browser),
    await quiet.signIn(browser),
  ];
  await signOut(browser);
  const [atForum, atShop, ...others] = await toldOf(2);
  expect(others).toEqual([]);
  expect([atForum?.path, atShop?.path]).toEqual(["/forum?at=1", "/shop"]);
  expect(atShop?.type).toBe("application/x-www-form-urlencoded");
  const keys = createRemoteJWKSet(new URL(`${server.url}/.well-known/jwks.json`));
  const expected = { issuer: server.url, audience: "shop", typ: "logout+jwt" };
  const { payload } = await jwtVerify(atShop?.token ?? "", keys, expected);
  expect(payload).toEqual({
    iss: server.url,
    aud: "shop",
    sub: ofShop.claims()?.sub,
    sid: sidOf(ofShop),
    iat: expect.any(Number),
    exp: (payload.iat ?? 0) + 120,
    jti: expect.stringMatching(/./),
    events: { "http://schemas.openid.net/event/backchannel-logout": {} },
  });
  const forForum = decodeJwt(atForum?.token ?? "");
  expect(forForum).toMatchObject({ aud: "forum", sid: sidOf(ofForum) });
  expect(forForum.jti).not.toBe(payload.jti);
  expect(sidOf(ofForum)).not.toBe(sidOf(ofShop));
  expect(sidOf(ofQuiet)).toBeUndefined();
});

test("the session of a client stays the same while the user's does, also in tokens that are refreshed", async () => {
  const browser = await newVisitor();
  const first = await shop.signIn(browser);
  const second = await shop.signIn(browser);
  const refreshed = await openid.refreshTokenGrant(shop.config, second.refresh_token ?? "");
  expect(sidOf(second)).toBe(sidOf(first));
  expect(sidOf(refreshed)).toBe(sidOf(first));
  const other = await signedIn(browser.email);
  expect(sidOf(await shop.signIn(other))).not.toBe(sidOf(first));
  await signOut(browser);
  expect((await toldOf(1)).map(({ token }) => decodeJwt(token).sid)).toEqual([sidOf(first)]);
});

describe("a client is told when the session ends", () => {
  async function endedBy(end: (browser: Visitor, tokens: openid.TokenEndpointResponse) => Promise<unknown>) {
    const browser = await newVisitor();
    const tokens = await shop.signIn(browser);
    await end(browser, tokens);
    const [only, ...more] = await toldOf(1);
    expect(more).toEqual([]);
    expect(decodeJwt(only?.token ?? "")).toMatchObject({ sid: sidOf(tokens) });
  }

  test("because another application signs its user out", () =>
    endedBy(async (browser) => {
      const { id_token = "" } = await quiet.signIn(browser);
      const query = new URLSearchParams({ id_token_hint: id_token, post_logout_redirect_uri: goodbye });
      expect((await visit(browser, new URL(`/oauth/logout?${query}`, server.url))).href).toBe(goodbye);
    }));

  test("from another browser, on the account page", () =>
    endedBy(async ({ email }) => {
      const other = await signedIn(email);
      await account(other);
      await other.act("session_delete_others");
    }));

  test("because it is one too many", () =>
    endedBy(async ({ email }) => {
      await signedIn(email);
      await signedIn(email);
    }));

  test("with its account", () =>
    endedBy(async (browser) => {
      await account(browser);
      expect((await browser.act("account_delete")).state.name).toBe("account_deleted");
    }));

  test("because the operator ends it", () =>
    endedBy(async (_, { id_token = "" }) => {
      const made = await runStile(["keys", "create", "--interface", "admin"], {
        cwd: server.dataDir,
        env: server.environment,
      });
      const key = made.out.trim().split("\n").at(-1);
      const { sub } = decodeJwt(id_token);
      const ended = await fetch(`${server.url}/admin/users/${sub}/sessions`, {
        method: "DELETE",
        headers: { authorization: `Bearer ${key}` },
      });
      expect(ended.status).toBe(204);
    }));
});

test("a client that does not answer is told again by another token, and its operator sees each attempt", async () => {
  const browser = await newVisitor();
  await shop.signIn(browser);
  status = 503;
  await signOut(browser);
  await arrived(1);
  status = 200;
  await arrived(2);
  const [first, second] = told.map(({ token }) => decodeJwt(token));
  expect(second?.sid).toBe(first?.sid);
  expect(second?.jti).not.toBe(first?.jti);
  const made = await runStile(["keys", "create", "--interface", "admin"], {
    cwd: server.dataDir,
    env: server.environment,
  });
  const headers = { authorization: `Bearer ${made.out.trim().split("\n").at(-1)}` };
  const list = `${server.url}/admin/webhooks/config:client:shop/deliveries?per_page=1`;
  const newest = async () =>
    ((await (await fetch(list, { headers })).json()) as Record<string, unknown>[])[0];
  await expect.poll(newest, { timeout: 5_000 }).toMatchObject({
    event: "oauth.logout",
    state: "delivered",
    attempts: [{ status: 503 }, { status: 200 }],
  });
  const none = `${server.url}/admin/webhooks/config:client:quiet/deliveries`;
  expect((await fetch(none, { headers })).status).toBe(404);
});
