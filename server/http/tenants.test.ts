import { randomUUID } from "node:crypto";
import { getTableName, sql } from "drizzle-orm";
import fc from "fast-check";
import { createLocalJWKSet, jwtVerify } from "jose";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { rulesOf } from "#db/schema/table";
import { tables } from "#db/tables";
import type { Tenant } from "../config/tenant.ts";
import { createTenant } from "../tenants/manage-tenants.ts";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { mailedCode, password, type RestWalk, restWalk } from "../testing/rest-walk.ts";
import { tenantVisitor } from "../testing/tenant-visitor.ts";
import { visitor } from "../testing/visitor.ts";
import { pageTenant } from "./page/page-tenant.ts";

let allTenants: [string, () => Tenant][];

const runtime = await runtimeForTests();
const make = (name: string, hosts: string[] = []) => createTenant(runtime, { name, hosts, settings: {} });
const acme = await found(await make("Acme"));
const globex = await found(await make("Globex"));
const initech = await found(await make("Initech", ["login.initech.example"]));

allTenants = [
  ["the default tenant", () => runtime.tenant],
  ["a tenant by path", () => globex],
  ["a tenant by host name", () => initech],
];

/** The tenant as a request resolves it. */
async function found({ id }: Tenant): Promise<Tenant> {
  const tenant = await runtime.tenants.byId(id);
  if (!tenant) throw new Error("the created tenant was not found");
  return tenant;
}

const newAddress = () => `${randomUUID()}@example.com`;

async function register(
  tenant: Tenant,
  email = newAddress(),
): Promise<RestWalk & { userId: string; token: string }> {
  const walk = await restWalk(runtime, "registration", tenantVisitor(runtime, tenant));
  await walk.act("register_client_capabilities");
  await walk.act("register_login_identifier", { email });
  await walk.act("verify_passcode", { code: mailedCode(runtime, email) });
  await walk.act("register_password", { new_password: password });
  const { claims } = walk.state.payload as { claims: { subject: string } };
  const token = walk.visitor.cookies.get("service") ?? "";
  return Object.assign(Object.create(walk) as RestWalk, { userId: claims.subject, token });
}

const validate = async (tenant: Tenant, headers: Record<string, string>) =>
  (await tenantVisitor(runtime, tenant).request("/sessions/validate", { headers })).json();

describe("a tenant by path", () => {
  test("signs its users in, with addresses without the tenant's prefix", async () => {
    const { visitor: browser, state, userId } = await register(acme);
    expect(state.name).toBe("success");
    const login = await restWalk(runtime, "login", tenantVisitor(runtime, acme));
    expect(login.state.actions.register_client_capabilities?.href).toMatch(/^\/login\?action=/);
    expect(await (await browser.request("/me")).json()).toMatchObject({ id: userId });
    expect((await browser.request(`/users/${userId}`)).status).toBe(200);
    expect((await browser.post("/logout", {})).status).toBe(204);
    expect((await browser.request("/me")).status).toBe(401);
  });

  test("A39 limits every cookie to its own path, or bears the tenant's id in its name", async () => {
    const path = `; Path=/t/${acme.id};`;
    const { visitor: browser } = await register(acme);
    const lines = [...browser.setCookies];
    for (const ask of [
      () => browser.mutate("flow.start", { type: "login" }),
      () => browser.submit("/step", { flow: "login", action: "register_client_capabilities", version: "0" }),
      () => browser.post("/logout", {}),
    ]) {
      await ask();
      expect(browser.setCookies.length).toBeGreaterThan(0);
      lines.push(...browser.setCookies);
    }
    const ofHost = lines.filter((line) => !line.includes(path));
    expect(lines.length).toBeGreaterThan(ofHost.length);
    expect(ofHost.length).toBeGreaterThan(0);
    for (const line of ofHost)
      expect(line).toMatch(
        new RegExp(
          `^stile-(login|registration|destination|authorization|profile|token_exchange|consent)-${acme.id}=[^;]*; Path=/;`,
        ),
      );
    expect(lines.filter((line) => line.includes("__Host-"))).toEqual([]);
  });

  test("A127 has flow cookies over https that no other host can set", async () => {
    const secure = runtime.configured({ BASE_URL: "https://login.example.com" });
    const browser = visitor(secure);
    const page = { "sec-fetch-site": "same-origin" };
    await browser.post(`/t/${acme.id}/api/trpc/flow.start`, { type: "login" }, page);
    expect(browser.setCookies).toEqual([
      expect.stringMatching(
        new RegExp(
          `^__Host-stile-login-${acme.id}=[^;]+; Path=/; Max-Age=90000; HttpOnly; Secure; SameSite=Lax$`,
        ),
      ),
    ]);
    const [flow = ""] = browser.cookies.values();
    for (const former of ["__Secure-stile-login", "stile-login", `stile-login-${acme.id}`]) {
      const target = visitor(secure);
      target.cookies.set(former, flow);
      const response = await target.post(`/t/${acme.id}/api/trpc/flow.current`, { type: "login" }, page);
      expect((await response.json()).result.data.version).toBe(0);
    }
  });

  test("names itself in its tokens, and signs them with keys of its own", async () => {
    const { token, userId } = await register(acme);
    const keysOf = async (tenant: Tenant) =>
      (await tenantVisitor(runtime, tenant).request("/.well-known/jwks.json")).json();
    const verified = await jwtVerify(token, createLocalJWKSet(await keysOf(acme)), {
      audience: acme.id,
      issuer: `http://localhost:3000/t/${acme.id}`,
    });
    expect(verified.payload.sub).toBe(userId);
    for (const [, other] of allTenants)
      await expect(jwtVerify(token, createLocalJWKSet(await keysOf(other())))).rejects.toThrow();
  });

  test("redirects browsers to its own addresses", async () => {
    const browser = tenantVisitor(runtime, acme);
    const leadsTo = (response: Response) => response.headers.get("location");
    expect(leadsTo(await browser.request("/login"))).toBe(`/t/${acme.id}`);
    expect(leadsTo(await browser.request("/login?flow=registration"))).toBe(
      `/t/${acme.id}?flow=registration`,
    );
    const posted = await browser.submit("/step", {
      flow: "registration",
      action: "register_client_capabilities",
      version: "0",
    });
    expect(leadsTo(posted)).toBe(`/t/${acme.id}?flow=registration&check=cookies`);
  });

  test("displays its own flow on its page", async () => {
    const browser = tenantVisitor(runtime, acme);
    const started = await (await browser.mutate("flow.start", { type: "login" })).json();
    const { version } = started.result.data;
    const acted = await browser.mutate("flow.act", {
      type: "login",
      version,
      action: "register_client_capabilities",
      input: {},
    });
    expect((await acted.json()).result.data.state.name).toBe("login_init");
    expect(await pageTenant(runtime, "localhost:3000", acme.id)).toBe(acme);
    expect(await pageTenant(runtime, "localhost:3000", null)).toBe(runtime.tenant);
  });

  test("sends mail in its own name", async () => {
    const email = newAddress();
    await register(acme, email);
    expect(runtime.enqueued.filter(({ to }) => to === email)).toMatchObject([{ tenantId: acme.id }]);
  });

  test("does not show the mailbox of this machine", async () => {
    const browser = visitor(runtime, "127.0.0.1");
    expect((await browser.request("/dev/mailbox")).status).toBe(200);
    expect((await browser.request(`/t/${acme.id}/dev/mailbox`)).status).toBe(404);
  });
});

describe("A65 a session of one tenant", () => {
  test.each([
    ["the default tenant", () => runtime.tenant],
    ["a tenant by path", () => globex],
    ["a tenant by host name", () => initech],
  ] as const)("is invalid at %s, and vice versa", async (_, other) => {
    const [first, second] = [await register(acme), await register(other())];
    const pairs = [
      [acme, first, second],
      [other(), second, first],
    ] as const;
    for (const [tenant, own, foreign] of pairs) {
      expect(await validate(tenant, { authorization: `Bearer ${own.token}` })).toMatchObject({
        is_valid: true,
        user_id: own.userId,
      });
      expect(await validate(tenant, { authorization: `Bearer ${foreign.token}` })).toEqual({
        is_valid: false,
      });
      expect(await validate(tenant, { cookie: `service=${foreign.token}` })).toEqual({ is_valid: false });
      const posted = await tenantVisitor(runtime, tenant).post("/sessions/validate", {
        session_token: foreign.token,
      });
      expect(await posted.json()).toEqual({ is_valid: false });
      // A39: a browser that is signed in at both sends both, in an unspecified order.
      for (const cookie of [
        `service=${own.token}; service=${foreign.token}`,
        `service=${foreign.token}; service=${own.token}`,
      ])
        expect(await validate(tenant, { cookie })).toMatchObject({ is_valid: true, user_id: own.userId });
    }
  });

  test("cannot end a session of another tenant", async () => {
    const { token } = await register(acme);
    const signOut = await tenantVisitor(runtime, globex).post("/logout", {}, { cookie: `service=${token}` });
    expect(signOut.status).toBe(401);
    expect(await validate(acme, { cookie: `service=${token}` })).toMatchObject({ is_valid: true });
  });
});

describe("A68 data of one tenant", () => {
  test("has a separate account for an address at each tenant", async () => {
    const email = newAddress();
    const [one, other] = [await register(acme, email), await register(globex, email)];
    expect(one.userId).not.toBe(other.userId);
    const foreign = await other.visitor.request(`/users/${one.userId}`);
    const unknown = await other.visitor.request(`/users/${randomUUID()}`);
    expect([foreign.status, await foreign.text()]).toEqual([404, await unknown.text()]);
  });

  test("includes its flows, which continue at their own tenant only", async () => {
    const walk = await restWalk(runtime, "login", tenantVisitor(runtime, acme));
    const { href = "" } = walk.state.actions.register_client_capabilities ?? {};
    const body = { csrf_token: walk.state.csrf_token, input_data: {} };
    for (const tenant of [runtime.tenant, globex, initech]) {
      const response = await tenantVisitor(runtime, tenant).post(href, body);
      expect(await response.json()).toMatchObject({
        status: 403,
        error: { code: "operation_not_permitted_error" },
      });
    }
    expect((await walk.act("register_client_capabilities")).name).toBe("login_init");
  });

  test("includes the flow of a page, which another tenant does not find", async () => {
    const browser = tenantVisitor(runtime, acme);
    await browser.mutate("flow.start", { type: "login" });
    const stray = tenantVisitor(runtime, globex);
    for (const [name, value] of browser.cookies) stray.cookies.set(name, value);
    const shown = await (await stray.mutate("flow.current", { type: "login" })).json();
    expect(shown.result.data).toMatchObject({ version: 0, state: { name: "login_init" } });
  });

  test("is neither read nor changed by any request to another tenant", async () => {
    const email = newAddress();
    const victim = await register(acme, email);
    const flow = await restWalk(runtime, "login", tenantVisitor(runtime, acme));
    const own = await register(globex);
    const started = await restWalk(runtime, "login", tenantVisitor(runtime, globex));
    const idOf = ({ state }: RestWalk) =>
      /%40(.+)$/.exec(Object.values(state.actions)[0]?.href ?? "")?.[1] ?? "";
    // What the walks above have caused is written after their answers.
    await Promise.all([runtime.recorder.flush(), runtime.counters.flush()]);
    const before = await rowsOf(acme.id);

    const flowIds = fc.constantFrom(idOf(flow), idOf(started), victim.userId, randomUUID());
    const csrf = fc.constantFrom(flow.state.csrf_token, started.state.csrf_token, "x");
    const session = fc.constantFrom(victim.token, own.token, `${victim.token}; service=${own.token}`, "");
    const action = fc.constantFrom(
      "register_client_capabilities",
      "password_login",
      "back",
      "verify_passcode",
    );
    const input = fc.constantFrom({}, { email }, { password }, { code: "123456" });
    const asked = fc.oneof(
      fc.record({ flowId: flowIds, csrf, action, input }).map(({ flowId, csrf, action, input }) => ({
        path: `/login?action=${action}%40${flowId}`,
        body: { csrf_token: csrf, input_data: input },
      })),
      fc
        .constantFrom("/me", `/users/${victim.userId}`, "/sessions/validate", "/login")
        .map((path) => ({ path })),
      fc.constantFrom("/logout", "/registration", "/profile").map((path) => ({ path, body: {} })),
      csrf.map((code) => ({ path: "/token", body: { code, code_verifier: "v".repeat(43) } })),
    );
    await fc.assert(
      fc.asyncProperty(asked, session, async (request, cookie) => {
        const browser = tenantVisitor(runtime, globex);
        const headers: Record<string, string> = cookie === "" ? {} : { cookie: `service=${cookie}` };
        const response =
          "body" in request
            ? await browser.post(request.path, request.body, headers)
            : await browser.request(request.path, { headers });
        const text = await response.text();
        expect(response.status).toBeLessThan(500);
        expect(text).not.toContain(victim.userId);
        expect(text).not.toContain(email);
      }),
      { numRuns: 200 },
    );
    expect(await rowsOf(acme.id)).toEqual(before);
    expect(await validate(acme, { cookie: `service=${victim.token}` })).toMatchObject({ is_valid: true });
  });
});

/** All rows of a tenant. */
async function rowsOf(tenantId: string): Promise<Record<string, unknown[]>> {
  const rows: Record<string, unknown[]> = {};
  for (const table of tables) {
    if (rulesOf(table).owner === "deployment") continue;
    const id = sql.identifier(table === schema.tenants ? "id" : "tenant_id");
    const result = await runtime.database.read.execute(
      sql`select to_jsonb(row) as row from ${table} row where ${id} = ${tenantId} order by 1`,
    );
    rows[getTableName(table)] = result.rows;
  }
  return rows;
}

describe("addresses of tenants", () => {
  const ask = (path: string, host = "localhost:3000", method = "POST") =>
    visitor(runtime).request(path, { method, headers: { host } });

  test.each([
    `/t/${randomUUID()}/login`,
    "/t/acme/login",
    "/t/%00/me",
    "/t/../t/x/login",
    `/t/${"x".repeat(5000)}/login`,
  ])("do not include %.60s", async (path) => {
    const response = await ask(path);
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({ code: 404, message: expect.any(String) });
  });

  test("contain the tenant id in lower case only", async () => {
    expect((await ask(`/t/${acme.id}/login`)).status).toBe(200);
    expect((await ask(`/t/${acme.id.toUpperCase()}/login`)).status).toBe(404);
    expect((await ask(`/t/${acme.id}/t/${globex.id}/login`)).status).toBe(404);
  });

  test("of the default tenant may contain its id, and set cookies for the whole host", async () => {
    const browser = visitor(runtime);
    const response = await browser.post(
      `/t/${runtime.tenant.id}/api/trpc/flow.start`,
      { type: "login" },
      {
        "sec-fetch-site": "same-origin",
      },
    );
    expect(response.status).toBe(200);
    expect(browser.setCookies).toEqual([expect.stringContaining("; Path=/;")]);
  });

  test("A89 of a tenant with a host name have that host name, which no other tenant has", async () => {
    const host = "login.initech.example";
    expect((await ask("/login", `${host}:3000`)).status).toBe(200);
    expect((await ask("/login", "LOGIN.initech.example")).status).toBe(200);
    expect((await ask(`/t/${initech.id}/login`)).status).toBe(404);
    expect((await ask(`/t/${acme.id}/login`, host)).status).toBe(404);
    expect(await pageTenant(runtime, host, null)).toBe(initech);
    expect(await pageTenant(runtime, host, acme.id)).toBeNull();
    expect(await pageTenant(runtime, "localhost", initech.id)).toBeNull();
    for (const unknown of ["initech.example", "login.initech.example.evil.example", "evil.example"]) {
      expect((await ask("/login", unknown)).status).toBe(421);
      expect((await ask(`/t/${acme.id}/login`, unknown)).status).toBe(421);
      expect(await pageTenant(runtime, unknown, null)).toBeNull();
    }
  });

  test("under a host name set cookies for the whole host", async () => {
    const { visitor: browser } = await register(initech);
    expect(browser.setCookies.length).toBeGreaterThan(0);
    expect(browser.setCookies.filter((line) => !line.includes("; Path=/;"))).toEqual([]);
  });

  test("of a tenant with invalid settings return 503, those of other tenants do not", async () => {
    const broken = await createTenant(runtime, { name: "Broken", hosts: [], settings: {} });
    await runtime.database.write.execute(
      sql`update tenants set config = '{"mfa": "red"}', updated_at = now() + interval '1 minute' where id = ${broken.id}`,
    );
    runtime.tenants.forget();
    expect((await ask(`/t/${broken.id}/login`)).status).toBe(503);
    expect((await ask(`/t/${acme.id}/login`)).status).toBe(200);
    expect((await ask("/login")).status).toBe(200);
  });
});
