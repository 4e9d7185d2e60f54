import { randomUUID } from "node:crypto";
import { createLocalJWKSet, jwtVerify } from "jose";
import { describe, expect, test } from "vitest";
import { createApiKey } from "../../tenants/api-keys.ts";
import type { PasskeyApplication } from "../../testing/passkey-application.ts";
import { errorBody, passkeySuite } from "../../testing/passkey-suite.ts";
import { restRegistration } from "../../testing/rest-walk.ts";
import { visitor } from "../../testing/visitor.ts";

const { runtime, application, newTenant } = await passkeySuite();
const other = await newTenant();

const protectedAddresses: [method: string, path: string][] = [
  ["POST", "/registration/initialize"],
  ["POST", "/mfa/registration/initialize"],
  ["POST", "/mfa/registration/finalize"],
  ["POST", "/mfa/login/initialize"],
  ["POST", "/mfa/login/finalize"],
  ["GET", "/credentials"],
  ["GET", "/credentials/AAAA"],
  ["PATCH", "/credentials/AAAA"],
  ["DELETE", "/credentials/AAAA"],
];

const invalidKey = errorBody(
  401,
  "The api key is invalid",
  "api keys needs to be an apiKey Header and 32 byte long",
);

describe("A67 an API key", () => {
  const wrong: [name: string, headers: () => Promise<Record<string, string>>][] = [
    ["that is missing", async () => ({})],
    ["that is blank", async () => ({ apikey: "   " })],
    ["of 31 characters", async () => ({ apikey: "x".repeat(31) })],
    ["of 32 characters", async () => ({ apikey: "x".repeat(32) })],
    ["cut short", async () => ({ apikey: application.key.slice(0, -1) })],
    ["with another last character", async () => ({ apikey: changed(application.key) })],
    ["with a trailing comma", async () => ({ apikey: `${application.key},` })],
    ["twice", async () => ({ apikey: `${application.key}, ${application.key}` })],
    ["of 10 000 characters", async () => ({ apikey: "x".repeat(10_000) })],
    ["of another tenant", async () => ({ apikey: other.key })],
    ["of another interface", async () => ({ apikey: await keyFor("authenticator") })],
    ["in another header", async () => ({ authorization: `Bearer ${application.key}` })],
  ];

  const changed = (key: string) => key.slice(0, -1) + (key.endsWith("A") ? "B" : "A");
  const keyFor = async (name: "authenticator" | "admin") =>
    (await createApiKey(runtime, runtime.tenant, { interface: name, name })).key;

  test.each(wrong)("%s is rejected", async (_, headers) => {
    for (const [method, path] of protectedAddresses) {
      const answer = await application.callWithoutKey(method, path, undefined, await headers());
      expect([method, path, answer.status, answer.body]).toEqual([method, path, 401, invalidKey]);
    }
  });

  test("in the query is rejected", async () => {
    for (const [method, path] of protectedAddresses) {
      const answer = await application.callWithoutKey(method, `${path}?apiKey=${application.key}`);
      expect([path, answer.status, answer.body]).toEqual([path, 401, invalidKey]);
    }
  });

  test.each(["apiKey", "APIKEY", "apikey", "ApiKey"])("is accepted in the header %s", async (name) => {
    const padded = { [name]: ` ${application.key} ` };
    expect((await application.callWithoutKey("GET", "/credentials", undefined, padded)).status).toBe(200);
  });

  test("is verified before the body", async () => {
    const { body } = await application.postWithoutKey("/registration/initialize", "{");
    expect(body).toEqual(invalidKey);
  });

  test("is not required at the addresses for browsers and of the public keys", async () => {
    expect((await application.postWithoutKey("/login/initialize")).status).toBe(200);
    expect((await application.postWithoutKey("/login/finalize")).status).toBe(400);
    expect((await application.postWithoutKey("/registration/finalize")).status).toBe(400);
    expect((await application.callWithoutKey("GET", "/.well-known/jwks.json")).status).toBe(200);
  });
});

describe("A68 a tenant", () => {
  const registered = async () => {
    const userId = randomUUID();
    return { userId, own: await application.register(userId) };
  };

  test("is named by its UUID", async () => {
    const client = visitor(runtime);
    const jwksOf = async (id: string) =>
      (await client.request(`/passkeys/${id}/.well-known/jwks.json`)).json();
    expect(await jwksOf("x")).toEqual(errorBody(400, "tenant_id must be a valid uuid4", ""));
    expect(await jwksOf(randomUUID())).toEqual(errorBody(404, "tenant not found", ""));
    expect(await jwksOf(other.tenant.id.toUpperCase())).toEqual({ keys: [expect.any(Object)] });
  });

  test("cannot read or change credentials of another tenant", async () => {
    const { userId, own } = await registered();
    const path = `/credentials/${own.credentialId}`;
    const notFound = errorBody(404, `credential with id '${own.credentialId}' not found`, "");
    for (const [method, body] of [["GET"], ["PATCH", { name: "mine" }], ["DELETE"]] as const)
      expect((await other.call(method, path, body)).body).toEqual(notFound);
    expect((await other.get(`/credentials?user_id=${userId}`)).body).toEqual([]);
    expect((await application.get(path)).body).toMatchObject({ name: `cred-${own.credentialId}` });
  });

  test("has users of its own with ids of another tenant", async () => {
    const { userId } = await registered();
    for (const path of ["/login", "/mfa/login"])
      expect((await other.post(`${path}/initialize`, { user_id: userId })).body).toEqual(
        errorBody(404, "user not found", ""),
      );
    const registration = await other.register(userId);
    const listed = (await other.get(`/credentials?user_id=${userId}`)).body;
    expect(listed.map(({ id }: { id: string }) => id)).toEqual([registration.credentialId]);
  });

  test("rejects the answer to a challenge of another tenant, and does not use it up", async () => {
    const { userId, own } = await registered();
    const login = await application.answer(own.authenticator, "/login");
    expect((await other.post("/login/finalize", login)).status).toBe(401);
    expect((await application.post("/login/finalize", login)).status).toBe(200);
    const factor = await application.answer(own.authenticator, "/mfa/login", { user_id: userId });
    expect((await other.post("/mfa/login/finalize", factor)).status).toBe(401);
    expect((await application.post("/mfa/login/finalize", factor)).status).toBe(200);
  });

  test("rejects the credential of another tenant for its own challenge", async () => {
    const { own } = await registered();
    const answer = await other.answer(own.authenticator, "/login", {}, { origin: other.origin });
    expect((await other.post("/login/finalize", answer)).body.title).toBe("failed to get user handle");
  });

  test("signs with keys of its own, which differ from those of its sessions", async () => {
    const { own } = await registered();
    const keysOf = async (by: PasskeyApplication) =>
      createLocalJWKSet((await by.callWithoutKey("GET", "/.well-known/jwks.json")).body);
    await expect(jwtVerify(own.token, await keysOf(application))).resolves.toBeDefined();
    await expect(jwtVerify(own.token, await keysOf(other))).rejects.toThrow();

    const client = visitor(runtime);
    const sessionJwks = await (await client.request("/.well-known/jwks.json")).json();
    await expect(jwtVerify(own.token, createLocalJWKSet(sessionJwks))).rejects.toThrow();
    const bearer = { headers: { authorization: `Bearer ${own.token}` } };
    expect((await client.request("/me", bearer)).status).toBe(401);

    const { visitor: signedIn } = await restRegistration(runtime, `${randomUUID()}@example.com`);
    const session = signedIn.cookies.get("service") ?? "";
    await expect(jwtVerify(session, createLocalJWKSet(sessionJwks))).resolves.toBeDefined();
    await expect(jwtVerify(session, await keysOf(application))).rejects.toThrow();
    const expected = { typ: "JWT", audience: [runtime.tenant.id, "localhost"], now: "unchecked" } as const;
    const passkeys = runtime.signingKeys.of(runtime.tenant, "passkeys");
    expect(await passkeys.verify(own.token, expected)).toMatchObject({ cred: own.credentialId });
    expect(await passkeys.verify(session, expected)).toBeNull();
    expect(await runtime.signingKeys.of(runtime.tenant).verify(own.token, expected)).toBeNull();
  });
});

describe("an unsupported request", () => {
  test("gets 404 or 405 in the shape of this interface, and no body for HEAD", async () => {
    expect(await application.callWithoutKey("GET", "/nothing")).toMatchObject({
      status: 404,
      body: { title: "Not Found", details: "", status: 404 },
    });
    const wrong = await application.callWithoutKey("PUT", "/credentials");
    expect(wrong).toMatchObject({
      status: 405,
      body: { title: "Method Not Allowed", details: "", status: 405 },
    });
    expect(wrong.headers.get("allow")).toBe("GET, HEAD, OPTIONS");
    const head = await application.callWithoutKey("HEAD", "/credentials");
    expect(head).toMatchObject({ status: 401, body: undefined });
  });

  test("gets 403 from another origin at an address for our own pages", async () => {
    const { body } = await application.postWithoutKey(
      "/transaction/confirm",
      {},
      { origin: "https://evil.example" },
    );
    expect(body).toEqual({ title: "Forbidden", details: "", status: 403 });
  });
});
