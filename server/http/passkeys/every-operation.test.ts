import { request } from "node:http";
import { describe, expect, test } from "vitest";
import { openForTests } from "../../testing/open-for-tests.ts";
import { type PasskeyService, startPasskeyService } from "../../testing/passkey-service.ts";
import { type Authenticator, softwareAuthenticator } from "../../testing/webauthn-authenticator.ts";

// Calls every operation of the passkey server except those of transactions over the network, with a client that shares
// no code with the server.

const service = await openForTests(startPasskeyService());
const base = service.tenantBase;
const origin = service.server.url;

const calledOperations = new Set<string>();

/** Calls as an application, and records the operation. */
const call: PasskeyService["call"] = (method, path, ...rest) => {
  const [pathname = ""] = path.split("?");
  calledOperations.add(`${method} ${pathname.replace(/^\/credentials\/.+/, "/credentials/{credential_id}")}`);
  return service.call(method, path, ...rest);
};

async function claimsOf(token: string) {
  const { header, claims } = await service.verifyJws(token);
  expect(header.typ).toBe("JWT");
  return claims;
}

async function register(userId: string, authenticator: Authenticator, prefix = "") {
  const user = { user_id: userId, username: `${userId}@example.com` };
  const initialized = await call("POST", `${prefix}/registration/initialize`, user);
  expect(initialized.status).toBe(200);
  const credential = authenticator.create(initialized.body, { origin });
  const finalized = await call("POST", `${prefix}/registration/finalize`, credential);
  expect(finalized.status).toBe(200);
  return { id: credential.id, options: initialized.body, token: finalized.body.token as string };
}

async function signIn(authenticator: Authenticator, path: string, body?: unknown) {
  const initialized = await call("POST", `${path}/initialize`, body);
  expect(initialized.status).toBe(200);
  const credential = authenticator.get(initialized.body, { origin });
  const finalized = await call("POST", `${path}/finalize`, credential);
  return { options: initialized.body, credential, finalized };
}

const platformAuthenticator = softwareAuthenticator();
const securityKey = softwareAuthenticator({ counts: true, backup: "no", attachment: "cross-platform" });
const ids: Record<string, string> = {};

describe("an application", () => {
  test("registers a passkey and receives a token of its user", async () => {
    const { id, options, token } = await register("ada", platformAuthenticator);
    ids.passkey = id;
    expect(Buffer.from(options.publicKey.challenge, "base64url")).toHaveLength(32);
    expect(await claimsOf(token)).toEqual({
      sub: "ada",
      amr: ["passkey", "mfa"],
      aud: ["localhost"],
      cred: id,
      iat: expect.any(Number),
      exp: expect.any(Number),
    });
  });

  test("registers a security key as second factor", async () => {
    const { id, token } = await register("ada", securityKey, "/mfa");
    ids.securityKey = id;
    expect((await claimsOf(token)).cred).toBe(id);
  });

  test("signs in a user that it did not name", async () => {
    const { options, finalized } = await signIn(platformAuthenticator, "/login");
    expect(Object.keys(options)).toEqual(["publicKey"]);
    expect((await claimsOf(finalized.body.token)).sub).toBe("ada");
  });

  test("signs in a user that it named", async () => {
    const { options, finalized } = await signIn(platformAuthenticator, "/login", { user_id: "ada" });
    expect(options.publicKey.allowCredentials).toEqual([{ type: "public-key", id: ids.passkey }]);
    expect((await claimsOf(finalized.body.token)).sub).toBe("ada");
  });

  test("verifies a second factor", async () => {
    const { options, finalized } = await signIn(securityKey, "/mfa/login", { user_id: "ada" });
    expect(options.mediation).toBe("optional");
    expect(await claimsOf(finalized.body.token)).toMatchObject({ sub: "ada", cred: ids.securityKey });
  });

  test("lists, renames and deletes credentials", async () => {
    const listed = await call("GET", "/credentials?user_id=ada&order=asc&per_page=1");
    expect(listed.body.map(({ id }: { id: string }) => id)).toEqual([ids.passkey]);
    expect(listed.headers.get("X-Total-Count")).toBe("2");
    const next = /<([^>]+)>; rel="next"/.exec(listed.headers.get("Link") ?? "")?.[1] ?? "";
    expect(next.startsWith(base)).toBe(true);
    expect((await call("GET", next.slice(base.length))).body[0].id).toBe(ids.securityKey);

    const path = `/credentials/${ids.securityKey}`;
    expect((await call("GET", path)).body).toMatchObject({
      id: ids.securityKey,
      is_mfa: true,
      user_id: "ada",
    });
    expect(await call("PATCH", path, { name: "Backup key" })).toMatchObject({ status: 204, text: "" });
    expect((await call("GET", path)).body.name).toBe("Backup key");
    expect(await call("DELETE", path)).toMatchObject({ status: 204, text: "" });
    expect((await call("GET", path)).body).toEqual({
      title: `credential with id '${ids.securityKey}' not found`,
      details: "",
      status: 404,
    });
  });

  test("receives each error with a body", async () => {
    const { credential, finalized } = await signIn(platformAuthenticator, "/login");
    expect(finalized.status).toBe(200);
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

/** Sends a request by `node:http`, since `fetch` joins headers and gives every body a type. */
function raw(method: string, path: string, headers: [string, string][], body = "") {
  const { hostname, port, pathname } = new URL(base);
  return new Promise<{ status: number; body: string }>((resolve, reject) => {
    const outgoing = request(
      { hostname, port, path: pathname + path, method, headers: headers.flat() },
      async (answer) => resolve({ status: answer.statusCode ?? 0, body: (await answer.toArray()).join("") }),
    );
    outgoing.once("error", reject);
    outgoing.end(body);
  });
}

describe("over HTTP", () => {
  test.each(["POST", "GET", "DELETE"])("%s accepts an empty body of type JSON", async (method) => {
    const path =
      method === "POST" ? "/login/initialize" : `/credentials/${method === "GET" ? ids.passkey : "AAAA"}`;
    const headers: [string, string][] = [
      ["Host", new URL(base).host],
      ["Content-Type", "application/json"],
      ["Content-Length", "0"],
      ["apiKey", service.key],
    ];
    expect((await raw(method, path, headers)).status).toBe(method === "DELETE" ? 404 : 200);
  });

  test("A67 rejects two apiKey headers", async () => {
    const headersWith = (...keys: string[]): [string, string][] => [
      ["Host", new URL(base).host],
      ...keys.map((key): [string, string] => ["apiKey", key]),
    ];
    const wrong = "x".repeat(service.key.length);
    const status = async (...keys: string[]) =>
      (await raw("GET", "/credentials", headersWith(...keys))).status;
    expect(await status(service.key)).toBe(200);
    expect(await status(service.key, service.key)).toBe(401);
    expect(await status(service.key, wrong)).toBe(401);
    expect(await status(wrong, service.key)).toBe(401);
  });

  test("answers HEAD without a body, and every request with a request id", async () => {
    const head = await fetch(`${base}/credentials`, {
      method: "HEAD",
      headers: { "X-Request-Id": "request-of-test" },
    });
    expect([head.status, await head.text()]).toEqual([401, ""]);
    expect(head.headers.get("X-Request-Id")).toBe("request-of-test");
    const keys = await fetch(`${base}/.well-known/jwks.json`);
    expect(keys.headers.get("Cache-Control")).toBe("max-age=600");
    expect(keys.headers.get("X-Request-Id")).toBeTruthy();
  });

  test("allows pages of the application to call addresses without a key, with credentials", async () => {
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

  test("A67 does not log keys and tokens", async () => {
    const { finalized } = await signIn(platformAuthenticator, "/login");
    expect(service.server.logs()).not.toContain(service.key);
    expect(service.server.logs()).not.toContain(finalized.body.token);
  });

  test("accepts one of ten concurrent answers to a challenge", async () => {
    const initialized = await call("POST", "/login/initialize");
    const credential = platformAuthenticator.get(initialized.body, { origin });
    const finish = async () => (await call("POST", "/login/finalize", credential)).status;
    const statuses = await Promise.all(Array.from({ length: 10 }, finish));
    expect(statuses.toSorted()).toEqual([200, ...Array(9).fill(401)]);
  });

  test("keeps challenges, credentials and keys over a restart", async () => {
    const initialized = await call("POST", "/login/initialize");
    const before = await call("GET", "/.well-known/jwks.json");
    await service.server.restart();
    const credential = platformAuthenticator.get(initialized.body, { origin });
    const { status, body } = await call("POST", "/login/finalize", credential);
    expect(status).toBe(200);
    expect((await claimsOf(body.token)).sub).toBe("ada");
    expect((await call("GET", "/.well-known/jwks.json")).body).toEqual(before.body);
  });
});

test("every operation was called", () => {
  expect([...calledOperations].toSorted()).toEqual([
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
