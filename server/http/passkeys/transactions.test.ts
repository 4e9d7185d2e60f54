import { createHash, randomUUID } from "node:crypto";
import { and, eq } from "drizzle-orm";
import { decodeJwt } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { verifyReceipt } from "../../passkey-server/receipt-verification.ts";
import { createTenant } from "../../tenants/manage-tenants.ts";
import { type PasskeyApplication, passkeyApplication } from "../../testing/passkey-application.ts";
import { type TestRuntime, testRuntime } from "../../testing/runtime.ts";
import { type GetCall, softwareAuthenticator } from "../../testing/webauthn-authenticator.ts";

let runtime: TestRuntime;
let application: PasskeyApplication;

beforeAll(async () => {
  runtime = await testRuntime();
  application = await passkeyApplication(runtime);
});

afterAll(() => runtime.close());

const problem = (status: number, title: unknown, details: unknown = expect.any(String)) => ({
  status,
  title,
  details,
});

const data = { to: "Bergmann & Söhne", amount: "149.90", lines: [{ sku: 2, n: 1.5 }] };
const canonical = '{"amount":"149.90","lines":[{"n":1.5,"sku":2}],"to":"Bergmann & Söhne"}';

async function somebody(
  settings: Parameters<typeof softwareAuthenticator>[0] = {},
  userId: string = randomUUID(),
) {
  const registered = await application.register(userId, { authenticator: softwareAuthenticator(settings) });
  return { userId, ...registered };
}

const open = (body: object, by = application) => by.call("POST", "/transaction/initialize", body);
const finish = (answer: unknown, by = application) => by.call("POST", "/transaction/finalize", answer);

const asked = (userId: string, more: object = {}) => ({
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

async function auditOf(transactionId: string) {
  const rows = await runtime.database.read
    .select()
    .from(schema.auditLogs)
    .orderBy(schema.auditLogs.createdAt);
  return rows.filter(({ details }) => details.transaction_id === transactionId).map(({ type }) => type);
}

describe("transaction/initialize", () => {
  test("A69 gives options whose challenge commits to id and data", async () => {
    const { userId, credentialId } = await somebody();
    await application.register(userId, { mfa: true });
    const request = asked(userId, { transaction_id: "ördér 1" });
    const { status, body } = await open(request);
    expect(status).toBe(200);
    expect(body).toEqual({
      publicKey: {
        challenge: expect.stringMatching(/^[A-Za-z0-9_-]{86}$/),
        timeout: 300_000,
        rpId: "localhost",
        allowCredentials: [{ type: "public-key", id: credentialId }],
        userVerification: "required",
      },
    });
    const hash = createHash("sha256").update(`ördér 1${canonical}`).digest();
    expect(Buffer.from(body.publicKey.challenge, "base64url").subarray(32)).toEqual(hash);
    expect(await rowsOf("ördér 1")).toMatchObject([{ data: canonical, confirmedAt: null }]);
    expect(await auditOf("ördér 1")).toEqual(["webauthn_transaction_init_succeeded"]);
  });

  test.each(["preferred", "discouraged"])("names no user verification where it is %s", async (wish) => {
    const { userId } = await somebody();
    const relaxed = runtime.configured({ STILE_PASSKEY_SERVER_USER_VERIFICATION: wish });
    const { body } = await open(asked(userId), await passkeyApplication(relaxed));
    expect(body.publicKey).not.toHaveProperty("userVerification");
  });

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
  ])("is 400 for %j", async (more, details) => {
    const { body } = await open(asked("somebody", more));
    expect(body).toEqual(problem(400, "unable to validate request", details));
  });

  test("A69 an id of 129 characters is 400, one of 128 is not, whatever bytes they take", async () => {
    const { userId } = await somebody();
    for (const letter of ["x", "é", "😀"]) {
      const long = await open(asked(userId, { transaction_id: letter.repeat(129) }));
      expect(long.body).toEqual(
        problem(400, "unable to validate request", "transaction_id cannot have more than 128 entries"),
      );
      expect((await open(asked(userId, { transaction_id: letter.repeat(128) }))).status).toBe(200);
    }
  });

  test.each<[string, unknown]>([
    ["a whole number that not every reader has", { n: 2 ** 53 }],
    ["more than anybody reads", { text: "x".repeat(17_000) }],
  ])("is 400 for data with %s, which uses up no id", async (_, transaction_data) => {
    const { userId } = await somebody();
    const transaction_id = randomUUID();
    const refused = await open(asked(userId, { transaction_id, transaction_data }));
    expect(refused.body).toEqual(
      problem(
        400,
        "unable to validate request",
        expect.stringMatching(/^transaction_data is not acceptable: (it|a) /),
      ),
    );
    expect((await open(asked(userId, { transaction_id }))).status).toBe(200);
  });

  test.each([
    ["a lone surrogate", String.raw`{"a":"\ud800"}`],
    ["a number beyond all", '{"a":1e999}'],
    ["a name twice", '{"a":1,"a":2}'],
    ["A90 a prototype", '{"__proto__":{"polluted":1}}'],
    ["A91 ten thousand levels", `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`],
  ])("is 400 for %s", async (_, text) => {
    const body = `{"user_id":"x","transaction_id":"y","transaction_data":${text}}`;
    expect((await application.call("POST", "/transaction/initialize", body)).body).toEqual(
      problem(400, "unable to validate request", "the body must be a JSON object"),
    );
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  test("refuses in the order of the checks: user, id, credentials", async () => {
    const { userId } = await somebody();
    const nobody = randomUUID();
    await application.register(nobody, { mfa: true });
    const request = asked(userId);
    await open(request);
    expect((await open({ ...request, user_id: "unknown" })).body).toEqual(
      problem(404, "unable to find user", ""),
    );
    expect((await open({ ...request, user_id: nobody })).body).toEqual(
      problem(409, "transaction already exists", ""),
    );
    expect((await open(asked(nobody))).body).toEqual(
      problem(400, "user has no suitable credentials for this operation", ""),
    );
    expect((await auditOf(request.transaction_id)).slice(1)).toEqual([
      "webauthn_transaction_init_failed",
      "webauthn_transaction_init_failed",
    ]);
  });

  test("A69 an id is used up at once, for every user of the tenant, and for no other tenant's", async () => {
    const [one, two] = [await somebody(), await somebody()];
    const request = asked(one.userId);
    expect((await open(request)).status).toBe(200);
    const taken = problem(409, "transaction already exists", "");
    expect((await open(request)).body).toEqual(taken);
    expect((await open({ ...request, user_id: two.userId, transaction_data: {} })).body).toEqual(taken);

    const other = await passkeyApplication(
      runtime,
      await createTenant(runtime, { name: "Other", hosts: [], settings: {} }),
    );
    await other.register(one.userId);
    expect((await open(request, other)).status).toBe(200);
    expect((await open(request, other)).body).toEqual(taken);
  });

  test("A69 of twenty that name the same id at once, one has it", async () => {
    const { userId } = await somebody();
    const request = asked(userId);
    const answers = await Promise.all(Array.from({ length: 20 }, () => open(request)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(19).fill(409)]);
    expect(await rowsOf(request.transaction_id)).toHaveLength(1);
  });

  test("A67 is 401 without a key, and with one of another tenant", async () => {
    const other = await passkeyApplication(
      runtime,
      await createTenant(runtime, { name: "Other", hosts: [], settings: {} }),
    );
    const refusal = problem(
      401,
      "The api key is invalid",
      "api keys needs to be an apiKey Header and 32 byte long",
    );
    for (const path of ["/transaction/initialize", "/transaction/finalize", "/transaction/redeem"]) {
      expect((await application.callWithoutKey("POST", path, {})).body).toEqual(refusal);
      expect((await application.call("POST", path, {}, { apikey: other.key })).body).toEqual(refusal);
    }
    for (const path of ["/transaction/somebody", "/audit_logs"]) {
      expect((await application.callWithoutKey("GET", path)).body).toEqual(refusal);
      expect((await application.call("GET", path, undefined, { apikey: other.key })).body).toEqual(refusal);
    }
  });
});

/** A transaction, and the browser's answer to it. */
async function answered(
  who: Awaited<ReturnType<typeof somebody>>,
  call: Partial<GetCall> = {},
  more: object = {},
) {
  const request = asked(who.userId, more);
  const answer = await application.answer(who.authenticator, "/transaction", request, call);
  return { ...request, answer };
}

describe("transaction/finalize", () => {
  test("gives a token that names the transaction, and a receipt that holds by itself", async () => {
    const who = await somebody();
    const { transaction_id, answer } = await answered(who);
    const { status, body } = await finish(answer);
    expect([status, Object.keys(body).sort()]).toEqual([200, ["receipt", "token"]]);
    expect(decodeJwt(body.token)).toEqual({
      aud: ["localhost"],
      cred: who.credentialId,
      exp: expect.any(Number),
      iat: expect.any(Number),
      sub: who.userId,
      trans: transaction_id,
    });
    const jwks = (await application.callWithoutKey("GET", "/.well-known/jwks.json")).body;
    const { public_key: publicKey } = (await application.call("GET", `/credentials/${who.credentialId}`))
      .body;
    const verdict = verifyReceipt(body.receipt, { jwks, publicKey, origins: [application.origin] });
    expect(verdict).toMatchObject({
      ok: true,
      receipt: {
        transactionId: transaction_id,
        userId: who.userId,
        data,
        canonicalData: canonical,
        issuer: `${runtime.config.base_url}/passkeys/${runtime.tenant.id}`,
        tenantId: runtime.tenant.id,
        credentialId: who.credentialId,
        userVerified: true,
      },
    });
    expect(await rowsOf(transaction_id)).toMatchObject([{ confirmedAt: expect.any(Date) }]);
    expect(await auditOf(transaction_id)).toEqual([
      "webauthn_transaction_init_succeeded",
      "webauthn_transaction_final_succeeded",
    ]);
  });

  test("takes the user from the challenge where a security key names none", async () => {
    const { answer } = await answered(await somebody(), { userHandle: null });
    expect((await finish(answer)).status).toBe(200);
  });

  test("takes the user of a credential that was made with the bytes of a UUID", async () => {
    const who = await somebody();
    const bytes = Buffer.from(who.userId.replaceAll("-", ""), "hex").toString("base64url");
    const { answer } = await answered(who, { userHandle: bytes });
    const { status, body } = await finish(answer);
    expect(status).toBe(200);
    const jwks = (await application.callWithoutKey("GET", "/.well-known/jwks.json")).body;
    expect(verifyReceipt(body.receipt, { jwks }).ok).toBe(true);
  });

  const unproved = problem(401, "failed to validate assertion");

  test.each<[string, Partial<GetCall>]>([
    ["another page", { origin: "https://evil.example" }],
    ["another relying party", { rpId: "evil.example" }],
    ["another ceremony", { type: "webauthn.create" }],
    ["nobody present", { userPresent: false }],
    ["nobody verified", { userVerified: false }],
    ["a broken signature", { brokenSignature: true }],
    ["a frame", { crossOrigin: true }],
  ])(
    "A69 is 401 for %s, after which the challenge is gone and the transaction is not agreed to",
    async (_, call) => {
      const who = await somebody();
      const request = asked(who.userId);
      const { body: options } = await open(request);
      const wrong = who.authenticator.get(options, { origin: application.origin, ...call });
      expect((await finish(wrong)).body).toEqual(unproved);
      const right = who.authenticator.get(options, { origin: application.origin });
      expect((await finish(right)).body).toEqual(problem(401, "failed to get session data"));
      expect(await rowsOf(request.transaction_id)).toMatchObject([{ confirmedAt: null }]);
      expect((await auditOf(request.transaction_id)).at(-1)).toBe("webauthn_transaction_final_failed");
    },
  );

  test("A69 is 401 when the passkey signed other data than was agreed to be signed", async () => {
    const who = await somebody();
    const request = asked(who.userId);
    const { body } = await open(request);
    const bytes = Buffer.from(body.publicKey.challenge, "base64url");
    const other = createHash("sha256").update(`${request.transaction_id}{"amount":"1.00"}`).digest();
    const challenge = Buffer.concat([bytes.subarray(0, 32), other]).toString("base64url");
    const answer = who.authenticator.get(body, { origin: application.origin, challenge });
    expect((await finish(answer)).body).toEqual(problem(401, "failed to get session data"));
  });

  test("is 401 for somebody else's passkey, and for a handle that is nobody's", async () => {
    const [one, two] = [await somebody(), await somebody()];
    const { body } = await open(asked(one.userId));
    const [credential] = two.authenticator.credentials;
    if (!credential) throw new Error("no passkey");
    const stolen = two.authenticator.get(body, { origin: application.origin, credential });
    expect((await finish(stolen)).body).toEqual(unproved);
    const nameless = await answered(one, { userHandle: Buffer.from("nobody").toString("base64url") });
    expect((await finish(nameless.answer)).body).toEqual(problem(401, "failed to get user handle"));
  });

  test("is 400 for a credential that is a second factor only", async () => {
    const { userId } = await somebody();
    const { authenticator } = await application.register(userId, { mfa: true });
    const { body } = await open(asked(userId));
    const [credential] = authenticator.credentials;
    if (!credential) throw new Error("no credential");
    const answer = authenticator.get(body, { origin: application.origin, credential });
    expect((await finish(answer)).body).toEqual(
      problem(400, "MFA credentials are not usable for transactions", ""),
    );
  });

  test("is 401 for the answer to a login, and at a login for the answer to a transaction", async () => {
    const who = await somebody();
    const login = await application.answer(who.authenticator, "/login", { user_id: who.userId });
    expect((await finish(login)).body).toEqual(problem(401, "failed to get session data"));
    const { answer } = await answered(who);
    const { body } = await application.callWithoutKey("POST", "/login/finalize", answer);
    expect(body).toEqual(problem(401, "failed to get session data"));
    expect((await finish(answer)).status).toBe(200);
  });

  test("A68 is 401 at another tenant, where nothing is used up", async () => {
    const { answer } = await answered(await somebody());
    const other = await passkeyApplication(
      runtime,
      await createTenant(runtime, { name: "Other", hosts: [], settings: {} }),
    );
    expect((await finish(answer, other)).body).toEqual(problem(401, "failed to get session data"));
    expect((await finish(answer)).status).toBe(200);
  });

  test("is 401 once the challenge has expired", async () => {
    const { answer } = await answered(await somebody());
    runtime.advanceClock(301);
    expect((await finish(answer)).body).toEqual(unproved);
  });

  test("A69 of ten that hand in the same answer at once, one has the token", async () => {
    const { answer } = await answered(await somebody());
    const answers = await Promise.all(Array.from({ length: 10 }, () => finish(answer)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(401)]);
  });

  test.each([
    [undefined],
    [{}],
    ["[]"],
    ["{"],
    [{ id: "a", rawId: "a", type: "public-key", response: {} }],
    [{ id: 1 }],
  ])("is 400 for %j", async (body) => {
    const answer = await application.call("POST", "/transaction/finalize", body);
    expect(answer.body).toEqual(problem(400, "unable to finish transaction", ""));
  });
});

describe("transaction/{user_id}", () => {
  test("lists what a user was asked to agree to, by either id", async () => {
    const who = await somebody();
    const [one, two] = [await answered(who), await answered(who)];
    await finish(two.answer);
    const [row] = await rowsOf(one.transaction_id);
    const byName = await application.call("GET", `/transaction/${encodeURIComponent(who.userId)}`);
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
    expect((await application.call("GET", `/transaction/${row?.userId}`)).body).toEqual(byName.body);
    expect((await application.call("GET", `/transaction/${row?.userId.toUpperCase()}`)).body).toEqual(
      byName.body,
    );
  });

  test("takes ids of any kind", async () => {
    for (const userId of ["ada lovelace/1", "%", "ä€😀"]) {
      const who = await somebody({}, `${userId}${randomUUID().slice(0, 8)}`);
      const { body } = await application.call("GET", `/transaction/${encodeURIComponent(who.userId)}`);
      expect(body).toEqual([]);
    }
  });

  test("is 404 for nobody, and A68 for another tenant's", async () => {
    const who = await somebody();
    await answered(who);
    const other = await passkeyApplication(
      runtime,
      await createTenant(runtime, { name: "Other", hosts: [], settings: {} }),
    );
    const nobody = problem(404, "user not found", "");
    expect((await application.call("GET", `/transaction/${randomUUID()}`)).body).toEqual(nobody);
    expect((await application.call("GET", "/transaction/nobody")).body).toEqual(nobody);
    expect((await other.call("GET", `/transaction/${who.userId}`)).body).toEqual(nobody);
    expect((await application.call("GET", "/transaction/a%00b")).body).toEqual(
      problem(400, "invalid user id", ""),
    );
  });
});
