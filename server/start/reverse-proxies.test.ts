import { randomUUID } from "node:crypto";
import { createServer, request as httpRequest, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { isInstalled, proxyNames } from "../../scripts/test-programs.ts";
import { dispatch } from "../http/dispatch.ts";
import { restRegistration } from "../testing/rest-walk.ts";
import { type RunningProxy, startProxy } from "../testing/reverse-proxies.ts";
import { type TestRuntime, testRuntime } from "../testing/runtime.ts";
import { createListener, type Listener } from "./listener.ts";

/** The settings of docs/reverse-proxies.md, without TLS. */
const settings = {
  BASE_URL: "http://login.example.com",
  STILE_SESSION_COOKIE_DOMAIN: "example.com",
  STILE_HOSTED_ALLOWED_REDIRECT_URLS: "http://app.example.com**",
  STILE_SERVER_TRUSTED_PROXIES: "127.0.0.1",
};

interface Seen {
  method: string | undefined;
  url: string | undefined;
  headers: [string, string][];
  body: string;
}

let runtime: TestRuntime;
let listener: Listener;
let stile: number;
let application: Server;
/** What the application was asked. */
let seen: Seen[];

beforeAll(async () => {
  runtime = await testRuntime(settings);
  listener = createListener({
    log: runtime.log,
    trustedProxies: runtime.config.server.trusted_proxies,
    errorHeaders: {},
    sendTimeoutMs: 60_000,
    destinations: Promise.resolve({
      api: (request, info) => dispatch(request, info, runtime),
      loggable: (_, path) => path,
      pages: async () => new Response("a page"),
    }),
  });
  stile = await listener.listen(0, "127.0.0.1");
  application = createServer(async (request, response) => {
    const { method, url, rawHeaders } = request;
    const names = rawHeaders.filter((_, index) => index % 2 === 0);
    const headers = names.map((name, index): [string, string] => [
      name.toLowerCase(),
      rawHeaders[2 * index + 1] ?? "",
    ]);
    seen.push({ method, url, headers, body: await textOf(request) });
    response.end("the application");
  });
  await new Promise<void>((resolve) => application.listen(0, "127.0.0.1", resolve));
});

afterAll(async () => {
  application.close();
  await listener.close(0);
  await runtime.close();
});

beforeEach(() => {
  seen = [];
});

async function textOf(stream: IncomingMessage): Promise<string> {
  return Buffer.concat(await stream.toArray()).toString();
}

interface Answer {
  status: number | undefined;
  location: string | undefined;
  body: string;
}

/** Asks a proxy for an address of the application. Unlike `fetch`, sends any header. */
function ask(
  port: number,
  path: string,
  {
    headers = {},
    method = "GET",
    body = "",
  }: { headers?: Record<string, string>; method?: string; body?: string } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      {
        port,
        host: "127.0.0.1",
        path,
        method,
        agent: false,
        headers: { host: "app.example.com", ...headers },
      },
      async (response) =>
        resolve({
          status: response.statusCode,
          location: response.headers.location,
          body: await textOf(response),
        }),
    );
    sent.once("error", reject);
    sent.end(body);
  });
}

async function signedIn() {
  const email = `${randomUUID()}@example.com`;
  const { visitor, state } = await restRegistration(runtime, email);
  const { claims } = state.payload as { claims: { subject: string; session_id: string } };
  const token = visitor.cookies.get("service") ?? "";
  return {
    cookie: `theme=dark; service=${token}`,
    expected: {
      "x-stile-user-id": claims.subject,
      "x-stile-session-id": claims.session_id,
      "x-stile-email": email,
      "x-stile-token": token,
    },
  };
}

/** Headers of the application's request that could say who is signed in, in any spelling. Empty ones say nothing. */
function identityIn({ headers }: Seen): Record<string, string> {
  const ours = headers.filter(([name, value]) => /^x.stile/.test(name) && value !== "");
  expect(new Set(ours.map(([name]) => name)).size).toBe(ours.length);
  return Object.fromEntries(ours);
}

/** What a client says that it is, in spellings that applications read alike. */
const forged = Object.fromEntries(
  ["User-Id", "Session-Id", "Email", "Username", "Token"].flatMap((name) =>
    [`X-Stile-${name}`, `X_Stile_${name}`, `X-Stile_${name}`, `x_stile-${name}`].map((spelling) => [
      spelling,
      "root",
    ]),
  ),
);

const page = { "sec-fetch-mode": "navigate", accept: "text/html" };

describe.each(proxyNames)("%s with the configuration of docs/reverse-proxies.md", (name) => {
  // In CI scripts/ensure-programs.ts installs every one.
  const missing = isInstalled(name) ? false : `skipped: ${name} is not installed (apt-get install ${name})`;
  let proxy: RunningProxy;

  beforeAll(async () => {
    const { port } = application.address() as AddressInfo;
    if (!missing) proxy = await startProxy(name, { stile, application: port });
  });
  afterAll(() => proxy?.stop());

  test("passes the request of a session on, and says whose it is", async ({ skip }) => {
    if (missing) skip(missing);
    const { cookie, expected } = await signedIn();
    const answer = await ask(proxy.port, "/orders?page=2", {
      headers: { cookie, "content-type": "text/plain" },
      method: "POST",
      body: "an order",
    });
    expect(answer).toEqual({ status: 200, location: undefined, body: "the application" });
    expect(seen).toMatchObject([{ method: "POST", url: "/orders?page=2", body: "an order" }]);
    expect(identityIn(seen[0] as Seen)).toEqual(expected);
    expect((seen[0] as Seen).headers).toContainEqual(["host", "app.example.com"]);
  });

  test("sends a page without a session to the sign-in, with the way back", async ({ skip }) => {
    if (missing) skip(missing);
    const answer = await ask(proxy.port, "/orders?page=2&sort=a%20b", { headers: page });
    expect(answer).toMatchObject({
      status: 302,
      location: `http://login.example.com/login?${new URLSearchParams({
        redirect_to: "http://app.example.com/orders?page=2&sort=a%20b",
      })}`,
    });
    expect(seen).toEqual([]);
  });

  test("answers a script without a session with 401", async ({ skip }) => {
    if (missing) skip(missing);
    const answer = await ask(proxy.port, "/orders", { headers: { "sec-fetch-mode": "cors" } });
    expect(answer).toMatchObject({ status: 401, location: undefined });
    expect(seen).toEqual([]);
  });

  test("A154 removes the headers that a client sends itself, with a session and without", async ({
    skip,
  }) => {
    if (missing) skip(missing);
    expect((await ask(proxy.port, "/", { headers: { ...page, ...forged } })).status).toBe(302);
    expect(seen).toEqual([]);
    const { cookie, expected } = await signedIn();
    expect((await ask(proxy.port, "/", { headers: { ...page, ...forged, cookie } })).status).toBe(200);
    expect(identityIn(seen[0] as Seen)).toEqual(expected);
  });

  test("A157 takes the requested address from no header of a client", async ({ skip }) => {
    if (missing) skip(missing);
    const answer = await ask(proxy.port, "/orders", {
      headers: {
        ...page,
        "X-Original-URL": "http://app.example.com/forged",
        "X-Forwarded-Proto": "https",
        "X-Forwarded-Host": "evil.example",
        "X-Forwarded-Uri": "/forged",
      },
    });
    expect(answer.location).toBe(
      `http://login.example.com/login?${new URLSearchParams({ redirect_to: "http://app.example.com/orders" })}`,
    );
  });

  test("lets no request pass while the service does not answer", async ({ skip }) => {
    if (missing) skip(missing);
    const { cookie } = await signedIn();
    const { port } = application.address() as AddressInfo;
    const closed = await startProxy(name, { stile: 1, application: port });
    try {
      expect((await ask(closed.port, "/", { headers: { cookie } })).status).toBeGreaterThanOrEqual(500);
      expect(seen).toEqual([]);
    } finally {
      await closed.stop();
    }
  });
});
