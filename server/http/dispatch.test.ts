import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openDatabase } from "#db/client";
import type { Runtime } from "../runtime.ts";
import { type TestRuntime, testRuntime } from "../testing/runtime.ts";
import { visitor } from "../testing/visitor.ts";
import { handle } from "./dispatch.ts";

const app = "https://app.example.com";
const arrival = { peer: "192.0.2.1", requestId: "request-1" };

let runtime: TestRuntime;

beforeAll(async () => {
  runtime = await testRuntime({ STILE_CORS_ALLOW_ORIGINS: app });
});

afterAll(() => runtime.close());

const ask = (method: string, path: string, headers: Record<string, string> = {}, on: Runtime = runtime) =>
  handle(
    new Request(`http://localhost:3000${path}`, { method, headers: { host: "localhost:3000", ...headers } }),
    arrival,
    on,
  );

describe("what is not answered", () => {
  test("addresses of pages are left to Next", async () => {
    expect(await ask("GET", "/")).toBeNull();
    expect(await ask("GET", "/?redirect_to=x")).toBeNull();
    expect(await ask("GET", "/_next/static/chunk.js")).toBeNull();
  });

  test.each(["/login/x", "/users/a/b", "/api/other", "/.well-known/other", "/health"])(
    "%s is 404 in JSON",
    async (path) => {
      const response = await ask("GET", path);
      expect(response?.status).toBe(404);
      expect(await response?.json()).toEqual({ code: 404, message: expect.any(String) });
    },
  );

  test.each(["PUT", "PATCH", "DELETE", "PROPFIND"])(
    "A98 %s on /login is 405 with Allow, as a flow state",
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

  test("A98 TRACE is 405 too, though no client can send it", async () => {
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
  ])("A37 %s %s is 405 with Allow: %s", async (method, path, allow) => {
    const response = await ask(method, path);
    expect(response?.status).toBe(405);
    expect(response?.headers.get("allow")).toBe(allow);
  });

  test("A89 a host name that is not ours is 421, for pages too", async () => {
    const response = await ask("GET", "/", { host: "evil.example" });
    expect(response?.status).toBe(421);
    expect((await ask("POST", "/login", { host: "evil.example" }))?.status).toBe(421);
  });

  test.each(["/step", "/api/trpc/flow.start"])("A37 %s is for our own page alone", async (path) => {
    const headers = { "content-type": "application/json" };
    expect((await ask("POST", path, headers))?.status).toBe(403);
    expect((await ask("POST", path, { ...headers, origin: app }))?.status).toBe(403);
    expect((await ask("POST", path, { ...headers, "sec-fetch-site": "cross-site" }))?.status).toBe(403);
  });
});

describe("every answer", () => {
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
  ])("%s %s carries the headers that keep it from being more than it is", async (method, path, status) => {
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

  test("asks for TLS for a year where it came by it", async () => {
    const secure = runtime.configured({ BASE_URL: "https://login.example.com" });
    const response = await ask("GET", "/health/alive", {}, secure);
    expect(response?.headers.get("strict-transport-security")).toBe("max-age=31536000; includeSubDomains");
  });

  test("to HEAD is the one to GET without its body", async () => {
    const [got, head] = [await ask("GET", "/health/alive"), await ask("HEAD", "/health/alive")];
    expect(head?.status).toBe(200);
    expect(await head?.text()).toBe("");
    expect([...(head?.headers ?? [])]).toEqual([...(got?.headers ?? [])]);
  });
});

describe("CORS", () => {
  test("A38 a listed origin may read answers and refusals", async () => {
    for (const path of ["/login", "/registration", "/login/x"]) {
      const response = await ask("POST", path, { origin: app });
      expect(response?.headers.get("access-control-allow-origin")).toBe(app);
      expect(response?.headers.get("access-control-allow-credentials")).toBe("true");
    }
  });

  test("A38 another origin gets neither a flow nor leave to read why", async () => {
    const response = await ask("POST", "/login", { origin: "https://evil.example" });
    expect(response?.status).toBe(403);
    expect(response?.headers.get("access-control-allow-origin")).toBeNull();
    expect(await response?.json()).toMatchObject({
      name: "error",
      error: { code: "operation_not_permitted_error" },
    });
  });

  test("a preflight is answered", async () => {
    const wish = {
      "access-control-request-method": "POST",
      "access-control-request-headers": "content-type",
    };
    const listed = await ask("OPTIONS", "/login", { origin: app, ...wish });
    expect(listed?.status).toBe(204);
    expect(Object.fromEntries(listed?.headers ?? [])).toMatchObject({
      "access-control-allow-origin": app,
      "access-control-allow-methods": "GET, POST, PUT, PATCH, DELETE, OPTIONS",
      "access-control-allow-headers": "content-type",
      "access-control-max-age": "7200",
    });
    const other = await ask("OPTIONS", "/login", { origin: "https://evil.example", ...wish });
    expect([...(other?.headers.keys() ?? [])].filter((name) => name.startsWith("access-control"))).toEqual(
      [],
    );
  });
});

describe("when the database cannot be reached", () => {
  const lines: unknown[] = [];
  const note = (line: unknown) => lines.push(line);
  // Nobody listens there.
  const database = openDatabase("postgres://stile@127.0.0.1:1/stile", 1, () => {});
  const cut = (): Runtime => ({
    ...runtime,
    database,
    log: { ...runtime.log, error: note, warn: note } as unknown as Runtime["log"],
  });

  afterAll(() => database.close());

  test("A114 a flow is answered 500 as a state, without the cause, which is logged with the request's name", async () => {
    const response = await ask("POST", "/login", {}, cut());
    expect(response?.status).toBe(500);
    expect(await response?.json()).toEqual({
      name: "error",
      status: 500,
      payload: {},
      csrf_token: "",
      actions: {},
      error: { code: "technical_error", message: expect.any(String) },
      links: null,
    });
    expect(lines).toMatchObject([{ request_id: "request-1", err: expect.any(Error) }]);
  });

  test("A114 everything else is 503, to be tried again", async () => {
    const asked = await visitor(cut()).post("/token", { code: "x", code_verifier: "v".repeat(43) });
    expect(asked.status).toBe(503);
    expect(asked.headers.get("retry-after")).toBe("1");
    expect(await asked.json()).toEqual({ code: 503, message: expect.any(String) });
  });

  test("A125 the service is alive, and not ready", async () => {
    expect(await (await ask("GET", "/health/alive", {}, cut()))?.json()).toEqual({ alive: true });
    const ready = await ask("GET", "/health/ready", {}, cut());
    expect(ready?.status).toBe(503);
    expect(await ready?.json()).toEqual({ ready: false });
  });
});

test("a service that can be reached is ready", async () => {
  const ready = await ask("GET", "/health/ready");
  expect(ready?.status).toBe(200);
  expect(await ready?.json()).toEqual({ ready: true });
});

test("the public keys may be kept for ten minutes, and hold nothing private", async () => {
  const response = await ask("GET", "/.well-known/jwks.json");
  expect(response?.headers.get("cache-control")).toBe("public, max-age=600");
  const keys: Record<string, string>[] = (await response?.json())?.keys;
  expect(keys).toHaveLength(1);
  expect(Object.keys(keys[0] ?? {}).sort()).toEqual(["alg", "crv", "kid", "kty", "use", "x", "y"]);
});

describe("the local mailbox", () => {
  const local = { peer: "::1", requestId: "request-1" };
  const open = (on: Runtime, from = local, headers: Record<string, string> = {}) =>
    handle(
      new Request("http://localhost:3000/dev/mailbox", { headers: { host: "localhost:3000", ...headers } }),
      from,
      on,
    );

  test("opens on this machine, under a policy of its own", async () => {
    const response = await open(runtime);
    expect(response?.status).toBe(200);
    expect(response?.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(response?.headers.get("content-security-policy")).toContain("script-src 'sha256-");
    expect(response?.headers.get("x-request-id")).toBe("request-1");
  });

  test("is not there for anybody else, nor in production, nor beside a mail server", async () => {
    expect((await open(runtime, arrival))?.status).toBe(404);
    expect((await open(runtime, local, { "x-forwarded-for": "192.0.2.1" }))?.status).toBe(404);
    expect((await open(runtime.configured({ SMTP_URL: "smtp://localhost" })))?.status).toBe(404);
    const production = runtime.configured({ NODE_ENV: "production", SECRET_KEYS: "a key for tests alone" });
    expect((await open(production))?.status).toBe(404);
  });
});
