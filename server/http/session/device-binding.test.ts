import { createSign, generateKeyPairSync, randomUUID } from "node:crypto";
import { and, eq } from "drizzle-orm";
import { decodeJwt, decodeProtectedHeader, exportJWK, generateKeyPair, SignJWT } from "jose";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { schema } from "#db/client";
import { answerPage } from "../../../hosted/answer.ts";
import type { FlowState } from "../../flow/wire.ts";
import { adminOperator } from "../../testing/admin-operator.ts";
import { auditTrail } from "../../testing/audit-trail.ts";
import { type DeviceBoundBrowser, deviceBoundBrowser } from "../../testing/device-bound-browser.ts";
import { storedEvents, storeWebhook } from "../../testing/emitted-events.ts";
import { send } from "../../testing/observed.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { chooseMethod, password, restRegistration, restWalk } from "../../testing/rest-walk.ts";
import type { TestRuntime } from "../../testing/runtime.ts";
import { visitor } from "../../testing/visitor.ts";
import { pageState } from "../page/page-state.ts";

const runtime = await runtimeForTests();

const MINUTES = 60;

interface Person {
  email: string;
  userId: string;
}

async function person(host: TestRuntime = runtime): Promise<Person> {
  const email = `${randomUUID()}@example.com`;
  const { state } = await restRegistration(host, email);
  return { email, userId: (state.payload as { claims: { subject: string } }).claims.subject };
}

const newBrowser = (host: TestRuntime = runtime, supported?: ("ES256" | "RS256")[]): DeviceBoundBrowser =>
  deviceBoundBrowser(
    host.config.base_url,
    (request) => send(request, "192.0.2.1", host),
    () => Date.now() + host.platform.clockShift(),
    supported,
  );

async function signIn(browser: DeviceBoundBrowser, { email }: Person, host: TestRuntime = runtime) {
  const flow = await restWalk(host, "login", browser);
  await flow.act("register_client_capabilities");
  await flow.act("continue_with_login_identifier", { email });
  await chooseMethod(flow, "continue_to_password_login");
  await flow.act("password_login", { password });
  if (flow.state.name !== "success") throw new Error(`the sign-in ended at ${flow.state.name}`);
  return flow.response;
}

/** A user whose browser has bound its session. The time for requests under way is over. */
async function boundPerson(host: TestRuntime = runtime) {
  const [browser, owner] = [newBrowser(host), await person(host)];
  await signIn(browser, owner, host);
  host.advanceClock(61);
  const [session] = browser.bound.values();
  if (!session) throw new Error("the browser has bound no session");
  return { ...owner, browser, session };
}

/** Sends a request with a cookie header alone, as a thief would. */
const withCookies = (cookie: string, path = "/me", headers: Record<string, string> = {}, host = runtime) =>
  visitor(host).request(path, { headers: { cookie, ...headers } });

const refresh = (headers: Record<string, string>, host = runtime) =>
  visitor(host).request("/sessions/binding/refresh", { method: "POST", headers });

const sessionRow = async (id: string) => {
  const { sessions } = schema;
  const own = and(eq(sessions.tenantId, runtime.tenant.id), eq(sessions.id, id));
  const [row] = await runtime.database.read.select().from(sessions).where(own);
  return row;
};

const binding = (trail: [string, unknown][]) =>
  trail.filter(([type]) => type.startsWith("session_bound") || type.startsWith("session_binding"));

describe("a browser that can bind sessions", () => {
  test("registers a key after signing in, and gets a cookie of some minutes (DBSC, 9.1, 9.6)", async () => {
    const [browser, { email, userId }] = [newBrowser(), await person()];
    browser.registers = false;
    const response = await signIn(browser, { email, userId });
    const offer = response.headers.get("secure-session-registration");
    expect(offer).toMatch(/^\(ES256 RS256\);path="\/sessions\/binding";challenge="[\w-]+"$/);

    const registered = await browser.register();

    expect(registered?.status).toBe(200);
    expect(registered?.headers.get("cache-control")).toContain("no-store");
    const { session_id } = decodeJwt(browser.cookies.get("service") ?? "");
    expect(await registered?.json()).toEqual({
      session_identifier: session_id,
      refresh_url: "/sessions/binding/refresh",
      scope: { include_site: false, scope_specification: [{ type: "exclude", path: "/t" }] },
      credentials: [{ type: "cookie", name: "service-bound", attributes: "Path=/; HttpOnly; SameSite=Lax" }],
      allowed_refresh_initiators: ["*"],
    });
    expect(browser.cookies.get("service-bound")).toMatch(/^[\w-]{43}$/);
    const row = await sessionRow(String(session_id));
    expect(row?.boundKey).toMatchObject({ kty: "EC", crv: "P-256" });
    expect(binding(await auditTrail(runtime, userId))).toEqual([["session_bound", { session_id }]]);
  });

  test("may use an RSA key", async () => {
    const [browser, owner] = [newBrowser(runtime, ["RS256"]), await person()];
    await signIn(browser, owner);
    runtime.advanceClock(20 * MINUTES);
    expect((await browser.request("/me")).status).toBe(200);
    expect(browser.calls.map(({ path, status }) => [path, status])).toEqual([
      ["/sessions/binding", 200],
      ["/sessions/binding/refresh", 403],
      ["/sessions/binding/refresh", 200],
    ]);
  });

  test("renews the cookie when it has expired, by a challenge that it asks for (DBSC, 8.8)", async () => {
    const { browser, session } = await boundPerson();
    const before = browser.cookies.get("service-bound");
    runtime.advanceClock(12 * MINUTES);
    expect(browser.cookies.has("service-bound")).toBe(false);

    expect((await browser.request("/me")).status).toBe(200);

    expect(browser.calls.slice(1).map(({ status, proof }) => [status, proof !== null])).toEqual([
      [403, false],
      [200, true],
    ]);
    expect(browser.cookies.get("service-bound")).not.toBe(before);
    expect([...browser.bound.keys()]).toEqual([session.id]);
  });

  test("renews it by one request if an answer has brought the challenge before (DBSC, 8.7)", async () => {
    const { browser } = await boundPerson();
    expect((await browser.request("/me")).headers.has("secure-session-challenge")).toBe(false);
    runtime.advanceClock(7 * MINUTES);
    expect((await browser.request("/me")).headers.has("secure-session-challenge")).toBe(true);
    runtime.advanceClock(4 * MINUTES);
    expect((await browser.request("/me")).status).toBe(200);
    expect(browser.calls.slice(1).map(({ status }) => status)).toEqual([200]);
  });

  test("renews it for a request that another site has caused, as an application's does", async () => {
    const { browser } = await boundPerson();
    runtime.advanceClock(12 * MINUTES);
    const response = await browser.request("/sessions/validate", {
      headers: { origin: "https://app.example.com" },
    });
    expect(await response.json()).toMatchObject({ is_valid: true });
  });

  test("binds the session that a reauthentication has put in place of the former", async () => {
    const { browser, session, userId } = await boundPerson();
    runtime.advanceClock(20 * MINUTES);
    const flow = await restWalk(runtime, "profile", browser);
    await flow.act("register_client_capabilities");
    await flow.act("password_update", { password: `${password}!` });
    expect(flow.state.name).not.toBe("profile_init");
    await chooseMethod(flow, "continue_to_password_login");
    await flow.act("password_login", { password });
    expect(flow.state.name).toBe("profile_init");
    const { session_id } = decodeJwt(browser.cookies.get("service") ?? "");
    expect(session_id).not.toBe(session.id);
    expect(browser.bound.has(String(session_id))).toBe(true);
    runtime.advanceClock(12 * MINUTES);
    expect((await browser.request("/me")).status).toBe(200);
    // The former session has ended: the browser learns it at its next refresh.
    expect([...browser.bound.keys()]).toEqual([session_id]);
    expect(binding(await auditTrail(runtime, userId)).map(([type]) => type)).toEqual([
      "session_bound",
      "session_bound",
    ]);
  });

  test("forgets the binding of a session that has ended", async () => {
    const { browser } = await boundPerson();
    const header = browser.cookieHeader();
    await withCookies(header, "/logout", {}).then(({ status }) => expect(status).toBe(405));
    await visitor(runtime).request("/logout", { method: "POST", headers: { cookie: header } });
    runtime.advanceClock(12 * MINUTES);
    expect((await browser.request("/me")).status).toBe(401);
    expect(browser.bound.size).toBe(0);
    expect(browser.calls.at(-1)?.status).toBe(404);
  });

  test("has both cookies removed when it signs out", async () => {
    const { browser } = await boundPerson();
    expect((await browser.post("/logout")).status).toBe(204);
    expect(browser.cookies.has("service")).toBe(false);
    expect(browser.cookies.has("service-bound")).toBe(false);
  });

  test("keeps its binding under a tenant of a path, whose scope is that path", async () => {
    const id = randomUUID();
    await runtime.database.write.insert(schema.tenants).values({ id, name: "a tenant of a path" });
    const email = `${randomUUID()}@example.com`;
    const browser = newBrowser();
    const within = {
      ...browser,
      post: (path: string, body?: unknown) =>
        browser.post(path.startsWith("/t/") ? path : `/t/${id}${path}`, body),
    };
    const flow = await restWalk(runtime, "registration", within);
    await flow.act("register_client_capabilities");
    await flow.act("register_login_identifier", { email });
    const job = runtime.enqueued.findLast(({ to }) => to === email);
    await flow.act("verify_passcode", { code: job && "code" in job.mail ? job.mail.code : "" });
    await flow.act("register_password", { new_password: password });
    expect(flow.state.name).toBe("success");
    const [session] = browser.bound.values();
    expect(session?.scope.rules).toEqual([
      { type: "exclude", path: "/" },
      { type: "include", path: `/t/${id}` },
    ]);
    expect(session?.refreshUrl.pathname).toBe(`/t/${id}/sessions/binding/refresh`);
    runtime.advanceClock(12 * MINUTES);
    expect((await browser.request("/.well-known/jwks.json")).status).toBe(200);
    expect(browser.calls).toHaveLength(1);
    expect((await browser.request(`/t/${id}/me`)).status).toBe(200);
    expect(browser.calls).toHaveLength(3);
  });
});

describe("A230 a session cookie that was copied from its browser", () => {
  test("is refused without the bound cookie, at every address and in every header", async () => {
    const { browser, session, userId } = await boundPerson();
    const token = browser.cookies.get("service") ?? "";
    const stolen = browser.cookieHeader("service-bound");

    const me = await withCookies(stolen);
    expect(me.status).toBe(401);
    expect(me.headers.get("www-authenticate")).toBe('Bearer error="binding_required"');
    const validated = await withCookies(stolen, "/sessions/validate");
    expect([validated.status, await validated.json()]).toEqual([401, { is_valid: false }]);
    expect((await withCookies(stolen, "/forward-auth")).status).toBe(401);
    const bearer = { headers: { authorization: `Bearer ${token}` } };
    expect((await visitor(runtime).request("/me", bearer)).status).toBe(401);
    const profile = await visitor(runtime).request("/profile", {
      method: "POST",
      headers: { cookie: stolen, "content-type": "application/json" },
    });
    expect([profile.status, ((await profile.json()) as FlowState).name]).toEqual([401, "error"]);
    const { state } = await pageState(runtime, runtime.tenant, stolen, "profile");
    expect(state.error?.code).toBe("unauthorized");

    expect((await withCookies(browser.cookieHeader())).status).toBe(200);
    expect(binding(await auditTrail(runtime, userId)).slice(1)).toEqual([
      ["session_binding_rejected", { session_id: session.id, reason: "missing" }],
    ]);
  });

  test("A294 shows no page of its account, and is recorded there as by a call", async () => {
    const { browser, session, userId } = await boundPerson();
    const display = (path: string, headers: Record<string, string>) =>
      answerPage(
        new Request(`${runtime.config.base_url}${path}`, { headers: { host: "localhost:3000", ...headers } }),
        { address: "198.51.100.7", requestId: "request-1" },
        runtime,
      );
    const { auditLogs } = schema;
    const refusals = () =>
      runtime.database.read
        .select()
        .from(auditLogs)
        .where(and(eq(auditLogs.userId, userId), eq(auditLogs.type, "session_binding_rejected")));
    const own = await display("/account", { cookie: browser.cookieHeader() });
    expect(own.status).toBe(200);
    expect(await refusals()).toEqual([]);
    const cookie = browser.cookieHeader("service-bound");
    const headers = {
      cookie,
      "user-agent": "Thief/1.0",
      "secure-session-skipped": `unreachable;session_identifier="${session.id}"`,
    };
    for (const path of ["/account", "/?flow=consent", "/account"]) {
      const page = await (await display(path, headers)).text();
      expect(page).not.toContain(userId);
    }
    expect(await refusals()).toMatchObject([
      {
        details: { session_id: session.id, reason: "unreachable" },
        ipAddress: "198.51.100.7",
        userAgent: "Thief/1.0",
        requestId: "request-1",
      },
    ]);
    expect((await withCookies(cookie)).status).toBe(401);
    expect(await refusals()).toHaveLength(1);
    runtime.advanceClock(11 * MINUTES);
    await display("/account", headers);
    expect(await refusals()).toHaveLength(2);
  });

  test("is worth the rest of the bound cookie's minutes together with it, and nothing then", async () => {
    const { browser } = await boundPerson();
    const stolen = browser.cookieHeader();
    expect((await withCookies(stolen)).status).toBe(200);
    runtime.advanceClock(11 * MINUTES);
    expect((await withCookies(stolen)).status).toBe(401);
    await browser.request("/me");
    runtime.advanceClock(61);
    expect((await withCookies(stolen)).status).toBe(401);
    expect((await browser.request("/me")).status).toBe(200);
  });

  test("is not accepted because the request says that the browser has skipped the refresh (DBSC, 9.5)", async () => {
    const { browser, session, userId } = await boundPerson();
    const stolen = browser.cookieHeader("service-bound");
    const skipped = `quota_exceeded;session_identifier="${session.id}"`;
    expect((await withCookies(stolen, "/me", { "secure-session-skipped": skipped })).status).toBe(401);
    expect(binding(await auditTrail(runtime, userId)).at(-1)).toEqual([
      "session_binding_rejected",
      { session_id: session.id, reason: "quota_exceeded" },
    ]);
  });

  test("is recorded once in the lifetime of a bound cookie, however often it comes", async () => {
    await storeWebhook(runtime, ["session"]);
    const { browser, session, userId } = await boundPerson();
    const stolen = browser.cookieHeader("service-bound");
    await Promise.all(Array.from({ length: 20 }, () => withCookies(stolen)));
    const refusals = async () =>
      binding(await auditTrail(runtime, userId)).filter(([type]) => type === "session_binding_rejected");
    expect(await refusals()).toHaveLength(1);
    runtime.advanceClock(11 * MINUTES);
    await withCookies(stolen);
    expect(await refusals()).toHaveLength(2);
    const events = (await storedEvents(runtime)).filter(
      ({ name, subjectId }) => name.startsWith("session.binding") && subjectId === userId,
    );
    expect(events.map(({ name, data }) => [name, (data as { id: string }).id])).toEqual([
      ["session.binding.create", session.id],
      ["session.binding.rejected", session.id],
      ["session.binding.rejected", session.id],
    ]);
  });

  test("cannot be bound by the thief: the challenge is in the answer that issued it", async () => {
    const [browser, owner] = [newBrowser(), await person()];
    browser.registers = false;
    await signIn(browser, owner);
    const stolen = browser.cookieHeader();
    const other = newBrowser();
    other.registers = false;
    const offer = (await signIn(other, owner)).headers.get("secure-session-registration") ?? "";
    const challengeOfOther = /challenge="([^"]+)"/.exec(offer)?.[1] ?? "";
    for (const challenge of [challengeOfOther, "x", ""]) {
      const response = await registration(await proof(challenge), stolen);
      expect([400, 401]).toContain(response.status);
    }
    expect((await browser.register())?.status).toBe(200);
  });

  test("may still be used to sign out", async () => {
    const { browser } = await boundPerson();
    const stolen = browser.cookieHeader("service-bound");
    const response = await visitor(runtime).request("/logout", {
      method: "POST",
      headers: { cookie: stolen },
    });
    expect(response.status).toBe(204);
  });
});

const registration = (jwt: string, cookie: string, host = runtime) =>
  visitor(host).request("/sessions/binding", {
    method: "POST",
    headers: { cookie, "secure-session-response": `"${jwt}"` },
  });

/** A proof by `jose`, of a new key. */
async function proof(
  challenge: string,
  { typ = "dbsc+jwt", jwk, alg = "ES256" }: { typ?: string; jwk?: object; alg?: string } = {},
): Promise<string> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { modulusLength: 2048 });
  return new SignJWT({ jti: challenge })
    .setProtectedHeader({ alg, typ, jwk: jwk ?? (await exportJWK(publicKey)) })
    .sign(privateKey);
}

describe("A231 the proof of a key", () => {
  async function offered() {
    const [browser, owner] = [newBrowser(), await person()];
    browser.registers = false;
    const response = await signIn(browser, owner);
    const header = response.headers.get("secure-session-registration") ?? "";
    const challenge = /challenge="([^"]+)"/.exec(header)?.[1] ?? "";
    return { browser, owner, challenge, cookie: browser.cookieHeader() };
  }

  test("of a registration is refused with another type, algorithm, signature or key", async () => {
    const { browser, challenge, cookie } = await offered();
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const unsigned = `${encode({ alg: "none", typ: "dbsc+jwt" })}.${encode({ jti: challenge })}.`;
    const weak = generateKeyPairSync("rsa", { modulusLength: 1024 });
    const text = `${encode({ alg: "RS256", typ: "dbsc+jwt", jwk: weak.publicKey.export({ format: "jwk" }) })}.${encode({ jti: challenge })}`;
    const weakly = `${text}.${createSign("sha256").update(text).sign(weak.privateKey, "base64url")}`;
    const { publicKey } = await generateKeyPair("ES256");
    const refused = [
      unsigned,
      weakly,
      await proof(challenge, { typ: "JWT" }),
      await proof(challenge, { jwk: await exportJWK(publicKey) }),
      await proof(challenge, { alg: "ES384" }),
      await proof(challenge, { jwk: { kty: "oct", k: "AAAA" } }),
      `${await proof(challenge)}x`,
      "x".repeat(7000),
      "a.b.c",
      "",
    ];
    for (const jwt of refused) expect((await registration(jwt, cookie)).status).toBe(400);
    expect((await browser.register())?.status).toBe(200);
  });

  test("of a registration is refused without the session's cookie, at another tenant, and after five minutes", async () => {
    const { challenge, cookie } = await offered();
    const other = newBrowser();
    await signIn(other, await person());
    expect((await registration(await proof(challenge), "")).status).toBe(401);
    expect((await registration(await proof(challenge), other.cookieHeader())).status).toBe(401);
    const id = randomUUID();
    await runtime.database.write.insert(schema.tenants).values({ id, name: "another tenant" });
    const there = await visitor(runtime).request(`/t/${id}/sessions/binding`, {
      method: "POST",
      headers: { cookie, "secure-session-response": `"${await proof(challenge)}"` },
    });
    expect(there.status).toBe(400);
    runtime.advanceClock(5 * MINUTES + 1);
    expect((await registration(await proof(challenge), cookie)).status).toBe(400);
  });

  test("of a second registration is refused, also of 20 at once", async () => {
    const { challenge, cookie } = await offered();
    const proofs = await Promise.all(Array.from({ length: 20 }, () => proof(challenge)));
    const statuses = await Promise.all(proofs.map(async (jwt) => (await registration(jwt, cookie)).status));
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409 || status === 401)).toHaveLength(19);
  });

  test("of a refresh serves once, also 20 times at once", async () => {
    const { browser, session } = await boundPerson();
    runtime.advanceClock(7 * MINUTES);
    await browser.request("/me");
    runtime.advanceClock(4 * MINUTES);
    await browser.request("/me");
    const used = browser.calls.at(-1)?.proof ?? "";
    expect(used).not.toBe("");
    const headers = { "sec-secure-session-id": `"${session.id}"`, "secure-session-response": used };
    const again = await refresh(headers);
    expect(again.status).toBe(403);
    expect(again.headers.get("secure-session-challenge")).toContain(`;id="${session.id}"`);
    expect(again.headers.getSetCookie()).toEqual([]);

    // One that was not used yet: the browser's next challenge, signed by its key, sent 20 times.
    runtime.advanceClock(12 * MINUTES);
    const asked = await refresh({ "sec-secure-session-id": `"${session.id}"` });
    const challenge = /^"([^"]+)"/.exec(asked.headers.get("secure-session-challenge") ?? "")?.[1] ?? "";
    const signed = await new SignJWT({ jti: challenge })
      .setProtectedHeader({ alg: "ES256", typ: "dbsc+jwt" })
      .sign(session.key.privateKey);
    const statuses = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const sent = { "sec-secure-session-id": `"${session.id}"`, "secure-session-response": `"${signed}"` };
        return (await refresh(sent)).status;
      }),
    );
    expect(statuses.toSorted()).toEqual([200, ...Array(19).fill(403)]);
  });

  test("of a refresh is refused from another key, for another session, and for a challenge of a registration", async () => {
    const [one, two] = [await boundPerson(), await boundPerson()];
    const challengeFor = async (id: string) => {
      const asked = await refresh({ "sec-secure-session-id": `"${id}"` });
      return /^"([^"]+)"/.exec(asked.headers.get("secure-session-challenge") ?? "")?.[1] ?? "";
    };
    const sign = (challenge: string, { key }: typeof one.session) =>
      new SignJWT({ jti: challenge })
        .setProtectedHeader({ alg: "ES256", typ: "dbsc+jwt" })
        .sign(key.privateKey);
    const attempts = [
      [one.session.id, await sign(await challengeFor(one.session.id), two.session)],
      [one.session.id, await sign(await challengeFor(two.session.id), two.session)],
      [one.session.id, await sign(await challengeFor(two.session.id), one.session)],
      [one.session.id, await proof((await offered()).challenge)],
    ] as const;
    for (const [id, jwt] of attempts) {
      const headers = { "sec-secure-session-id": `"${id}"`, "secure-session-response": `"${jwt}"` };
      const response = await refresh(headers);
      expect(response.status).toBe(400);
      expect(response.headers.getSetCookie()).toEqual([]);
    }
  });

  test("of a refresh is answered with a new challenge when its own is older than five minutes", async () => {
    const { browser, session } = await boundPerson();
    runtime.advanceClock(8 * MINUTES);
    await browser.request("/me");
    const held = session.challenge;
    expect(held).not.toBeNull();
    runtime.advanceClock(8 * MINUTES);
    expect((await browser.request("/me")).status).toBe(200);
    expect(browser.calls.slice(1).map(({ status }) => status)).toEqual([403, 200]);
  });

  test("may be anything: nothing a client sends is an error of the server", async () => {
    const { session } = await boundPerson();
    const values = [
      "",
      '"',
      '""',
      '"a"',
      "a",
      ":YQ==:",
      "1",
      '"a";b=1',
      "(a b)",
      '"\\u0000"',
      '"a.b.c"',
      "=",
      ",",
    ];
    for (const value of values)
      for (const id of [`"${session.id}"`, ...values]) {
        const headers = {
          "sec-secure-session-id": id,
          "secure-session-response": value,
          "secure-session-skipped": value,
        };
        expect((await refresh(headers)).status).toBeLessThan(500);
        const registered = await visitor(runtime).request("/sessions/binding", { method: "POST", headers });
        expect(registered.status).toBe(400);
      }
  });
});

describe("A232 requests that are under way", () => {
  test("while a browser registers are accepted without the bound cookie", async () => {
    const [browser, owner] = [newBrowser(), await person()];
    await signIn(browser, owner);
    const sentBefore = browser.cookieHeader("service-bound");
    expect((await withCookies(sentBefore)).status).toBe(200);
    runtime.advanceClock(61);
    expect((await withCookies(sentBefore)).status).toBe(401);
  });

  test("while it refreshes are accepted with the cookie before, for a minute", async () => {
    const { browser, session } = await boundPerson();
    const sentBefore = browser.cookieHeader();
    // The browser refreshes when its cookie has expired, a little later than the service counts.
    runtime.advanceClock(9 * MINUTES + 2);
    const asked = await refresh({ "sec-secure-session-id": `"${session.id}"` });
    const challenge = /^"([^"]+)"/.exec(asked.headers.get("secure-session-challenge") ?? "")?.[1] ?? "";
    const signed = await new SignJWT({ jti: challenge })
      .setProtectedHeader({ alg: "ES256", typ: "dbsc+jwt" })
      .sign(session.key.privateKey);
    const sent = { "sec-secure-session-id": `"${session.id}"`, "secure-session-response": `"${signed}"` };
    expect((await refresh(sent)).status).toBe(200);
    expect((await withCookies(sentBefore)).status).toBe(200);
    runtime.advanceClock(61);
    expect((await withCookies(sentBefore)).status).toBe(401);
  });
});

describe("a browser that cannot bind sessions", () => {
  test("goes on with its session as before", async () => {
    const { email } = await person();
    const browser = visitor(runtime);
    const flow = await restWalk(runtime, "login", browser);
    await flow.act("register_client_capabilities");
    await flow.act("continue_with_login_identifier", { email });
    await chooseMethod(flow, "continue_to_password_login");
    await flow.act("password_login", { password });
    runtime.advanceClock(3 * 60 * MINUTES);
    expect((await browser.request("/me")).status).toBe(200);
    expect(browser.cookies.has("service-bound")).toBe(false);
  });

  test("has to sign in again after some minutes where bindings are required", async () => {
    const host = runtime.configured({ STILE_SESSION_DEVICE_BOUND_MODE: "required" });
    const owner = await person(host);
    const browser = newBrowser(host);
    browser.registers = false;
    await signIn(browser, owner, host);
    const token = browser.cookies.get("service") ?? "";
    expect((await browser.request("/me")).status).toBe(200);
    runtime.advanceClock(11 * MINUTES + 1);
    expect((await browser.request("/me")).status).toBe(401);
    const validated = await visitor(host).post("/sessions/validate", { session_token: token });
    expect(await validated.json()).toEqual({ is_valid: false });
    const able = newBrowser(host);
    await signIn(able, owner, host);
    runtime.advanceClock(30 * MINUTES);
    expect((await able.request("/me")).status).toBe(200);
  });
});

describe("a browser that has used up its quota of refreshes", () => {
  test("says so, is refused, and goes on by signing in again", async () => {
    const { browser, session, userId, email } = await boundPerson();
    browser.quota = 0;
    runtime.advanceClock(12 * MINUTES);
    expect((await browser.request("/me")).status).toBe(401);
    expect(binding(await auditTrail(runtime, userId)).at(-1)).toEqual([
      "session_binding_rejected",
      { session_id: session.id, reason: "quota_exceeded" },
    ]);
    await signIn(browser, { email, userId });
    expect((await browser.request("/me")).status).toBe(200);
  });
});

describe("servers of applications", () => {
  test("pass on the session cookie alone as before, or both, and are told", async () => {
    const { browser } = await boundPerson();
    const [session_token, bound_token] = ["service", "service-bound"].map((name) =>
      browser.cookies.get(name),
    );
    const validate = async (body: object) =>
      ((await (await visitor(runtime).post("/sessions/validate", body)).json()) as { is_valid: boolean })
        .is_valid;
    expect(await validate({ session_token })).toBe(true);
    expect(await validate({ session_token, bound_token })).toBe(true);
    expect(await validate({ session_token, bound_token: null })).toBe(false);
    expect(await validate({ session_token, bound_token: "another" })).toBe(false);
    expect(
      (await visitor(runtime).post("/sessions/validate", { session_token, bound_token: 1 })).status,
    ).toBe(400);
  });

  test("use the token of an authorization code without the user's device", async () => {
    const { browser, session } = await boundPerson();
    const { issueAuthorizationCode } = await import("../../sessions/authorization-codes.ts");
    const { createHash } = await import("node:crypto");
    const codeVerifier = "v".repeat(43);
    const codeChallenge = createHash("sha256").update(codeVerifier).digest("base64url");
    const code = await issueAuthorizationCode(runtime, runtime.tenant, {
      sessionId: session.id,
      codeChallenge,
    });
    const redeemed = await visitor(runtime).post("/token", { code, code_verifier: codeVerifier });
    const { session_token } = (await redeemed.json()) as { session_token: string };
    expect(decodeProtectedHeader(session_token)).not.toHaveProperty("in_cookie");
    const bearer = { headers: { authorization: `Bearer ${session_token}` } };
    expect((await visitor(runtime).request("/me", bearer)).status).toBe(200);
    // In a cookie it is bound as every cookie of the session.
    expect((await withCookies(`service=${session_token}`)).status).toBe(401);
    expect(browser.bound.size).toBe(1);
  });
});

describe("where sessions are not bound", () => {
  const off = { STILE_SESSION_DEVICE_BOUND_MODE: "off" };
  const inHeader = { STILE_SESSION_ENABLE_AUTH_TOKEN_HEADER: "true" };
  const ofDomain = { BASE_URL: "https://login.example.com", STILE_SESSION_COOKIE_DOMAIN: "example.com" };
  test.each([off, inHeader, ofDomain])("%j no browser is asked to", async (settings) => {
    const host = runtime.configured(settings);
    const browser = newBrowser(host);
    const response = await signIn(browser, await person(host), host);
    expect(response.headers.has("secure-session-registration")).toBe(false);
    expect((await registration(await proof("x"), browser.cookieHeader(), host)).status).toBe(404);
    expect((await visitor(host).request("/.well-known/device-bound-sessions")).status).toBe(404);
  });

  test("any more, a bound session goes on with or without its device, and is bound again when they are", async () => {
    const { browser } = await boundPerson();
    const host = runtime.configured(off);
    const stolen = browser.cookieHeader("service-bound");
    expect((await withCookies(stolen, "/me", {}, host)).status).toBe(200);
    expect((await withCookies(stolen)).status).toBe(401);
    runtime.advanceClock(12 * MINUTES);
    const id = [...browser.bound.keys()][0] ?? "";
    expect((await refresh({ "sec-secure-session-id": `"${id}"` }, host)).status).toBe(403);
    expect((await browser.request("/me")).status).toBe(200);
  });
});

test("a binding covers the hosts of the cookie's domain where the operator says so (DBSC, 9.7)", async () => {
  const host = runtime.configured({
    BASE_URL: "https://login.example.com",
    STILE_SESSION_COOKIE_DOMAIN: "example.com",
    STILE_SESSION_DEVICE_BOUND_INCLUDE_SITE: "true",
  });
  const browser = newBrowser(host);
  await signIn(browser, await person(host), host);
  const [session] = browser.bound.values();
  expect(session?.scope).toEqual({
    origin: "https://example.com",
    includeSite: true,
    rules: [{ type: "exclude", path: "/t" }],
  });
  expect(session?.credentials).toEqual([
    { name: "service-bound", attributes: "Path=/; Domain=example.com; HttpOnly; Secure; SameSite=Lax" },
  ]);
  const wellKnown = await visitor(host).request("/.well-known/device-bound-sessions");
  expect(await wellKnown.json()).toEqual({ registering_origins: ["https://login.example.com"] });
});

describe("A232 an honest browser is not locked out", () => {
  test("that sends its texts without quotation marks, as Chromium does", async () => {
    const [browser, owner] = [newBrowser(), await person()];
    browser.quotes = false;
    await signIn(browser, owner);
    runtime.advanceClock(12 * MINUTES);
    expect((await browser.request("/me")).status).toBe(200);
    expect(browser.calls.map(({ status }) => status)).toEqual([200, 403, 200]);
  });

  test("by a second sign-in in another tab, both of which are bound", async () => {
    const [browser, owner] = [newBrowser(), await person()];
    const other = newBrowser();
    // Both have begun without a session.
    await signIn(other, owner);
    await signIn(browser, owner);
    const [first] = other.bound.values();
    if (first) browser.bound.set(first.id, first);
    runtime.advanceClock(12 * MINUTES);
    expect((await browser.request("/me")).status).toBe(200);
    const { session_id } = decodeJwt(browser.cookies.get("service") ?? "");
    expect([...browser.bound.keys()]).toEqual([session_id]);
  });

  test("by the bound cookie of another session: it is taken away, and the next request renews its own", async () => {
    const [one, two] = [await boundPerson(), await boundPerson()];
    const mixed = `service=${one.browser.cookies.get("service")}; service-bound=${two.browser.cookies.get("service-bound")}`;
    const response = await withCookies(mixed);
    expect(response.status).toBe(401);
    expect(response.headers.getSetCookie()).toEqual([
      "service-bound=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax",
    ]);
    const without = await withCookies(one.browser.cookieHeader("service-bound"));
    expect(without.headers.getSetCookie()).toEqual([]);
  });

  test("whose registration is sent twice by the network", async () => {
    const [browser, owner] = [newBrowser(), await person()];
    await signIn(browser, owner);
    const [first] = browser.calls;
    const cookie = browser.cookieHeader("service-bound");
    const again = await registration(first?.proof?.replaceAll('"', "") ?? "", cookie);
    expect(again.status).toBe(200);
    const renewed = /service-bound=([^;]+)/.exec(again.headers.getSetCookie()[0] ?? "")?.[1] ?? "";
    runtime.advanceClock(61);
    expect((await withCookies(`${cookie}; service-bound=${renewed}`)).status).toBe(200);
    expect((await registration(first?.proof?.replaceAll('"', "") ?? "", cookie)).status).toBe(401);
    expect(binding(await auditTrail(runtime, owner.userId)).map(([type]) => type)).toContain("session_bound");
  });

  test("by a shorter lifetime, which counts for the next cookie", async () => {
    const long = runtime.configured({ STILE_SESSION_DEVICE_BOUND_LIFETIME: "3600" });
    const { browser } = await boundPerson(long);
    const short = runtime.configured({ STILE_SESSION_DEVICE_BOUND_LIFETIME: "300" });
    runtime.advanceClock(30 * MINUTES);
    expect((await withCookies(browser.cookieHeader(), "/me", {}, short)).status).toBe(200);
  });

  test("that cannot renew at all: it signs in again, and goes on with a session that is not bound", async () => {
    const { browser, email, userId } = await boundPerson();
    browser.quota = 0;
    runtime.advanceClock(12 * MINUTES);
    expect((await browser.request("/me")).status).toBe(401);
    const response = await signIn(browser, { email, userId });
    expect(response.headers.has("secure-session-registration")).toBe(false);
    runtime.advanceClock(60 * MINUTES);
    expect((await browser.request("/me")).status).toBe(200);
  });

  test("at a further host of its tenant, whose sessions are bound there", async () => {
    const host = runtime.configured({ STILE_SERVER_HOSTS: "other.example.com" });
    const owner = await person(host);
    const browser = deviceBoundBrowser(
      "http://other.example.com",
      (request) => send(request, "192.0.2.1", host),
      () => Date.now() + host.platform.clockShift(),
    );
    // Without TLS a browser would not bind anything: the refresh URL of the draft is secure, or at localhost.
    await expect(signIn(browser, owner, host)).rejects.toThrow("the refresh URL is not secure");
    const told = await visitor(host).request("/sessions/validate");
    expect(told.status).toBe(200);
  });

  test("while servers of another release run, which would not renew its cookie", async () => {
    const { instances } = schema;
    const id = randomUUID();
    const leasedUntil = new Date(Date.now() + 60_000);
    await runtime.database.write.insert(instances).values({ id, leasedUntil, version: "0.3.0" });
    const [browser, owner] = [newBrowser(), await person()];
    await signIn(browser, owner);
    expect(browser.calls.map(({ status }) => status)).toEqual([409]);
    await runtime.database.write.delete(instances).where(eq(instances.id, id));
    runtime.advanceClock(30 * MINUTES);
    expect((await browser.request("/me")).status).toBe(200);
  });
});

test("A39 a planted session cookie beside that of a bound session without its device is not signed in", async () => {
  const [victim, attacker] = [await boundPerson(), newBrowser()];
  attacker.registers = false;
  await signIn(attacker, await person());
  const cookie = `${victim.browser.cookieHeader("service-bound")}; service=${attacker.cookies.get("service")}`;
  expect((await withCookies(cookie)).status).toBe(401);
});

test("with SameSite=None the requests of listed origins alone wait for a refresh", async () => {
  const host = runtime.configured({
    BASE_URL: "https://login.example.com",
    STILE_SESSION_COOKIE_SAME_SITE: "none",
    STILE_CORS_ALLOW_ORIGINS: "https://app.example.com,https://shop.test:8443",
  });
  const browser = newBrowser(host);
  await signIn(browser, await person(host), host);
  expect([...browser.bound.values()][0]?.initiators).toEqual(["app.example.com", "shop.test"]);
});

test("a check of a bound session costs no further statement, and a refresh with a proof at hand one", async () => {
  const { browser } = await boundPerson();
  const plain = newBrowser();
  plain.registers = false;
  await signIn(plain, await person());
  const { read, claim } = runtime.database as unknown as Record<
    "read" | "claim",
    { $client: { query: (...parameters: unknown[]) => unknown } }
  >;
  const spies = [vi.spyOn(read.$client, "query"), vi.spyOn(claim.$client, "query")];
  onTestFinished(() => spies.forEach((spy) => void spy.mockRestore()));
  const statements = async (call: () => Promise<Response>) => {
    for (const spy of spies) spy.mockClear();
    expect((await call()).status).toBe(200);
    return spies.reduce((sum, { mock }) => sum + mock.calls.length, 0);
  };
  const check = (of: DeviceBoundBrowser) => statements(() => of.request("/sessions/validate"));
  expect([await check(browser), await check(plain)]).toEqual([1, 1]);
  runtime.advanceClock(7 * MINUTES);
  expect(await check(browser)).toBe(1);
  runtime.advanceClock(4 * MINUTES);
  // The refresh, and the check that it held back.
  expect(await check(browser)).toBe(2);
  expect(browser.calls.map(({ status }) => status)).toEqual([200, 200]);
});

test("a session that the former release has issued is used as before", async () => {
  const [browser, owner] = [newBrowser(), await person()];
  browser.registers = false;
  await signIn(browser, owner);
  const token = browser.cookies.get("service") ?? "";
  expect(decodeProtectedHeader(token).in_cookie).toBe(true);
  const former = await runtime.signingKeys.of(runtime.tenant).sign(decodeJwt(token), { typ: "JWT" });
  expect(decodeProtectedHeader(former)).not.toHaveProperty("in_cookie");
  runtime.advanceClock(60 * MINUTES);
  expect((await withCookies(`service=${former}`)).status).toBe(200);
});

test("the account page and the operator see which sessions are bound", async () => {
  const { browser, session, email, userId } = await boundPerson();
  const plain = newBrowser();
  plain.registers = false;
  await signIn(plain, { email, userId });
  const flow = await restWalk(runtime, "profile", browser);
  await flow.act("register_client_capabilities");
  const sessions = (flow.state.payload as { sessions: { id: string; device_bound?: true }[] }).sessions;
  expect(sessions.filter(({ device_bound }) => device_bound).map(({ id }) => id)).toEqual([session.id]);
  expect(sessions.length).toBeGreaterThan(1);
  const { call } = await adminOperator(runtime);
  const listed = (await call("GET", `/users/${userId}/sessions`)).body as typeof sessions;
  expect(listed.filter(({ device_bound }) => device_bound).map(({ id }) => id)).toEqual([session.id]);
});
