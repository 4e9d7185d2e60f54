import { createHash, createHmac, generateKeyPairSync, randomBytes, randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { decodeJwt, decodeProtectedHeader, SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, expectTypeOf, onTestFinished, test, vi } from "vitest";
import { clientInterface } from "../../../scripts/client-interface.ts";
import { issueAuthorizationCode } from "../../../server/sessions/authorization-codes.ts";
import { createTenant } from "../../../server/tenants/manage-tenants.ts";
import { adminOperator } from "../../../server/testing/admin-operator.ts";
import { deviceBoundBrowser } from "../../../server/testing/device-bound-browser.ts";
import { send } from "../../../server/testing/observed.ts";
import { mailedCode, password, restRegistration, restWalk } from "../../../server/testing/rest-walk.ts";
import { testRuntime } from "../../../server/testing/runtime.ts";
import { type Admin, createStile, StileError, type StileOptions, type WebhookEvent } from "./stile.ts";

const runtime = await testRuntime();
afterAll(() => runtime.close());
const baseUrl = runtime.config.base_url;
const { host } = new URL(baseUrl);

/** Requests of the client, which arrive at the service in this process. */
const requested: string[] = [];
const service: typeof fetch = async (input, init) => {
  const request = new Request(input, init);
  requested.push(`${request.method} ${new URL(request.url).pathname}`);
  request.headers.set("host", host);
  return send(request, "192.0.2.9", runtime);
};

const clientWith = (options: Partial<StileOptions> = {}) =>
  createStile({ baseUrl, fetch: service, ...options });

let token: string;
let userId: string;
let cookie: string;
beforeAll(async () => {
  const { visitor } = await restRegistration(runtime, `${randomUUID()}@example.com`);
  token = visitor.cookies.get("service") ?? "";
  cookie = `service=${token}`;
  userId = decodeJwt(token).sub ?? "";
});

const sign = (claims: object, typ: string, tenant = runtime.tenant) =>
  runtime.signingKeys.of(tenant).sign(claims, { typ });

describe("verifySession", () => {
  test("takes a token, a request of the web platform and one of Node", async () => {
    const stile = clientWith();
    const authorization = `Bearer ${token}`;
    for (const presented of [
      token,
      new Request("https://shop.test", { headers: { authorization } }),
      new Request("https://shop.test", { headers: { cookie: `a=b; ${cookie}` } }),
      { headers: { cookie } },
      { headers: { authorization, cookie: "service=other" } },
    ])
      expect(await stile.verifySession(presented)).toMatchObject({
        ok: true,
        session: { userId, sessionId: decodeJwt(token).session_id, expiresAt: expect.any(Date) },
      });
  });

  test("names the address of the account, unless the token alone is checked", async () => {
    const stile = clientWith();
    const { visitor } = await restRegistration(runtime, "ada@example.com");
    const own = visitor.cookies.get("service");
    expect(await stile.verifySession(own)).toMatchObject({ session: { email: "ada@example.com" } });
    expect(await stile.verifySession(own, { tokenOnly: true })).not.toHaveProperty("session.email");
  });

  test("A230 refuses the cookie of a session that is bound to a device without its bound cookie", async () => {
    const stile = clientWith();
    const browser = deviceBoundBrowser(
      baseUrl,
      (request) => send(request, "192.0.2.9", runtime),
      () => Date.now() + runtime.platform.clockShift(),
    );
    const flow = await restWalk(runtime, "registration", browser);
    await flow.act("register_client_capabilities");
    await flow.act("register_login_identifier", { email: "grace@example.com" });
    await flow.act("verify_passcode", { code: mailedCode(runtime, "grace@example.com") });
    await flow.act("register_password", { new_password: password });
    runtime.advanceClock(61);
    const verify = (header: string) => stile.verifySession({ headers: { cookie: header } });
    expect(await verify(browser.cookieHeader())).toMatchObject({ ok: true });
    expect(await verify(browser.cookieHeader("service-bound"))).toEqual({ ok: false, reason: "ended" });
    expect(await verify(`${browser.cookieHeader()}; service-bound=planted`)).toMatchObject({ ok: false });
    const copied = await verify(
      `${browser.cookieHeader("service-bound")}; service-bound=${"x".repeat(9000)}`,
    );
    expect(copied).toEqual({ ok: false, reason: "ended" });
  });

  test("reads the keys once for many sessions, and asks for the session unless told not to", async () => {
    const stile = clientWith();
    requested.length = 0;
    await Promise.all([1, 2, 3].map(() => stile.verifySession(token)));
    await stile.verifySession(token, { tokenOnly: true });
    expect(requested.toSorted()).toEqual([
      "GET /.well-known/jwks.json",
      "POST /sessions/validate",
      "POST /sessions/validate",
      "POST /sessions/validate",
    ]);
  });

  test("A63 does not verify by a key that was withdrawn ten minutes ago", async () => {
    vi.useFakeTimers({ toFake: ["Date", "performance"], now: Date.now() });
    onTestFinished(() => void vi.useRealTimers());
    let withdrawn = false;
    const fetch: typeof globalThis.fetch = async (input, init) =>
      withdrawn && String(input).endsWith("/jwks.json") ? Response.json({ keys: [] }) : service(input, init);
    const stile = clientWith({ fetch });
    expect(await stile.verifySession(token, { tokenOnly: true })).toMatchObject({ ok: true });
    withdrawn = true;
    vi.advanceTimersByTime(11 * 60_000);
    expect(await stile.verifySession(token, { tokenOnly: true })).toEqual({ ok: false, reason: "invalid" });
  });

  test("A63 verifies by the last keys for a day while they cannot be read, asking twice a minute", async () => {
    vi.useFakeTimers({ toFake: ["Date", "performance"], now: Date.now() });
    onTestFinished(() => void vi.useRealTimers());
    let isDown = false;
    let asked = 0;
    const fetch: typeof globalThis.fetch = async (input, init) => {
      asked += 1;
      return isDown ? Promise.reject(new TypeError("fetch failed")) : service(input, init);
    };
    const stile = clientWith({ fetch });
    const lasting = await sign({ ...claims(), exp: now() + 7 * 24 * 3600 }, "JWT");
    const verify = (presented: string) => stile.verifySession(presented, { tokenOnly: true });
    expect(await verify(lasting)).toMatchObject({ ok: true });
    isDown = true;
    asked = 0;
    vi.advanceTimersByTime(11 * 60_000);
    for (let count = 0; count < 20; count += 1) expect(await verify(lasting)).toMatchObject({ ok: true });
    expect(asked).toBe(1);
    vi.advanceTimersByTime(31_000);
    expect(await verify(`${lasting.slice(0, -10)}AAAAAAAAAA`)).toEqual({ ok: false, reason: "invalid" });
    expect(await verify(await sign({ ...claims(), exp: now() - 61 }, "JWT"))).toEqual({
      ok: false,
      reason: "expired",
    });
    expect(asked).toBe(2);
    const unknown = withHeader({ ...decodeProtectedHeader(token), kid: randomUUID() });
    await expect(verify(unknown)).rejects.toThrow(StileError);
    vi.advanceTimersByTime(24 * 3_600_000);
    await expect(verify(lasting)).rejects.toThrow(StileError);
    isDown = false;
    vi.advanceTimersByTime(31_000);
    expect(await verify(lasting)).toMatchObject({ ok: true });
  });

  test("tells a session that has ended from a token that is not valid", async () => {
    const { visitor } = await restRegistration(runtime, `${randomUUID()}@example.com`);
    const ended = visitor.cookies.get("service") ?? "";
    await visitor.post("/logout");
    const stile = clientWith();
    expect(await stile.verifySession(ended)).toEqual({ ok: false, reason: "ended" });
    expect(await stile.verifySession(ended, { tokenOnly: true })).toMatchObject({ ok: true });
    expect(await stile.verifySession(undefined)).toEqual({ ok: false, reason: "missing" });
    expect(await stile.verifySession({ headers: {} })).toEqual({ ok: false, reason: "missing" });
  });

  test("A39 takes none of two cookies", async () => {
    const planted = { headers: { cookie: `service=x; ${cookie}` } };
    expect(await clientWith().verifySession(planted)).toEqual({ ok: false, reason: "missing" });
  });

  const claims = () => decodeJwt(token);
  const now = () => Math.floor(Date.now() / 1000);
  const withHeader = (header: object) => {
    const [, payload, signature] = token.split(".");
    return `${Buffer.from(JSON.stringify(header)).toString("base64url")}.${payload}.${signature}`;
  };
  const own = generateKeyPairSync("ec", { namedCurve: "P-256" });

  test.each<[name: string, forged: () => string | Promise<string>, reason?: string]>([
    [
      "A62 with alg none",
      () => `${withHeader({ alg: "none", typ: "JWT" }).split(".").slice(0, 2).join(".")}.`,
    ],
    [
      "A62 signed by the public key as a secret",
      async () => {
        const keys = await (await service(`${baseUrl}/.well-known/jwks.json`)).text();
        return new SignJWT(claims()).setProtectedHeader({ alg: "HS256", typ: "JWT" }).sign(Buffer.from(keys));
      },
    ],
    ["A62 with another algorithm", () => withHeader({ ...decodeProtectedHeader(token), alg: "PS256" })],
    ["A62 with an empty signature", () => `${token.split(".").slice(0, 2).join(".")}.${"A".repeat(86)}`],
    ["A63 with a path as kid", () => withHeader({ ...decodeProtectedHeader(token), kid: "../../dev/null" })],
    ["A63 with a list as kid", () => withHeader({ ...decodeProtectedHeader(token), kid: ["x"] })],
    [
      "A64 with a key of its own in the header",
      async () =>
        new SignJWT(claims())
          .setProtectedHeader({
            alg: "ES256",
            typ: "JWT",
            kid: decodeProtectedHeader(token).kid ?? "",
            jwk: own.publicKey.export({ format: "jwk" }) as never,
            jku: "https://evil.test/jwks.json",
          })
          .sign(own.privateKey),
    ],
    ["A65 of a webhook", () => sign(claims(), "webhook+jwt")],
    ["A65 without a type", () => sign(claims(), "")],
    ["A65 of another audience", () => sign({ ...claims(), aud: ["evil.test"] }, "JWT")],
    ["A65 of another issuer", () => sign({ ...claims(), iss: "https://evil.test" }, "JWT")],
    ["A65 that is not valid yet", () => sign({ ...claims(), nbf: now() + 120 }, "JWT")],
    ["A65 without an end", () => sign({ ...claims(), exp: undefined }, "JWT")],
    ["A65 without a session", () => sign({ ...claims(), session_id: undefined }, "JWT")],
    ["A65 that expired a minute ago", () => sign({ ...claims(), exp: now() - 61 }, "JWT"), "expired"],
    ["with another payload", () => token.replace(/\.[^.]{10}/, ".AAAAAAAAAA")],
    ["cut short", () => token.slice(0, -5)],
    ["that is no token", () => "x".repeat(5000)],
  ])("refuses a token %s", async (_, forged, reason = "invalid") => {
    requested.length = 0;
    expect(await clientWith().verifySession(await forged())).toEqual({ ok: false, reason });
    expect(requested).not.toContain("POST /sessions/validate");
  });

  test("A65 refuses a token of another tenant", async () => {
    const tenant = await createTenant(runtime, { name: "Other", hosts: [], settings: {} });
    const foreign = await sign(claims(), "JWT", tenant);
    expect(await clientWith().verifySession(foreign)).toEqual({ ok: false, reason: "invalid" });
  });

  test("A63 reads the keys again for unknown keys, and not for each of them", async () => {
    const stile = clientWith();
    requested.length = 0;
    for (let count = 0; count < 20; count += 1) {
      const unknown = withHeader({ ...decodeProtectedHeader(token), kid: randomUUID() });
      expect(await stile.verifySession(unknown)).toEqual({ ok: false, reason: "invalid" });
    }
    expect(requested.length).toBeLessThanOrEqual(2);
    expect(await stile.verifySession(token)).toMatchObject({ ok: true });
  });

  test("A63 asks once for keys that cannot be read, however many tokens name unknown ones", async () => {
    let isDown = true;
    let asked = 0;
    const fetch: typeof globalThis.fetch = async (input, init) => {
      if (!String(input).endsWith("jwks.json") || !isDown) return service(input, init);
      asked += 1;
      return new Response("", { status: 500 });
    };
    vi.spyOn(performance, "now").mockReturnValue(0);
    const stile = clientWith({ fetch });
    for (let count = 0; count < 20; count += 1) {
      const unknown = withHeader({ ...decodeProtectedHeader(token), kid: randomUUID() });
      await expect(stile.verifySession(unknown)).rejects.toThrow(StileError);
    }
    expect(asked).toBe(1);
    isDown = false;
    vi.mocked(performance.now).mockReturnValue(1_001);
    expect(await stile.verifySession(token)).toMatchObject({ ok: true });
    vi.mocked(performance.now).mockRestore();
  });

  test("finds a header in any case, and takes none of two", async () => {
    const stile = clientWith();
    expect(await stile.verifySession({ headers: { Authorization: `Bearer ${token}` } })).toMatchObject({
      ok: true,
    });
    expect(await stile.verifySession({ headers: { Cookie: [cookie] } })).toMatchObject({ ok: true });
    const twice = { headers: { Authorization: `Bearer ${token}`, authorization: "Bearer x" } };
    expect(await stile.verifySession(twice)).toMatchObject({ ok: false });
    expect(await stile.verifySession(new Headers().get("authorization"))).toEqual({
      ok: false,
      reason: "missing",
    });
  });

  test.each<[name: string, fetch: typeof fetch]>([
    ["does not answer", async () => Promise.reject(new TypeError("fetch failed"))],
    ["answers with an error", async () => new Response("", { status: 503 })],
    ["answers with a page", async () => new Response("<html>", { headers: { "content-type": "text/html" } })],
    ["answers with other keys", async () => Response.json({ keys: "none" })],
    ["redirects to other keys", async () => Response.redirect("https://evil.test/jwks.json", 302)],
    [
      "breaks off its answer about the session",
      async (input, init) =>
        String(input).endsWith("jwks.json")
          ? service(input, init)
          : new Response(new ReadableStream({ start: (answer) => answer.error(new Error("reset")) })),
    ],
  ])("throws if the service %s", async (_, fetch) => {
    await expect(clientWith({ fetch }).verifySession(token)).rejects.toThrow(StileError);
  });

  test("throws if the keys are known and the session cannot be asked for", async () => {
    const fetch: typeof globalThis.fetch = async (input, init) =>
      String(input).endsWith("/sessions/validate")
        ? Response.json({ code: 503, message: "Later." }, { status: 503, headers: { "retry-after": "1" } })
        : service(input, init);
    await expect(clientWith({ fetch }).verifySession(token)).rejects.toMatchObject({
      status: 503,
      message: "Later.",
      retryAfterSeconds: 1,
    });
  });
});

test("redeemCode gives the session of a code to the server that has its verifier, once", async () => {
  const codeVerifier = randomBytes(32).toString("base64url");
  const redirectTo = "https://shop.test/callback";
  const newCode = () =>
    issueAuthorizationCode(runtime, runtime.tenant, {
      sessionId: String(decodeJwt(token).session_id),
      codeChallenge: createHash("sha256").update(codeVerifier).digest("base64url"),
      redirectTo,
    });
  const stile = clientWith();
  const code = (await newCode()) ?? "";
  const redeemed = await stile.redeemCode(code, codeVerifier, { redirectTo });
  expect(redeemed).toMatchObject({ userId, expiresAt: expect.any(Date) });
  expect(await stile.verifySession(redeemed.token)).toMatchObject({ ok: true, session: { userId } });
  await expect(stile.redeemCode(code, codeVerifier)).rejects.toMatchObject({ status: 400 });
  const other = (await newCode()) ?? "";
  await expect(stile.redeemCode(other, "y".repeat(43))).rejects.toMatchObject({ status: 400 });
  await expect(stile.redeemCode(other, codeVerifier)).rejects.toMatchObject({ status: 400 });
});

test("redeemCode names the error of a code that is not valid", async () => {
  await expect(clientWith().redeemCode("x", "y".repeat(43))).rejects.toMatchObject({
    name: "StileError",
    status: 400,
    message: "The code is invalid or was already used.",
  });
});

describe("endSession", () => {
  test("ends the session of a token or of a request, and takes one that has ended", async () => {
    const stile = clientWith();
    for (const present of [
      (token: string) => token,
      (token: string) => ({ headers: { cookie: `a=b; service=${token}` } }),
    ]) {
      const { visitor } = await restRegistration(runtime, `${randomUUID()}@example.com`);
      const own = visitor.cookies.get("service") ?? "";
      await stile.endSession(present(own));
      expect(await stile.verifySession(own)).toEqual({ ok: false, reason: "ended" });
      await stile.endSession(present(own));
    }
    requested.length = 0;
    for (const nothing of ["", null, undefined, new Request("https://shop.test")])
      await stile.endSession(nothing);
    expect(requested).toEqual([]);
  });

  test("tells where the sign-out goes on at the provider", async () => {
    const next = "https://login.example.com/logout/provider?state=AAAA";
    const asked: string[] = [];
    const answering = (headers: Record<string, string>) =>
      clientWith({
        fetch: async (url) => {
          asked.push(String(url));
          return new Response(null, { status: 204, headers });
        },
      });
    const stile = answering({ "X-Provider-Logout": next });
    expect(await stile.endSession(token, { redirectTo: "https://shop.test/bye" })).toEqual({
      nextUrl: next,
    });
    expect(asked[0]).toMatch(/\/logout\?redirect_to=https%3A%2F%2Fshop\.test%2Fbye$/);
    expect(await answering({}).endSession(token)).toEqual({ nextUrl: null });
    expect(asked[1]).toMatch(/\/logout$/);
  });

  test("throws while the service does not answer", async () => {
    const stile = clientWith({ fetch: () => Promise.reject(new TypeError("fetch failed")) });
    await expect(stile.endSession(token)).rejects.toThrow(StileError);
  });
});

describe("verifyWebhook", () => {
  const secret = `whsec_${randomBytes(32).toString("base64")}`;
  const data = () => ({
    id: userId,
    created_at: "2026-01-31T12:00:00.000Z",
    updated_at: "2026-01-31T12:00:00.000Z",
  });
  const now = () => Math.floor(Date.now() / 1000);

  interface Made {
    event?: string;
    claims?: object;
    typ?: string;
    secrets?: string[];
    at?: number;
    id?: string;
  }

  async function delivery({ event = "user.login", claims = {}, typ = "webhook+jwt", ...made }: Made = {}) {
    const { secrets = [secret], at = now(), id = randomUUID() } = made;
    const token = await sign(
      {
        iss: baseUrl,
        aud: [new URL(baseUrl).hostname],
        sub: "hanko webhooks",
        jti: id,
        iat: now(),
        exp: now() + 300,
        evt: "user.login",
        data: data(),
        ...claims,
      },
      typ,
    );
    const body = JSON.stringify({ token, event });
    const signatures = secrets.map((key) => {
      const bytes = Buffer.from(key.slice("whsec_".length), "base64");
      return `v1,${createHmac("sha256", bytes).update(`${id}.${at}.${body}`).digest("base64")}`;
    });
    const headers = {
      "webhook-id": id,
      "webhook-timestamp": String(at),
      "webhook-signature": signatures.join(" "),
    };
    return { body, headers, id };
  }

  const stile = () => clientWith({ webhookSecret: secret });

  test("returns the event, from a request and from headers with an unparsed body", async () => {
    const { body, headers, id } = await delivery();
    const event = { ok: true, event: { id, name: "user.login", data: data() } };
    const request = new Request("https://shop.test/hooks", { method: "POST", body, headers });
    expect(await stile().verifyWebhook(request)).toEqual(event);
    expect(await stile().verifyWebhook({ headers, body })).toEqual(event);
    expect(await stile().verifyWebhook({ headers, body: Buffer.from(body) })).toEqual(event);
  });

  test("takes either secret during a rotation, and none where the webhook has none", async () => {
    const other = `whsec_${randomBytes(32).toString("base64")}`;
    const both = await delivery({ secrets: [other, secret] });
    expect(await stile().verifyWebhook(both)).toMatchObject({ ok: true });
    expect(await stile().verifyWebhook(await delivery(), { secret: [other, secret] })).toMatchObject({
      ok: true,
    });
    const unsigned = await delivery({ secrets: [] });
    expect(await stile().verifyWebhook(unsigned, { secret: null })).toMatchObject({ ok: true });
    await expect(clientWith().verifyWebhook(unsigned)).rejects.toThrow("`webhookSecret` is needed");
  });

  test.each<[name: string, make: () => Promise<{ body: string; headers: object }>, reason: string]>([
    [
      "of another secret",
      () => delivery({ secrets: [`whsec_${randomBytes(32).toString("base64")}`] }),
      "signature",
    ],
    ["without a signature", () => delivery({ secrets: [] }), "signature"],
    [
      "with another body",
      async () => ({ ...(await delivery()), body: (await delivery()).body }),
      "signature",
    ],
    [
      "with another time",
      async () => {
        const made = await delivery();
        return { ...made, headers: { ...made.headers, "webhook-timestamp": String(now() - 10) } };
      },
      "signature",
    ],
    ["of six minutes ago", () => delivery({ at: now() - 360 }), "outdated"],
    ["of the future", () => delivery({ at: now() + 360 }), "outdated"],
    ["A65 with the token of a session", () => delivery({ typ: "JWT" }), "token"],
    ["A65 with an expired token", () => delivery({ claims: { exp: now() - 61 } }), "token"],
    ["A65 for another audience", () => delivery({ claims: { aud: ["evil.test"] } }), "token"],
    ["A65 of another issuer", () => delivery({ claims: { iss: "https://evil.test" } }), "token"],
    ["of another purpose", () => delivery({ claims: { sub: userId } }), "token"],
    ["with the token of another event", () => delivery({ claims: { evt: "user.delete" } }), "token"],
    ["that names another event", () => delivery({ event: "user.delete" }), "token"],
    ["with the token of another delivery", () => delivery({ claims: { jti: randomUUID() } }), "token"],
  ])("refuses a delivery %s", async (_, make, reason) => {
    expect(await stile().verifyWebhook((await make()) as never)).toEqual({ ok: false, reason });
  });

  test("refuses a body without token and event, and one without end", async () => {
    const headers = {};
    for (const body of ["", "null", "[]", "{", '{"token":1,"event":"user.login"}'])
      expect(await stile().verifyWebhook({ headers, body }, { secret: null })).toEqual({
        ok: false,
        reason: "body",
      });
    let sent = 0;
    const endless = new ReadableStream({
      pull(controller) {
        sent += 1;
        controller.enqueue(new Uint8Array(64 * 1024));
      },
    });
    const request = new Request("https://shop.test", {
      method: "POST",
      body: endless,
      duplex: "half",
    } as RequestInit);
    expect(await stile().verifyWebhook(request)).toEqual({ ok: false, reason: "body" });
    expect(sent).toBeLessThan(32);
  });

  test("refuses a body that was read or parsed before, or whose sender is gone", async () => {
    const { body, headers } = await delivery();
    const read = new Request("https://shop.test", { method: "POST", body, headers });
    await read.text();
    const gone = new ReadableStream({ start: (controller) => controller.error(new Error("reset")) });
    const broken = new Request("https://shop.test", {
      method: "POST",
      headers,
      body: gone,
      duplex: "half",
    } as RequestInit);
    // A parser of bodies leaves an object or nothing to a client that names another `Content-Type`.
    for (const unread of [
      read,
      broken,
      { headers, body: {} },
      { headers, body: JSON.parse(body) },
      { headers },
    ])
      expect(await stile().verifyWebhook(unread as never)).toEqual({ ok: false, reason: "body" });
  });

  test("finds the headers in any case", async () => {
    const { body, headers } = await delivery();
    const titled = Object.entries(headers).map(([name, value]) => [
      name.replace("webhook", "Webhook"),
      value,
    ]);
    expect(await stile().verifyWebhook({ headers: Object.fromEntries(titled), body })).toMatchObject({
      ok: true,
    });
  });

  test("hashes a body once for each secret, however many signatures come with it", async () => {
    const { body, headers } = await delivery();
    const wrong = `v1,${randomBytes(32).toString("base64")}`;
    const many = {
      ...headers,
      "webhook-signature": `${`${wrong} v1,A `.repeat(200)}${headers["webhook-signature"]}`,
    };
    const hashes = [vi.spyOn(crypto.subtle, "sign"), vi.spyOn(crypto.subtle, "verify")];
    const client = clientWith({ webhookSecret: [`whsec_${randomBytes(32).toString("base64")}`, secret] });
    expect(await client.verifyWebhook({ headers: many, body })).toMatchObject({ ok: true });
    const hmacs = hashes.flatMap(({ mock }) =>
      mock.calls.filter(([algorithm]) => JSON.stringify(algorithm).includes("HMAC")),
    );
    expect(hmacs.length).toBeLessThanOrEqual(2);
    vi.restoreAllMocks();
  });
});

describe("the administration interface", () => {
  test("has a method for each operation, whose errors have the status and the message", async () => {
    const { key: apiKey } = await adminOperator(runtime);
    const { admin } = clientWith({ apiKey });
    expect((await admin.getUser({ id: userId })).id).toBe(userId);
    const { items, total } = await admin.listAuditLogs({ query: { per_page: 1 } });
    expect(items).toHaveLength(1);
    expect(total).toBeGreaterThan(1);
    await expect(admin.getUser({ id: randomUUID() })).rejects.toMatchObject({ status: 404 });
    await expect(admin.getUser({ id: "../tenants" })).rejects.toMatchObject({ status: 400 });
    const other = clientWith({ apiKey: "stile_wrong" });
    await expect(other.admin.getUser({ id: userId })).rejects.toMatchObject({ status: 401 });
    await expect(clientWith().admin.getUser({ id: userId })).rejects.toThrow("`apiKey` is needed");
  });

  test("sends no id that makes the address that of another operation", async () => {
    const { key: apiKey } = await adminOperator(runtime);
    const { admin } = clientWith({ apiKey });
    requested.length = 0;
    for (const id of ["", ".", "..", undefined as never])
      for (const refused of [
        () => admin.deleteUserEmail({ id: userId, email_id: id }),
        () => admin.deleteUser({ id }),
      ])
        await expect(refused()).rejects.toThrow("is not an id");
    expect(requested).toEqual([]);
    await expect(admin.deleteUserEmail({ id: userId, email_id: "..%2f..?#" })).rejects.toMatchObject({
      status: 400,
    });
  });

  test("has the types of the document", () => {
    type User = Awaited<ReturnType<Admin["getUser"]>>;
    expectTypeOf<User["id"]>().toEqualTypeOf<string>();
    expectTypeOf<NonNullable<User["emails"]>[number]["is_primary"]>().toEqualTypeOf<boolean>();
    expectTypeOf<Awaited<ReturnType<Admin["listUsers"]>>>().toEqualTypeOf<{ items: User[]; total: number }>();
    expectTypeOf<Parameters<Admin["getUser"]>>().toEqualTypeOf<[input: { id: string }]>();
    expectTypeOf<Extract<WebhookEvent, { name: "email.send" }>["data"]["subject"]>().toEqualTypeOf<string>();
    expect(Object.keys(clientWith().admin)).toContain("listUsers");
  });

  test("packages/server/src/interface.ts has the operations of the document; `npm run docs` writes it", () => {
    expect(readFileSync(join(import.meta.dirname, "interface.ts"), "utf8")).toBe(clientInterface());
  });
});

test("the client imports nothing but jose", () => {
  // `trpc.ts` has types alone.
  const modules = readdirSync(import.meta.dirname).filter((name) => /(?<!\.test|^trpc)\.ts$/.test(name));
  const imported = modules.flatMap((name) => {
    const source = readFileSync(join(import.meta.dirname, name), "utf8");
    return [...source.matchAll(/ from "([^"]+)"/g)].map(([, specifier = ""]) => specifier);
  });
  expect([...new Set(imported.filter((specifier) => !specifier.startsWith("./")))]).toEqual(["jose"]);
});
