import { createPublicKey, verify } from "node:crypto";
import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type PasskeyService, startPasskeyService } from "../../testing/passkey-service.ts";
import { type Authenticator, softwareAuthenticator } from "../../testing/webauthn-authenticator.ts";

// Every operation of the passkey server but those of transactions, over the network, by a client that shares no code
// with the server.

let service: PasskeyService;
let base: string;
let origin: string;

beforeAll(async () => {
  service = await startPasskeyService();
  base = `${service.base}/${service.tenantId}`;
  origin = service.server.url;
});

afterAll(() => service?.close());

interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a client knows no types but those of the description.
  body: any;
}

const walked = new Set<string>();

/** A call by an application; `key` null leaves it out. */
async function call(
  method: string,
  path: string,
  body?: unknown,
  { key = service.key, headers = {} }: { key?: string | null; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const [pathname = ""] = path.split("?");
  walked.add(`${method} ${pathname.replace(/^\/credentials\/.+/, "/credentials/{credential_id}")}`);
  const answer = await fetch(base + path, {
    method,
    headers: {
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...(key === null ? {} : { apiKey: key }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return {
    status: answer.status,
    headers: answer.headers,
    text,
    body: text === "" ? undefined : JSON.parse(text),
  };
}

/** The claims of a token, once its signature was found right by the published key that it names (RFC 7515, 5.2). */
async function claimsOf(token: string) {
  const [header = "", claims = "", signature = ""] = token.split(".");
  const { alg, typ, kid } = JSON.parse(Buffer.from(header, "base64url").toString());
  expect([alg, typ]).toEqual(["RS256", "JWT"]);
  const { body } = await call("GET", "/.well-known/jwks.json", undefined, { key: null });
  const jwk = body.keys.find((key: { kid: string }) => key.kid === kid);
  const key = createPublicKey({ key: jwk, format: "jwk" });
  const signed = Buffer.from(`${header}.${claims}`);
  expect(verify("sha256", signed, key, Buffer.from(signature, "base64url"))).toBe(true);
  return JSON.parse(Buffer.from(claims, "base64url").toString());
}

async function register(userId: string, authenticator: Authenticator, prefix = "") {
  const user = { user_id: userId, username: `${userId}@example.com` };
  const opened = await call("POST", `${prefix}/registration/initialize`, user);
  expect(opened.status).toBe(200);
  const credential = authenticator.create(opened.body, { origin });
  const finished = await call("POST", `${prefix}/registration/finalize`, credential);
  expect(finished.status).toBe(200);
  return { id: credential.id, options: opened.body, token: finished.body.token as string };
}

async function signIn(authenticator: Authenticator, path: string, body?: unknown) {
  const opened = await call("POST", `${path}/initialize`, body);
  expect(opened.status).toBe(200);
  const credential = authenticator.get(opened.body, { origin });
  const finished = await call("POST", `${path}/finalize`, credential);
  return { options: opened.body, credential, finished };
}

const phone = softwareAuthenticator();
const securityKey = softwareAuthenticator({ counts: true, backup: "no", attachment: "cross-platform" });
const ids: Record<string, string> = {};

describe("an application", () => {
  test("registers a passkey of a user, and knows by the token whose it is", async () => {
    const { id, options, token } = await register("ada", phone);
    ids.phone = id;
    expect(Buffer.from(options.publicKey.challenge, "base64url")).toHaveLength(32);
    expect(await claimsOf(token)).toEqual({
      sub: "ada",
      aud: ["localhost"],
      cred: id,
      iat: expect.any(Number),
      exp: expect.any(Number),
    });
  });

  test("registers a security key as their second factor", async () => {
    const { id, token } = await register("ada", securityKey, "/mfa");
    ids.key = id;
    expect((await claimsOf(token)).cred).toBe(id);
  });

  test("signs whoever comes in, without knowing who it is", async () => {
    const { options, finished } = await signIn(phone, "/login");
    expect(Object.keys(options)).toEqual(["publicKey"]);
    expect((await claimsOf(finished.body.token)).sub).toBe("ada");
  });

  test("signs a user in whom it names", async () => {
    const { options, finished } = await signIn(phone, "/login", { user_id: "ada" });
    expect(options.publicKey.allowCredentials).toEqual([{ type: "public-key", id: ids.phone }]);
    expect((await claimsOf(finished.body.token)).sub).toBe("ada");
  });

  test("asks for a second factor", async () => {
    const { options, finished } = await signIn(securityKey, "/mfa/login", { user_id: "ada" });
    expect(options.mediation).toBe("optional");
    expect(await claimsOf(finished.body.token)).toMatchObject({ sub: "ada", cred: ids.key });
  });

  test("looks after credentials", async () => {
    const listed = await call("GET", "/credentials?user_id=ada&order=asc&per_page=1");
    expect(listed.body.map(({ id }: { id: string }) => id)).toEqual([ids.phone]);
    expect(listed.headers.get("X-Total-Count")).toBe("2");
    const next = /<([^>]+)>; rel="next"/.exec(listed.headers.get("Link") ?? "")?.[1] ?? "";
    expect(next.startsWith(base)).toBe(true);
    expect((await call("GET", next.slice(base.length))).body[0].id).toBe(ids.key);

    const path = `/credentials/${ids.key}`;
    expect((await call("GET", path)).body).toMatchObject({ id: ids.key, is_mfa: true, user_id: "ada" });
    expect(await call("PATCH", path, { name: "in the drawer" })).toMatchObject({ status: 204, text: "" });
    expect((await call("GET", path)).body.name).toBe("in the drawer");
    expect(await call("DELETE", path)).toMatchObject({ status: 204, text: "" });
    expect((await call("GET", path)).body).toEqual({
      title: `credential with id '${ids.key}' not found`,
      details: "",
      status: 404,
    });
  });

  test("is refused what it did not keep to, each time with a body", async () => {
    const { credential, finished } = await signIn(phone, "/login");
    expect(finished.status).toBe(200);
    const again = await call("POST", "/login/finalize", credential);
    expect(again.body).toEqual({
      title: "failed to get session data",
      details: "received challenge does not match with any stored one",
      status: 401,
    });
    expect((await call("GET", "/credentials", undefined, { key: null })).body.status).toBe(401);
    expect((await call("POST", "/registration/initialize", { user_id: "ada" })).body).toEqual({
      title: "unable to validate request",
      details: "username is a required field",
      status: 400,
    });
    const wrongMethod = await fetch(`${base}/credentials`, { method: "PUT" });
    expect([wrongMethod.status, (await wrongMethod.json()).title]).toEqual([405, "Method Not Allowed"]);
  });
});

/** A request written by hand, since `fetch` joins headers and knows no body without a type. */
function raw(method: string, path: string, headers: [string, string][], body = "") {
  const { hostname, port, pathname } = new URL(base);
  return new Promise<{ status: number; body: string }>((resolve, reject) => {
    const asked = request(
      { hostname, port, path: pathname + path, method, headers: headers.flat() },
      async (answer) => resolve({ status: answer.statusCode ?? 0, body: (await answer.toArray()).join("") }),
    );
    asked.once("error", reject);
    asked.end(body);
  });
}

describe("on the wire", () => {
  test.each(["POST", "GET", "DELETE"])("an empty body of JSON is none: %s", async (method) => {
    const path =
      method === "POST" ? "/login/initialize" : `/credentials/${method === "GET" ? ids.phone : "AAAA"}`;
    const at: [string, string][] = [
      ["Host", new URL(base).host],
      ["Content-Type", "application/json"],
      ["Content-Length", "0"],
      ["apiKey", service.key],
    ];
    expect((await raw(method, path, at)).status).toBe(method === "DELETE" ? 404 : 200);
  });

  test("A67 a key that is there twice is none, nor are a right and a wrong one", async () => {
    const at = (...keys: string[]): [string, string][] => [
      ["Host", new URL(base).host],
      ...keys.map((key): [string, string] => ["apiKey", key]),
    ];
    const wrong = "x".repeat(service.key.length);
    const status = async (...keys: string[]) => (await raw("GET", "/credentials", at(...keys))).status;
    expect(await status(service.key)).toBe(200);
    expect(await status(service.key, service.key)).toBe(401);
    expect(await status(service.key, wrong)).toBe(401);
    expect(await status(wrong, service.key)).toBe(401);
  });

  test("HEAD has no body, and every answer a name", async () => {
    const head = await fetch(`${base}/credentials`, {
      method: "HEAD",
      headers: { "X-Request-Id": "the-walk-1" },
    });
    expect([head.status, await head.text()]).toEqual([401, ""]);
    expect(head.headers.get("X-Request-Id")).toBe("the-walk-1");
    const keys = await fetch(`${base}/.well-known/jwks.json`);
    expect(keys.headers.get("Cache-Control")).toBe("max-age=600");
    expect(keys.headers.get("X-Request-Id")).toBeTruthy();
  });

  test("pages of the application may call what needs no key, with credentials", async () => {
    const preflight = await fetch(`${base}/login/finalize`, {
      method: "OPTIONS",
      headers: {
        Origin: origin,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "content-type",
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("Access-Control-Allow-Origin")).toBe(origin);
    expect(preflight.headers.get("Access-Control-Allow-Credentials")).toBe("true");
    expect(preflight.headers.get("Access-Control-Allow-Headers")).toBe("content-type");
    expect(preflight.headers.get("Access-Control-Max-Age")).toBe("7200");
  });

  test("A67 the key and the tokens are in no log line", async () => {
    const { finished } = await signIn(phone, "/login");
    expect(service.server.logs()).not.toContain(service.key);
    expect(service.server.logs()).not.toContain(finished.body.token);
  });

  test("one of ten answers to the same challenge is taken", async () => {
    const opened = await call("POST", "/login/initialize");
    const credential = phone.get(opened.body, { origin });
    const finish = async () => (await call("POST", "/login/finalize", credential)).status;
    const statuses = await Promise.all(Array.from({ length: 10 }, finish));
    expect(statuses.toSorted()).toEqual([200, ...Array(9).fill(401)]);
  });

  test("challenges, credentials and keys outlive the server", async () => {
    const opened = await call("POST", "/login/initialize");
    const before = await call("GET", "/.well-known/jwks.json");
    await service.server.restart();
    const credential = phone.get(opened.body, { origin });
    const { status, body } = await call("POST", "/login/finalize", credential);
    expect(status).toBe(200);
    expect((await claimsOf(body.token)).sub).toBe("ada");
    expect((await call("GET", "/.well-known/jwks.json")).body).toEqual(before.body);
  });
});

test("all of it was walked", () => {
  expect([...walked].toSorted()).toEqual([
    "DELETE /credentials/{credential_id}",
    "GET /.well-known/jwks.json",
    "GET /credentials",
    "GET /credentials/{credential_id}",
    "PATCH /credentials/{credential_id}",
    "POST /login/finalize",
    "POST /login/initialize",
    "POST /mfa/login/finalize",
    "POST /mfa/login/initialize",
    "POST /mfa/registration/finalize",
    "POST /mfa/registration/initialize",
    "POST /registration/finalize",
    "POST /registration/initialize",
  ]);
});
