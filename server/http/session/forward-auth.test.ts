import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { Tenant } from "../../config/tenant.ts";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { mailedCode, password, restRegistration, restWalk } from "../../testing/rest-walk.ts";
import type { TestRuntime } from "../../testing/runtime.ts";
import { tenantVisitor } from "../../testing/tenant-visitor.ts";
import { type Visitor, visitor } from "../../testing/visitor.ts";
import { withinTenant } from "../request/tenant-path.ts";

const PROXY = "192.0.2.7";
const OTHER_PEER = "192.0.2.8";

const runtime = await runtimeForTests({
  BASE_URL: "https://login.example.com",
  STILE_SESSION_COOKIE_DOMAIN: "example.com",
  STILE_HOSTED_ALLOWED_REDIRECT_URLS: "https://app.example.com**",
  STILE_SERVER_TRUSTED_PROXIES: PROXY,
});

/** What Caddy, Traefik and HAProxy say of the request that they hold. */
const forwarded = (host: string, uri: string, proto = "https") => ({
  "x-forwarded-proto": proto,
  "x-forwarded-host": host,
  "x-forwarded-uri": uri,
});

const fromApp = forwarded("app.example.com", "/reports?year=2026&page=2");

async function signedIn(as: TestRuntime = runtime, more: { username?: string } = {}) {
  const email = `${randomUUID()}@example.com`;
  const { visitor: browser, state } = await restRegistration(as, email, more);
  const { claims } = state.payload as { claims: { subject: string; session_id: string } };
  return { ...claims, email, token: browser.cookies.get("service") ?? "" };
}

/** Asks as a proxy does. */
function ask(
  token: string | null,
  headers: Record<string, string> = {},
  { query = "", peer = PROXY, as = runtime }: { query?: string; peer?: string; as?: TestRuntime } = {},
): Promise<Response> {
  const cookie: Record<string, string> = token === null ? {} : { cookie: `service=${token}` };
  return visitor(as, peer).request(`/forward-auth${query}`, { headers: { ...cookie, ...headers } });
}

const stileHeaders = ({ headers }: Response) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith("x-stile-")));

describe("GET /forward-auth with a session", () => {
  test("is 204 with the user, the session and the token, and is stored nowhere", async () => {
    const { subject, session_id, email, token } = await signedIn();
    const response = await ask(token, fromApp);
    expect(response.status).toBe(204);
    expect(await response.text()).toBe("");
    expect(response.headers.get("cache-control")).toBe("no-store");
    const expected = {
      "x-stile-user-id": subject,
      "x-stile-session-id": session_id,
      "x-stile-acting-user-id": "",
      "x-stile-email": email,
      "x-stile-username": "",
      "x-stile-token": token,
    };
    expect(stileHeaders(response)).toEqual(expected);
    const bearer = await ask(null, { authorization: `Bearer ${token}` }, { peer: OTHER_PEER });
    expect(stileHeaders(bearer)).toEqual(expected);
  });

  test("percent-encodes what is not visible ASCII", async () => {
    const as = runtime.configured({ STILE_USERNAME_ENABLED: "true" });
    const { subject, token } = await signedIn(as, { username: `u${randomUUID().slice(0, 8)}` });
    const rename = (table: string, column: string, value: string) =>
      runtime.database.write.$client.query(`update ${table} set ${column} = $1 where user_id = $2`, [
        value,
        subject,
      ]);
    await rename("usernames", "username", "žofie 100%\r\nX-Stile-User-Id: root");
    await rename("emails", "address", "žofie+a%b@bücher.example");
    const { headers } = await ask(token, fromApp, { as });
    expect(headers.get("x-stile-username")).toBe("%C5%BEofie%20100%25%0D%0AX-Stile-User-Id:%20root");
    expect(headers.get("x-stile-email")).toBe("%C5%BEofie+a%25b@b%C3%BCcher.example");
    expect(decodeURIComponent(headers.get("x-stile-email") ?? "")).toBe("žofie+a%b@bücher.example");
    expect(headers.get("x-stile-user-id")).toBe(subject);
  });

  test("A155 does not tell an address that its owner has not verified", async () => {
    const { subject, token } = await signedIn();
    const sql = "update emails set verified_at = null where user_id = $1";
    await runtime.database.write.$client.query(sql, [subject]);
    const response = await ask(token, fromApp);
    expect(response.status).toBe(204);
    expect(response.headers.get("x-stile-email")).toBe("");
  });

  test("A156 gives a script of our own pages no token, not through a trusted proxy either", async () => {
    const { token } = await signedIn();
    const script = { "sec-fetch-site": "same-origin", "sec-fetch-mode": "cors" };
    const answers = [
      await ask(token, script, { peer: OTHER_PEER }),
      await ask(token, script),
      await ask(token, { ...script, ...fromApp }, { peer: OTHER_PEER }),
      await ask(token, {
        ...script,
        ...forwarded("login.example.com", "/forward-auth"),
        "x-original-url": "https://app.example.com/",
      }),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(204);
      expect(answer.headers.get("x-stile-token")).toBe("");
    }
    expect((await ask(token, { ...script, ...fromApp })).headers.get("x-stile-token")).toBe(token);
  });

  test("A156 lets no other origin read it", async () => {
    const as = runtime.configured({ STILE_CORS_ALLOW_ORIGINS: "https://app.example.com" });
    const { token } = await signedIn(as);
    const { headers } = await ask(token, { origin: "https://app.example.com" }, { as });
    expect([...headers.keys()].filter((name) => name.startsWith("access-control-"))).toEqual([]);
  });

  test("counts as use of the session", async () => {
    const as = runtime.configured({ STILE_SESSION_IDLE_TIMEOUT: "10m" });
    const { token } = await signedIn(as);
    for (let times = 0; times < 3; times += 1) {
      as.advanceClock(400);
      expect((await ask(token, fromApp, { as })).status).toBe(204);
    }
    as.advanceClock(601);
    expect((await ask(token, fromApp, { as })).status).toBe(401);
  });

  test("costs one query, as a check of the session does", async () => {
    const { token } = await signedIn();
    const { read } = runtime.database;
    const { query } = read.$client;
    let queries = 0;
    read.$client.query = ((...given: unknown[]) => {
      queries += 1;
      return Reflect.apply(query, read.$client, given);
    }) as typeof query;
    try {
      expect((await ask(token, fromApp)).status).toBe(204);
      expect(queries).toBe(1);
      expect((await ask(null, fromApp)).status).toBe(401);
      expect(queries).toBe(1);
    } finally {
      read.$client.query = query;
    }
  });
});

describe("GET /forward-auth without a session", () => {
  const wayBack = `https://login.example.com/login?redirect_to=${encodeURIComponent("https://app.example.com/reports?year=2026&page=2")}`;

  test("is 401 with the address of the sign-in, and 302 with ?redirect=1", async () => {
    const { token } = await signedIn();
    for (const presented of [null, "", "a.b.c", `${token}x`]) {
      const refused = await ask(presented, fromApp);
      expect(refused.status).toBe(401);
      expect(await refused.json()).toEqual({ code: 401, message: "No valid session." });
      expect(refused.headers.get("location")).toBe(wayBack);
      expect(refused.headers.get("cache-control")).toBe("no-store");
      expect(stileHeaders(refused)).toEqual({});
      const redirected = await ask(presented, fromApp, { query: "?redirect=1" });
      expect(redirected.status).toBe(302);
      expect(redirected.headers.get("location")).toBe(wayBack);
      expect(redirected.headers.get("cache-control")).toBe("no-store");
    }
  });

  test("the sign-in that it names accepts the way back", async () => {
    const response = await ask(null, fromApp, { query: "?redirect=1" });
    const { pathname, search } = new URL(response.headers.get("location") ?? "");
    const page = await visitor(runtime).request(pathname + search);
    expect([page.status, page.headers.get("location")]).toEqual([303, "/"]);
  });

  test("reads X-Original-URL, and X-Forwarded-Uri before it", async () => {
    const url = "https://app.example.com/a%20b?c=d%26e";
    const location = async (headers: Record<string, string>) =>
      (await ask(null, headers)).headers.get("location");
    const expected = `https://login.example.com/login?${new URLSearchParams({ redirect_to: url })}`;
    expect(await location({ "x-original-url": url })).toBe(expected);
    expect(await location({ "x-original-url": "https://app.example.com/other", ...fromApp })).toBe(wayBack);
  });

  test("answers a script with 401, which it could not follow elsewhere", async () => {
    for (const mode of ["cors", "no-cors", "same-origin", "websocket"]) {
      const response = await ask(null, { ...fromApp, "sec-fetch-mode": mode }, { query: "?redirect=1" });
      expect(response.status).toBe(401);
      expect(response.headers.has("location")).toBe(false);
    }
    const page = await ask(null, { ...fromApp, "sec-fetch-mode": "navigate" }, { query: "?redirect=1" });
    expect(page.status).toBe(302);
  });

  test.each([
    ["is of a host that is not allowed", forwarded("evil.example", "/")],
    ["continues the host", forwarded("app.example.com", ".evil.example/")],
    ["continues the host by a user", forwarded("app.example.com", "@evil.example/")],
    ["has a user", forwarded("app.example.com@evil.example", "/")],
    ["has a path in its host", forwarded("evil.example/app.example.com", "/")],
    ["has another scheme", forwarded("app.example.com", "/", "javascript")],
    ["names two schemes", forwarded("app.example.com", "/", "https, http")],
    ["has no TLS, so that the cookie would not come", forwarded("app.example.com", "/", "http")],
    ["has a backslash", forwarded("app.example.com", "/\\evil.example")],
    ["is too long", forwarded("app.example.com", `/${"a".repeat(2048)}`)],
    ["is no URL", { "x-original-url": "app.example.com/" }],
    ["is not named", {}],
  ])("A157 has no way back that %s", async (_, headers) => {
    const response = await ask(null, headers, { query: "?redirect=1" });
    expect(response.status).toBe(302);
    expect(response.headers.get("location")).toBe("https://login.example.com/login");
  });

  test("A157 reads no address of a peer that is not a trusted proxy", async () => {
    for (const headers of [fromApp, { "x-original-url": "https://app.example.com/" }]) {
      const response = await ask(null, headers, { query: "?redirect=1", peer: OTHER_PEER });
      expect(response.headers.get("location")).toBe("https://login.example.com/login");
    }
  });

  test("says why there is no way back", async () => {
    const response = await ask(null, forwarded("evil.example", "/"));
    expect(await response.json()).toEqual({
      code: 401,
      message:
        "No valid session, and no way back: `redirect_to` is not an allowed address (hosted.allowed_redirect_urls).",
    });
  });
});

test("GET /forward-auth?redirect=2 is 400, and other methods are 405", async () => {
  expect((await ask(null, fromApp, { query: "?redirect=2" })).status).toBe(400);
  expect((await visitor(runtime).post("/forward-auth", {})).status).toBe(405);
});

describe("of tenants", () => {
  async function tenant(hosts: string[], settings: Record<string, unknown>): Promise<Tenant> {
    const { id } = await createTenant(runtime, { name: "Acme", hosts, settings });
    const found = await runtime.tenants.byId(id);
    if (!found) throw new Error("the created tenant was not found");
    return found;
  }

  async function register(of: Tenant): Promise<Visitor> {
    const email = `${randomUUID()}@example.com`;
    const walk = await restWalk(runtime, "registration", tenantVisitor(runtime, of));
    await walk.act("register_client_capabilities");
    await walk.act("register_login_identifier", { email });
    await walk.act("verify_passcode", { code: mailedCode(runtime, email) });
    await walk.act("register_password", { new_password: password });
    return walk.visitor;
  }

  test("A65 each takes its own sessions, by host and by path, and leads to its own sign-in", async () => {
    const host = `login-${randomUUID()}.example.net`;
    const byHost = await tenant([host], {
      hosted: { allowed_redirect_urls: ["https://app.example.net/**"] },
    });
    const byPath = await tenant([], {
      hosted: { allowed_redirect_urls: ["https://login.example.com/t/**"] },
    });
    const browsers = [await register(byHost), await register(byPath)] as const;
    for (const [index, of] of [byHost, byPath].entries()) {
      for (const [owner, browser] of browsers.entries()) {
        const cookie = `service=${browser.cookies.get("service")}`;
        const response = await tenantVisitor(runtime, of).request("/forward-auth", { headers: { cookie } });
        expect(response.status).toBe(owner === index ? 204 : 401);
        if (owner !== index) expect(response.headers.get("location")).toBe(`${of.config.base_url}/login`);
      }
    }
    const app = `https://login.example.com${withinTenant(byPath.config, "/app")}`;
    const asked = visitor(runtime, PROXY).request(
      `${withinTenant(byPath.config, "/forward-auth")}?redirect=1`,
      {
        headers: { "x-original-url": app },
      },
    );
    expect((await asked).headers.get("location")).toBe(
      `${byPath.config.base_url}/login?${new URLSearchParams({ redirect_to: app })}`,
    );
  });
});
