import { createHash, randomUUID } from "node:crypto";
import { and, eq } from "drizzle-orm";
import { decodeJwt } from "jose";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { verifyReceipt } from "../../passkey-server/receipt-verification.ts";
import { passkeyApplication, type RegisteredUser } from "../../testing/passkey-application.ts";
import { errorBody, invalidRequest, passkeySuite } from "../../testing/passkey-suite.ts";
import type { GetCall } from "../../testing/webauthn-authenticator.ts";

const { runtime, application, auditLogs, newTenant } = await passkeySuite();

const data = { to: "Bergmann & Söhne", amount: "149.90", lines: [{ sku: 2, n: 1.5 }] };
const canonical = '{"amount":"149.90","lines":[{"n":1.5,"sku":2}],"to":"Bergmann & Söhne"}';

const initialize = (body: object, by = application) => by.post("/transaction/initialize", body);
const finalize = (answer: unknown, by = application) => by.post("/transaction/finalize", answer);

const requestBody = (userId: string, more: object = {}) => ({
  user_id: userId,
  transaction_id: randomUUID(),
  transaction_data: data,
  ...more,
});

const rowsOf = (identifier: string, tenantId = runtime.tenant.id) =>
  runtime.database.read
    .select()
    .from(schema.passkeyTransactions)
    .where(
      and(
        eq(schema.passkeyTransactions.tenantId, tenantId),
        eq(schema.passkeyTransactions.identifier, identifier),
      ),
    );

const auditTypes = async (transactionId: string) =>
  (await auditLogs("transaction_id", transactionId)).map(({ type }) => type);

describe("transaction/initialize", () => {
  test("A69 returns a challenge that commits to id and data", async () => {
    const { userId, credentialId } = await application.registerUser();
    await application.register(userId, { mfa: true });
    const request = requestBody(userId, { transaction_id: "ördér 1" });
    const { status, body } = await initialize(request);
    expect(status).toBe(200);
    expect(body).toEqual({
      publicKey: {
        challenge: expect.stringMatching(/^[A-Za-z0-9_-]{86}$/),
        timeout: 300_000,
        rpId: "localhost",
        allowCredentials: [{ type: "public-key", id: credentialId }],
      },
    });
    const hash = createHash("sha256").update(`ördér 1${canonical}`).digest();
    expect(Buffer.from(body.publicKey.challenge, "base64url").subarray(32)).toEqual(hash);
    expect(await rowsOf("ördér 1")).toMatchObject([{ data: canonical, confirmedAt: null }]);
    expect(await auditTypes("ördér 1")).toEqual(["webauthn_transaction_init_succeeded"]);
  });

  test.each(["required", "preferred", "discouraged"])(
    "names user verification as the tenant has set it for transactions: %s",
    async (preference) => {
      const { userId } = await application.registerUser();
      const general = runtime.configured({ STILE_PASSKEY_SERVER_USER_VERIFICATION: preference });
      const plain = await initialize(requestBody(userId), await passkeyApplication(general));
      expect(plain.body.publicKey).not.toHaveProperty("userVerification");
      const own = runtime.configured({ STILE_PASSKEY_SERVER_TRANSACTION_USER_VERIFICATION: preference });
      const asked = await initialize(requestBody(userId), await passkeyApplication(own));
      expect(asked.body.publicKey.userVerification).toBe(preference);
    },
  );

  test.each<[object, string]>([
    [{ user_id: undefined }, "user_id is a required field"],
    [{ transaction_id: undefined }, "transaction_id is a required field"],
    [{ transaction_id: "" }, "transaction_id is a required field"],
    [{ transaction_id: 7 }, "transaction_id must be a string"],
    [{ transaction_id: "a\0b" }, "transaction_id must not contain the character NUL"],
    [{ transaction_data: undefined }, "transaction_data is a required field"],
    [{ transaction_data: null }, "transaction_data is a required field"],
    [{ transaction_data: [] }, "transaction_data must be an object"],
    [{ transaction_data: "x" }, "transaction_data must be an object"],
    [
      { user_id: undefined, transaction_data: 1 },
      "user_id is a required field and transaction_data must be an object",
    ],
    [{ confirmation: "yes" }, "confirmation must be an object"],
    [{ confirmation: {} }, "confirmation.redirect_to is a required field"],
  ])("rejects a request with %j", async (more, details) => {
    const { body } = await initialize(requestBody("unknown", more));
    expect(body).toEqual(invalidRequest(details));
  });

  test("A69 accepts an id of 128 characters of any length in bytes and rejects one of 129", async () => {
    const { userId } = await application.registerUser();
    for (const character of ["x", "é", "😀"]) {
      const long = await initialize(requestBody(userId, { transaction_id: character.repeat(129) }));
      expect(long.body).toEqual(invalidRequest("transaction_id cannot have more than 128 entries"));
      expect((await initialize(requestBody(userId, { transaction_id: character.repeat(128) }))).status).toBe(
        200,
      );
    }
  });

  test("rejects data with more than the maximum size and does not use up the id", async () => {
    const { userId } = await application.registerUser();
    const request = requestBody(userId);
    const long = await initialize({ ...request, transaction_data: { text: "x".repeat(17_000) } });
    expect(long.body).toEqual(
      invalidRequest(expect.stringMatching(/^transaction_data is not acceptable: (it|a) /)),
    );
    expect((await initialize(request)).status).toBe(200);
  });

  test.each([
    [
      "a lone surrogate",
      String.raw`{"a":"\ud800"}`,
      "the text at transaction_data.a is not well-formed Unicode",
    ],
    ["a number out of range", '{"a":1e999}', "the number at transaction_data.a is out of range"],
    ["a duplicate name", '{"a":1,"a":2}', "the member transaction_data.a occurs twice"],
    ["A90 __proto__", '{"__proto__":{"polluted":1}}', "the member transaction_data.__proto__ is not allowed"],
    [
      "A91 10 000 levels",
      `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`,
      "the body must be a JSON object",
    ],
  ])("rejects %s", async (_, text, details) => {
    const body = `{"user_id":"x","transaction_id":"y","transaction_data":${text}}`;
    expect((await application.post("/transaction/initialize", body)).body).toEqual(invalidRequest(details));
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test("checks the user, then the id, then the credentials", async () => {
    const { userId } = await application.registerUser();
    const withoutPasskey = randomUUID();
    await application.register(withoutPasskey, { mfa: true });
    const request = requestBody(userId);
    await initialize(request);
    expect((await initialize({ ...request, user_id: "unknown" })).body).toEqual(
      errorBody(404, "unable to find user", ""),
    );
    expect((await initialize({ ...request, user_id: withoutPasskey })).body).toEqual(
      errorBody(409, "transaction already exists", ""),
    );
    expect((await initialize(requestBody(withoutPasskey))).body).toEqual(
      errorBody(400, "user has no suitable credentials for this operation", ""),
    );
    expect((await auditTypes(request.transaction_id)).slice(1)).toEqual([
      "webauthn_transaction_init_failed",
      "webauthn_transaction_init_failed",
    ]);
  });

  test("A69 reserves an id for all users of its tenant, and not in other tenants", async () => {
    const [one, two] = [await application.registerUser(), await application.registerUser()];
    const request = requestBody(one.userId);
    expect((await initialize(request)).status).toBe(200);
    const taken = errorBody(409, "transaction already exists", "");
    expect((await initialize(request)).body).toEqual(taken);
    expect((await initialize({ ...request, user_id: two.userId, transaction_data: {} })).body).toEqual(taken);

    const other = await newTenant();
    await other.register(one.userId);
    expect((await initialize(request, other)).status).toBe(200);
    expect((await initialize(request, other)).body).toEqual(taken);
  });

  test("signs numbers as RFC 8785, and rejects those that a double would change", async () => {
    const { userId } = await application.registerUser();
    const send = async (numbers: string) => {
      const request = requestBody(userId, { transaction_data: { n: "numbers" } });
      const text = JSON.stringify(request).replace('"numbers"', numbers);
      const answer = await application.post("/transaction/initialize", text);
      return { id: request.transaction_id, ...answer };
    };
    const taken = await send("[333333333.33333329,4.50,2e-3,0.000000000000000000000000001,1e21]");
    expect(taken.status).toBe(200);
    expect(await rowsOf(taken.id)).toMatchObject([
      { data: '{"n":[333333333.3333333,4.5,0.002,1e-27,1e+21]}' },
    ]);
    for (const [numbers, details] of [
      ["[1,1e400]", "the number at transaction_data.n[1] is out of range"],
      ["1e-400", "transaction_data.n is too small and would become 0"],
      ["9007199254740993", "transaction_data.n is an integer that a double cannot hold: send it as a string"],
      [
        "0.12345678901234567890",
        "transaction_data.n has more digits than a double can hold: send it as a string",
      ],
      ['1,"n":2', "the member transaction_data.n occurs twice"],
    ] as const) {
      const { status, body } = await send(numbers);
      expect([status, body.details]).toEqual([400, details]);
    }
  });

  test("A69 accepts one of 20 concurrent requests with the same id", async () => {
    const { userId } = await application.registerUser();
    const request = requestBody(userId);
    const answers = await Promise.all(Array.from({ length: 20 }, () => initialize(request)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(409)]);
    expect(await rowsOf(request.transaction_id)).toHaveLength(1);
  });

  test("A67 rejects calls without a key and with a key of another tenant", async () => {
    const other = await newTenant();
    const invalidKey = errorBody(
      401,
      "The api key is invalid",
      "api keys needs to be an apiKey Header and 32 byte long",
    );
    for (const path of ["/transaction/initialize", "/transaction/finalize", "/transaction/redeem"]) {
      expect((await application.postWithoutKey(path, {})).body).toEqual(invalidKey);
      expect((await application.post(path, {}, { apikey: other.key })).body).toEqual(invalidKey);
    }
    for (const path of ["/transaction/unknown", "/audit_logs"]) {
      expect((await application.callWithoutKey("GET", path)).body).toEqual(invalidKey);
      expect((await application.call("GET", path, undefined, { apikey: other.key })).body).toEqual(
        invalidKey,
      );
    }
  });
});

/** Initializes a transaction and returns the browser's answer. */
async function initializeAndSign(user: RegisteredUser, call: Partial<GetCall> = {}, more: object = {}) {
  const request = requestBody(user.userId, more);
  const answer = await application.answer(user.authenticator, "/transaction", request, call);
  return { ...request, answer };
}

describe("transaction/finalize", () => {
  test("returns a token that names the transaction, and a valid receipt", async () => {
    const user = await application.registerUser();
    const { transaction_id, answer } = await initializeAndSign(user);
    const { status, body } = await finalize(answer);
    expect([status, Object.keys(body).sort()]).toEqual([200, ["receipt", "token"]]);
    expect(decodeJwt(body.token)).toEqual({
      amr: ["passkey", "mfa"],
      aud: ["localhost"],
      cred: user.credentialId,
      exp: expect.any(Number),
      iat: expect.any(Number),
      sub: user.userId,
      trans: transaction_id,
    });
    const jwks = (await application.callWithoutKey("GET", "/.well-known/jwks.json")).body;
    const { public_key: publicKey } = (await application.get(`/credentials/${user.credentialId}`)).body;
    const verdict = verifyReceipt(body.receipt, { jwks, publicKey, origins: [application.origin] });
    expect(verdict).toMatchObject({
      ok: true,
      receipt: {
        transactionId: transaction_id,
        userId: user.userId,
        data,
        canonicalData: canonical,
        issuer: `${runtime.config.base_url}/passkeys/${runtime.tenant.id}`,
        tenantId: runtime.tenant.id,
        credentialId: user.credentialId,
        userVerified: true,
      },
    });
    expect(await rowsOf(transaction_id)).toMatchObject([{ confirmedAt: expect.any(Date) }]);
    expect(await auditTypes(transaction_id)).toEqual([
      "webauthn_transaction_init_succeeded",
      "webauthn_transaction_final_succeeded",
    ]);
  });

  test("takes the user from the challenge if a security key sends no user handle", async () => {
    const { answer } = await initializeAndSign(await application.registerUser(), { userHandle: null });
    expect((await finalize(answer)).status).toBe(200);
  });

  test("accepts an unverified user only where the tenant does not require verification for transactions", async () => {
    const relaxed = await passkeyApplication(
      runtime.configured({ STILE_PASSKEY_SERVER_TRANSACTION_USER_VERIFICATION: "discouraged" }),
    );
    for (const [service, status] of [
      [application, 401],
      [relaxed, 200],
    ] as const) {
      const { userId, authenticator } = await application.registerUser();
      const unverified = { userVerified: false };
      const answer = await service.answer(authenticator, "/transaction", requestBody(userId), unverified);
      expect((await service.post("/transaction/finalize", answer)).status).toBe(status);
    }
  });

  test("accepts the bytes of a UUID as user handle", async () => {
    const user = await application.registerUser();
    const bytes = Buffer.from(user.userId.replaceAll("-", ""), "hex").toString("base64url");
    const { answer } = await initializeAndSign(user, { userHandle: bytes });
    const { status, body } = await finalize(answer);
    expect(status).toBe(200);
    const jwks = (await application.callWithoutKey("GET", "/.well-known/jwks.json")).body;
    expect(verifyReceipt(body.receipt, { jwks }).ok).toBe(true);
  });

  const invalidAssertion = errorBody(401, "failed to validate assertion");

  test("A69 rejects a signature over other data", async () => {
    const user = await application.registerUser();
    const request = requestBody(user.userId);
    const { body } = await initialize(request);
    const bytes = Buffer.from(body.publicKey.challenge, "base64url");
    const other = createHash("sha256").update(`${request.transaction_id}{"amount":"1.00"}`).digest();
    const challenge = Buffer.concat([bytes.subarray(0, 32), other]).toString("base64url");
    const answer = user.authenticator.get(body, { origin: application.origin, challenge });
    expect((await finalize(answer)).body).toEqual(errorBody(401, "failed to get session data"));
  });

  test("rejects the passkey of another user and an unknown user handle", async () => {
    const [one, two] = [await application.registerUser(), await application.registerUser()];
    const { body } = await initialize(requestBody(one.userId));
    const call = { origin: application.origin, credential: two.credential };
    const stolen = two.authenticator.get(body, call);
    expect((await finalize(stolen)).body).toEqual(invalidAssertion);
    const unknownHandle = await initializeAndSign(one, {
      userHandle: Buffer.from("unknown").toString("base64url"),
    });
    expect((await finalize(unknownHandle.answer)).body).toEqual(errorBody(401, "failed to get user handle"));
  });

  test("rejects a second factor", async () => {
    const { userId } = await application.registerUser();
    const { authenticator, credential } = await application.register(userId, { mfa: true });
    const { body } = await initialize(requestBody(userId));
    const answer = authenticator.get(body, { origin: application.origin, credential });
    expect((await finalize(answer)).body).toEqual(
      errorBody(400, "MFA credentials are not usable for transactions", ""),
    );
  });
});

describe("transaction/{user_id}", () => {
  test("lists the transactions of a user by the application's user id and by ours", async () => {
    const user = await application.registerUser();
    const [one, two] = [await initializeAndSign(user), await initializeAndSign(user)];
    await finalize(two.answer);
    const [row] = await rowsOf(one.transaction_id);
    const byName = await application.call("GET", `/transaction/${encodeURIComponent(user.userId)}`);
    expect(byName.body).toEqual([
      {
        id: row?.id,
        identifier: one.transaction_id,
        data: canonical,
        created_at: expect.stringMatching(/Z$/),
        updated_at: expect.stringMatching(/Z$/),
      },
      expect.objectContaining({ identifier: two.transaction_id, confirmed_at: expect.stringMatching(/Z$/) }),
    ]);
    expect((await application.get(`/transaction/${row?.userId}`)).body).toEqual(byName.body);
    expect((await application.call("GET", `/transaction/${row?.userId.toUpperCase()}`)).body).toEqual(
      byName.body,
    );
  });

  test("accepts user ids with any characters", async () => {
    for (const userId of ["ada lovelace/1", "%", "ä€😀"]) {
      const user = await application.registerUser({}, `${userId}${randomUUID().slice(0, 8)}`);
      const { body } = await application.call("GET", `/transaction/${encodeURIComponent(user.userId)}`);
      expect(body).toEqual([]);
    }
  });

  test("A68 rejects an unknown user and a user of another tenant", async () => {
    const user = await application.registerUser();
    await initializeAndSign(user);
    const other = await newTenant();
    const notFound = errorBody(404, "user not found", "");
    expect((await application.call("GET", `/transaction/${randomUUID()}`)).body).toEqual(notFound);
    expect((await application.get("/transaction/unknown")).body).toEqual(notFound);
    expect((await other.get(`/transaction/${user.userId}`)).body).toEqual(notFound);
    expect((await application.get("/transaction/a%00b")).body).toEqual(errorBody(400, "invalid user id", ""));
  });
});
