import { describe, expect, test } from "vitest";
import { openForTests } from "../../testing/open-for-tests.ts";
import { createUafAuthenticator } from "../../testing/uaf-authenticator/authenticator.ts";
import type { Overrides } from "../../testing/uaf-authenticator/call.ts";
import { callAt, startAuthenticatorService } from "../../testing/uaf-service.ts";
import { applicationOf, requests } from "../../testing/uaf-walk.ts";

/** Registrations and the devices that they create, against a running server over HTTP. */

const service = await openForTests(startAuthenticatorService());
const application = applicationOf(service);

const secrets = { pushToken: "push-token-of-the-authenticator", secret: "secret-of-the-authenticator" };
const deviceFacts = {
  keyName: "Ada's phone",
  deviceOs: "Android",
  osVersion: "9",
  manufacturer: "A",
  model: "B",
};

describe("a registration", () => {
  test("is returned whole, answered by the authenticator, and final", async () => {
    const clientData = { remoteAddress: "192.0.2.7", userAgent: "Test/1.0" };
    const made = await application.create({
      operation: "REG",
      userId: "ada",
      username: "ada@example.com",
      clientData,
    });
    expect(made).toMatchObject({
      id: expect.stringMatching(/^[A-Za-z0-9]{44}$/),
      operation: "REG",
      status: "PENDING",
      userId: "ada",
      username: "ada@example.com",
      clientData,
      relyingParty: { id: expect.any(String), name: "Stile", appId: `${service.base}/facets` },
      deviceID: expect.any(String),
    });
    expect(made).not.toHaveProperty("error");
    expect(Date.parse(made.validUntil) - Date.parse(made.createdAt)).toBe(120_000);
    const link = (rel: string, method: string) => ({
      rel,
      method,
      href: `${service.base}${requests}/${made.id}`,
    });
    expect(made.links).toEqual(
      expect.arrayContaining([
        { rel: "qrcode", method: "GET", href: expect.stringContaining(`/${made.id}/qrcode?`) },
        link("status", "GET"),
        link("result", "GET"),
        link("validate", "PUT"),
        link("cancel", "DELETE"),
      ]),
    );
    const [message] = JSON.parse(made.request);
    expect(message).toMatchObject({
      header: { upv: { major: 1, minor: 1 }, op: "Reg", appID: made.relyingParty.appId },
      username: "ada@example.com",
      policy: { accepted: [[{ aaid: ["006F#0001"] }]] },
    });
    expect(Buffer.from(message.challenge, "base64url")).toHaveLength(32);

    const answered = await application.answer(
      made,
      createUafAuthenticator(),
      {},
      { ...deviceFacts, ...secrets },
    );
    expect(answered).toMatchObject({
      status: 200,
      body: { id: made.id, status: "OK", device: { keyName: deviceFacts.keyName } },
    });
    const { deviceID, device } = answered.body;
    expect([deviceID, device.deviceId]).toEqual([expect.stringMatching(/./), deviceID]);
    const later = await service.call("GET", `${requests}/${made.id}`);
    expect(later.body).toEqual(answered.body);
    expect(later.headers.get("cache-control")).toBe("no-store");

    const devices = await service.call("GET", "/mgmt/v1/registrations/ada");
    expect(devices.body).toEqual([
      expect.objectContaining({
        deviceId: deviceID,
        keyName: deviceFacts.keyName,
        authenticatorType: "FIDO_UAF",
        deviceOs: deviceFacts.deviceOs,
        osVersion: deviceFacts.osVersion,
        createdAt: expect.any(String),
        lastUsage: expect.any(String),
      }),
    ]);
    for (const text of [answered.text, later.text, devices.text, service.server.logs()]) {
      expect(text).not.toContain(secrets.secret);
      expect(text).not.toContain(secrets.pushToken);
    }
  });

  test("accepts the additional members of published clients, and null for absent ones", async () => {
    const made = await application.create({
      operation: "REG",
      userId: "published",
      username: "published",
      displayName: null,
      transaction: null,
      clientData: { remoteAddress: null, userAgent: "Java", city: "Kiel" },
      deviceIds: null,
      isSecondFactorOnly: true,
      authenticatorSelectionCriteria: { requireResidentKey: false },
      attestationConveyancePreference: "none",
    });
    expect(made).toMatchObject({
      status: "PENDING",
      isSecondFactorOnly: true,
      clientData: { userAgent: "Java" },
    });
    const { body } = await application.answer(made, createUafAuthenticator());
    expect(body.status).toBe("OK");
    const { body: listed } = await service.call("GET", "/mgmt/v1/registrations/published");
    expect(listed).toEqual([expect.objectContaining({ deviceId: body.deviceID, isSecondFactorOnly: true })]);
  });

  test("of one key by two users concurrently succeeds for one", async () => {
    const keyId = Buffer.alloc(32, 7);
    const asked = [await application.register("racing one"), await application.register("racing two")];
    const answered = await Promise.all(
      asked.map((made) => application.answer(made, createUafAuthenticator(), { keyId })),
    );
    expect(answered.map(({ body }) => body.status).sort()).toEqual(["FAILED", "OK"]);
  });

  test.each<[string, (uafResponse: string) => string]>([
    ["an array", (text) => text],
    ["one message", (text) => text.slice(1, -1)],
    ["the client's own wrapper", (text) => JSON.stringify({ uafProtocolMessage: text })],
  ])("may be answered by %s", async (form, shaped) => {
    const made = await application.register(form);
    const uafResponse = shaped(
      createUafAuthenticator().register(made.request, { facetId: service.server.url }),
    );
    const { status, body } = await service.call("PUT", `${requests}/${made.id}`, { body: { uafResponse } });
    expect([status, body.status]).toEqual([200, "OK"]);
  });

  test.each<[string, Overrides]>([
    ["another challenge", { finalChallengeParams: { challenge: "A".repeat(43) } }],
    ["another application", { finalChallengeParams: { appID: "https://other.example" } }],
    ["another facet", { finalChallengeParams: { facetID: "https://other.example" } }],
    ["another channel", { finalChallengeParams: { channelBinding: { tlsUnique: "AAAA" } } }],
    ["a wrong hash", { finalChallengeHash: Buffer.alloc(32) }],
    ["a broken signature", { signature: "flipped" }],
    ["another model", { aaid: "FFFF#0001" }],
    ["another scheme", { assertionScheme: "UAFV2TLV" }],
    ["a wrong algorithm", { algorithm: 0x0001 }],
    ["trailing bytes", { tlv: [{ after: "regAssertion", put: Buffer.of(0) }] }],
    ["a header for another operation", { header: { op: "Auth" } }],
  ])("A71 A72 A75 fails permanently with %s", async (what, instead) => {
    const made = await application.register(what);
    const { status, body } = await application.answer(made, createUafAuthenticator(), instead);
    expect([status, body.status]).toEqual([200, "FAILED"]);
    expect(body.error).toEqual({ code: expect.any(Number), reason: expect.stringMatching(/./) });
    expect(body.error.code).toSatisfy((code: number) => code >= 1400 && code < 1500);
    const right = createUafAuthenticator().register(made.request, { facetId: service.server.url });
    const again = await service.call("PUT", `${requests}/${made.id}`, { body: { uafResponse: right } });
    expect([again.status, again.body.status]).toEqual([200, "FAILED"]);
    expect(
      (await service.call("GET", `/mgmt/v1/registrations/${encodeURIComponent(what)}`)).body ?? [],
    ).not.toEqual(expect.arrayContaining([expect.anything()]));
  });

  test("A134 names the keys that the user has registered, and fails with one of them", async () => {
    const { authenticator, deviceId } = await application.enrolled("twice");
    await application.enrolled("another user");
    const [key] = authenticator.keys;
    if (!key) throw new Error("no key");
    const made = await application.register("twice");
    const [message] = JSON.parse(made.request);
    expect(message.policy.disallowed).toEqual([
      { aaid: ["006F#0001"], keyIDs: [key.id.toString("base64url")] },
    ]);
    expect(() => authenticator.register(made.request, { facetId: service.server.url })).toThrow(
      "noSuitableAuthenticator",
    );
    const again = { keyId: key.id, ignorePolicy: true };
    const { body } = await application.answer(made, createUafAuthenticator(), again);
    expect(body).toMatchObject({ status: "FAILED", error: { code: 1492 } });

    await application.create({ operation: "DEREG", userId: "twice", username: "x", deviceIds: [deviceId] });
    const [later] = JSON.parse((await application.register("twice")).request);
    expect(later.policy).not.toHaveProperty("disallowed");
  });

  test("of a key that another user has registered is rejected", async () => {
    const { authenticator } = await application.enrolled("first owner");
    const keyId = authenticator.keys[0]?.id ?? Buffer.alloc(32);
    const { body } = await application.answer(
      await application.register("second owner"),
      createUafAuthenticator(),
      { keyId },
    );
    expect(body.status).toBe("FAILED");
  });
});

describe("devices", () => {
  test("are renamed, and listed by their new name", async () => {
    const { deviceId } = await application.enrolled("naming");
    const path = `/mgmt/v1/registrations/rename/${deviceId}`;
    const renamed = await service.call("POST", path, { body: { newName: "Work 📱" } });
    expect(renamed).toMatchObject({ status: 200, body: { newName: "Work 📱" } });
    const listed = await service.call("GET", "/mgmt/v1/registrations/naming");
    expect(listed.body.map(({ keyName }: { keyName: string }) => keyName)).toEqual(["Work 📱"]);
    for (const body of [{}, { newName: "" }, { newName: 5 }, { newName: "a\0" }, [], "x"]) {
      expect((await service.call("POST", path, { body })).status).toBe(400);
    }
    for (const id of ["3f2504e0-4f89-41d3-9a0c-0305e82c3301", "x", "%00"]) {
      const { status } = await service.call("POST", `/mgmt/v1/registrations/rename/${id}`, {
        body: { newName: "x" },
      });
      expect([id, status]).toEqual([id, 404]);
    }
  });

  test("are deregistered, one or all, on the authenticator as well", async () => {
    const one = await application.enrolled("leaving");
    const two = await application.enrolled("leaving");
    const dereg = (more = {}) =>
      application.create({ operation: "DEREG", userId: "leaving", username: "x", ...more });
    const first = await dereg({ deviceIds: [one.deviceId] });
    expect(first.status).toBe("OK");
    const call = { facetId: service.server.url };
    for (const { authenticator } of [one, two]) authenticator.deregister(first.request, call);
    expect([one.authenticator.keys.length, two.authenticator.keys.length]).toEqual([0, 1]);
    const left = await service.call("GET", "/mgmt/v1/registrations/leaving");
    expect(left.body.map(({ deviceId }: { deviceId: string }) => deviceId)).toEqual([two.deviceId]);

    const last = await dereg();
    expect(last.status).toBe("OK");
    two.authenticator.deregister(last.request, call);
    expect(two.authenticator.keys).toEqual([]);
    expect((await service.call("GET", "/mgmt/v1/registrations/leaving")).text).not.toContain(two.deviceId);
    expect((await dereg()).status).toBe("FAILED");
  });
});

test("a user is deleted with devices and requests", async () => {
  const { authenticator } = await application.enrolled("deleted");
  const kept = await application.enrolled("kept");
  const pending = await application.ask("deleted");
  const path = "/mgmt/v1/registrations/deleted";
  expect((await service.call("DELETE", path, { authorization: null })).status).toBe(401);
  expect((await service.call("DELETE", path)).status).toBe(204);
  expect((await service.call("GET", path)).status).toBe(404);
  const answer = authenticator.authenticate(pending.request, { facetId: service.server.url });
  expect((await application.put(pending.id, answer)).status).toBe(404);
  expect((await application.ask("deleted")).status).toBe("FAILED");
  const { body } = await service.call("GET", "/mgmt/v1/registrations/kept");
  expect(body).toMatchObject([{ deviceId: kept.deviceId }]);
  expect((await service.call("DELETE", path)).status).toBe(204);
  for (const unknown of ["deleted", "unknown", "%00"])
    expect((await service.call("DELETE", `/mgmt/v1/registrations/${unknown}`)).status).toBe(404);
});

test("the list of facets names this origin for versions 1.0 and 1.1, with its content type", async () => {
  const { status, headers, body } = await callAt(`${service.base}/facets`, "GET");
  expect([status, headers.get("content-type")]).toEqual([
    200,
    expect.stringMatching(/^application\/fido\.trusted-apps\+json/),
  ]);
  const entry = (minor: number) => ({ version: { major: 1, minor }, ids: [service.server.url] });
  expect(body.trustedFacets).toEqual(expect.arrayContaining([entry(0), entry(1)]));
  const authenticator = createUafAuthenticator();
  const { request } = await application.register("facets");
  authenticator.register(request, { facetId: service.server.url, trustedFacets: body });
  expect(authenticator.keys).toHaveLength(1);
});
