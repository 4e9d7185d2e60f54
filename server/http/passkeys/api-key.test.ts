import { randomUUID } from "node:crypto";
import { createLocalJWKSet, jwtVerify } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createApiKey } from "../../tenants/api-keys.ts";
import { createTenant } from "../../tenants/manage-tenants.ts";
import type { Tenant } from "../../tenants/tenant.ts";
import { type PasskeyApplication, passkeyApplication } from "../../testing/passkey-application.ts";
import { restRegistration } from "../../testing/rest-walk.ts";
import { type TestRuntime, testRuntime } from "../../testing/runtime.ts";
import { visitor } from "../../testing/visitor.ts";

let runtime: TestRuntime;
let application: PasskeyApplication;
let acme: PasskeyApplication;

beforeAll(async () => {
  runtime = await testRuntime();
  application = await passkeyApplication(runtime);
  const { id } = await createTenant(runtime, { name: "Acme", hosts: [], settings: {} });
  acme = await passkeyApplication(runtime, (await runtime.tenants.byId(id)) as Tenant);
});

afterAll(() => runtime.close());

const guarded: [method: string, path: string][] = [
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

const refused = {
  title: "The api key is invalid",
  details: "api keys needs to be an apiKey Header and 32 byte long",
  status: 401,
};

describe("A67 a key", () => {
  const wrong: [what: string, headers: () => Promise<Record<string, string>>][] = [
    ["that is missing", async () => ({})],
    ["that is blank", async () => ({ apikey: "   " })],
    ["of 31 characters", async () => ({ apikey: "x".repeat(31) })],
    ["of 32 characters", async () => ({ apikey: "x".repeat(32) })],
    ["cut short", async () => ({ apikey: application.key.slice(0, -1) })],
    ["with its last letter changed", async () => ({ apikey: changed(application.key) })],
    ["with something after it", async () => ({ apikey: `${application.key},` })],
    ["twice", async () => ({ apikey: `${application.key}, ${application.key}` })],
    ["of ten thousand characters", async () => ({ apikey: "x".repeat(10_000) })],
    ["of another tenant", async () => ({ apikey: acme.key })],
    ["of another interface", async () => ({ apikey: await keyFor("authenticator") })],
    ["in another header", async () => ({ authorization: `Bearer ${application.key}` })],
  ];

  const changed = (key: string) => key.slice(0, -1) + (key.endsWith("A") ? "B" : "A");
  const keyFor = async (name: "authenticator" | "admin") =>
    (await createApiKey(runtime, runtime.tenant, { interface: name, name })).key;

  test.each(wrong)("%s opens nothing", async (_, headers) => {
    for (const [method, path] of guarded) {
      const answer = await application.callWithoutKey(method, path, undefined, await headers());
      expect([method, path, answer.status, answer.body]).toEqual([method, path, 401, refused]);
    }
  });

  test("in the query opens nothing", async () => {
    for (const [method, path] of guarded) {
      const answer = await application.callWithoutKey(method, `${path}?apiKey=${application.key}`);
      expect([path, answer.status, answer.body]).toEqual([path, 401, refused]);
    }
  });

  test.each(["apiKey", "APIKEY", "apikey", "ApiKey"])("is found in the header %s", async (name) => {
    const padded = { [name]: ` ${application.key} ` };
    expect((await application.callWithoutKey("GET", "/credentials", undefined, padded)).status).toBe(200);
  });

  test("is judged before anything else that was sent", async () => {
    const { body } = await application.callWithoutKey("POST", "/registration/initialize", "{");
    expect(body).toEqual(refused);
  });

  test("is not asked for where browsers call, nor for the public keys", async () => {
    expect((await application.callWithoutKey("POST", "/login/initialize")).status).toBe(200);
    expect((await application.callWithoutKey("POST", "/login/finalize")).status).toBe(400);
    expect((await application.callWithoutKey("POST", "/registration/finalize")).status).toBe(400);
    expect((await application.callWithoutKey("GET", "/.well-known/jwks.json")).status).toBe(200);
  });
});

describe("A68 a tenant", () => {
  const both = async () => {
    const userId = randomUUID();
    return { userId, own: await application.register(userId) };
  };

  test("is named by a UUID that there is", async () => {
    const who = visitor(runtime);
    const asked = async (id: string) => (await who.request(`/passkeys/${id}/.well-known/jwks.json`)).json();
    expect(await asked("x")).toEqual({
      title: "tenant_id must be a valid uuid4",
      details: "",
      status: 400,
    });
    expect(await asked(randomUUID())).toEqual({ title: "tenant not found", details: "", status: 404 });
    expect(await asked(acme.tenant.id.toUpperCase())).toEqual({ keys: [expect.any(Object)] });
  });

  test("does not see another's credentials, nor change them, as if there were none", async () => {
    const { userId, own } = await both();
    const there = `/credentials/${own.credentialId}`;
    const unknown = {
      title: `credential with id '${own.credentialId}' not found`,
      details: "",
      status: 404,
    };
    for (const [method, body] of [["GET"], ["PATCH", { name: "mine" }], ["DELETE"]] as const)
      expect((await acme.call(method, there, body)).body).toEqual(unknown);
    expect((await acme.call("GET", `/credentials?user_id=${userId}`)).body).toEqual([]);
    expect((await application.call("GET", there)).body).toMatchObject({ name: `cred-${own.credentialId}` });
  });

  test("does not know another's users, and may have its own of the same name", async () => {
    const { userId } = await both();
    for (const path of ["/login", "/mfa/login"])
      expect((await acme.call("POST", `${path}/initialize`, { user_id: userId })).body).toEqual({
        title: "user not found",
        details: "",
        status: 404,
      });
    const theirs = await acme.register(userId);
    const listed = (await acme.call("GET", `/credentials?user_id=${userId}`)).body;
    expect(listed.map(({ id }: { id: string }) => id)).toEqual([theirs.credentialId]);
  });

  test("does not take the answer to another's challenge, and uses nothing up by it", async () => {
    const { userId, own } = await both();
    const login = await application.answer(own.authenticator, "/login");
    expect((await acme.call("POST", "/login/finalize", login)).status).toBe(401);
    expect((await application.call("POST", "/login/finalize", login)).status).toBe(200);
    const factor = await application.answer(own.authenticator, "/mfa/login", { user_id: userId });
    expect((await acme.call("POST", "/mfa/login/finalize", factor)).status).toBe(401);
    expect((await application.call("POST", "/mfa/login/finalize", factor)).status).toBe(200);
  });

  test("does not take another's credential for an answer to its own challenge", async () => {
    const { own } = await both();
    const answer = await acme.answer(own.authenticator, "/login", {}, { origin: acme.origin });
    expect((await acme.call("POST", "/login/finalize", answer)).body.title).toBe("failed to get user handle");
  });

  test("signs by keys of its own, which are none of its sessions' either", async () => {
    const { own } = await both();
    const keysOf = async (by: PasskeyApplication) =>
      createLocalJWKSet((await by.callWithoutKey("GET", "/.well-known/jwks.json")).body);
    await expect(jwtVerify(own.token, await keysOf(application))).resolves.toBeDefined();
    await expect(jwtVerify(own.token, await keysOf(acme))).rejects.toThrow();

    const who = visitor(runtime);
    const ofSessions = await (await who.request("/.well-known/jwks.json")).json();
    await expect(jwtVerify(own.token, createLocalJWKSet(ofSessions))).rejects.toThrow();
    const bearer = { headers: { authorization: `Bearer ${own.token}` } };
    expect((await who.request("/me", bearer)).status).toBe(401);

    const { visitor: signedIn } = await restRegistration(runtime, `${randomUUID()}@example.com`);
    const session = signedIn.cookies.get("service") ?? "";
    await expect(jwtVerify(session, createLocalJWKSet(ofSessions))).resolves.toBeDefined();
    await expect(jwtVerify(session, await keysOf(application))).rejects.toThrow();
    const expected = { typ: "JWT", audience: [runtime.tenant.id, "localhost"], now: "unchecked" } as const;
    const passkeys = runtime.signingKeys.of(runtime.tenant, "passkeys");
    expect(await passkeys.verify(own.token, expected)).toMatchObject({ cred: own.credentialId });
    expect(await passkeys.verify(session, expected)).toBeNull();
    expect(await runtime.signingKeys.of(runtime.tenant).verify(own.token, expected)).toBeNull();
  });
});

describe("what is not there", () => {
  test("is 404 and 405 in the shape of this interface, with a body, but for HEAD", async () => {
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

  test("is 403 for pages that are not ours, where ours alone may ask", async () => {
    const { body } = await application.callWithoutKey(
      "POST",
      "/transaction/confirm",
      {},
      { origin: "https://evil.example" },
    );
    expect(body).toEqual({ title: "Forbidden", details: "", status: 403 });
  });
});
