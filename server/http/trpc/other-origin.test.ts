import { randomUUID } from "node:crypto";
import { createTRPCClient, httpLink } from "@trpc/client";
import { describe, expect, test } from "vitest";
import { codeChallengeOf } from "../../lib/pkce.ts";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { password, restRegistration } from "../../testing/rest-walk.ts";
import { testRuntime } from "../../testing/runtime.ts";
import { tenantVisitor } from "../../testing/tenant-visitor.ts";
import { type Visitor, visitor } from "../../testing/visitor.ts";
import type { PageAnswer } from "../page/page-answer.ts";
import type { AppRouter } from "./router.ts";

const origin = "https://app.example.net";
const neighbour = "https://other.example.net";
const settings = {
  STILE_CORS_ALLOW_ORIGINS: `${origin},${neighbour}`,
  STILE_SESSION_ENABLE_AUTH_TOKEN_HEADER: "true",
};

const runtime = await runtimeForTests(settings);
const email = `${randomUUID()}@example.com`;
await restRegistration(runtime, email);

const verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const code_challenge = codeChallengeOf(verifier);
const from = (page: string, token?: string) => ({
  origin: page,
  "sec-fetch-site": "cross-site",
  ...(token === undefined ? {} : { "x-stile-flow": token }),
});

/** The typed client of a page of another origin, which holds its flow. */
function clientOf(browser: Visitor, page = origin) {
  let token = "";
  let last = new Response();
  const client = createTRPCClient<AppRouter>({
    links: [
      httpLink({
        url: `${runtime.config.base_url}/api/trpc`,
        headers: () => from(page, token),
        async fetch(url, init) {
          const { pathname } = new URL(String(url));
          last = await browser.request(pathname, init as RequestInit);
          return last;
        },
      }),
    ],
  });
  const hold = <Answer extends { flow_token?: string }>(answer: Answer): Answer => {
    token = answer.flow_token ?? token;
    return answer;
  };
  return {
    start: async (input: Parameters<typeof client.flow.start.mutate>[0]) =>
      hold(await client.flow.start.mutate(input)),
    act: async (version: number, action: string, input = {}) =>
      hold(await client.flow.act.mutate({ type: "login", version, action, input })),
    current: async () => hold(await client.flow.current.mutate({ type: "login" })),
    token: () => token,
    last: () => last,
  };
}

async function signIn(page: ReturnType<typeof clientOf>, start: { code_challenge?: string } = {}) {
  let { version } = await page.start({ type: "login", capabilities: {}, ...start });
  ({ version } = await page.act(version, "continue_with_login_identifier", { email }));
  ({ version } = await page.act(version, "continue_to_password_login"));
  return page.act(version, "password_login", { password });
}

describe("a page of cors.allow_origins", () => {
  test("signs in with the flow in a header, and ends with a code that its server redeems", async () => {
    const browser = visitor(runtime);
    const page = clientOf(browser);
    const end = await signIn(page, { code_challenge });
    expect(end.state.name).toBe("success");
    const code = end.state.payload.authorization_code;
    const redeemed = await visitor(runtime).post("/token", { code, code_verifier: verifier });
    expect(await redeemed.json()).toMatchObject({ session_token: expect.any(String) });
    expect([...browser.cookies.keys()].filter((name) => /^(stile-login|service)/.test(name))).toEqual([]);
    expect(page.last().headers.get("x-auth-token")).toBeNull();
  });

  test("keeps its challenge when the flow has expired and begins again with what was typed", async () => {
    const late = await testRuntime(settings);
    await restRegistration(late, email);
    const page = clientOf(visitor(late));
    let { version } = await page.start({ type: "login", capabilities: {}, code_challenge });
    late.advanceClock(3601);
    ({ version } = await page.act(version, "continue_with_login_identifier", { email }));
    ({ version } = await page.act(version, "continue_to_password_login"));
    const end = await page.act(version, "password_login", { password });
    expect(end.state.payload.authorization_code).toEqual(expect.any(String));
    expect(page.last().headers.get("x-auth-token")).toBeNull();
    await late.close();
  });

  test("receives the token of the session in a header, where the tenant allows it", async () => {
    const page = clientOf(visitor(runtime));
    expect((await signIn(page)).state.name).toBe("success");
    const { headers } = page.last();
    expect(headers.get("access-control-allow-origin")).toBe(origin);
    expect(headers.get("access-control-expose-headers")).toContain("X-Auth-Token");
    const authorization = `Bearer ${headers.get("x-auth-token")}`;
    expect((await visitor(runtime).request("/me", { headers: { authorization } })).status).toBe(200);
  });

  test("reads the current state after a lost answer, and keeps its flow after an error", async () => {
    const page = clientOf(visitor(runtime));
    const { version } = await page.start({ type: "login", capabilities: { webauthn_available: true } });
    const held = page.token();
    expect((await page.act(version + 7, "continue_with_login_identifier", { email })).state.status).toBe(403);
    expect(page.token()).toBe(held);
    const shown = await page.current();
    expect(shown.state.name).toBe("login_init");
    expect(page.token()).not.toBe(held);
    expect((await page.act(shown.version, "continue_with_login_identifier", { email })).state.status).toBe(
      200,
    );
  });

  test("neither sees nor touches the flow of the hosted page in the same browser", async () => {
    const browser = visitor(runtime);
    await browser.mutate("flow.start", { type: "login" });
    const before = new Map(browser.cookies);
    expect((await clientOf(browser).current()).version).toBe(0);
    await clientOf(browser).start({ type: "login" });
    expect(browser.cookies).toEqual(before);
  });

  test("may ask before a call", async () => {
    const answer = await visitor(runtime).request("/api/trpc/flow.start", {
      method: "OPTIONS",
      headers: {
        origin,
        "access-control-request-method": "POST",
        "access-control-request-headers": "content-type,x-stile-flow",
      },
    });
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "access-control-allow-origin": origin,
      "access-control-allow-headers": "content-type,x-stile-flow",
    });
  });

  test.each([
    ["a malformed challenge", "login", "short"],
    ["a challenge for a flow that issues no session", "profile", code_challenge],
  ])("is answered 400 for %s", async (_, type, challenge) => {
    const input = { type, code_challenge: challenge };
    expect((await visitor(runtime).mutate("flow.start", input, from(origin))).status).toBe(400);
  });
});

test("the hosted page receives no token of its flow", async () => {
  const answer = await visitor(runtime).mutate("flow.start", { type: "login" });
  expect((await answer.json()).result.data).not.toHaveProperty("flow_token");
});

describe("the token of a flow", () => {
  const current = async (browser: Visitor, headers: Record<string, string>, type = "login") => {
    const answer = await browser.mutate("flow.current", { type }, headers);
    return ((await answer.json()) as { result: { data: PageAnswer } }).result.data.version;
  };

  async function held() {
    const page = clientOf(visitor(runtime));
    await page.start({ type: "login", capabilities: {} });
    return page.token();
  }

  test("A159 is worth nothing to another origin, to another type of flow, and if it is changed", async () => {
    const token = await held();
    const browser = visitor(runtime);
    expect(await current(browser, from(neighbour, token))).toBe(0);
    expect(await current(browser, from(origin, token), "registration")).toBe(0);
    for (const changed of [
      token.slice(0, -9),
      token.replace(/\*[^*]{10}/, "*AAAAAAAAAA"),
      "x",
      "",
      `${token}${"A".repeat(5000)}`,
    ])
      expect(await current(browser, from(origin, changed))).toBe(0);
    expect(await current(browser, from(origin, token))).toBeGreaterThan(0);
  });

  test("A159 is worth nothing to another tenant, and to our own pages", async () => {
    const token = await held();
    const tenant = await createTenant(runtime, {
      name: "Neighbour",
      hosts: [],
      settings: { cors: { allow_origins: [origin] } },
    });
    expect(await current(tenantVisitor(runtime, tenant), from(origin, token))).toBe(0);
    expect(await current(visitor(runtime), { "x-stile-flow": token })).toBe(0);
  });

  test("A159 cannot be the cookie of the hosted page, nor the other way round", async () => {
    const browser = visitor(runtime);
    await browser.mutate("flow.start", { type: "login" });
    const [name = "", seal = ""] =
      [...browser.cookies].find(([cookie]) => cookie.startsWith("stile-login")) ?? [];
    expect(await current(visitor(runtime), from(origin, seal))).toBe(0);
    browser.cookies.set(name, await held());
    expect(await current(browser, {})).toBe(0);
  });

  test("A37 A159 is not taken from a page of an origin that is not listed, or that names a frame", async () => {
    const token = await held();
    for (const page of ["https://evil.example", "null", `${origin}.evil.example`]) {
      const refused = await visitor(runtime).mutate("flow.current", { type: "login" }, from(page, token));
      expect([refused.status, refused.headers.get("access-control-allow-origin")]).toEqual([403, null]);
    }
    const framed = { ...from(origin, token), "x-stile-frame": `origin=${origin}` };
    expect((await visitor(runtime).mutate("flow.current", { type: "login" }, framed)).status).toBe(403);
  });
});
