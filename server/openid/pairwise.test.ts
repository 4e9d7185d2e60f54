import { decodeJwt } from "jose";
import * as openid from "openid-client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadConfig } from "../config/load.ts";
import type { FlowClient } from "../testing/flow-client.ts";
import {
  type OpenidApplication,
  openidApplication,
  registeredBrowser,
  visit,
} from "../testing/openid-application.ts";
import { type RunningServer, startServer } from "../testing/server.ts";

/** Clients that know users by names of their own (OpenID Connect Core, 8.1), with the built server. */

const secret = "a secret of the shop that has enough characters";
const api = "https://api.example.com/orders";
const goodbye = "https://shop.example.com/goodbye";
const at = (host: string) => `https://${host}/callback`;

const client = {
  secret,
  subject_type: "pairwise",
  redirect_uris: [at("shop.example.com")],
  post_logout_redirect_uris: [goodbye],
  scopes: ["openid", "email", "orders:read"],
};
const settings = {
  STILE_OPENID_ENABLED: "true",
  STILE_OPENID_PAIRWISE_SALT: "a salt that is as long as it has to be",
  STILE_OPENID_RESOURCES: JSON.stringify({ [api]: { scopes: ["orders:read"] } }),
  STILE_OPENID_CLIENTS: JSON.stringify({
    shop: { ...client, name: "Shop" },
    till: { ...client, name: "Till of the shop" },
    forum: { ...client, name: "Forum", redirect_uris: [at("forum.example.com")] },
    open: { ...client, name: "Open", subject_type: "public" },
  }),
};

let server: RunningServer;
let browser: FlowClient;

beforeAll(async () => {
  server = await startServer({
    env: {
      ...settings,
      STILE_EMAIL_REQUIRE_VERIFICATION: "false",
      STILE_PASSKEY_ENABLED: "false",
      STILE_MFA_ENABLED: "false",
      STILE_RATE_LIMITER_ENABLED: "false",
    },
  });
  browser = await registeredBrowser(server, "ada@example.com");
});
afterAll(() => server.stop());

async function signIn(clientId: string, parameters: Record<string, string> = {}) {
  const application = await openidApplication(server.url, { clientId, secret });
  const redirect_uri = at(clientId === "forum" ? "forum.example.com" : "shop.example.com");
  const tokens = await application.signIn(browser, { redirect_uri, scope: "openid email", ...parameters });
  return { application, tokens, sub: String(tokens.claims()?.sub) };
}

const introspected = async (application: OpenidApplication, token: string) =>
  (await openid.tokenIntrospection(application.config, token)).sub;

test("clients of one host know a user by one name, those of another host by another, and none by the id", async () => {
  const [shop, till, forum, open] = [
    await signIn("shop"),
    await signIn("till"),
    await signIn("forum"),
    await signIn("open"),
  ];
  expect(open.sub).toMatch(/^[0-9a-f-]{36}$/);
  expect(till.sub).toBe(shop.sub);
  expect(new Set([shop.sub, forum.sub, open.sub]).size).toBe(3);
});

test("it is the same name in UserInfo, introspection, an access token for an API, and what is refreshed", async () => {
  const { application, tokens, sub } = await signIn("shop");
  const user = await openid.fetchUserInfo(application.config, tokens.access_token, sub);
  expect(user).toMatchObject({ sub, email: "ada@example.com" });
  expect(await introspected(application, tokens.access_token)).toBe(sub);
  const refreshed = await openid.refreshTokenGrant(application.config, tokens.refresh_token ?? "");
  expect(refreshed.claims()?.sub).toBe(sub);
  const { url, checks } = await application.request({
    redirect_uri: at("shop.example.com"),
    scope: "openid orders:read",
    resource: api,
  });
  const returned = await visit(browser, url);
  const ofApi = await openid.authorizationCodeGrant(application.config, returned, checks, { resource: api });
  expect(decodeJwt(ofApi.access_token)).toMatchObject({ aud: api, sub });
});

test("a request for the user of such an ID token goes on at once, and a sign-out by it asks nothing", async () => {
  const { application, tokens } = await signIn("shop");
  const hint = { id_token_hint: tokens.id_token ?? "", prompt: "none" };
  const { url } = await application.request({ redirect_uri: at("shop.example.com"), ...hint });
  expect((await visit(browser, url)).searchParams.get("code")).not.toBeNull();
  const query = new URLSearchParams({
    id_token_hint: tokens.id_token ?? "",
    post_logout_redirect_uri: goodbye,
  });
  expect((await visit(browser, new URL(`/oauth/logout?${query}`, server.url))).href).toBe(goodbye);
});

test.each([
  ["without a salt", { STILE_OPENID_PAIRWISE_SALT: "" }, /PAIRWISE_SALT .* is missing/],
  ["with a short salt", { STILE_OPENID_PAIRWISE_SALT: "short" }, /at least 32 characters/],
  [
    "with redirect addresses of two hosts",
    {
      STILE_OPENID_CLIENTS: JSON.stringify({
        shop: { ...client, name: "Shop", redirect_uris: [at("one.example.com"), at("two.example.com")] },
      }),
    },
    /of one host/,
  ],
])("a configuration %s is refused", (_, more, reason) => {
  expect(() => loadConfig({ ...settings, ...more }, "/nowhere")).toThrow(reason);
});
