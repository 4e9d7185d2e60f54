import { createHash, randomBytes, randomUUID } from "node:crypto";
import { eq } from "drizzle-orm";
import { decodeJwt } from "jose";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { mailedCode, password, restRegistration } from "../../testing/rest-walk.ts";
import { type Visitor, visitor } from "../../testing/visitor.ts";
import type { PageAnswer } from "../page/page-answer.ts";
import { pageState } from "../page/page-state.ts";

const runtime = await runtimeForTests({
  STILE_HOSTED_ALLOWED_REDIRECT_URLS: "https://app.example.com/callback,http://localhost:4000/**",
});

const newAddress = () => `${randomUUID()}@example.com`;

async function signedIn(): Promise<{ browser: Visitor; email: string; userId: string; token: string }> {
  const email = newAddress();
  const { visitor: browser, state } = await restRegistration(runtime, email);
  const { claims } = state.payload as { claims: { subject: string } };
  return { browser, email, userId: claims.subject, token: browser.cookies.get("service") ?? "" };
}

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
const noSession = { code: 401, message: "No valid session." };

describe("GET /me", () => {
  test("shows the account of the cookie, or of a bearer token", async () => {
    const { browser, email, userId, token } = await signedIn();
    const byCookie = await browser.request("/me");
    expect(byCookie.status).toBe(200);
    const profile = await byCookie.json();
    expect(profile).toMatchObject({
      id: userId,
      user_id: userId,
      emails: [{ address: email, is_verified: true }],
    });
    expect(await (await visitor(runtime).request("/me", bearer(token))).json()).toEqual(profile);
  });

  test("is 401 without a session", async () => {
    const response = await visitor(runtime).request("/me");
    expect(response.status).toBe(401);
    expect(await response.json()).toEqual(noSession);
    for (const token of ["", "x", "a.b.c", `${"x".repeat(5000)}`]) {
      expect((await visitor(runtime).request("/me", bearer(token))).status).toBe(401);
    }
  });

  test("A39 is 401 if cookies name two sessions", async () => {
    const [one, two] = [await signedIn(), await signedIn()];
    const both = { headers: { cookie: `service=${one.token}; service=${two.token}` } };
    expect((await visitor(runtime).request("/me", both)).status).toBe(401);
    const same = { headers: { cookie: `service=malformed; service=${two.token}` } };
    expect((await visitor(runtime).request("/me", same)).status).toBe(200);
  });
});

test("GET /users/{id} shows the caller's account and no other", async () => {
  const { browser, userId } = await signedIn();
  expect(await (await browser.request(`/users/${userId}`)).json()).toMatchObject({ id: userId });
  const other = await signedIn();
  for (const id of [other.userId, randomUUID(), "x", "%00"]) {
    const response = await browser.request(`/users/${id}`);
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({ code: 404, message: expect.any(String) });
  }
  expect((await visitor(runtime).request(`/users/${userId}`)).status).toBe(401);
});

describe("/sessions/validate", () => {
  test("describes a session, by GET and by POST", async () => {
    const { browser, userId, token } = await signedIn();
    const got = await (await browser.request("/sessions/validate")).json();
    expect(got).toEqual({
      is_valid: true,
      claims: expect.objectContaining({
        subject: userId,
        session_id: expect.any(String),
        expiration: expect.any(String),
      }),
      expiration_time: got.claims.expiration,
      user_id: userId,
    });
    expect(
      await (await visitor(runtime).post("/sessions/validate", { session_token: token })).json(),
    ).toEqual(got);
  });

  test("has the claims of `success`, while the token contains no personal data", async () => {
    const withUsername = runtime.configured({ STILE_USERNAME_ENABLED: "true" });
    const email = newAddress();
    const username = `u${randomBytes(8).toString("hex")}`;
    const { visitor: browser, state } = await restRegistration(withUsername, email, { username });
    const { claims } = state.payload as { claims: Record<string, unknown> };
    expect(claims).toMatchObject({
      email: { address: email, is_primary: true, is_verified: true },
      username,
    });
    const session_token = browser.cookies.get("service") ?? "";
    const byCookie = await (await browser.request("/sessions/validate")).json();
    const byToken = await (await browser.post("/sessions/validate", { session_token })).json();
    expect([byCookie.claims, byToken.claims]).toEqual([claims, claims]);
    const names = ["iss", "aud", "sub", "session_id", "iat", "exp", "amr"];
    expect(Object.keys(decodeJwt(session_token)).toSorted()).toEqual(names.toSorted());
  });

  test("returns the idle expiry where it is configured", async () => {
    const idle = runtime.configured({ STILE_SESSION_IDLE_TIMEOUT: "10m" });
    const { visitor: browser } = await restRegistration(idle, newAddress());
    const { idle_expires_at, expiration_time } = await (await browser.request("/sessions/validate")).json();
    expect(Date.parse(idle_expires_at)).toBeLessThan(Date.parse(expiration_time));
  });

  test("reveals nothing about an invalid session", async () => {
    const no = { is_valid: false };
    expect(await (await visitor(runtime).request("/sessions/validate")).json()).toEqual(no);
    const response = await visitor(runtime).post("/sessions/validate", { session_token: "a.b.c" });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual(no);
  });

  test.each([
    [undefined],
    [{}],
    [{ session_token: "" }],
    [{ session_token: null }],
    [{ session_token: 1 }],
    [{ session_token: ["x"] }],
    ["{"],
    ["[]"],
  ])("is 400 for the body %j", async (body) => {
    const response = await visitor(runtime).post("/sessions/validate", body);
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({ code: 400, message: expect.any(String) });
  });
});

describe("POST /logout", () => {
  test("ends the session, removes its cookie, and writes an audit log entry", async () => {
    const { browser, token, userId } = await signedIn();
    const response = await browser.request("/logout", { method: "POST" });
    expect(response.status).toBe(204);
    expect(await response.text()).toBe("");
    expect(browser.setCookies[0]).toBe("service=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax");
    // The mark of the account stays: it opens nothing, and helps the owner under attack.
    expect([...browser.cookies.keys()]).toEqual([expect.stringMatching(/^stile-marks-/)]);
    expect((await visitor(runtime).request("/me", bearer(token))).status).toBe(401);
    const notes = await runtime.database.read
      .select()
      .from(schema.auditLogs)
      .where(eq(schema.auditLogs.userId, userId));
    expect(notes.map(({ type }) => type)).toContain("user_logged_out");
  });

  test("is 401 without a session, as a JSON error", async () => {
    const response = await visitor(runtime).request("/logout", { method: "POST" });
    expect(response.status).toBe(401);
    expect(await response.json()).toEqual(noSession);
  });

  const live = async (token: string) => (await visitor(runtime).request("/me", bearer(token))).status === 200;
  const logout = (headers: Record<string, string>) =>
    visitor(runtime).request("/logout", { method: "POST", headers });
  const malformed = Array.from({ length: 9 }, (_, index) => `service=malformed${index}`).join("; ");

  test("A39 ends both the own and the planted session", async () => {
    const [victim, attacker] = [await signedIn(), await signedIn()];
    const cookie = `service=${attacker.token}; service=${victim.token}`;
    expect((await logout({ cookie })).status).toBe(204);
    expect(await live(victim.token)).toBe(false);
    expect(await live(attacker.token)).toBe(false);
  });

  test("A39 ends the session among invalid cookies", async () => {
    const { token } = await signedIn();
    expect((await logout({ cookie: `${malformed}; service=${token}` })).status).toBe(204);
    expect(await live(token)).toBe(false);
  });

  test("ends both the session of the bearer token and the session of the cookie", async () => {
    const [one, two] = [await signedIn(), await signedIn()];
    const { headers } = bearer(one.token);
    expect((await logout({ ...headers, cookie: `service=${two.token}` })).status).toBe(204);
    expect(await live(one.token)).toBe(false);
    expect(await live(two.token)).toBe(false);
  });

  test("removes the cookies even if no session was live", async () => {
    const response = await logout({ cookie: malformed });
    expect(response.status).toBe(401);
    expect(response.headers.getSetCookie()).toContain("service=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax");
  });

  test("A37 rejects requests of other sites", async () => {
    const { browser } = await signedIn();
    const response = await browser.request("/logout", {
      method: "POST",
      headers: { origin: "https://evil.example" },
    });
    expect(response.status).toBe(403);
    expect((await browser.request("/me")).status).toBe(200);
  });
});

describe("an application that redirects a user to the login page", () => {
  const verifier = randomBytes(32).toString("base64url");
  const asked = {
    redirect_to: "https://app.example.com/callback",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    state: "s",
  };

  async function openLogin(browser: Visitor, query: Record<string, string>): Promise<void> {
    const response = await browser.request(`/login?${new URLSearchParams(query)}`);
    expect(response.status).toBe(303);
    expect(response.headers.get("location")).toBe("/");
  }

  async function signIn(browser: Visitor, email: string): Promise<PageAnswer> {
    let answer: PageAnswer = {
      version: 0,
      state: { name: "", status: 0, payload: {}, csrf_token: "", actions: {}, links: null },
    };
    for (const [action, input] of [
      ["register_client_capabilities", {}],
      ["continue_with_login_identifier", { email }],
      ["continue_to_password_login", {}],
      ["password_login", { password }],
    ] as const) {
      const response = await browser.mutate("flow.act", {
        type: "login",
        version: answer.version,
        action,
        input,
      });
      answer = (await response.json()).result.data;
    }
    expect(answer.state.name).toBe("success");
    return answer;
  }

  test("receives a one-time code when the user returns, and its server redeems it", async () => {
    const { email, userId } = await signedIn();
    const browser = visitor(runtime);
    await openLogin(browser, asked);
    expect(browser.setCookies).toEqual([
      expect.stringMatching(
        /^stile-destination-[0-9a-f-]{36}=Fe26[^;]+; Path=\/; Max-Age=3600; HttpOnly; SameSite=Lax$/,
      ),
    ]);
    const back = new URL((await signIn(browser, email)).redirect_to ?? "");
    expect(back.origin + back.pathname).toBe("https://app.example.com/callback");
    expect(back.searchParams.get("state")).toBe("s");
    expect(browser.cookies.has(`stile-destination-${runtime.tenant.id}`)).toBe(false);

    const code = back.searchParams.get("code") ?? "";
    const server = visitor(runtime);
    const redeemed = await server.post("/token", {
      code,
      code_verifier: verifier,
      redirect_to: asked.redirect_to,
    });
    expect(redeemed.status).toBe(200);
    const body = await redeemed.json();
    expect(body).toEqual({
      session_token: expect.any(String),
      user_id: userId,
      expiration_time: expect.any(String),
    });
    expect(
      await (await server.post("/sessions/validate", { session_token: body.session_token })).json(),
    ).toMatchObject({ is_valid: true, user_id: userId });

    const again = await server.post("/token", { code, code_verifier: verifier });
    expect(again.status).toBe(400);
    expect(await again.json()).toEqual({ code: 400, message: expect.any(String) });
  });

  test.each([
    ["another verifier", { code_verifier: randomBytes(32).toString("base64url") }],
    ["a verifier that is none", { code_verifier: "x" }],
    ["another address", { redirect_to: "https://app.example.com/other" }],
  ])("A47 receives no session with %s, and each attempt consumes the code", async (_, wrong) => {
    const { email } = await signedIn();
    const browser = visitor(runtime);
    await openLogin(browser, asked);
    const code = new URL((await signIn(browser, email)).redirect_to ?? "").searchParams.get("code");
    expect((await browser.post("/token", { code, code_verifier: verifier, ...wrong })).status).toBe(400);
    const right = await browser.post("/token", { code, code_verifier: verifier });
    // A malformed verifier is rejected before the look-up, so it does not consume the code.
    expect(right.status).toBe("code_verifier" in wrong && wrong.code_verifier === "x" ? 200 : 400);
  });

  test("receives only the session cookie on the same host", async () => {
    const { email } = await signedIn();
    const browser = visitor(runtime);
    await openLogin(browser, { redirect_to: "http://localhost:4000/a/b" });
    expect((await signIn(browser, email)).redirect_to).toBe("http://localhost:4000/a/b");
  });

  test("keeps its redirect address after a reload, and starts a new flow with each redirect", async () => {
    const { email } = await signedIn();
    const browser = visitor(runtime);
    await openLogin(browser, asked);
    const { redirect_to, version } = await signIn(browser, email);
    const cookies = () => [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    expect(await pageState(runtime, runtime.tenant, cookies(), "login")).toMatchObject({
      version,
      state: { name: "success" },
      redirect_to,
    });
    const current = (await (await browser.mutate("flow.current", { type: "login" })).json()).result.data;
    expect(current).toMatchObject({ state: { name: "success" }, redirect_to });
    await openLogin(browser, asked);
    expect(await pageState(runtime, runtime.tenant, cookies(), "login")).toMatchObject({
      version: 0,
      state: { name: "login_init" },
    });
  });

  const login = async (browser: Visitor): Promise<PageAnswer> =>
    (await (await browser.mutate("flow.current", { type: "login" })).json()).result.data;

  const redeem = async (redirectTo: string | undefined) => {
    const code = new URL(redirectTo ?? "https://nowhere.example").searchParams.get("code") ?? "";
    return (await visitor(runtime).post("/token", { code, code_verifier: verifier })).status;
  };

  /** Signs in; returns the last response and the cookies from before it. */
  async function signInKeeping(browser: Visitor, email: string) {
    const kept = new Map<string, string>();
    const keeping: Visitor = {
      ...browser,
      mutate(procedure, input, headers) {
        for (const [name, value] of browser.cookies) kept.set(name, value);
        return browser.mutate(procedure, input, headers);
      },
    };
    return { answer: await signIn(keeping, email), kept };
  }

  function restoreCookies(browser: Visitor, kept: Map<string, string>): void {
    for (const [name, value] of kept) browser.cookies.set(name, value);
  }

  test("receives no redirect after its address was removed from the list", async () => {
    const { email } = await signedIn();
    const browser = visitor(runtime);
    await openLogin(browser, asked);
    const stricter = visitor(
      runtime.configured({ STILE_HOSTED_ALLOWED_REDIRECT_URLS: "http://localhost:4000/**" }),
    );
    restoreCookies(stricter, browser.cookies);
    expect(await signIn(stricter, email)).not.toHaveProperty("redirect_to");
  });

  test("A47 receives one session for one sign-in, even if old cookies are restored", async () => {
    const { email } = await signedIn();
    const browser = visitor(runtime);
    await openLogin(browser, asked);
    const { answer, kept } = await signInKeeping(browser, email);
    expect(await redeem(answer.redirect_to)).toBe(200);
    // The page is reloaded: the code in its cookie is spent.
    const reloaded = await login(browser);
    expect(reloaded.state.name).toBe("success");
    expect(reloaded).not.toHaveProperty("redirect_to");
    restoreCookies(browser, kept);
    const replayed = await login(browser);
    expect(replayed.state).toMatchObject({ name: "error", status: 403 });
    expect(replayed).not.toHaveProperty("redirect_to");
    expect(browser.setCookies).toEqual([]);
  });

  test("receives a new code after a lost response", async () => {
    const email = `${randomUUID()}@example.com`;
    const browser = visitor(runtime);
    await openLogin(browser, asked);
    const call = async (procedure: string, input: object): Promise<PageAnswer> => {
      const response = await browser.mutate(`flow.${procedure}`, { type: "registration", ...input });
      return (await response.json()).result.data;
    };
    const act = (version: number, action: string, input: object) => call("act", { version, action, input });
    await act(0, "register_client_capabilities", {});
    await act(2, "register_login_identifier", { email });
    await act(3, "verify_passcode", { code: mailedCode(runtime, email) });
    const kept = new Map(browser.cookies);
    const answer = await act(4, "register_password", { new_password: password });
    restoreCookies(browser, kept);
    const again = await call("current", {});
    expect(again.redirect_to).not.toBe(answer.redirect_to);
    expect(await redeem(answer.redirect_to)).toBe(400);
    expect(await redeem(again.redirect_to)).toBe(200);
  });

  test.each([
    ["a state of more bytes than letters", { state: "ä".repeat(257) }],
    [
      "a value that no cookie can hold",
      { redirect_to: `http://localhost:4000/${"x".repeat(2000)}`, state: "ä".repeat(256) },
    ],
  ])("is rejected with %s", async (_, long) => {
    const browser = visitor(runtime);
    const response = await browser.request(`/login?${new URLSearchParams({ ...asked, ...long })}`);
    expect(response.status).toBe(400);
    expect(await response.json()).toEqual({ code: 400, message: expect.stringContaining("state") });
    expect(browser.cookies.size).toBe(0);
  });

  test("A46 is rejected before a flow starts if its address is not allowed", async () => {
    for (const redirect_to of [
      "https://evil.example",
      "//evil.example",
      "",
      "https://app.example.com/callback#x",
    ]) {
      const browser = visitor(runtime);
      const response = await browser.request(`/login?${new URLSearchParams({ ...asked, redirect_to })}`);
      expect(response.status).toBe(400);
      expect(await response.json()).toEqual({ code: 400, message: expect.any(String) });
      expect(browser.cookies.size).toBe(0);
    }
  });

  test("A47 is rejected if it receives no cookie and sends no challenge", async () => {
    const response = await visitor(runtime).request(
      `/login?${new URLSearchParams({ redirect_to: asked.redirect_to })}`,
    );
    expect(response.status).toBe(400);
  });
});

test("GET /login redirects to the hosted page only", async () => {
  const location = async (path: string) => (await visitor(runtime).request(path)).headers.get("location");
  expect(await location("/login")).toBe("/");
  expect(await location("/login?flow=registration")).toBe("/?flow=registration");
  expect(await location("/login?flow=//evil.example&next=https://evil.example")).toBe("/");
});

test.each([
  [undefined],
  [{}],
  [{ code: 1, code_verifier: "x" }],
  [{ code: "x" }],
  [{ code: "x", code_verifier: "y", extra: 1 }],
  [{ code: "x", code_verifier: "y", redirect_to: 5 }],
  ["["],
])("POST /token is 400 for the body %j", async (body) => {
  expect((await visitor(runtime).post("/token", body)).status).toBe(400);
});
