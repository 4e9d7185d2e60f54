import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { servedAddresses } from "../http/addresses.ts";
import { type TestDatabase, testDatabase } from "../testing/postgres.ts";
import { type RunningServer, startServer } from "../testing/server.ts";
import { type SmtpCatcher, startSmtp } from "../testing/smtp.ts";

/** The same requests to two servers: one by `npm start`, and one by Next. */

const under = ["stile", "next"] as const;
const origin = "https://app.example.net";
const tenant = "00000000-0000-4000-8000-000000000001";
let databases: TestDatabase[];
let mailboxes: SmtpCatcher[];
let servers: RunningServer[];

beforeAll(async () => {
  databases = await Promise.all(under.map(() => testDatabase()));
  mailboxes = await Promise.all(under.map(() => startSmtp()));
  servers = await Promise.all(
    under.map((program, index) =>
      startServer({
        under: program,
        env: {
          DATABASE_URL: databases[index]?.url ?? "",
          SMTP_URL: mailboxes[index]?.url ?? "",
          SECRET_KEYS: "the same key of both servers",
          STILE_RATE_LIMITER_ENABLED: "false",
          STILE_CORS_ALLOW_ORIGINS: origin,
          STILE_SAML_ENABLED: "true",
        },
      }),
    ),
  );
});

afterAll(async () => {
  for (const { stop } of servers ?? []) await stop();
  for (const { close } of [...(mailboxes ?? []), ...(databases ?? [])]) await close();
});

/** Header fields of the connection, and of the form in which it carries a body; Next compresses none. */
const ofConnection = [
  "connection",
  "content-encoding",
  "content-length",
  "date",
  "keep-alive",
  "transfer-encoding",
];

/** Next names the fields that its own pages would vary by. */
const VARY_OF_NEXT = /^rsc, next-router-state-tree, next-router-prefetch, next-router-segment-prefetch(, |$)/;

/** An answer, with what differs from call to call replaced: secrets, identifiers, times and the server's address. */
interface Compared {
  status: number;
  headers: Record<string, string>;
  cookies: string[];
  body: string;
}

async function comparable(answer: Response, url: string): Promise<Compared> {
  const withoutSecrets = (text: string) =>
    text
      .replaceAll(url, "URL")
      .replaceAll(encodeURIComponent(url), "URL")
      .replaceAll(new URL(url).host, "HOST")
      .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
      .replace(/"(expires_in|resend_after|version)":\d+/g, '"$1":0')
      .replace(/"support_number":"[A-Z ]+"/g, '"support_number":""')
      .replace(/(nonce[-="]+)[\w+/]+/g, "$1NONCE")
      .replace(/(?=[\w+/*.=-]*[\dA-Z])[\w+/*.=-]{16,}/g, "SECRET");
  const cookies = answer.headers.getSetCookie().map(withoutSecrets).toSorted();
  const { vary = "", ...fields } = Object.fromEntries(answer.headers);
  for (const name of ["set-cookie", ...ofConnection]) delete fields[name];
  const compared = Object.entries({ ...fields, vary: vary.replace(VARY_OF_NEXT, "") });
  return {
    status: answer.status,
    headers: Object.fromEntries(compared.map(([name, value]) => [name, withoutSecrets(value)])),
    cookies,
    body: withoutSecrets(await answer.text()),
  };
}

/** Sends a request to both servers. Returns what they answered, in the order of `under`. */
function ask(path: string, init: RequestInit = {}): Promise<Compared[]> {
  const headers = { "x-request-id": "caller-0815", ...(init.headers as Record<string, string>) };
  return Promise.all(
    servers.map(async ({ url }) =>
      comparable(await fetch(url + path, { redirect: "manual", ...init, headers }), url),
    ),
  );
}

async function expectSame(path: string, init: RequestInit = {}): Promise<Compared> {
  const [own, next] = await ask(path, init);
  expect(next).toEqual(own);
  return own as Compared;
}

/** An address with values in place of its parameters. */
const filled = (address: string) =>
  address
    .replace("{tenant}", tenant)
    .replace("{tenant_id}", tenant)
    .replace("*", "login")
    .replace(/\{\w+\}/g, "x");

const json = { "content-type": "application/json" };

test.each(servedAddresses())("%s has the same answers under both, by every method", async (address) => {
  const path = filled(address);
  for (const method of ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"])
    await expectSame(path, {
      method,
      ...(method === "POST" || method === "PUT" ? { headers: json, body: "{}" } : {}),
    });
  await expectSame(path, { headers: { accept: "text/html", "accept-encoding": "gzip", origin } });
});

test.each([
  "/nothing",
  "/login/",
  "/login/x",
  "/me/?a=b",
  "/Login",
  "/%6Cogin",
  "/admin",
  "/admin/",
  "/admin/x/y",
  "/passkeys/x",
  "/health",
  "/docs",
  "/api",
  "/api/trpc",
  "/.well-known",
  "/.well-known/x",
  "/.hidden",
  "/t",
  "/t/x",
  `/t/${tenant}`,
  `/t/${tenant}/`,
  `/t/${tenant}/account`,
  `/t/${tenant}/api/trpc/flow.start`,
  "/index",
  "/route",
  "/account/index",
  "/login.rsc",
  "/login.json",
  "/favicon.ico",
])("%s, which is no address, has the same answers under both", async (path) => {
  await expectSame(path);
  await expectSame(path, { headers: { accept: "text/html" } });
  await expectSame(path, { method: "POST", headers: json, body: "{}" });
});

describe("a procedure of tRPC", () => {
  /** A browser for each server. */
  const cookies = under.map(() => new Map<string, string>());
  const versions = [0, 0];

  async function call(
    procedure: string,
    input: (index: number) => object,
    headers: Record<string, string> = {},
  ) {
    const answers = await Promise.all(
      servers.map(async ({ url }, index) => {
        const jar = cookies[index] as Map<string, string>;
        const cookie = [...jar].map((pair) => pair.join("=")).join("; ");
        const answer = await fetch(`${url}/api/trpc/${procedure}`, {
          method: "POST",
          headers: {
            ...json,
            origin: url,
            "sec-fetch-site": "same-origin",
            cookie,
            "x-request-id": "call",
            ...headers,
          },
          body: JSON.stringify(input(index)),
        });
        for (const set of answer.headers.getSetCookie()) {
          const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
          jar.set(name, value);
        }
        const { result } = (await answer.clone().json()) as { result?: { data: { version: number } } };
        versions[index] = result?.data.version ?? 0;
        return comparable(answer, url);
      }),
    );
    expect(answers[1]).toEqual(answers[0]);
    return answers[0] as Compared;
  }

  test("registers a user by the same answers under both", async () => {
    const type = "registration";
    const email = "ada@example.com";
    const act = (action: string, input: (index: number) => object) =>
      call("flow.act", (index) => ({ type, version: versions[index], action, input: input(index) }));
    await call("flow.start", () => ({ type, capabilities: {} }));
    const asked = await act("register_login_identifier", () => ({ email }));
    expect(asked.body).toContain('"passcode_confirmation"');
    await call("flow.current", () => ({ type }));
    const codes = await Promise.all(mailboxes.map((mailbox) => mailbox.codeFor(email)));
    await act("verify_passcode", (index) => ({ code: codes[index] }));
    let { body } = await act("register_password", () => ({ new_password: "correct horse battery" }));
    if (!body.includes('"success"')) ({ body } = await act("skip", () => ({})));
    expect(body).toContain('"success"');
  });

  test("rejects a call by the same answers under both", async () => {
    const statuses = [
      await call("flow.unknown", () => ({})),
      await call("flow.start", () => ({ type: "nothing" })),
      await call("flow.start?batch=1", () => ({})),
      await call("flow.start", () => ({ type: "login" }), { "content-type": "text/plain" }),
      await call("flow.start", () => ({ type: "login", padding: "x".repeat(2 ** 20) })),
      await call("flow.start", () => ({ type: "login" }), {
        origin: "https://evil.example",
        "sec-fetch-site": "cross-site",
      }),
    ].map(({ status }) => status);
    expect(statuses).toEqual([404, 400, 400, 400, 413, 403]);
  });

  test("answers a page of another origin by the same answers under both", async () => {
    const other = { origin, "sec-fetch-site": "cross-site" };
    const { headers, body } = await call("flow.start", () => ({ type: "login", capabilities: {} }), other);
    expect([headers["access-control-allow-origin"], body]).toEqual([
      origin,
      expect.stringContaining('"flow_token":'),
    ]);
  });
});
