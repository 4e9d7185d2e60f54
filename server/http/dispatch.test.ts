import { afterAll, describe, expect, test } from "vitest";
import { openDatabase } from "#db/client";
import { createReadiness } from "../database/readiness.ts";
import { OverloadedError } from "../lib/overloaded-error.ts";
import type { Runtime } from "../runtime.ts";
import { runtimeForTests } from "../testing/open-for-tests.ts";
import { visitor } from "../testing/visitor.ts";
import { handle } from "./dispatch.ts";

const app = "https://app.example.com";
const arrival = { peer: "192.0.2.1", requestId: "request-1" };

const runtime = await runtimeForTests({ STILE_CORS_ALLOW_ORIGINS: app });

const ask = (method: string, path: string, headers: Record<string, string> = {}, on: Runtime = runtime) =>
  handle(
    new Request(`http://localhost:3000${path}`, { method, headers: { host: "localhost:3000", ...headers } }),
    arrival,
    on,
  );

describe("rejected requests", () => {
  test("leaves addresses of pages to the pages", async () => {
    expect(await ask("GET", "/")).toBeNull();
    expect(await ask("GET", "/?redirect_to=x")).toBeNull();
    expect(await ask("GET", "/account")).toBeNull();
  });

  test.each(["/login/x", "/users/a/b", "/api/other", "/.well-known/other", "/health"])(
    "answers %s with 404 in JSON",
    async (path) => {
      const response = await ask("GET", path);
      expect(response?.status).toBe(404);
      expect(await response?.json()).toEqual({ code: 404, message: expect.any(String) });
    },
  );

  test.each(["PUT", "PATCH", "DELETE", "PROPFIND"])(
    "A98 answers %s on /login with 405 and Allow, as a flow state",
    async (method) => {
      const response = await ask(method, "/login");
      expect(response?.status).toBe(405);
      expect(response?.headers.get("allow")).toBe("POST, GET, HEAD, OPTIONS");
      expect(await response?.json()).toMatchObject({
        name: "error",
        status: 405,
        actions: {},
        csrf_token: "",
        payload: {},
        links: null,
      });
    },
  );

  test("A98 answers TRACE with 405", async () => {
    const request = new Request("http://localhost:3000/login", { headers: { host: "localhost:3000" } });
    Object.defineProperty(request, "method", { value: "TRACE" });
    expect((await handle(request, arrival, runtime))?.status).toBe(405);
  });

  test.each([
    ["GET", "/registration", "POST, OPTIONS"],
    ["POST", "/me", "GET, HEAD, OPTIONS"],
    ["GET", "/logout", "POST, OPTIONS"],
    ["GET", "/step", "POST, OPTIONS"],
    ["GET", "/token", "POST, OPTIONS"],
    ["GET", "/api/trpc/flow.act", "POST, OPTIONS"],
    ["DELETE", "/sessions/validate", "GET, POST, HEAD, OPTIONS"],
  ])("A37 answers %s %s with 405 and Allow: %s", async (method, path, allow) => {
    const response = await ask(method, path);
    expect(response?.status).toBe(405);
    expect(response?.headers.get("allow")).toBe(allow);
  });

  test("A89 answers an unknown host name with 421, also for pages", async () => {
    const response = await ask("GET", "/", { host: "evil.example" });
    expect(response?.status).toBe(421);
    expect((await ask("POST", "/login", { host: "evil.example" }))?.status).toBe(421);
  });

  test.each([
    ["/step", 403],
    ["/api/trpc/flow.start", 400],
  ])("A37 %s is not for other origins, and answers a listed one with %d", async (path, listed) => {
    const headers = { "content-type": "application/json" };
    expect((await ask("POST", path, headers))?.status).toBe(403);
    expect((await ask("POST", path, { ...headers, origin: "https://evil.example" }))?.status).toBe(403);
    expect((await ask("POST", path, { ...headers, "sec-fetch-site": "cross-site" }))?.status).toBe(403);
    expect((await ask("POST", path, { ...headers, origin: app }))?.status).toBe(listed);
  });
});

describe("the address of a flow in a browser", () => {
  const browser = { accept: "text/html,*/*;q=0.8" };

  test.each([
    ["/registration", "/?flow=registration"],
    ["/profile", "/account"],
    ["/token_exchange", "/"],
  ])("%s leads to %s, and tells a program to use POST", async (path, page) => {
    const led = await ask("GET", path, browser);
    expect([led?.status, led?.headers.get("location")]).toEqual([303, page]);
    expect((await ask("HEAD", path, browser))?.status).toBe(303);
    for (const accept of ["*/*", "application/json"]) {
      const told = await ask("GET", path, { accept });
      expect([told?.status, told?.headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
      expect(await told?.json()).toMatchObject({ name: "error", status: 405, actions: {} });
    }
  });

  test("/registration keeps the way back, and rejects one that is not allowed", async () => {
    const shop = runtime.configured({ STILE_HOSTED_ALLOWED_REDIRECT_URLS: "https://shop.test/back" });
    const back = `redirect_to=https://shop.test/back&code_challenge_method=S256&code_challenge=${"x".repeat(43)}`;
    const led = await ask("GET", `/registration?${back}`, browser, shop);
    expect([led?.status, led?.headers.get("location")]).toEqual([303, "/?flow=registration"]);
    expect(led?.headers.getSetCookie()).toHaveLength(1);
    const other = await ask("GET", "/registration?redirect_to=https://evil.test/", browser, shop);
    expect(other?.status).toBe(400);
  });

  test("/token_exchange leads to its page where SAML is enabled, within the tenant", async () => {
    const saml = runtime.configured({ STILE_SAML_ENABLED: "true" });
    const led = await ask("GET", "/token_exchange", browser, saml);
    expect(led?.headers.get("location")).toBe("/?flow=token_exchange");
  });
});

describe("every response", () => {
  test.each([
    ["GET", "/health/alive", 200],
    ["POST", "/login", 200],
    ["GET", "/login", 303],
    ["GET", "/me", 401],
    ["GET", "/login/x", 404],
    ["PUT", "/login", 405],
    ["OPTIONS", "/login", 204],
    ["POST", "/token", 400],
    ["POST", "/step", 403],
  ])("%s %s has the security headers", async (method, path, status) => {
    const response = await ask(method, path);
    expect(response?.status).toBe(status);
    const headers = Object.fromEntries(response?.headers ?? []);
    expect(headers).toMatchObject({
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
      "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
      "cross-origin-resource-policy": "same-origin",
      "referrer-policy": "no-referrer",
      "x-request-id": "request-1",
      vary: "Origin",
    });
    expect(headers).not.toHaveProperty("access-control-allow-origin");
    expect(headers).not.toHaveProperty("x-powered-by");
    if (await response?.text()) expect(headers["content-type"]).toBe("application/json; charset=utf-8");
  });

  test("sets HSTS over https", async () => {
    const secure = runtime.configured({ BASE_URL: "https://login.example.com" });
    const response = await ask("GET", "/health/alive", {}, secure);
    expect(response?.headers.get("strict-transport-security")).toBe("max-age=31536000; includeSubDomains");
  });

  test("to HEAD equals that to GET without its body", async () => {
    const [got, head] = [await ask("GET", "/health/alive"), await ask("HEAD", "/health/alive")];
    expect(head?.status).toBe(200);
    expect(await head?.text()).toBe("");
    expect([...(head?.headers ?? [])]).toEqual([...(got?.headers ?? [])]);
  });
});

describe("CORS", () => {
  test("A38 a listed origin may read responses and errors", async () => {
    for (const path of ["/login", "/registration", "/login/x"]) {
      const response = await ask("POST", path, { origin: app });
      expect(response?.headers.get("access-control-allow-origin")).toBe(app);
      expect(response?.headers.get("access-control-allow-credentials")).toBe("true");
    }
  });

  test("A38 another origin gets neither a flow nor a readable error", async () => {
    const response = await ask("POST", "/login", { origin: "https://evil.example" });
    expect(response?.status).toBe(403);
    expect(response?.headers.get("access-control-allow-origin")).toBeNull();
    expect(await response?.json()).toMatchObject({
      name: "error",
      error: { code: "operation_not_permitted_error" },
    });
  });

  test("answers a preflight", async () => {
    const preflightHeaders = {
      "access-control-request-method": "POST",
      "access-control-request-headers": "content-type",
    };
    const listed = await ask("OPTIONS", "/login", { origin: app, ...preflightHeaders });
    expect(listed?.status).toBe(204);
    expect(Object.fromEntries(listed?.headers ?? [])).toMatchObject({
      "access-control-allow-origin": app,
      "access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE, OPTIONS",
      "access-control-allow-headers": "content-type",
      "access-control-max-age": "7200",
    });
    const other = await ask("OPTIONS", "/login", { origin: "https://evil.example", ...preflightHeaders });
    expect([...(other?.headers.keys() ?? [])].filter((name) => name.startsWith("access-control"))).toEqual(
      [],
    );
  });
});

describe("a flow error that no flow sends", () => {
  const withSettings = (compatibility: Runtime["config"]["compatibility"]): Runtime => {
    const config = { ...runtime.config, compatibility };
    const tenant = { ...runtime.tenant, config };
    return { ...runtime, config, tenant };
  };

  test.each([
    ["published", "operation_not_permitted_error"],
    ["precise", "forbidden"],
  ] as const)("has the %s code", async (error_codes, code) => {
    const response = await ask("POST", "/token_exchange", {}, withSettings({ error_codes }));
    expect(response?.status).toBe(403);
    expect(await response?.json()).toMatchObject({ name: "error", actions: {}, error: { code } });
  });

  test.each([
    ["published", "technical_error"],
    ["precise", "temporarily_unavailable"],
  ] as const)("has the %s code while a handler cannot work", async (error_codes, code) => {
    const held = withSettings({ error_codes });
    const { log } = runtime;
    const cut: Runtime = {
      ...held,
      log: { ...log, error: () => {} } as unknown as Runtime["log"],
      get vault(): Runtime["vault"] {
        throw new OverloadedError();
      },
    };
    const path = `/login?redirect_to=${encodeURIComponent(`${runtime.config.base_url}/account`)}`;
    const response = await ask("GET", path, {}, cut);
    expect(response?.status).toBe(503);
    expect(await response?.json()).toMatchObject({ name: "error", actions: {}, error: { code } });
  });
});

describe("without a database", () => {
  const lines: unknown[] = [];
  const note = (line: unknown) => lines.push(line);
  // No server listens on this port.
  const database = openDatabase("postgres://stile@127.0.0.1:1/stile", 1, () => {});
  const cut = (): Runtime => ({
    ...runtime,
    database,
    readiness: createReadiness(database, runtime.instanceId, runtime.standing),
    log: { ...runtime.log, error: note, warn: note } as unknown as Runtime["log"],
  });

  afterAll(() => database.close());

  test("A114 answers a flow with state error and 503, and logs the cause with the request id", async () => {
    const response = await ask("POST", "/login", {}, cut());
    expect(response?.status).toBe(503);
    expect(response?.headers.get("retry-after")).toBe("1");
    expect(await response?.json()).toEqual({
      name: "error",
      status: 503,
      payload: { retry_after: 1, resend_after: 1 },
      csrf_token: "",
      actions: {},
      error: { code: "technical_error", message: expect.any(String) },
      links: null,
    });
    expect(lines).toMatchObject([{ request_id: "request-1", err: expect.any(Error) }]);
  });

  test("A114 answers other addresses with 503 and Retry-After", async () => {
    const asked = await visitor(cut()).post("/token", { code: "x", code_verifier: "v".repeat(43) });
    expect(asked.status).toBe(503);
    expect(asked.headers.get("retry-after")).toBe("1");
    expect(await asked.json()).toEqual({ code: 503, message: expect.any(String) });
  });

  test("is alive while the renewal of its lease hangs", async () => {
    const standing = { ...runtime.standing, refresh: () => new Promise<void>(() => {}) };
    const response = await ask("GET", "/health/alive", {}, { ...cut(), standing });
    expect(await response?.json()).toEqual({ alive: true });
  });

  test("A125 is alive and not ready", async () => {
    expect(await (await ask("GET", "/health/alive", {}, cut()))?.json()).toEqual({ alive: true });
    const ready = await ask("GET", "/health/ready", {}, cut());
    expect(ready?.status).toBe(503);
    expect(ready?.headers.get("retry-after")).toBe("1");
    expect(await ready?.json()).toEqual({ ready: false, reason: "database_unreachable" });
  });
});

test("A129 answers a flow with 503 and Retry-After if no connection is free in time", async () => {
  const url = runtime.database.read.$client.options.connectionString ?? "";
  const database = openDatabase(url, 1, () => {}, true, 2_000);
  const held = await Promise.all([database.write.$client.connect(), database.claim.$client.connect()]);
  const response = await ask("POST", "/login", {}, { ...runtime, database });
  expect(response?.status).toBe(503);
  expect(response?.headers.get("retry-after")).toBe("1");
  for (const connection of held) connection.release();
  expect((await ask("POST", "/login", {}, { ...runtime, database }))?.status).toBe(200);
  await database.close();
});

test("is ready with a database", async () => {
  const ready = await ask("GET", "/health/ready");
  expect(ready?.status).toBe(200);
  expect(await ready?.json()).toEqual({ ready: true });
});

test("serves public keys that are cacheable for ten minutes and contain nothing private", async () => {
  const response = await ask("GET", "/.well-known/jwks.json");
  expect(response?.headers.get("cache-control")).toBe("public, max-age=600");
  const keys: Record<string, string>[] = (await response?.json())?.keys;
  expect(keys).toHaveLength(1);
  expect(Object.keys(keys[0] ?? {}).sort()).toEqual(["alg", "crv", "kid", "kty", "use", "x", "y"]);
});

describe("an error that a browser shows to a person", () => {
  const reader = { accept: "text/html,*/*;q=0.8", "accept-language": "de" };

  test.each([
    ["GET", "/logout", 405],
    ["PUT", "/registration", 405],
    ["GET", "/saml/auth?domain=acme.example", 403],
    ["POST", "/saml/callback", 403],
    ["GET", "/saml/metadata", 403],
    ["GET", "/me", 401],
    ["GET", "/t/7d1e8a52-0c0f-4a5e-9f52-0d2b3e6a9d11/login", 404],
  ])("%s %s is a page with words, its status and a way on", async (method, path, status) => {
    const response = await ask(method, path, reader);
    expect([response?.status, response?.headers.get("content-type")]).toEqual([
      status,
      "text/html; charset=utf-8",
    ]);
    const page = (await response?.text()) ?? "";
    expect(page).toContain('<html lang="de" dir="ltr">');
    expect(page).toContain("<h1>Dieser Link funktioniert nicht</h1>");
    expect(page.includes('<a href="/">')).toBe(status !== 404);
    expect((await ask(method, path))?.headers.get("content-type")).toMatch(/^application\/json/);
  });

  test("keeps its headers and its cookies", async () => {
    const response = await ask("GET", "/logout", reader);
    expect(response?.headers.get("allow")).toBe("POST, OPTIONS");
    const ended = await ask("POST", "/logout", { ...reader, "sec-fetch-site": "same-origin" });
    expect(ended?.status).toBe(401);
    expect(ended?.headers.getSetCookie().join()).toContain("service=;");
  });

  test("is JSON for programs and in the interfaces of servers", async () => {
    for (const accept of ["*/*", "application/json"])
      expect((await ask("GET", "/logout", { accept }))?.headers.get("content-type")).toMatch(/json/);
    expect((await ask("GET", "/admin/users", reader))?.headers.get("content-type")).toMatch(/json/);
  });
});

describe("the development mailbox", () => {
  const local = { peer: "::1", requestId: "request-1" };
  const open = (on: Runtime, from = local, headers: Record<string, string> = {}) =>
    handle(
      new Request("http://localhost:3000/dev/mailbox", { headers: { host: "localhost:3000", ...headers } }),
      from,
      on,
    );

  test("is served to this machine, with a Content-Security-Policy of its own", async () => {
    const response = await open(runtime);
    expect(response?.status).toBe(200);
    expect(response?.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(response?.headers.get("content-security-policy")).toContain("script-src 'sha256-");
    expect(response?.headers.get("x-request-id")).toBe("request-1");
  });

  test("is not found by other machines, in production, or with a mail server", async () => {
    expect((await open(runtime, arrival))?.status).toBe(404);
    expect((await open(runtime, local, { "x-forwarded-for": "192.0.2.1" }))?.status).toBe(404);
    expect((await open(runtime.configured({ SMTP_URL: "smtp://localhost" })))?.status).toBe(404);
    const production = runtime.configured({ NODE_ENV: "production", SECRET_KEYS: "a key for tests alone" });
    expect((await open(production))?.status).toBe(404);
  });

  test("is served with a mail server too while SMS are kept in it", async () => {
    const keeping = { SMTP_URL: "smtp://localhost", STILE_PHONE_ENABLED: "true" };
    expect((await open(runtime.configured(keeping)))?.status).toBe(200);
    const sending = {
      ...keeping,
      STILE_SMS_DELIVERY_ACCOUNT_SID: "AC0123",
      STILE_SMS_DELIVERY_AUTH_TOKEN: "hush",
      STILE_SMS_DELIVERY_FROM: "Stile",
    };
    expect((await open(runtime.configured(sending)))?.status).toBe(404);
  });
});
