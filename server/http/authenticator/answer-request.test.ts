import { randomBytes, randomUUID } from "node:crypto";
import { eq, sql } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { makeAuthority } from "../../lib/certificates.ts";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { authenticatorApplication } from "../../testing/authenticator-application.ts";
import { eventually } from "../../testing/eventually.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { createUafAuthenticator } from "../../testing/uaf-authenticator/authenticator.ts";
import type { Overrides } from "../../testing/uaf-authenticator/call.ts";

const { auditLogs, authenticatorDevices, authenticatorRequests } = schema;

const runtime = await runtimeForTests({ BASE_URL: "https://login.example", PORT: "3000" });
const application = await authenticatorApplication(runtime);

const requests = "/v1/uaf/requests";
const newUserId = () => `user ${randomUUID()}`;
const show = async (id: string) => (await application.call("GET", `${requests}/${id}`)).body;

/** Copies a request, as a concurrent process would have created it. */
async function twinOf<Made extends { id: string }>(made: Made): Promise<Made> {
  const id = randomBytes(22).toString("hex");
  await runtime.database.write.execute(sql`
    insert into authenticator_requests select (r).* from (
      select jsonb_populate_record(q, jsonb_build_object('id', ${id}::text)) as r
      from authenticator_requests q where id = ${made.id}) s`);
  return { ...made, id };
}
const lines = (requestId: string) =>
  runtime.database.read
    .select()
    .from(auditLogs)
    .where(eq(sql`${auditLogs.details} ->> 'request_id'`, requestId));

describe("the answer of an authenticator", () => {
  test("registers a key, which a later answer proves", async () => {
    const userId = newUserId();
    const authenticator = createUafAuthenticator({ counts: true });
    const made = await application.create("REG", userId, { isSecondFactorOnly: true });
    const info = {
      keyName: "Ada's phone",
      deviceOs: "Android",
      osVersion: "9",
      pushToken: "push",
      secret: "hush",
    };
    const registered = await application.answer(made, application.answerOf(authenticator, made), info);
    expect(registered).toMatchObject({
      status: 200,
      body: { status: "OK", device: { keyName: "Ada's phone" } },
    });
    const { deviceID } = registered.body;

    const asked = await application.create("AUTH", userId, { transaction: "Pay 5 € to Zoë?" });
    const { body } = await application.answer(asked, application.answerOf(authenticator, asked));
    expect(body).toMatchObject({ status: "OK", deviceID, device: { deviceId: deviceID } });
    const [device] = await runtime.database.read
      .select()
      .from(authenticatorDevices)
      .where(eq(authenticatorDevices.userId, userId));
    expect(device).toMatchObject({ signCounter: 1, isSecondFactorOnly: true, attestation: "surrogate" });
    expect((await lines(made.id)).map(({ type }) => type).sort()).toEqual([
      "authenticator_registered",
      "authenticator_request_succeeded",
    ]);
  });

  test("A71 is accepted once if it is sent concurrently", async () => {
    const userId = newUserId();
    const { authenticator } = await application.enroll(userId, { counts: true });
    const made = await application.create("AUTH", userId);
    const uafResponse = application.answerOf(authenticator, made);
    const put = () => application.answer(made, uafResponse);
    const answers = await Promise.all(Array.from({ length: 8 }, put));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    for (const { body } of answers) expect(["OK", "PENDING"]).toContain(body.status);
    const done = await show(made.id);
    expect(done.status).toBe("OK");
    expect((await put()).body).toEqual(done);
    expect(await lines(made.id)).toHaveLength(1);
  });

  test("A71 to one request makes another request fail", async () => {
    const userId = newUserId();
    const { authenticator } = await application.enroll(userId);
    const first = await application.create("AUTH", userId);
    const uafResponse = application.answerOf(authenticator, first);
    const second = await application.create("AUTH", userId);
    expect((await application.answer(first, uafResponse)).body.status).toBe("INVALIDATED");
    expect((await application.answer(second, uafResponse)).body).toMatchObject({
      status: "FAILED",
      error: { code: 1491 },
    });
    const right = application.answerOf(authenticator, second);
    expect((await application.answer(second, right)).body.status).toBe("FAILED");
  });

  test.each<[string, Overrides, number]>([
    ["A72 another challenge", { finalChallengeParams: { challenge: "A".repeat(43) } }, 1491],
    ["A72 another application", { finalChallengeParams: { appID: "https://other.example" } }, 1491],
    ["A72 another facet", { finalChallengeParams: { facetID: "https://other.example" } }, 1491],
    ["A72 another channel", { finalChallengeParams: { channelBinding: { tlsUnique: "AAAA" } } }, 1490],
    ["A74 another model", { aaid: "FFFF#0001" }, 1480],
    ["A74 an unregistered key", { keyId: Buffer.alloc(32, 7) }, 1481],
    ["A75 another scheme", { assertionScheme: "UAFV2TLV" }, 1498],
    ["A75 trailing bytes", { tlv: [{ after: "authAssertion", put: Buffer.of(0) }] }, 1400],
    ["A75 another algorithm", { algorithm: 0x0012 }, 1495],
    ["a broken signature", { signature: "flipped" }, 1498],
  ])("fails permanently with %s", async (_what, instead, code) => {
    const userId = newUserId();
    const { authenticator } = await application.enroll(userId);
    const made = await application.create("AUTH", userId);
    const wrong = await application.answer(made, application.answerOf(authenticator, made, instead));
    expect(wrong).toMatchObject({
      status: 200,
      body: { status: "FAILED", error: { code, reason: expect.stringMatching(/./) }, deviceID: "" },
    });
    const right = await application.answer(made, application.answerOf(authenticator, made));
    expect(right.body).toEqual(wrong.body);
    const [line, ...others] = await lines(made.id);
    expect([line?.type, line?.details, line?.userId, others]).toEqual([
      "authenticator_request_failed",
      {
        request_id: made.id,
        operation: "AUTH",
        code,
        fault: expect.any(String),
        reason: line?.details.fault,
      },
      null,
      [],
    ]);
  });

  test("A73 fails with a counter that does not grow, with an audit entry; zero means that there is no counter", async () => {
    const userId = newUserId();
    const { authenticator } = await application.enroll(userId);
    const answered = async (signCounter: number) => {
      const made = await application.create("AUTH", userId);
      const { body } = await application.answer(
        made,
        application.answerOf(authenticator, made, { signCounter }),
      );
      return body;
    };
    for (const [counter, status] of [
      [0, "OK"],
      [0, "OK"],
      [5, "OK"],
      [5, "FAILED"],
      [4, "FAILED"],
      [0, "FAILED"],
      [6, "OK"],
    ] as const)
      expect([counter, (await answered(counter)).status]).toEqual([counter, status]);
    const { id, error } = await answered(6);
    expect(error.code).toBe(1492);
    expect(await lines(id)).toMatchObject([{ details: { fault: "sign_counter" } }]);
  });

  test("A73 accepts one of two concurrent answers with the same counter", async () => {
    const userId = newUserId();
    const { authenticator } = await application.enroll(userId, { counts: true });
    const made = await application.create("AUTH", userId);
    const twin = await twinOf(made);
    const uafResponse = application.answerOf(authenticator, made);
    const answers = await Promise.all([made, twin].map((one) => application.answer(one, uafResponse)));
    expect(answers.map(({ body }) => body.status).sort()).toEqual(["FAILED", "OK"]);
    expect(answers.find(({ body }) => body.status === "FAILED")?.body.error.code).toBe(1492);
  });

  test("A71 two keys answer several requests concurrently without a deadlock, in any order of the keys", async () => {
    const userId = newUserId();
    const authenticators = [await application.enroll(userId), await application.enroll(userId)];
    const made = await application.create("AUTH", userId);
    const asked = [made];
    while (asked.length < 8) asked.push(await twinOf(asked.at(-1)));
    const messages = authenticators.map(
      ({ authenticator }) => JSON.parse(application.answerOf(authenticator, made))[0],
    );
    const assertions = messages.map((message) => message.assertions[0]);
    const answers = await Promise.all(
      asked.map((one, at) => {
        const inTurn = at % 2 ? assertions : assertions.toReversed();
        return application.answer(one, JSON.stringify([{ ...messages[0], assertions: inTurn }]));
      }),
    );
    for (const { status, body } of answers) expect([status, body.status]).toEqual([200, "OK"]);
  });

  test("A71 two new keys that several users register concurrently go to one user, in any order of the keys", async () => {
    const ids = [randomBytes(32), randomBytes(32)];
    const made = await Promise.all(Array.from({ length: 8 }, () => application.create("REG", newUserId())));
    const answers = await Promise.all(
      made.map((one, at) => {
        const sent = (at % 2 ? ids : ids.toReversed()).map((keyId) =>
          application.answerOf(createUafAuthenticator(), one, { keyId }),
        );
        const [first, second] = sent.map((text) => JSON.parse(text)[0]);
        const assertions = [...first.assertions, ...second.assertions];
        return application.answer(one, JSON.stringify([{ ...first, assertions }]));
      }),
    );
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect(answers.filter(({ body }) => body.status === "OK")).toHaveLength(1);
  });

  test("A74 fails with the authenticator of another user, or one that was not asked", async () => {
    const [one, other] = [newUserId(), newUserId()];
    const first = await application.enroll(one);
    const second = await application.enroll(one);
    const stranger = await application.enroll(other);
    const asked = await application.create("AUTH", one, { deviceIds: [second.deviceId] });
    const [key] = first.authenticator.keys;
    if (!key) throw new Error("no key");
    const unasked = application.answerOf(second.authenticator, asked, { key });
    expect((await application.answer(asked, unasked)).body.error.code).toBe(1481);
    const again = await application.create("AUTH", one);
    const strange = application.answerOf(stranger.authenticator, again, { ignorePolicy: true });
    expect((await application.answer(again, strange)).body.error.code).toBe(1481);
  });

  test("A77 fails if another key signed under the id of a registered key", async () => {
    const userId = newUserId();
    const { authenticator } = await application.enroll(userId);
    const thief = await application.enroll(newUserId());
    const [held] = authenticator.keys;
    const [key] = thief.authenticator.keys;
    if (!held || !key) throw new Error("no key");
    const asked = await application.create("AUTH", userId);
    const forged = application.answerOf(authenticator, asked, { key, keyId: held.id });
    expect((await application.answer(asked, forged)).body).toMatchObject({
      status: "FAILED",
      error: { code: 1498, reason: "The signature does not hold." },
    });
  });

  test("has no effect on a request that is cancelled concurrently", async () => {
    const userId = newUserId();
    const { authenticator, deviceId } = await application.enroll(userId, { counts: true });
    const made = await application.create("AUTH", userId);
    const { database } = runtime;
    const device = eq(authenticatorDevices.id, deviceId);
    let answering: ReturnType<typeof application.answer> | undefined;
    await database.write.transaction(async (tx) => {
      await tx.select().from(authenticatorDevices).where(device).for("update");
      answering = application.answer(made, application.answerOf(authenticator, made));
      // The answer is verified and waits for the lock.
      await eventually(async () => {
        const { rows } = await database.read.execute(
          sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        );
        expect(rows).toHaveLength(1);
      });
      const cancelled = await application.call("DELETE", `${requests}/${made.id}`);
      expect(cancelled.body.status).toBe("FAILED");
    });
    expect((await answering)?.body).toMatchObject({ status: "FAILED", error: { code: 1403 }, deviceID: "" });
    const [row] = await database.read.select().from(authenticatorDevices).where(device);
    expect(row?.signCounter).toBe(0);
    expect(await lines(made.id)).toMatchObject([{ details: { code: 1403 } }]);
  });

  test("A74 fails if the device was deregistered since the request", async () => {
    const userId = newUserId();
    const { authenticator, deviceId } = await application.enroll(userId);
    await application.enroll(userId);
    const asked = await application.create("AUTH", userId);
    const gone = await application.create("DEREG", userId, { deviceIds: [deviceId] });
    expect(gone).toMatchObject({ status: "OK", request: expect.stringContaining('"op":"Dereg"') });
    const { body } = await application.answer(asked, application.answerOf(authenticator, asked));
    expect(body).toMatchObject({ status: "FAILED", error: { code: 1481 } });
  });

  test("A74 fails for a device that was registered after the request", async () => {
    const userId = newUserId();
    await application.enroll(userId);
    const made = await application.create("AUTH", userId);
    runtime.advanceClock(1);
    const { authenticator } = await application.enroll(userId);
    const answerOf = (asked: typeof made) =>
      application.answer(asked, application.answerOf(authenticator, asked, { ignorePolicy: true }));
    expect((await answerOf(made)).body).toMatchObject({ status: "FAILED", error: { code: 1481 } });
    expect((await answerOf(await application.create("AUTH", userId))).body.status).toBe("OK");
  });

  test("A74 fails with a key that is already registered in this tenant", async () => {
    const { authenticator } = await application.enroll(newUserId());
    const keyId = authenticator.keys[0]?.id ?? Buffer.alloc(0);
    const made = await application.create("REG", newUserId());
    const taken = await application.answer(
      made,
      application.answerOf(createUafAuthenticator(), made, { keyId }),
    );
    expect(taken.body).toMatchObject({
      status: "FAILED",
      error: { code: 1494, reason: "The key is registered already." },
    });
    const acme = await createTenant(runtime, { name: "Acme", hosts: [], settings: {} });
    const there = await authenticatorApplication(runtime, acme);
    const elsewhere = await there.create("REG", newUserId());
    const fresh = there.answerOf(createUafAuthenticator(), elsewhere, { keyId });
    expect((await there.answer(elsewhere, fresh)).body.status).toBe("OK");
  });

  test("A76 fails with another transaction text than the request's", async () => {
    const userId = newUserId();
    const { authenticator } = await application.enroll(userId);
    for (const instead of [{ transaction: "Pay 9 €" }, { transaction: null }] satisfies Overrides[]) {
      const asked = await application.create("AUTH", userId, { transaction: "Pay 5 €" });
      const { body } = await application.answer(asked, application.answerOf(authenticator, asked, instead));
      expect(body).toMatchObject({ status: "FAILED", error: { code: 1498 } });
    }
  });

  test("fails if the authenticator is older than the first version of the default model", async () => {
    const outcomeOf = async (version: number) => {
      const made = await application.create("REG", newUserId());
      const { body } = await application.answer(
        made,
        application.answerOf(createUafAuthenticator({ version }), made),
      );
      return [body.status, body.error?.code];
    };
    expect(await outcomeOf(0)).toEqual(["FAILED", 1492]);
    expect(await outcomeOf(1)).toEqual(["OK", undefined]);
    expect(await outcomeOf(2)).toEqual(["OK", undefined]);
  });

  test.each(["REG", "AUTH"] as const)(
    "A72 is compared with the configured certificates if a %s is bound to a TLS server",
    async (operation) => {
      const [ours, foreign] = [makeAuthority("Ours").der, makeAuthority("Foreign").der];
      const pem = `-----BEGIN CERTIFICATE-----\n${ours.toString("base64")}\n-----END CERTIFICATE-----\n`;
      const shopWith = (policy: string) =>
        authenticatorApplication(
          runtime.configured({
            STILE_AUTHENTICATOR_CHANNEL_BINDING: policy,
            STILE_AUTHENTICATOR_TLS_CERTIFICATES: JSON.stringify([pem]),
          }),
        );
      const outcomeOf = async (policy: string, channelBinding: object) => {
        const shop = await shopWith(policy);
        const userId = newUserId();
        const authenticator =
          operation === "REG" ? createUafAuthenticator() : (await application.enroll(userId)).authenticator;
        const made = await shop.create(operation, userId);
        const response = shop.answerOf(authenticator, made, { finalChallengeParams: { channelBinding } });
        const { status, error } = (await shop.answer(made, response)).body;
        return [status, error?.code];
      };
      const to = (der: Buffer) => ({ tlsServerCertificate: der.toString("base64url") });
      expect(await outcomeOf("refuse", to(ours))).toEqual(["FAILED", 1490]);
      expect(await outcomeOf("verify", to(ours))).toEqual(["OK", undefined]);
      expect(await outcomeOf("verify", to(foreign))).toEqual(["FAILED", 1490]);
      expect(await outcomeOf("verify", {})).toEqual(["OK", undefined]);
      expect(await outcomeOf("require", {})).toEqual(["FAILED", 1490]);
      expect(await outcomeOf("require", to(ours))).toEqual(["OK", undefined]);
    },
  );

  const noResponse = "uafResponse is not a UAF response to this operation";
  test.each<[string, unknown, string]>([
    ["empty", {}, "uafResponse is missing."],
    ["null", { uafResponse: null }, "uafResponse is missing."],
    ["not a string", { uafResponse: [] }, "uafResponse must be a string."],
    ["an empty string", { uafResponse: "" }, "uafResponse must not be empty."],
    ["not JSON", { uafResponse: "hello" }, `${noResponse}: the message is not JSON.`],
    ["an empty list", { uafResponse: "[]" }, `${noResponse}: the message is missing.`],
    ["two messages", { uafResponse: "[{},{}]" }, `${noResponse}: there is more than one message.`],
    ["the response to a deregistration", { uafResponse: "[{}]" }, `${noResponse}: header is missing.`],
    [
      "a message with a duplicate member",
      { uafResponse: '[{"header":{"op":"Reg","op":"Auth"}}]' },
      `${noResponse}: the member [0].header.op occurs twice.`,
    ],
    [
      "a wrapped message with a number out of range",
      { uafResponse: '{"uafProtocolMessage":"[{\\"header\\":{\\"upv\\":{\\"major\\":1e999}}}]"}' },
      `${noResponse}: the number at [0].header.upv.major is out of range.`,
    ],
    [
      "a message with a version of another type",
      { uafResponse: '[{"header":{"upv":{"major":"1","minor":1},"op":"Reg"}}]' },
      `${noResponse}: header.upv.major must be a number.`,
    ],
    [
      "a message with a version out of range",
      { uafResponse: '[{"header":{"upv":{"major":65536,"minor":1},"op":"Reg"}}]' },
      `${noResponse}: header.upv.major is out of range.`,
    ],
    [
      "a message with an assertion of another type",
      {
        uafResponse: JSON.stringify([
          {
            header: { upv: { major: 1, minor: 1 }, op: "Reg" },
            fcParams: "x",
            assertions: [{ assertionScheme: "UAFV1TLV", assertion: 5 }],
          },
        ]),
      },
      `${noResponse}: assertions[0].assertion must be a string.`,
    ],
    [
      "a handle of another type",
      { uafResponse: "x", deviceKeyInfo: { pushToken: 1 } },
      "deviceKeyInfo.pushToken must be a string.",
    ],
    [
      "a name with NUL",
      { uafResponse: "x", deviceKeyInfo: { keyName: "\0" } },
      "deviceKeyInfo.keyName contains invalid characters.",
    ],
    ["not an object", [], "The body must be a JSON object."],
    [
      "a body with a duplicate member",
      '{"uafResponse":"[]","uafResponse":"[{}]"}',
      "The member uafResponse occurs twice.",
    ],
  ])("leaves the request pending if it is %s", async (_what, body, message) => {
    const made = await application.create("REG", newUserId());
    expect(await application.call("PUT", `${requests}/${made.id}`, { body })).toMatchObject({
      status: 400,
      body: { code: 400, message },
    });
    const right = application.answerOf(createUafAuthenticator(), made);
    expect((await application.answer(made, right)).body.status).toBe("OK");
  });

  test("leaves a request that expires if it was accepted and never verified", async () => {
    const made = await application.create("REG", newUserId());
    const right = application.answerOf(createUafAuthenticator(), made);
    // The state after a crash between accepting and verifying.
    await runtime.database.write
      .update(authenticatorRequests)
      .set({ challenge: null })
      .where(eq(authenticatorRequests.id, made.id));
    expect(await application.answer(made, right)).toMatchObject({ status: 200, body: { status: "PENDING" } });
    runtime.advanceClock(121);
    expect((await application.answer(made, right)).body.status).toBe("INVALIDATED");
  });
});
