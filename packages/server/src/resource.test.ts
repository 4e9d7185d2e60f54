import { generateKeyPairSync, randomUUID } from "node:crypto";
import { decodeJwt, SignJWT } from "jose";
import * as openid from "openid-client";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import type { FlowClient } from "../../../server/testing/flow-client.ts";
import { send } from "../../../server/testing/observed.ts";
import {
  newBrowser,
  type OpenidApplication,
  openidApplication,
  REDIRECT_URI,
  visit,
} from "../../../server/testing/openid-application.ts";
import { testRuntime } from "../../../server/testing/runtime.ts";
import { type Service, startService } from "../../../server/testing/service.ts";
import { createStile, type ProtectedResource, StileError } from "./stile.ts";

const runtime = await testRuntime();
afterAll(() => runtime.close());
const baseUrl = runtime.config.base_url;
const { host } = new URL(baseUrl);

const service: typeof fetch = async (input, init) => {
  const request = new Request(input, init);
  request.headers.set("host", host);
  return send(request, "192.0.2.9", runtime);
};

const resource = "https://api.example.com/orders";
const metadataUrl = "https://api.example.com/.well-known/oauth-protected-resource/orders";
const stile = createStile({
  baseUrl,
  fetch: service,
  audience: "sessions",
  issuer: "https://sessions.example",
});
const orders = stile.protectResource({ resource, scopes: ["orders:read", "orders:write"], name: "Orders" });

const now = () => Math.floor(Date.now() / 1000);
const sub = randomUUID();

/** An access token as the provider issues them, with differences. */
const issued = (differences: object = {}, typ = "at+jwt") => {
  const claims = {
    iss: baseUrl,
    aud: resource,
    sub,
    client_id: "shop",
    scope: "orders:read",
    iat: now(),
    exp: now() + 600,
  };
  return runtime.signingKeys.of(runtime.tenant).sign({ ...claims, ...differences }, { typ });
};

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

test("an API says where its callers get tokens", () => {
  expect([orders.metadataUrl, orders.metadata]).toEqual([
    metadataUrl,
    {
      resource,
      authorization_servers: [baseUrl],
      bearer_methods_supported: ["header"],
      scopes_supported: ["orders:read", "orders:write"],
      resource_name: "Orders",
    },
  ]);
  const root = stile.protectResource({ resource: "https://api.example.com/" });
  expect(root.metadataUrl).toBe("https://api.example.com/.well-known/oauth-protected-resource");
});

test("the metadata of an API is at a well-known path between its host and its path", () => {
  const wellKnown = "/.well-known/oauth-protected-resource";
  for (const [address, path] of [
    ["https://api.example.com", wellKnown],
    ["https://api.example.com/", wellKnown],
    ["https://api.example.com/orders", `${wellKnown}/orders`],
    ["https://api.example.com/orders/", `${wellKnown}/orders/`],
    ["https://api.example.com/?version=2", `${wellKnown}?version=2`],
    ["https://api.example.com/orders?version=2", `${wellKnown}/orders?version=2`],
  ] as const) {
    const { metadataUrl, metadataPath, metadata } = stile.protectResource({ resource: address });
    expect([metadataUrl, metadataPath]).toEqual([`https://api.example.com${path}`, path]);
    expect(metadata.resource).toBe(address);
  }
});

test("the metadata of an API may be at another address, and is as short as what is known", async () => {
  const { metadata, metadataPath, verify } = stile.protectResource({
    resource,
    documentation: "https://docs.example.com/orders",
    metadataUrl: "https://docs.example.com/orders.json",
  });
  expect(metadataPath).toBe("/orders.json");
  expect(metadata).toEqual({
    resource,
    authorization_servers: [baseUrl],
    bearer_methods_supported: ["header"],
    resource_documentation: "https://docs.example.com/orders",
  });
  expect(await verify(null)).toMatchObject({
    headers: { "WWW-Authenticate": 'Bearer resource_metadata="https://docs.example.com/orders.json"' },
  });
});

test("A225 an API without an absolute address is not protected: it would take tokens of any other", () => {
  for (const faulty of [
    undefined,
    null,
    "",
    "api",
    "urn:api",
    "https:api.example.com",
    " https://api.example.com/",
    "https://api.example.com/#x",
    "https://",
  ] as string[]) {
    expect(() => stile.protectResource({ resource: faulty })).toThrow(StileError);
    expect(() => stile.protectResource({ resource: faulty, metadataUrl })).toThrow("`resource` must be");
  }
  for (const faulty of [null, "", "/metadata.json", `${metadataUrl}#x`] as string[])
    expect(() => stile.protectResource({ resource, metadataUrl: faulty })).toThrow("`metadataUrl` must be");
});

describe("an access token", () => {
  test("of the API is accepted, in a request of the web platform, in one of Node, and alone", async () => {
    const token = await issued();
    const web = new Request(resource, bearer(token));
    for (const presented of [web, bearer(token), token])
      expect(await orders.verify(presented, { scopes: ["orders:read"] })).toMatchObject({
        ok: true,
        access: { userId: sub, clientId: "shop", scopes: ["orders:read"], expiresAt: expect.any(Date) },
      });
  });

  test("of a client that acts for itself has no user", async () => {
    const verified = await orders.verify(await issued({ sub: "shop", scope: undefined }));
    expect(verified).toMatchObject({ ok: true, access: { userId: null, clientId: "shop", scopes: [] } });
  });

  test("that is missing, or in a cookie, is asked for without an error", async () => {
    for (const presented of [null, { headers: {} }, { headers: { cookie: `service=${await issued()}` } }])
      expect(await orders.verify(presented)).toEqual({
        ok: false,
        status: 401,
        headers: {
          "WWW-Authenticate": `Bearer scope="orders:read orders:write", resource_metadata="${metadataUrl}"`,
        },
        body: {},
      });
  });

  test("A225 of another API, issuer, type or key, without its claims, changed, expired or bound to a key is refused", async () => {
    const token = await issued();
    const [header = "", , signature = ""] = token.split(".");
    const payload = Buffer.from(JSON.stringify({ iss: baseUrl, aud: resource, sub: "eve" })).toString(
      "base64url",
    );
    const none = Buffer.from('{"alg":"none","typ":"at+jwt"}').toString("base64url");
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const foreign = new SignJWT({ client_id: "shop", scope: "orders:read" })
      .setProtectedHeader({ alg: "ES256", typ: "at+jwt" })
      .setIssuer(baseUrl)
      .setAudience(resource)
      .setSubject(sub)
      .setIssuedAt()
      .setExpirationTime("10m");
    const refused = [
      await issued({ aud: "https://api.example.com/other" }),
      await issued({ aud: ["sessions"] }),
      await issued({ iss: "https://sessions.example" }),
      await issued({}, "JWT"),
      await issued({ client_id: undefined }),
      await issued({ sub: undefined }),
      await issued({ exp: undefined }),
      await issued({ iat: undefined }),
      await issued({ exp: now() - 60 }),
      await issued({ cnf: { jkt: "x" } }),
      await foreign.sign(privateKey),
      `${header}.${payload}.${signature}`,
      `${none}.${payload}.`,
      "nonsense",
    ];
    for (const each of refused) {
      const verified = await orders.verify(bearer(each));
      expect(verified).toMatchObject({ ok: false, status: 401, body: { error: "invalid_token" } });
      const { headers } = verified as { headers: Record<string, string> };
      expect(headers["WWW-Authenticate"]).toMatch(
        /^Bearer error="invalid_token", error_description="[^"]+", resource_metadata="/,
      );
    }
  });

  test("without a scope that is needed is refused with what is needed", async () => {
    const verified = await orders.verify(await issued(), { scopes: ["orders:read", "orders:write"] });
    expect(verified).toMatchObject({
      status: 403,
      headers: { "WWW-Authenticate": expect.stringContaining('scope="orders:read orders:write"') },
      body: { error: "insufficient_scope" },
    });
    // A scope is a whole word.
    expect(
      await orders.verify(await issued({ scope: "orders:readers" }), { scopes: ["orders:read"] }),
    ).toMatchObject({ ok: false });
  });

  test("of a sign-in that is too weak or too old is answered with what to ask for", async () => {
    const weak = await issued({ acr: "urn:stile:sign-in", auth_time: now() - 300 });
    const challengeOf = async (token: string, needs: object) => {
      const verified = await orders.verify(token, needs);
      return verified.ok ? null : verified.headers["WWW-Authenticate"];
    };
    const begin = /^Bearer error="insufficient_user_authentication", error_description="[^"]+", /;
    const stronger = await challengeOf(weak, { acr: ["phr", "urn:stile:mfa"] });
    expect(stronger).toMatch(begin);
    expect(stronger).toMatch(/acr_values="phr urn:stile:mfa", resource_metadata="/);
    expect(await challengeOf(weak, { maxAge: 60 })).toMatch(/, max_age="60", resource_metadata="/);
    expect(await challengeOf(weak, { maxAge: 600, acr: ["urn:stile:sign-in"] })).toBeNull();
    expect(await challengeOf(await issued(), { maxAge: 600 })).toMatch(begin);
    expect(await challengeOf(await issued(), { acr: ["undefined"] })).toMatch(begin);
    // Both are named, so that a sign-in which is recent enough is not a weaker one.
    expect(await challengeOf(weak, { acr: "urn:stile:sign-in", maxAge: 60 })).toMatch(
      /, acr_values="urn:stile:sign-in", max_age="60", resource_metadata="/,
    );
  });

  test("A225 of a sign-in whose class is only a part of what is needed is refused", async () => {
    for (const acr of ["urn:stile:mfa", ["urn:stile:mfa"]]) {
      const whole = await issued({ acr: "urn:stile:mfa" });
      expect(await orders.verify(whole, { acr })).toMatchObject({ ok: true });
      for (const part of ["mfa", "urn", "", ["urn:stile:mfa"], null])
        expect(await orders.verify(await issued({ acr: part }), { acr })).toMatchObject({ status: 401 });
    }
  });

  test("of a sign-in at an unknown or malformed time is too old", async () => {
    for (const auth_time of [undefined, null, "", String(now()), {}])
      expect(await orders.verify(await issued({ auth_time }), { maxAge: 1e9 })).toMatchObject({
        body: { error: "insufficient_user_authentication" },
      });
  });

  test("that needs quoted characters is asked for in a challenge that stays one", async () => {
    const odd = stile.protectResource({ resource, metadataUrl: 'https://api.example.com/m?"\\é' });
    const verified = await odd.verify(await issued(), { scopes: ['a"b', "c\r\nX: y"] });
    expect(verified).toMatchObject({
      headers: {
        "WWW-Authenticate":
          'Bearer error="insufficient_scope", error_description="The access token lacks a scope that is needed.", scope="a\\"b cX: y", resource_metadata="https://api.example.com/m?\\"\\\\"',
      },
    });
  });

  test("is answered for by one line on the web platform", async () => {
    const verified = await orders.verify(null);
    if (verified.ok) throw new Error("it is accepted");
    const answer = Response.json(verified.body, verified);
    expect([answer.status, answer.headers.get("www-authenticate"), await answer.json()]).toEqual([
      401,
      verified.headers["WWW-Authenticate"],
      {},
    ]);
  });

  test("is not judged while the keys cannot be read", async () => {
    const cutOff = createStile({ baseUrl, fetch: () => Promise.reject(new Error("cut off")) });
    await expect(cutOff.protectResource({ resource }).verify(await issued())).rejects.toThrow(StileError);
  });
});

describe("an access token of the running service", () => {
  const users = "https://api.example.com/users";
  const secret = "a secret of the shop that has enough characters";
  const password = "nine otters under the bridge";
  const email = "ada@example.com";

  let service: Service;
  let shop: OpenidApplication;
  let browser: FlowClient;
  let api: ProtectedResource;
  let token: string;
  let userId: string;

  beforeAll(async () => {
    const client = {
      secret,
      redirect_uris: [REDIRECT_URI],
      grants: ["authorization_code", "client_credentials"],
      scopes: ["openid", "orders:read", "orders:write"],
    };
    service = await startService({
      STILE_OPENID_ENABLED: "true",
      STILE_OPENID_CLIENTS: JSON.stringify({
        shop: { ...client, name: "The shop" },
        bound: { ...client, name: "Bound to a key", require_dpop: true },
      }),
      STILE_OPENID_RESOURCES: JSON.stringify({
        [resource]: { scopes: ["orders:read", "orders:write"] },
        [users]: { scopes: ["orders:read"] },
      }),
      STILE_EMAIL_REQUIRE_VERIFICATION: "false",
      STILE_PASSKEY_ENABLED: "false",
      STILE_MFA_ENABLED: "false",
      STILE_RATE_LIMITER_ENABLED: "false",
    });
    const { url } = service.server;
    api = createStile({ baseUrl: url }).protectResource({
      resource,
      scopes: ["orders:read", "orders:write"],
    });
    shop = await openidApplication(url, { clientId: "shop", secret });
    browser = newBrowser(service.server);
    await browser.start("registration");
    await browser.act("register_client_capabilities", { webauthn_available: false });
    await browser.act("register_login_identifier", { email });
    await browser.act("register_password", { new_password: password });
    expect(browser.state.name).toBe("success");
    const tokens = await shop.signIn(browser, { scope: "openid orders:read", resource });
    token = tokens.access_token;
    userId = tokens.claims()?.sub ?? "";
  });
  afterAll(() => service?.close());

  /** The answer to a refused request. */
  const refusal = (status: number, error: string, description: string, more = "") => ({
    ok: false,
    status,
    headers: {
      "WWW-Authenticate": `Bearer error="${error}", error_description="${description}"${more}, resource_metadata="${metadataUrl}"`,
    },
    body: { error, error_description: description },
  });

  const movedBy = (seconds: number) => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + seconds * 1000 });
    onTestFinished(() => void vi.useRealTimers());
  };

  test("for the API is accepted, with its user, client and scopes", async () => {
    const { exp = 0, ...claims } = decodeJwt(token);
    const request = new Request(resource, bearer(token));
    const needs = { scopes: ["orders:read"], acr: ["phr", "urn:stile:sign-in"], maxAge: 600 };
    expect(await api.verify(request, needs)).toEqual({
      ok: true,
      access: {
        userId,
        clientId: "shop",
        scopes: ["orders:read"],
        expiresAt: new Date(exp * 1000),
        claims: { ...claims, exp },
      },
    });
  });

  test("that a client has by its credentials has no user", async () => {
    const tokens = await openid.clientCredentialsGrant(shop.config, { resource, scope: "orders:write" });
    expect(await api.verify(tokens.access_token, { scopes: ["orders:write"] })).toMatchObject({
      ok: true,
      access: { userId: null, clientId: "shop", scopes: ["orders:write"], claims: { sub: "shop" } },
    });
    expect(await api.verify(tokens.access_token, { maxAge: 3600 })).toMatchObject({
      body: { error: "insufficient_user_authentication" },
    });
  });

  test.each<[name: string, presented: () => string | undefined | Promise<string | undefined>]>([
    [
      "A225 for another API",
      async () => (await shop.signIn(browser, { scope: "openid orders:read", resource: users })).access_token,
    ],
    ["A225 for no API", async () => (await shop.signIn(browser)).access_token],
    ["A225 that is an ID token", async () => (await shop.signIn(browser)).id_token],
    ["A225 that is the token of the session", () => browser.cookies.get("service")],
    [
      "A225 with alg none",
      () => `${btoa('{"alg":"none","typ":"at+jwt"}').replace(/=+$/, "")}.${token.split(".")[1]}.`,
    ],
    ["A225 whose signature is another's", () => `${token.slice(0, -10)}AAAAAAAAAA`],
  ])("%s is refused", async (_, presented) => {
    const shown = await presented();
    expect(shown).toMatch(/^.{20,}$/);
    expect(await api.verify(bearer(String(shown)))).toEqual(
      refusal(401, "invalid_token", "The access token is invalid."),
    );
  });

  test("A225 is refused where the service has another address, although its key is known there", async () => {
    const elsewhere = createStile({
      baseUrl: "https://elsewhere.example",
      // The issuer of sessions is not that of access tokens.
      issuer: service.server.url,
      fetch: (input, init) =>
        fetch(String(input).replace("https://elsewhere.example", service.server.url), init),
    });
    expect(await elsewhere.protectResource({ resource }).verify(token)).toEqual(
      refusal(401, "invalid_token", "The access token is invalid."),
    );
  });

  test("A225 that has expired is refused", async () => {
    movedBy(601);
    expect(await api.verify(token)).toEqual(refusal(401, "invalid_token", "The access token is expired."));
  });

  test("A225 that is bound to a key of its client is refused without a proof", async () => {
    const { config } = await openidApplication(service.server.url, { clientId: "bound", secret });
    const dpop = openid.getDPoPHandle(config, await openid.randomDPoPKeyPair());
    const parameters = { resource, scope: "orders:read" };
    const tokens = await openid.clientCredentialsGrant(config, parameters, { DPoP: dpop });
    expect(decodeJwt(tokens.access_token)).toHaveProperty("cnf.jkt");
    expect(await api.verify(bearer(tokens.access_token))).toEqual(
      refusal(
        401,
        "invalid_token",
        "The access token is bound to a key, and no proof of the key is verified here.",
      ),
    );
    const byDpop = { headers: { authorization: `DPoP ${tokens.access_token}` } };
    expect(await api.verify(byDpop)).toEqual(await api.verify(null));
  });

  test("that is not presented is asked for, with the scopes that are needed", async () => {
    for (const presented of [undefined, new Request(resource), { headers: { cookie: `service=${token}` } }])
      expect(await api.verify(presented, { scopes: ["orders:write"] })).toEqual({
        ok: false,
        status: 401,
        headers: { "WWW-Authenticate": `Bearer scope="orders:write", resource_metadata="${metadataUrl}"` },
        body: {},
      });
  });

  test("whose scope is too small is refused with the scope that is needed", async () => {
    expect(await api.verify(token, { scopes: ["orders:read", "orders:write"] })).toEqual(
      refusal(
        403,
        "insufficient_scope",
        "The access token lacks a scope that is needed.",
        ', scope="orders:read orders:write"',
      ),
    );
  });

  test("of a sign-in that is too weak is refused with the classes that are needed", async () => {
    expect(await api.verify(token, { acr: ["phr", "urn:stile:mfa"] })).toEqual(
      refusal(
        401,
        "insufficient_user_authentication",
        "A stronger or more recent sign-in is needed.",
        ', acr_values="phr urn:stile:mfa"',
      ),
    );
  });

  test("of a sign-in that is too old is refused, until the user signs in as the challenge says", async () => {
    const needs = { acr: "urn:stile:sign-in", maxAge: 60 };
    movedBy(120);
    const refused = await api.verify(token, needs);
    vi.useRealTimers();
    expect(refused).toEqual(
      refusal(
        401,
        "insufficient_user_authentication",
        "A stronger or more recent sign-in is needed.",
        ', acr_values="urn:stile:sign-in", max_age="60"',
      ),
    );
    const asked = { acr_values: "urn:stile:sign-in", max_age: "0" };
    const { url, checks } = await shop.request({ scope: "openid orders:read", resource, ...asked });
    await visit(browser, url);
    const resume = new URL(`/oauth/authorize/${browser.cookies.get("openid_resume")}`, url);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    await browser.start("login");
    await browser.act("register_client_capabilities", { webauthn_available: false });
    await browser.act("continue_with_login_identifier", { email });
    if (browser.state.name !== "login_password") await browser.act("continue_to_password_login");
    await browser.act("password_login", { password });
    const returned = await visit(browser, resume);
    const again = await openid.authorizationCodeGrant(shop.config, returned, { ...checks, maxAge: 60 });
    const [before, after] = [token, again.access_token].map((each) => Number(decodeJwt(each).auth_time));
    expect(after).toBeGreaterThan(Number(before));
    expect(await api.verify(again.access_token, needs)).toMatchObject({ ok: true, access: { userId } });
  });
});
