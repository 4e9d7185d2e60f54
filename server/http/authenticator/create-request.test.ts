import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { pendingRequests } from "../../authenticator/pending-requests.ts";
import { readLocations } from "../../locations/location-database.ts";
import { createTenant } from "../../tenants/manage-tenants.ts";
import {
  type AuthenticatorApplication,
  authenticatorApplication,
} from "../../testing/authenticator-application.ts";
import { writeMmdb } from "../../testing/mmdb.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";

const runtime = await runtimeForTests({ BASE_URL: "https://login.example", PORT: "3000" });
const application = await authenticatorApplication(runtime);

const requests = "/v1/uaf/requests";
const newUserId = () => `user ${randomUUID()}`;
const show = async (id: string) => (await application.call("GET", `${requests}/${id}`)).body;

describe("creating a request", () => {
  test("returns the whole request, with links that work unchanged", async () => {
    const clientData = { remoteAddress: "192.0.2.7", userAgent: "Test/1.0" };
    const more = { clientData, isSecondFactorOnly: true, displayName: "Ada" };
    const made = await application.create("REG", "ada", more);
    const href = `https://login.example/authenticator/v1/uaf/requests/${made.id}`;
    const token = expect.stringMatching(/^[\w-]{43}$/);
    expect(made).toEqual({
      id: expect.stringMatching(/^[0-9A-Za-z]{44}$/),
      operation: "REG",
      status: "PENDING",
      userId: "ada",
      username: "ada@example.com",
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      validUntil: new Date(Date.parse(made.createdAt) + 120_000).toISOString(),
      relyingParty: {
        id: runtime.tenant.id,
        name: "Stile",
        appId: "https://login.example/authenticator/facets",
        icon: "",
      },
      deviceID: "",
      request: expect.stringContaining('"op":"Reg"'),
      clientData,
      isSecondFactorOnly: true,
      links: [
        { rel: "qrcode", method: "GET", href: expect.stringContaining(`${href}/qrcode?token=`) },
        { rel: "status", method: "GET", href },
        { rel: "result", method: "GET", href },
        { rel: "validate", method: "PUT", href },
        { rel: "cancel", method: "DELETE", href },
        { rel: "events", method: "GET", href: expect.stringContaining(`${href}/events?token=`) },
      ],
    });
    const tokens = [made.links[0], made.links[5]].map((link) => new URL(link.href).searchParams.get("token"));
    expect(tokens).toEqual([token, token]);
    expect(tokens[0]).not.toBe(tokens[1]);
    expect(await show(made.id)).toEqual(made);
  });

  test("ignores unknown members, and takes null for an absent one", async () => {
    const made = await application.create("REG", newUserId(), {
      authenticatorSelectionCriteria: { requireResidentKey: true },
      attestationConveyancePreference: null,
      transaction: null,
      deviceIds: null,
      clientData: { remoteAddress: null, userAgent: "x".repeat(5_000) },
    });
    expect(made.clientData).toEqual({ userAgent: "x".repeat(512) });
  });

  test("accepts any user id", async () => {
    for (const userId of ["a/b?c=d&e", "Zoë 用户 🙂", " spaced ", "..", "__proto__", "x".repeat(255)]) {
      const { deviceId } = await application.enroll(userId);
      expect(await application.create("AUTH", userId)).toMatchObject({ userId, status: "PENDING" });
      if (userId === "..") continue;
      const path = `/mgmt/v1/registrations/${encodeURIComponent(userId)}`;
      expect((await application.call("GET", path)).body).toMatchObject([{ deviceId }]);
    }
  });

  const right = { operation: "AUTH", userId: "u", username: "u" };
  test.each([
    [{ ...right, operation: undefined }, "operation is missing."],
    [{ ...right, operation: "auth" }, "operation must be REG, AUTH or DEREG."],
    [{ ...right, operation: {} }, "operation must be REG, AUTH or DEREG."],
    [{ ...right, userId: undefined }, "userId is missing."],
    [{ ...right, userId: null }, "userId is missing."],
    [{ ...right, userId: 7 }, "userId must be a string."],
    [{ ...right, userId: " \t" }, "userId must not be blank."],
    [{ ...right, userId: "u\0" }, "userId contains invalid characters."],
    [{ ...right, userId: "x".repeat(256) }, "userId may have at most 255 characters."],
    [{ ...right, username: "" }, "username must not be blank."],
    [{ ...right, username: "x".repeat(129) }, "username may have at most 128 characters."],
    [{ ...right, transaction: " " }, "transaction must not be blank."],
    [
      { ...right, transaction: "€".repeat(51) },
      "transaction may have at most 150 bytes of UTF-8, which is what the authenticator model 006F#0001 shows.",
    ],
    [{ ...right, transaction: "x".repeat(4097) }, "transaction may have at most 4096 characters."],
    [{ ...right, operation: "REG", transaction: "Pay" }, "transaction goes with the operation AUTH alone."],
    [{ ...right, deviceIds: "x" }, "deviceIds must be a list."],
    [{ ...right, deviceIds: [] }, "deviceIds must name a device, or be left out to mean all of them."],
    [{ ...right, deviceIds: ["x"] }, "deviceIds[0] must be the id of a device."],
    [
      { ...right, operation: "REG", deviceIds: [randomUUID()] },
      "deviceIds does not go with the operation REG.",
    ],
    [{ ...right, clientData: "x" }, "clientData must be an object."],
    [{ ...right, isSecondFactorOnly: "yes" }, "isSecondFactorOnly must be true or false."],
    [[], "The body must be a JSON object."],
    ["{", "The body must be a JSON object."],
    ['{"operation":"AUTH","userId":"u","operation":"REG"}', "The member operation occurs twice."],
    [
      '{"operation":"AUTH","clientData":{"port":[0,1e999]}}',
      "The number at clientData.port[1] is out of range.",
    ],
    [
      '{"operation":"AUTH","userId":"\\ud800","username":"u"}',
      "The text at userId is not well-formed Unicode.",
    ],
    ['{"__proto__":{},"operation":"AUTH"}', "The member __proto__ is not allowed."],
  ])("rejects %j: %s", async (body, message) => {
    expect(await application.call("POST", requests, { body })).toMatchObject({
      status: 400,
      body: { code: 400, message },
    });
  });

  test("rejects a text that is too long for a model that may show it", async () => {
    const long = { aaid: "0123#0001", max_transaction_bytes: 1000 };
    const models = [{ aaid: "006F#0001" }, long];
    const shop = await authenticatorApplication(
      runtime.configured({ STILE_AUTHENTICATOR_ACCEPTED: JSON.stringify(models) }),
    );
    const userId = newUserId();
    await shop.enroll(userId);
    const screen = await shop.enroll(userId, { aaid: long.aaid, maxTransactionCharacters: 2000 });
    const ask = (transaction: string, more: object = {}) =>
      shop.call("POST", requests, { body: { ...right, userId, transaction, ...more } });
    const limitOf = (bytes: number, aaid: string) => ({
      status: 400,
      body: {
        message: `transaction may have at most ${bytes} bytes of UTF-8, which is what the authenticator model ${aaid} shows.`,
      },
    });
    expect(await ask("x".repeat(151))).toMatchObject(limitOf(150, "006F#0001"));
    const only = { deviceIds: [screen.deviceId] };
    expect(await ask("€".repeat(334), only)).toMatchObject(limitOf(1000, long.aaid));
    const asked = await ask("€".repeat(333), only);
    expect(asked).toMatchObject({ status: 200, body: { status: "PENDING" } });
    const response = shop.answerOf(screen.authenticator, asked.body);
    expect((await shop.answer(asked.body, response)).body.status).toBe("OK");
  });

  test("rejects a body that is too large with 413", async () => {
    const { status } = await application.call("POST", requests, {
      body: { ...right, userId: "x".repeat(70_000) },
    });
    expect(status).toBe(413);
  });

  test("A70 is rate limited by user", async () => {
    const limited = await authenticatorApplication(
      runtime.configured({
        STILE_RATE_LIMITER_ENABLED: "true",
        STILE_RATE_LIMITER_AUTHENTICATOR_REQUESTS_PER_MINUTE: "3",
      }),
    );
    const userId = newUserId();
    const ask = (who = userId, operation = "AUTH") =>
      limited.call("POST", requests, { body: { operation, userId: who, username: "u" } });
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask()));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 429, 429, 429, 429, 429]);
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.body).toEqual({ code: 429, message: expect.any(String) });
    expect(Number(refused?.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await ask(userId, "REG")).status).toBe(429);
    expect((await ask(userId, "DEREG")).status).toBe(200);
    expect((await ask(newUserId())).status).toBe(200);
  });

  test("A70 leaves one of several concurrent requests pending", async () => {
    const userId = newUserId();
    await application.enroll(userId);
    const made = await Promise.all(Array.from({ length: 5 }, () => application.create("AUTH", userId)));
    const statuses = await Promise.all(made.map(async ({ id }) => (await show(id)).status));
    expect(statuses.toSorted()).toEqual([...Array(4).fill("INVALIDATED"), "PENDING"]);
    const [old] = made.filter((_, at) => statuses[at] === "INVALIDATED");
    const seen = await show(old.id);
    expect(seen.error).toEqual({ code: 1491, reason: "A newer request took the place of this one." });
    expect(seen.links.map(({ rel }: { rel: string }) => rel)).toEqual(["status", "result"]);
  });

  test("does not invalidate requests of another user, operation or tenant", async () => {
    const [one, other] = [newUserId(), newUserId()];
    await application.enroll(one);
    await application.enroll(other);
    const first = await application.create("AUTH", one);
    await application.create("AUTH", other);
    await application.create("REG", one);
    const acme = await createTenant(runtime, { name: "Acme", hosts: [], settings: {} });
    const there = await authenticatorApplication(runtime, acme);
    await there.enroll(one);
    await there.create("AUTH", one);
    expect((await show(first.id)).status).toBe("PENDING");
  });

  test("returns a failed request if the user has no such device", async () => {
    const [one, other] = [newUserId(), newUserId()];
    const { deviceId } = await application.enroll(other);
    const error = { code: 1404, reason: "The user has no such authenticator." };
    const failed = { status: "FAILED", error, request: "[]" };
    expect(await application.create("AUTH", one)).toMatchObject(failed);
    expect(await application.create("AUTH", one, { deviceIds: [deviceId] })).toMatchObject(failed);
    expect(await application.create("DEREG", one)).toMatchObject(failed);
    expect(await application.create("DEREG", one, { deviceIds: [deviceId] })).toMatchObject(failed);
    expect((await application.create("AUTH", other)).status).toBe("PENDING");
  });
});

describe("the location of a request", () => {
  const places = readLocations(
    writeMmdb({
      "192.0.2.0/24": {
        country: { names: { en: "United Kingdom" } },
        subdivisions: [{ names: { en: "England" } }],
        city: { names: { en: "Exeter" } },
      },
      "2001:db8::/32": { country: { names: { en: "Switzerland" } } },
    }),
  );
  const locations = places.ok ? places.locations : null;
  const exeter = { country: "United Kingdom", region: "England", city: "Exeter" };
  let shop: AuthenticatorApplication;
  beforeAll(async () => {
    shop = await authenticatorApplication({ ...runtime, locations });
  });

  test.each([
    ["192.0.2.7", exeter],
    ["2001:db8::7", { country: "Switzerland" }],
    ["::ffff:192.0.2.7", exeter],
    ["198.51.100.7", undefined],
    ["10.0.0.1", undefined],
    ["fd00::1", undefined],
    ["localhost", undefined],
  ])("is that of the browser's address %s", async (remoteAddress, location) => {
    const made = await shop.create("REG", newUserId(), { clientData: { remoteAddress } });
    expect(made.location).toEqual(location);
    expect(await show(made.id)).toEqual(made);
  });

  test("is absent without an address, as the caller's own is the application's", async () => {
    expect(await shop.create("REG", newUserId())).not.toHaveProperty("location");
    const clientData = { userAgent: "Test/1.0" };
    expect(await shop.create("REG", newUserId(), { clientData })).not.toHaveProperty("location");
  });

  test("is absent without a database", async () => {
    const clientData = { remoteAddress: "192.0.2.7" };
    expect(await application.create("REG", newUserId(), { clientData })).not.toHaveProperty("location");
  });

  test("is what the application states, with or without a database", async () => {
    const clientData = { remoteAddress: "192.0.2.7" };
    const location = { country: "Schweiz", region: null, city: "Zürich", continent: "Europe" };
    for (const by of [shop, application]) {
      const made = await by.create("REG", newUserId(), { clientData, location });
      expect(made.location).toEqual({ country: "Schweiz", city: "Zürich" });
    }
    for (const absent of [null, {}, { country: null }]) {
      const made = await shop.create("REG", newUserId(), { clientData, location: absent });
      expect(made.location).toEqual(exeter);
    }
  });

  test.each<[unknown, string]>([
    ["Exeter", "location must be an object."],
    [["Exeter"], "location must be an object."],
    [{ city: 7 }, "location.city must be a string."],
    [{ city: " " }, "location.city must not be blank."],
    [{ region: "x".repeat(129) }, "location.region may have at most 128 characters."],
    [{ country: "a\0" }, "location.country contains invalid characters."],
    [{ city: "Exeter\u202e" }, "location.city must not contain control or bidirectional characters."],
    [{ city: "Exeter\nLondon" }, "location.city must not contain control or bidirectional characters."],
  ])("is rejected if it is %j", async (location, message) => {
    const body = { operation: "REG", userId: newUserId(), username: "u", location };
    expect(await shop.call("POST", requests, { body })).toMatchObject({ status: 400, body: { message } });
  });

  test("is shown to the authenticator, and not to the page that waits", async () => {
    const made = await shop.create("REG", newUserId(), { clientData: { remoteAddress: "192.0.2.7" } });
    const hrefOf = (rel: string) => made.links.find((link: { rel: string }) => link.rel === rel).href;
    const page = await shop.call("GET", `${hrefOf("events")}&wait=0`, { authorization: null });
    expect(page).toMatchObject({ status: 200, body: { status: "PENDING" } });
    expect(page.body).not.toHaveProperty("location");
    const [pending] = (await pendingRequests(runtime, 200)).filter(({ id }) => id === made.id);
    const authorization = `device ${pending?.deviceToken}`;
    const seen = await shop.call("GET", `${requests}/${made.id}`, { authorization });
    expect(seen.body.location).toEqual(exeter);
  });
});
