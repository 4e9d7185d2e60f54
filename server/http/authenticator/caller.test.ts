import { createHash, randomUUID } from "node:crypto";
import { eq } from "drizzle-orm";
import { pino } from "pino";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { createApiKey } from "../../tenants/api-keys.ts";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { type ApiResponse, authenticatorApplication } from "../../testing/authenticator-application.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { readPng } from "../../testing/qr-reading.ts";
import { createUafAuthenticator } from "../../testing/uaf-authenticator/authenticator.ts";

const logged: string[] = [];

const runtime = await runtimeForTests({ BASE_URL: "https://login.example", PORT: "3000" });
runtime.log = pino({ level: "trace" }, { write: (line: string) => logged.push(line) });
const application = await authenticatorApplication(runtime);
const acme = await createTenant(runtime, { name: "Acme", hosts: [], settings: {} });
const there = await authenticatorApplication(runtime, acme);

const requests = "/v1/uaf/requests";
const newUserId = () => `user ${randomUUID()}`;
const noSuchDevice = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";

interface Links {
  picture: string;
  events: string;
  /** The link in the QR code, for the authenticator. */
  device: string;
  /** The token of that link. */
  token: string;
}

async function linksOf(made: ApiResponse["body"]): Promise<Links> {
  const href = (rel: string) => made.links.find((link: { rel: string }) => link.rel === rel).href;
  const picture = await application.fetch(href("qrcode"));
  const device = readPng(await picture.bytes()).text ?? "";
  return {
    picture: href("qrcode"),
    events: href("events"),
    device,
    token: new URL(device).searchParams.get("token") ?? "",
  };
}

/** Every operation that a key authorizes, for one request. */
const operations = (id: string): [string, string, object?][] => [
  ["GET", "/hello"],
  ["POST", requests, { operation: "REG", userId: "u", username: "u" }],
  ["GET", `${requests}/${id}`],
  ["PUT", `${requests}/${id}`, { uafResponse: "[]" }],
  ["DELETE", `${requests}/${id}`],
  ["GET", `${requests}/${id}/qrcode`],
  ["GET", `${requests}/${id}/events?wait=0`],
  ["GET", "/mgmt/v1/registrations/u"],
  ["POST", `/mgmt/v1/registrations/rename/${noSuchDevice}`, { newName: "x" }],
];

describe("an application", () => {
  test.each(["secret", "Secret", "SECRET", "Bearer", "bearer"])(
    "is accepted with its key in the scheme %s",
    async (scheme) => {
      const authorization = `${scheme} ${application.key}`;
      expect(await application.call("GET", "/hello", { authorization })).toMatchObject({
        status: 200,
        body: { message: "Hello from Stile" },
      });
    },
  );

  test("A67 gets the same 401 everywhere with any other credential", async () => {
    const { key } = application;
    const foreign = await createApiKey(runtime, runtime.tenant, { interface: "passkeys", name: "x" });
    const wrong: [string, string | null][] = [
      ["nothing", null],
      ["an empty header", ""],
      ["the key alone", key],
      ["the scheme alone", "secret"],
      ["the scheme and a space", "secret "],
      ["another scheme", `Basic ${key}`],
      ["two spaces", `secret  ${key}`],
      ["a tab", `secret\t${key}`],
      ["a trailing comma", `secret ${key},`],
      ["two words", `secret ${key} ${key}`],
      ["the scheme twice", `secret secret ${key}`],
      ["two headers", `secret ${key}, secret ${key}`],
      ["a key of 31 characters", `secret ${key.slice(0, 31)}`],
      [
        "a key that differs in its last character",
        `secret ${key.slice(0, -1)}${key.endsWith("A") ? "B" : "A"}`,
      ],
      ["another interface's key", `secret ${foreign.key}`],
      ["another tenant's key", `secret ${there.key}`],
      ["a key as a device token", `device ${key}`],
    ];
    const { id } = await application.create("REG", newUserId());
    for (const [method, path, body] of operations(id)) {
      const bodies = new Set<string>();
      for (const [what, authorization] of wrong) {
        const { status, headers, text } = await application.call(method, path, {
          authorization,
          ...(body ? { body } : {}),
        });
        expect([method, path, what, status]).toEqual([method, path, what, 401]);
        expect(headers.get("www-authenticate")).toBe(
          'secret realm="authenticator", Bearer realm="authenticator"',
        );
        bodies.add(text);
      }
      expect([...bodies].map((text) => JSON.parse(text))).toEqual([
        { code: 401, message: "A valid API key is needed: Authorization: secret <key>." },
      ]);
    }
  });

  test("A67 cannot send its key in the query", async () => {
    const { id } = await application.create("REG", newUserId());
    for (const query of [`token=${application.key}`, `apiKey=${application.key}`]) {
      const { status } = await application.call("GET", `${requests}/${id}?${query}`, { authorization: null });
      expect(status).toBe(401);
    }
  });

  test("A80 gets 404 for an unknown resource, with both spellings of the message", async () => {
    const unknown = "a".repeat(44);
    const places = operations(unknown).filter(([, path]) => path !== "/hello" && path !== requests);
    const odd = ["x", "..%2F..", "%00", "a".repeat(43), `${"a".repeat(43)}%0A`].map(
      (id): [string, string] => ["GET", `${requests}/${id}`],
    );
    const users = ["%00", "x".repeat(300), "unknown"].map((id): [string, string] => [
      "GET",
      `/mgmt/v1/registrations/${id}`,
    ]);
    for (const [method, path, body] of [...places, ...odd, ...users]) {
      const told = await application.call(method, path, body ? { body } : {});
      expect([path, told.status]).toEqual([path, 404]);
      expect(told.body).toEqual({ code: 404, message: "Not Found.", messsage: "Not Found." });
    }
  });

  test("A68 gets 404 for the requests and devices of another tenant", async () => {
    const userId = newUserId();
    const { deviceId } = await application.enroll(userId);
    const { id } = await application.create("AUTH", userId);
    const untouched = await application.call("GET", `${requests}/${id}`);
    const places: [string, string, object?][] = [
      ...operations(id).slice(2, 7),
      ["GET", `/mgmt/v1/registrations/${encodeURIComponent(userId)}`],
      ["POST", `/mgmt/v1/registrations/rename/${deviceId}`, { newName: "Theirs" }],
    ];
    for (const [method, path, body] of places) {
      const told = await there.call(method, path, body ? { body } : {});
      expect([path, told.status, told.body]).toEqual([
        path,
        404,
        { code: 404, message: "Not Found.", messsage: "Not Found." },
      ]);
    }
    expect(await there.create("AUTH", userId, { deviceIds: [deviceId] })).toMatchObject({ status: "FAILED" });
    expect(await there.create("DEREG", userId)).toMatchObject({ status: "FAILED" });
    expect((await application.call("GET", `${requests}/${id}`)).body).toEqual(untouched.body);
    const { body } = await application.call("GET", `/mgmt/v1/registrations/${encodeURIComponent(userId)}`);
    expect(body).toMatchObject([{ deviceId, keyName: "Hanko Authenticator" }]);
  });

  test("gets links under the path of its tenant", async () => {
    const made = await there.create("REG", newUserId());
    const base = `https://login.example/t/${acme.id}/authenticator`;
    for (const { href } of made.links) expect(href.startsWith(`${base}${requests}/${made.id}`)).toBe(true);
    expect(made.relyingParty).toMatchObject({ id: acme.id, name: "Acme", appId: `${base}/facets` });
    for (const { rel, method, href } of made.links) {
      if (method !== "GET") continue;
      const told = await there.call(method, rel === "events" ? `${href}&wait=0` : href);
      expect([rel, told.status]).toEqual([rel, 200]);
    }
  });
});

describe("an authenticator", () => {
  test("reads and answers its request with the token of the QR code", async () => {
    const made = await application.create("REG", newUserId());
    const { token } = await linksOf(made);
    const [path, authorization] = [`${requests}/${made.id}`, `Device ${token}`];
    const seen = await application.call("GET", path, { authorization });
    expect(seen).toMatchObject({ status: 200, body: { id: made.id, request: made.request } });
    expect(seen.body.links.map(({ rel }: { rel: string }) => rel)).toEqual(["status", "result", "validate"]);
    const uafResponse = application.answerOf(createUafAuthenticator(), seen.body);
    const answered = await application.call("PUT", path, { authorization, body: { uafResponse } });
    expect(answered).toMatchObject({ status: 200, body: { status: "OK" } });
    expect((await application.call("GET", path, { authorization })).body).toEqual(answered.body);
  });

  test("is rejected with its token in the query, which servers log", async () => {
    const made = await application.create("REG", newUserId());
    const { device } = await linksOf(made);
    for (const [method, body] of [["GET"], ["PUT", { uafResponse: "[]" }]] as const) {
      const told = await application.call(method, device, { authorization: null, ...(body ? { body } : {}) });
      expect(told.status).toBe(401);
    }
  });

  test("is rejected at other operations and other requests", async () => {
    const [one, other] = [
      await application.create("REG", newUserId()),
      await application.create("REG", newUserId()),
    ];
    const { token } = await linksOf(one);
    const authorization = `device ${token}`;
    for (const [method, path, body] of operations(one.id)) {
      const own = path === `${requests}/${one.id}` && method !== "DELETE";
      const { status } = await application.call(method, path, { authorization, ...(body ? { body } : {}) });
      expect([method, path, status === 401]).toEqual([method, path, !own]);
    }
    for (const method of ["GET", "PUT"]) {
      const path = `${requests}/${other.id}`;
      const body = method === "PUT" ? { body: { uafResponse: "[]" } } : {};
      expect((await application.call(method, path, { authorization, ...body })).status).toBe(401);
      const byLink = `${path}?token=${token}`;
      expect((await application.call(method, byLink, { authorization: null, ...body })).status).toBe(401);
    }
    // A caller without a key cannot tell whether a request exists.
    const nothing = await application.call("GET", `${requests}/${"a".repeat(44)}`, { authorization });
    expect(nothing.status).toBe(401);
  });

  test("A78 sends a push token, which is stored sealed and never disclosed", async () => {
    const userId = newUserId();
    const secrets = { pushToken: `push-${randomUUID()}`, secret: `secret-${randomUUID()}` };
    const { deviceId } = await application.enroll(userId, {}, { ...secrets, model: "Pixel" });
    const asked = await application.create("AUTH", userId);
    const { body } = await application.call("GET", `/mgmt/v1/registrations/${encodeURIComponent(userId)}`);
    expect(body).toMatchObject([{ deviceId, keyName: "Pixel" }]);
    const [device] = await runtime.database.read
      .select()
      .from(schema.authenticatorDevices)
      .where(eq(schema.authenticatorDevices.id, deviceId));
    expect(device?.sealedHandles?.length).toBeGreaterThan(100);
    const lines = await runtime.database.read.select().from(schema.auditLogs);
    const everything = [
      JSON.stringify([asked, body, device, lines]),
      device?.sealedHandles?.toString("latin1"),
    ];
    for (const text of [...everything, ...logged])
      for (const secret of Object.values(secrets)) expect(text).not.toContain(secret);
  });
});

describe("a waiting page", () => {
  test("reads the status of a request, and nothing about its user", async () => {
    const userId = newUserId();
    const { authenticator } = await application.enroll(userId);
    const made = await application.create("AUTH", userId, {
      clientData: { remoteAddress: "192.0.2.7" },
      transaction: "Pay 5 €",
    });
    const { events } = await linksOf(made);
    const token = new URL(events).searchParams.get("token");
    const look = (path = `${requests}/${made.id}?token=${token}`) =>
      application.call("GET", path, { authorization: null });
    const { id, operation, status, createdAt, validUntil } = made;
    const seen = { id, operation, status, createdAt, validUntil };
    expect((await look()).body).toEqual(seen);
    expect((await look(`${events}&wait=0`)).body).toEqual(seen);
    await application.answer(made, application.answerOf(authenticator, made));
    expect((await look()).body).toEqual({ ...seen, status: "OK" });
  });

  test("is rejected at every operation except reading", async () => {
    const made = await application.create("REG", newUserId());
    const { events, picture } = await linksOf(made);
    for (const link of [events, picture]) {
      const token = new URL(link).searchParams.get("token");
      const isPage = link === events;
      for (const [method, path, body] of operations(made.id)) {
        const own = link.includes("/qrcode")
          ? path.endsWith("/qrcode")
          : method === "GET" && path.includes(made.id);
        const shows = own && !(isPage && path.endsWith("/qrcode"));
        const address = `${path}${path.includes("?") ? "&" : "?"}token=${token}`;
        const { status } = await application.call(method, address, {
          authorization: null,
          ...(body ? { body } : {}),
        });
        expect([method, path, status]).toEqual([method, path, shows ? 200 : 401]);
        const asDevice = { authorization: `device ${token}`, ...(body ? { body } : {}) };
        expect((await application.call(method, path, asDevice)).status).toBe(401);
      }
    }
  });

  test("may have any origin if it reads by its token", async () => {
    const made = await application.create("REG", newUserId());
    const { events } = await linksOf(made);
    const headers = { origin: "https://shop.example" };
    const told = await application.call("GET", `${events}&wait=0`, { authorization: null, headers });
    expect(told.headers.get("access-control-allow-origin")).toBe("*");
    const byKey = await application.call("GET", `${requests}/${made.id}`, { headers });
    expect(byKey.headers.get("access-control-allow-origin")).toBeNull();
  });
});

test("tokens are 256 bits, hashed or derived, and distinct", async () => {
  const made = [await application.create("REG", newUserId()), await application.create("REG", newUserId())];
  const tokens = new Set<string>();
  for (const one of made) {
    const { picture, events, token } = await linksOf(one);
    for (const link of [picture, events]) tokens.add(new URL(link).searchParams.get("token") ?? "");
    tokens.add(token);
    const [row] = await runtime.database.read
      .select()
      .from(schema.authenticatorRequests)
      .where(eq(schema.authenticatorRequests.id, one.id));
    expect(row?.deviceTokenHash).toEqual(createHash("sha256").update(token).digest());
    const raw = JSON.stringify(row);
    for (const secret of tokens) expect(raw).not.toContain(secret);
  }
  expect(tokens.size).toBe(6);
  for (const token of tokens) expect(Buffer.from(token, "base64url")).toHaveLength(32);
});
