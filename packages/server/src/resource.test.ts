import { generateKeyPairSync, randomUUID } from "node:crypto";
import { SignJWT } from "jose";
import { afterAll, describe, expect, test } from "vitest";
import { send } from "../../../server/testing/observed.ts";
import { testRuntime } from "../../../server/testing/runtime.ts";
import { createStile, StileError } from "./stile.ts";

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
