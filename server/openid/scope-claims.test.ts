import { decodeJwt } from "jose";
import * as openid from "openid-client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadConfig } from "../config/load.ts";
import type { FlowClient, State } from "../testing/flow-client.ts";
import {
  type OpenidApplication,
  openidApplication,
  REDIRECT_URI,
  registeredBrowser,
  visit,
} from "../testing/openid-application.ts";
import { type RunningServer, startServer } from "../testing/server.ts";
import { runStile } from "../testing/stile.ts";
import { MAX_SCOPE_CLAIM_BYTES } from "./scope-claims.ts";

/** Scopes of the operator with claims from metadata: the built server, and `openid-client`. */

const secret = "a secret of the wiki that has enough characters";
const api = "https://api.example.com/teams";
const groups = ["editors", "board"];

const client = {
  secret,
  redirect_uris: [REDIRECT_URI],
  scopes: ["openid", "email", "groups", "staff", "teams:read"],
};
const scopes = {
  groups: { claims: { groups: "public.groups" }, texts: { en: "see which teams you are in" } },
  staff: {
    claims: { staff_number: "private.hr.number", first_team: "public.groups.0", office: "public.office" },
  },
};
const laterClient = (ofClient: string[]) => ({
  ...client,
  name: "A later partner",
  first_party: false,
  scopes: ofClient,
});
const settings = {
  STILE_OPENID_ENABLED: "true",
  STILE_OPENID_SCOPES: JSON.stringify(scopes),
  STILE_OPENID_RESOURCES: JSON.stringify({ [api]: { scopes: ["teams:read"] } }),
  STILE_OPENID_CLIENTS: JSON.stringify({
    wiki: { ...client, name: "Wiki" },
    mail: { ...client, name: "Mail", scopes: ["openid", "email"] },
    partner: { ...client, name: "A partner", first_party: false },
    later: laterClient(["openid"]),
  }),
  STILE_OPENID_REGISTRATION: "open",
};

let server: RunningServer;
let browser: FlowClient;
let wiki: OpenidApplication;
let mail: OpenidApplication;
let partner: OpenidApplication;
let userId: string;
let changeUser: (metadata: object) => Promise<void>;

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
  [wiki, mail, partner] = await Promise.all([
    application("wiki"),
    application("mail"),
    application("partner"),
  ]);
  browser = await newVisitor();
  userId = String((await wiki.signIn(browser)).claims()?.sub);
  const made = await runStile(["keys", "create", "--interface", "admin"], {
    cwd: server.dataDir,
    env: server.environment,
  });
  const authorization = `Bearer ${made.out.trim().split("\n").at(-1)}`;
  changeUser = async (body) => {
    const answer = await fetch(`${server.url}/admin/users/${userId}/metadata`, {
      method: "PATCH",
      headers: { authorization, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    expect(answer.status).toBe(200);
  };
  await changeUser({
    public_metadata: { groups, plan: "pro" },
    private_metadata: { hr: { number: 4711 }, groups: ["secret"] },
  });
});
afterAll(() => server.stop());

const application = (clientId: string) => openidApplication(server.url, { clientId, secret });

let accounts = 0;

const newVisitor = () => registeredBrowser(server, `ada-${++accounts}@example.com`);

/** What an application learns by its ID token and at UserInfo, beside how the user has signed in. */
async function told(by: OpenidApplication, parameters: Record<string, string>) {
  const tokens = await by.signIn(browser, parameters);
  const ofToken = tokens.claims() ?? { sub: "" };
  const atUserInfo = await openid.fetchUserInfo(by.config, tokens.access_token, ofToken.sub);
  const names = ["groups", "staff_number", "first_team", "office", "email"];
  const among = (claims: object) =>
    Object.fromEntries(Object.entries(claims).filter(([name]) => names.includes(name)));
  return { tokens, ofToken: among(ofToken), atUserInfo: among(atUserInfo) };
}

describe("a scope of the operator", () => {
  test("gives its claims in the ID token and at UserInfo, to those who ask for it", async () => {
    const { tokens, ofToken, atUserInfo } = await told(wiki, { scope: "openid groups" });
    expect(ofToken).toEqual({ groups });
    expect(atUserInfo).toEqual({ groups });
    expect(tokens.scope).toBe("openid groups");
    expect(await told(wiki, { scope: "openid" })).toMatchObject({ ofToken: {}, atUserInfo: {} });
  });

  test("reads public and private metadata by paths, with their types; what is absent is no claim", async () => {
    const claims = { staff_number: 4711, first_team: "editors" };
    const { ofToken, atUserInfo } = await told(wiki, { scope: "openid staff" });
    expect(ofToken).toEqual(claims);
    expect(atUserInfo).toEqual(claims);
  });

  test("can be asked for by the names of its claims, in one place or the other", async () => {
    const inToken = JSON.stringify({ id_token: { groups: null } });
    expect(await told(wiki, { claims: inToken })).toMatchObject({ ofToken: { groups }, atUserInfo: {} });
    const elsewhere = JSON.stringify({ userinfo: { groups: { essential: true }, office: null } });
    const { ofToken, atUserInfo } = await told(wiki, { claims: elsewhere });
    expect([ofToken, atUserInfo]).toEqual([{}, { groups }]);
  });

  test("is in the metadata of the provider, with its claims", () => {
    const { scopes_supported, claims_supported } = wiki.config.serverMetadata();
    expect(scopes_supported).toEqual(expect.arrayContaining(["openid", "email", "groups", "staff"]));
    expect(claims_supported).toEqual(
      expect.arrayContaining(["email", "groups", "staff_number", "first_team", "office"]),
    );
  });

  test("gives a new token what the account says then, and no more than it was refreshed for", async () => {
    const { tokens } = await told(wiki, { scope: "openid groups staff" });
    await changeUser({ public_metadata: { groups: ["board"] } });
    const renewed = await openid.refreshTokenGrant(wiki.config, tokens.refresh_token ?? "", {
      scope: "openid groups",
    });
    expect(renewed.claims()).toMatchObject({ groups: ["board"] });
    expect(renewed.claims()).not.toHaveProperty("staff_number");
    await changeUser({ public_metadata: { groups: null } });
    expect(await told(wiki, { scope: "openid groups" })).toMatchObject({ ofToken: {}, atUserInfo: {} });
    await changeUser({ public_metadata: { groups } });
  });

  test("is told of a claim that would make the token too long by leaving it out, which is logged", async () => {
    const many = Array.from({ length: 180 }, (_, at) => `team-${String(at).padStart(8, "ü")}`);
    expect(Buffer.byteLength(JSON.stringify(many))).toBeGreaterThan(MAX_SCOPE_CLAIM_BYTES);
    await changeUser({ public_metadata: { groups: many } });
    const { ofToken, atUserInfo } = await told(wiki, { scope: "openid groups staff" });
    await changeUser({ public_metadata: { groups } });
    expect(ofToken).toEqual({ staff_number: 4711, first_team: many[0] });
    expect(atUserInfo).toEqual(ofToken);
    expect(server.logs()).toMatch(/"client":"wiki".*"claim":"groups".*the token would be too long/);
  });
});

/** Sends the browser to the application's request. @returns the state that asks its user */
async function question(visitor: FlowClient, by: OpenidApplication, parameters: Record<string, string>) {
  const { url, checks } = await by.request(parameters);
  const answered = await visitor.request(`${url.pathname}${url.search}`);
  const page = new URL(answered.headers.get("location") ?? "");
  if (page.pathname !== "/consent") return { page, state: null, checks };
  const path = `/consent?request=${page.searchParams.get("request")}`;
  const state = (await (await visitor.request(path, { method: "POST" })).json()) as State;
  visitor.adopt(state);
  return { page, state, checks };
}

async function allow(visitor: FlowClient): Promise<URL> {
  const { state } = await visitor.act("consent_allow");
  return visit(visitor, new URL(String(state.payload.redirect_url)));
}

describe("an application that is not the operator's own", () => {
  test("gets the claims of a scope once its user has allowed it, who is told in the operator's words", async () => {
    const { state, checks } = await question(browser, partner, { scope: "openid groups" });
    expect(state?.payload.authorization).toMatchObject({
      scopes: ["openid", "groups"],
      texts: { groups: { en: "see which teams you are in" } },
    });
    const tokens = await openid.authorizationCodeGrant(partner.config, await allow(browser), checks);
    expect(tokens.claims()).toMatchObject({ groups });
    const more = await question(browser, partner, { scope: "openid groups staff" });
    expect(more.state?.payload.authorization).toMatchObject({
      scopes: ["openid", "groups", "staff"],
      allowed: ["openid", "groups"],
    });
    await browser.start("profile");
    await browser.act("register_client_capabilities", { webauthn_available: false });
    expect(browser.state.payload.applications).toContainEqual(
      expect.objectContaining({
        id: "partner",
        scopes: ["openid", "groups"],
        texts: { groups: { en: "see which teams you are in" } },
      }),
    );
  });

  test("has its user asked for a claim by name as for the scope that has it", async () => {
    const visitor = await newVisitor();
    const claims = JSON.stringify({ id_token: { groups: null } });
    const { state } = await question(visitor, partner, { claims });
    expect(state?.payload.authorization).toMatchObject({ scopes: ["openid", "groups"] });
  });
});

describe("A240 an application that would learn or grant what it may not", () => {
  const named = JSON.stringify({
    id_token: { groups: null },
    userinfo: { groups: null, staff_number: null },
  });

  test("gets no claim of a scope that it does not have, by its name or that of the claim", async () => {
    const { url } = await mail.request({ scope: "openid groups" });
    expect((await visit(browser, url)).searchParams.get("error")).toBe("invalid_scope");
    const tokens = await mail.signIn(browser, { claims: named });
    expect(tokens.claims()).not.toHaveProperty("groups");
    expect(await openid.fetchUserInfo(mail.config, tokens.access_token, userId)).toEqual({ sub: userId });
  });

  test("gets no claims of users in a token for an API that has asked for none", async () => {
    const { url, checks } = await wiki.request({ scope: "openid groups teams:read", resource: api });
    const returned = await visit(browser, url);
    const tokens = await openid.authorizationCodeGrant(wiki.config, returned, checks, { resource: api });
    expect(tokens.claims()).toMatchObject({ groups });
    expect(decodeJwt(tokens.access_token)).not.toHaveProperty("groups");
  });

  test("has none by registering itself, unless the operator lists the scope for such clients", async () => {
    const said = { redirect_uris: ["https://agent.example.org/callback"], scope: "openid groups" };
    const answer = await fetch(`${server.url}/oauth/register`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(said),
    });
    const { client_id, client_secret } = (await answer.json()) as Record<string, string>;
    const agent = await openidApplication(server.url, {
      clientId: client_id ?? "",
      secret: client_secret ?? "",
    });
    const redirect_uri = "https://agent.example.org/callback";
    const refused = await question(browser, agent, { redirect_uri, scope: "openid groups" });
    expect(refused.page.searchParams.get("error")).toBe("invalid_scope");
    const { state } = await question(browser, agent, { redirect_uri, claims: named });
    expect(state?.payload.authorization).toMatchObject({ scopes: ["openid"] });
  });

  test("learns no groups that a user has written into their own metadata", async () => {
    const visitor = await newVisitor();
    await visitor.start("profile");
    await visitor.act("register_client_capabilities", { webauthn_available: false });
    const written = {
      groups: ["admin"],
      public: { groups: ["admin"] },
      public_metadata: { groups: ["admin"] },
    };
    await visitor.act("patch_metadata", { patch_metadata: written });
    expect(visitor.state.payload).toMatchObject({ user: { metadata: { unsafe_metadata: written } } });
    const tokens = await wiki.signIn(visitor, { scope: "openid groups staff" });
    expect(Object.keys(tokens.claims() ?? {})).not.toEqual(expect.arrayContaining(["groups"]));
    const { sub = "" } = tokens.claims() ?? {};
    expect(await openid.fetchUserInfo(wiki.config, tokens.access_token, sub)).toEqual({ sub });
  });

  test.each([
    [
      "metadata that users write",
      { groups: { claims: { groups: "unsafe.groups" } } },
      /users write it themselves/,
    ],
    [
      "all metadata that users write",
      { groups: { claims: { groups: "unsafe" } } },
      /users write it themselves/,
    ],
    ["metadata of no kind", { groups: { claims: { groups: "unsafely.groups" } } }, /must be a path/],
    ["all metadata of a kind", { groups: { claims: { groups: "private" } } }, /must be a path/],
    ["a query", { groups: { claims: { groups: "public.groups.#(a>1)" } } }, /must be a path/],
    ["a claim of the standard", { groups: { claims: { sub: "public.id" } } }, /cannot set the claim "sub"/],
    [
      "a claim of the account",
      { groups: { claims: { email: "public.mail" } } },
      /cannot set the claim "email"/,
    ],
    [
      "a scope of the standard",
      { email: { claims: { mail: "public.mail" } } },
      /cannot set the scope "email"/,
    ],
    [
      "one claim in two scopes",
      { a: { claims: { x: "public.x" } }, b: { claims: { x: "public.y" } } },
      /"x" in two/,
    ],
  ])("is configured with no scope that has %s", (_, configured, reason) => {
    const variables = { ...settings, STILE_OPENID_SCOPES: JSON.stringify(configured) };
    expect(() => loadConfig(variables, "/nowhere")).toThrow(reason);
  });

  test("is configured with no template for a claim that a scope gives", () => {
    const clients = { wiki: { ...client, name: "Wiki", claims: { groups: ["admin"] } } };
    expect(() =>
      loadConfig({ ...settings, STILE_OPENID_CLIENTS: JSON.stringify(clients) }, "/nowhere"),
    ).toThrow(/\(wiki\) that sets the claim groups, which a scope of STILE_OPENID_SCOPES/);
  });

  test("is configured with no scope that is one of an API too", () => {
    const resources = { [api]: { scopes: ["groups"] } };
    expect(() =>
      loadConfig({ ...settings, STILE_OPENID_RESOURCES: JSON.stringify(resources) }, "/nowhere"),
    ).toThrow(/has the scope groups, which STILE_OPENID_RESOURCES/);
  });
});

test("a scope that a client gets after it was refused the claim gives the claim, in the same session", async () => {
  const visitor = await newVisitor();
  const before = await application("later");
  const claims = JSON.stringify({ id_token: { groups: null } });
  const first = await question(visitor, before, { claims });
  const none = await openid.authorizationCodeGrant(before.config, await allow(visitor), first.checks);
  expect(none.claims()).not.toHaveProperty("groups");
  const clients = JSON.parse(settings.STILE_OPENID_CLIENTS);
  await server.restart({
    STILE_OPENID_CLIENTS: JSON.stringify({ ...clients, later: laterClient(["openid", "groups"]) }),
    STILE_OPENID_SCOPES: JSON.stringify({ groups: { claims: { groups: "public.groups" } } }),
  });
  userId = String(none.claims()?.sub);
  await changeUser({ public_metadata: { groups } });
  const after = await application("later");
  const second = await question(visitor, after, { scope: "openid groups" });
  expect(second.state?.payload.authorization).toMatchObject({
    scopes: ["openid", "groups"],
    allowed: ["openid"],
  });
  const tokens = await openid.authorizationCodeGrant(after.config, await allow(visitor), second.checks);
  expect(tokens.claims()).toMatchObject({ groups });
});
