import { decodeJwt } from "jose";
import * as openid from "openid-client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadConfig } from "../config/load.ts";
import { uselessSettings } from "../start/useless-settings.ts";
import type { FlowClient } from "../testing/flow-client.ts";
import {
  type OpenidApplication,
  openidApplication,
  REDIRECT_URI,
  registeredBrowser,
  visit,
} from "../testing/openid-application.ts";
import { type RunningServer, startServer } from "../testing/server.ts";
import { runStile } from "../testing/stile.ts";

/** Claims that the operator adds for its clients by templates: the built server, and `openid-client`. */

const secret = "a secret of the shop that has enough characters";
const api = "https://api.example.com/orders";
const opaqueApi = "https://api.example.com/stock";
const email = "ada@example.com";

const client = {
  secret,
  redirect_uris: [REDIRECT_URI],
  grants: ["authorization_code", "refresh_token", "client_credentials"],
  scopes: ["openid", "email", "orders:read"],
};
const claims = {
  kind: "customer",
  level: 3,
  plan: '{{.User.Metadata.Public "plan"}}',
  contact: { mail: "{{.User.Email.Address}}", verified: "{{.User.Email.IsVerified}}" },
  user: "{{.User.UserID}}",
  "https://shop.example.com/roles": '{{.User.Metadata.Public "roles"}}',
  broken: "{{.User.Surname}}",
  empty: "{{.User.Picture}}",
};
const settings = {
  STILE_OPENID_ENABLED: "true",
  STILE_OPENID_PAIRWISE_SALT: "a salt that is as long as it has to be",
  STILE_OPENID_RESOURCES: JSON.stringify({
    [api]: { scopes: ["orders:read"] },
    [opaqueApi]: { scopes: ["orders:read"], token: "opaque" },
  }),
  STILE_OPENID_CLIENTS: JSON.stringify({
    shop: {
      ...client,
      name: "Shop",
      claims,
      access_token_claims: { roles: '{{.User.Metadata.Public "roles"}}' },
    },
    till: { ...client, name: "Till", subject_type: "pairwise", claims: { user: "{{.User.UserID}}" } },
    forum: { ...client, name: "Forum" },
  }),
};

let server: RunningServer;
let browser: FlowClient;
let shop: OpenidApplication;
let forum: OpenidApplication;
let userId: string;
let changeUser: (metadata: object) => Promise<number>;

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
  shop = await openidApplication(server.url, { clientId: "shop", secret });
  forum = await openidApplication(server.url, { clientId: "forum", secret });
  browser = await registeredBrowser(server, email);
  const made = await runStile(["keys", "create", "--interface", "admin"], {
    cwd: server.dataDir,
    env: server.environment,
  });
  const authorization = `Bearer ${made.out.trim().split("\n").at(-1)}`;
  userId = String((await forum.signIn(browser)).claims()?.sub);
  changeUser = async (body) => {
    const answer = await fetch(`${server.url}/admin/users/${userId}/metadata`, {
      method: "PATCH",
      headers: { authorization, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return answer.status;
  };
  expect(await changeUser({ public_metadata: { plan: "pro", roles: ["buyer", "seller"] } })).toBe(200);
});
afterAll(() => server.stop());

const told = {
  kind: "customer",
  level: 3,
  plan: "pro",
  contact: { mail: email, verified: false },
  "https://shop.example.com/roles": ["buyer", "seller"],
};

/** The tokens for an API. */
async function tokensFor(application: OpenidApplication, resource: string) {
  const { url, checks } = await application.request({ scope: "openid orders:read", resource });
  const returned = await visit(browser, url);
  return openid.authorizationCodeGrant(application.config, returned, checks, { resource });
}

describe("the claims of a client", () => {
  test("are in its ID tokens and in UserInfo, and in those of no other client", async () => {
    const tokens = await shop.signIn(browser, { scope: "openid" });
    const ofToken = tokens.claims() ?? { sub: "" };
    expect(ofToken).toMatchObject({ ...told, user: userId, sub: userId });
    const user = await openid.fetchUserInfo(shop.config, tokens.access_token, ofToken.sub);
    expect(user).toEqual({ sub: userId, user: userId, ...told });
    const others = await forum.signIn(browser, { scope: "openid email" });
    expect(Object.keys(others.claims() ?? {})).not.toEqual(expect.arrayContaining(["kind"]));
    const ofForum = await openid.fetchUserInfo(forum.config, others.access_token, userId);
    expect(ofForum).toEqual({ sub: userId, email, email_verified: false });
  });

  test("are as the account is when a token is issued", async () => {
    const tokens = await shop.signIn(browser, { scope: "openid" });
    await changeUser({ public_metadata: { plan: "free" } });
    const refreshed = await openid.refreshTokenGrant(shop.config, tokens.refresh_token ?? "");
    expect(refreshed.claims()).toMatchObject({ ...told, plan: "free" });
    await changeUser({ public_metadata: { plan: "pro" } });
  });

  test("are left out where a template fails, which is logged, and where there is no value", async () => {
    const tokens = await shop.signIn(browser, { scope: "openid" });
    expect(tokens.claims()).not.toHaveProperty("broken");
    expect(tokens.claims()).not.toHaveProperty("empty");
    expect(server.logs()).toMatch(/"client":"shop".*"claim":"broken".*there is no .User.Surname/);
  });

  test("know the user of a pairwise client by no other name than it does", async () => {
    const till = await openidApplication(server.url, { clientId: "till", secret });
    const claims = (await till.signIn(browser)).claims();
    expect(claims?.user).toBe(claims?.sub);
    expect(claims?.user).not.toBe(userId);
  });

  test("stay when the client names them, and are given to no client that asks for them", async () => {
    const named = JSON.stringify({
      id_token: { kind: null, plan: { essential: true } },
      userinfo: { kind: null },
    });
    for (const parameters of [{ claims: named }, {}])
      expect((await shop.signIn(browser, parameters)).claims()).toMatchObject({
        kind: "customer",
        plan: "pro",
      });
    const tokens = await forum.signIn(browser, { claims: named });
    expect(tokens.claims()).not.toHaveProperty("kind");
    expect(await openid.fetchUserInfo(forum.config, tokens.access_token, userId)).toEqual({ sub: userId });
  });

  test("are not in the metadata of the provider, which all clients read", () => {
    const { claims_supported } = shop.config.serverMetadata();
    expect(claims_supported).toEqual(expect.arrayContaining(["sub", "acr", "email"]));
    for (const name of Object.keys(claims)) expect(claims_supported).not.toContain(name);
  });
});

describe("the claims of a client's access tokens", () => {
  test("are in JWTs for APIs, where those of the client are not", async () => {
    const tokens = await tokensFor(shop, api);
    const payload = decodeJwt(tokens.access_token);
    expect(payload).toMatchObject({ aud: api, sub: userId, roles: ["buyer", "seller"] });
    expect(payload).not.toHaveProperty("kind");
    expect(tokens.claims()).toMatchObject({ kind: "customer" });
    expect(tokens.claims()).not.toHaveProperty("roles");
    const ofForum = decodeJwt((await tokensFor(forum, api)).access_token);
    expect(ofForum).not.toHaveProperty("roles");
  });

  test("are told by introspection of opaque tokens for APIs, and of none for UserInfo", async () => {
    const { access_token } = await tokensFor(shop, opaqueApi);
    expect(await openid.tokenIntrospection(shop.config, access_token)).toMatchObject({
      active: true,
      sub: userId,
      roles: ["buyer", "seller"],
    });
    const plain = await shop.signIn(browser);
    const introspected = await openid.tokenIntrospection(shop.config, plain.access_token);
    expect(introspected).toMatchObject({ active: true });
    expect(introspected).not.toHaveProperty("roles");
  });

  test("are not in those that the client gets for itself, without a user", async () => {
    const tokens = await openid.clientCredentialsGrant(shop.config, { resource: api, scope: "orders:read" });
    expect(decodeJwt(tokens.access_token)).not.toHaveProperty("roles");
  });
});

const withClient = (more: object) => ({
  ...settings,
  STILE_OPENID_CLIENTS: JSON.stringify({ shop: { ...client, name: "Shop", ...more } }),
});

describe("A240 a template that would set what others rely on", () => {
  const reserved = [
    ...["iss", "sub", "aud", "exp", "nbf", "iat", "jti", "auth_time", "nonce", "acr", "amr", "azp"],
    ...["at_hash", "c_hash", "s_hash", "sid", "events", "scope", "client_id", "cnf", "act", "may_act"],
    ...["authorization_details", "active", "token_type", "username", "session_id", "_claim_names"],
    ...["_claim_sources", "email", "email_verified", "phone_number", "preferred_username", "updated_at", ""],
  ];

  test.each(reserved)("as the claim %j is refused, in each kind of token", (name) => {
    for (const setting of ["claims", "access_token_claims"])
      expect(() => loadConfig(withClient({ [setting]: { [name]: "x" } }), "/nowhere")).toThrow(
        `cannot set the claim "${name}"`,
      );
  });

  test("is refused for an application that is not the operator's own: its users would not be asked", () => {
    for (const setting of ["claims", "access_token_claims"])
      expect(() =>
        loadConfig(withClient({ first_party: false, [setting]: { plan: "x" } }), "/nowhere"),
      ).toThrow("with first_party false has no claims");
    expect(() => loadConfig(withClient({ first_party: false }), "/nowhere")).not.toThrow();
  });

  test.each([
    ["more members", Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`c${at}`, 1])), /50 members/],
    ["more characters", { plan: "x".repeat(5000) }, /4096 characters/],
    ["more levels", { plan: JSON.parse("[".repeat(9) + "]".repeat(9)) }, /8 nested levels/],
  ])("has no effect with %s than one of sessions may have", (_, templates, reason) => {
    const { ignored } = loadConfig(withClient({ claims: templates }), "/nowhere");
    expect(ignored.map(({ line }) => line)).toEqual([expect.stringMatching(reason)]);
  });
});

test("a start warns of templates of clients that cannot be parsed", () => {
  const config = loadConfig(
    withClient({ claims: { plan: "{{" }, access_token_claims: { role: "{{end}}" } }),
    "/nowhere",
  );
  expect(uselessSettings(config)).toEqual([
    expect.stringContaining("STILE_OPENID_CLIENTS (shop) has a malformed template for plan: "),
    expect.stringContaining("STILE_OPENID_CLIENTS (shop) has a malformed template for role: "),
  ]);
});

test("a client that is configured without claims has none", () => {
  const { shop: stored } = loadConfig(withClient({}), "/nowhere").openid.clients;
  expect(stored).toMatchObject({ claims: {}, access_token_claims: {} });
});
