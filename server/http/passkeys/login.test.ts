import { randomBytes, randomUUID } from "node:crypto";
import { eq } from "drizzle-orm";
import { decodeJwt } from "jose";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { passkeyApplication } from "../../testing/passkey-application.ts";
import { errorBody, invalidRequest, passkeySuite } from "../../testing/passkey-suite.ts";
import {
  type Authenticator,
  type GetCall,
  softwareAuthenticator,
} from "../../testing/webauthn-authenticator.ts";

const { runtime, application, auditLogs, newTenant } = await passkeySuite();

const finalize = (answer: unknown, by = application) => by.postWithoutKey("/login/finalize", answer);
/** Initializes a login, signs its challenge and finalizes it. */
const signIn = async (authenticator: Authenticator, call: Partial<GetCall> = {}, body: object = {}) =>
  finalize(await application.answer(authenticator, "/login", body, call));
const finalizeMfa = (answer: unknown, by = application) => by.post("/mfa/login/finalize", answer);

const unknownChallenge = errorBody(
  401,
  "failed to get session data",
  "received challenge does not match with any stored one",
);
const invalidAssertion = errorBody(401, "failed to validate assertion");

const auditTypes = async (userId: string) =>
  (await auditLogs("actor_user_id", userId)).map(({ type }) => type);

describe("login/initialize", () => {
  test.each([
    ["no body", undefined, {}],
    ["no body and another content type", undefined, { "content-type": "text/plain" }],
    ["an empty object", {}, {}],
    ["null as user_id", { user_id: null }, {}],
    ["an unknown member", { something: "else" }, {}],
  ])("returns options for any passkey to a caller without a key: %s", async (_, body, headers) => {
    const answer = await application.postWithoutKey("/login/initialize", body, headers);
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      publicKey: {
        challenge: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
        timeout: 300_000,
        rpId: "localhost",
        userVerification: "required",
      },
    });
  });

  test("lists the passkeys of the named user, without second factors", async () => {
    const { userId, credentialId } = await application.registerUser();
    await application.register(userId, { mfa: true });
    const { body } = await application.post("/login/initialize", { user_id: userId });
    expect(body).toEqual({
      publicKey: {
        challenge: expect.any(String),
        timeout: 300_000,
        rpId: "localhost",
        allowCredentials: [{ type: "public-key", id: credentialId }],
        userVerification: "required",
      },
    });
  });

  test.each([
    ["no key", {}, "api key is missing", ""],
    ["a blank key", { apikey: "  " }, "api key is missing", ""],
    [
      "a wrong key",
      { apikey: "x".repeat(49) },
      "The api key is invalid",
      "api keys needs to be an apiKey Header and 32 byte long",
    ],
  ])("rejects a named user with %s", async (_, headers, title, details) => {
    const { userId } = await application.registerUser();
    const answer = await application.postWithoutKey("/login/initialize", { user_id: userId }, headers);
    expect(answer.body).toEqual({ title, details, status: 401 });
  });

  test.each(["unknown", "a\0", "x".repeat(5_000), "__proto__"])(
    "rejects the unknown user %j",
    async (userId) => {
      const { body } = await application.post("/login/initialize", { user_id: userId });
      const expected = userId.includes("\0")
        ? invalidRequest("user_id must not contain the character NUL")
        : errorBody(404, "user not found", "");
      expect(body).toEqual(expected);
    },
  );

  test.each([
    [{ user_id: "" }, "user_id is a required field"],
    [{ user_id: 1 }, "user_id must be a string"],
    [{ user_id: ["a"] }, "user_id must be a string"],
    ["[]", "the body must be a JSON object"],
    ["{", "the body must be a JSON object"],
  ])("rejects the body %j", async (body, details) => {
    const answer = await application.post("/login/initialize", body);
    expect(answer.body).toEqual(invalidRequest(details));
  });

  test("rejects a user without a passkey and writes an audit log entry", async () => {
    const userId = randomUUID();
    await application.register(userId, { mfa: true });
    const { body } = await application.post("/login/initialize", { user_id: userId });
    expect(body).toEqual(
      errorBody(400, expect.stringMatching(/^failed to create webauthn assertion options for login: /)),
    );
    expect((await auditTypes(userId)).at(-1)).toBe("webauthn_authentication_init_failed");
  });

  test("limits the rate of each source, except for calls with a key", async () => {
    const limited = await passkeyApplication(
      runtime.configured({
        STILE_RATE_LIMITER_ENABLED: "true",
        STILE_RATE_LIMITER_PASSKEY_CHALLENGES_PER_MINUTE: "2",
      }),
    );
    const { userId } = await application.registerUser();
    for (const status of [200, 200, 429, 429])
      expect((await limited.postWithoutKey("/login/initialize")).status).toBe(status);
    const rejected = await limited.postWithoutKey("/login/initialize");
    expect(rejected.body).toEqual(errorBody(429, "Too Many Requests"));
    expect(Number(rejected.headers.get("retry-after"))).toBeGreaterThan(0);
    const wrong = { apikey: "x".repeat(49) };
    expect((await limited.postWithoutKey("/login/initialize", undefined, wrong)).status).toBe(429);
    expect((await limited.post("/login/initialize")).status).toBe(200);
    expect((await limited.post("/login/initialize", { user_id: userId })).status).toBe(200);
  });

  test("allows only pages of the application to read the answer", async () => {
    const { origin } = application;
    const allowedOrigins = async (from: string) => {
      const preflight = await application.callWithoutKey("OPTIONS", "/login/initialize", undefined, {
        origin: from,
        "access-control-request-method": "POST",
        "access-control-request-headers": "apikey, content-type",
      });
      const initialized = await application.postWithoutKey("/login/initialize", {}, { origin: from });
      const rejected = await application.postWithoutKey("/login/finalize", {}, { origin: from });
      return [preflight, initialized, rejected].map(({ headers }) =>
        headers.get("access-control-allow-origin"),
      );
    };
    expect(await allowedOrigins(origin)).toEqual([origin, origin, origin]);
    expect(await allowedOrigins("https://evil.example")).toEqual([null, null, null]);
  });
});

describe("login/finalize", () => {
  test("returns a token for the owner of the passkey", async () => {
    const { userId, authenticator, credentialId } = await application.registerUser();
    const { status, body } = await signIn(authenticator);
    expect(status).toBe(200);
    expect(decodeJwt(body.token)).toEqual({
      sub: userId,
      amr: ["passkey", "mfa"],
      aud: ["localhost"],
      cred: credentialId,
      iat: expect.any(Number),
      exp: expect.any(Number),
    });
    expect(await auditTypes(userId)).toEqual([
      "webauthn_registration_init_succeeded",
      "webauthn_registration_final_succeeded",
      "webauthn_authentication_final_succeeded",
    ]);
  });

  test("accepts a named user with and without a user handle", async () => {
    const { userId, authenticator } = await application.registerUser();
    for (const call of [{}, { userHandle: null }, { userHandle: "" }])
      expect((await signIn(authenticator, call, { user_id: userId })).status).toBe(200);
  });

  test("updates last use, signature counter and backup state", async () => {
    const { authenticator, credentialId } = await application.registerUser({
      counts: true,
      backup: "eligible",
    });
    const before = (await application.get(`/credentials/${credentialId}`)).body;
    expect((await signIn(authenticator, { backedUp: true })).status).toBe(200);
    const after = (await application.get(`/credentials/${credentialId}`)).body;
    expect(after).toEqual({ ...before, backup_state: true, last_used_at: expect.any(String) });
    expect(Date.parse(after.last_used_at)).toBeGreaterThan(Date.parse(before.last_used_at));
    const { passkeyCredentials: table } = schema;
    const rows = await runtime.database.read.select().from(table).where(eq(table.id, credentialId));
    expect(rows[0]?.signCount).toBe(2);
  });

  test.each([
    ["of 16 characters", "sixteen letters!"],
    ["that is a UUID", randomUUID()],
    ["beyond ASCII", "用户-😀"],
  ])("identifies a user by an id %s", async (_, userId) => {
    const { authenticator } = await application.registerUser({}, userId);
    const { body } = await signIn(authenticator);
    expect(decodeJwt(body.token).sub).toBe(userId);
  });

  test("A143 gives the users of two tenants with one id different handles, and keeps both passkeys", async () => {
    const userId = randomUUID();
    const other = await newTenant();
    const authenticator = softwareAuthenticator();
    const one = await application.register(userId, { authenticator });
    const two = await other.register(userId, { authenticator });
    expect(authenticator.credentials.map(({ id }) => id.toString("base64url"))).toEqual([
      one.credentialId,
      two.credentialId,
    ]);
    const [first, second] = authenticator.credentials;
    expect(first?.rpId).toBe(second?.rpId);
    expect(first?.userHandle).toHaveLength(64);
    for (const [by, credential] of [
      [application, first],
      [other, second],
    ] as const) {
      if (!credential) throw new Error("no passkey");
      const answer = await by.answer(authenticator, "/login", {}, { credential });
      expect((await finalize(answer, by)).status).toBe(200);
    }
    // A further passkey of the user replaces that of the user alone, as WebAuthn has it.
    await application.register(userId, { authenticator, call: { ignoreExcluded: true } });
    expect(authenticator.credentials).toHaveLength(2);
  });

  test("goes on with the handle of a user whose passkeys a former version created", async () => {
    const userId = "ada of old";
    const derived = Buffer.from(userId).toString("base64url");
    const { passkeyUsers: users } = schema;
    const { authenticator } = await application.registerUser({}, userId);
    const call = { userHandle: derived };
    const without = { userHandle: null };
    await runtime.database.write.update(users).set(without).where(eq(users.userId, userId));
    expect((await signIn(authenticator, call)).status).toBe(200);
    const { body } = await application.post("/registration/initialize", {
      user_id: userId,
      username: "ada",
    });
    expect(body.publicKey.user.id).toBe(derived);
    // Its random handle is known no longer.
    const unknown = await application.answer(authenticator, "/login");
    expect((await finalize(unknown)).body).toEqual(errorBody(401, "failed to get user handle"));
  });

  const handleOf = (userId: string, encoding: "utf8" | "hex") =>
    Buffer.from(encoding === "hex" ? userId.replaceAll("-", "") : userId, encoding).toString("base64url");

  test.each<[string, (userId: string) => Partial<GetCall>]>([
    [
      "accepts the handle that a former version derived while both run",
      (userId) => ({ userHandle: handleOf(userId, "utf8") }),
    ],
    [
      "accepts the 16 bytes of a UUID as user handle, which imported credentials have",
      (userId) => ({ userHandle: handleOf(userId, "hex") }),
    ],
    ["V16 ignores extensions that were not requested", () => ({ extensions: new Map([["odd", true]]) })],
    ["compares origins case-insensitively", () => ({ origin: application.origin.toUpperCase() })],
  ])("%s", async (_, callOf) => {
    const { userId, authenticator } = await application.registerUser();
    const { status, body } = await signIn(authenticator, callOf(userId));
    expect([status, decodeJwt(body.token).sub]).toEqual([200, userId]);
  });

  const response = { clientDataJSON: "AAAA", authenticatorData: "AAAA", signature: "AAAA" };
  test.each<[string, object, string]>([
    ["no signature", { signature: undefined }, "response.signature is missing"],
    ["a long signature", { signature: "A".repeat(2049) }, "response.signature is too long"],
    ["a signature in another encoding", { signature: "+/+/" }, "response.signature must be base64url"],
    ["invalid client data", {}, "response.clientDataJSON cannot be read"],
  ])("rejects %s with the name of the member", async (_, members, details) => {
    const body = { id: "AAAA", rawId: "AAAA", type: "public-key", response: { ...response, ...members } };
    for (const answer of [await finalize(body), await finalizeMfa(body)])
      expect(answer.body).toEqual(errorBody(400, "unable to finish login", details));
  });

  test.each<[string, Partial<GetCall>]>([
    ["an unknown user handle", { userHandle: "dW5rbm93bg" }],
    ["no user handle", { userHandle: null }],
    ["an empty user handle", { userHandle: "" }],
    ["a user handle that is not UTF-8", { userHandle: "_w" }],
    ["a user handle with NUL", { userHandle: "AA" }],
  ])("V3 rejects %s and uses up the challenge", async (_, call) => {
    const { authenticator } = await application.registerUser();
    const answer = await application.answer(authenticator, "/login", {}, call);
    expect((await finalize(answer)).body).toEqual(errorBody(401, "failed to get user handle"));
    expect((await finalize(answer)).body).toEqual(unknownChallenge);
  });

  test("V3 rejects the user handle of another user", async () => {
    const [user, other] = [await application.registerUser(), await application.registerUser()];
    const userHandle = Buffer.from(other.userId).toString("base64url");
    expect((await signIn(user.authenticator, { userHandle })).body).toEqual(invalidAssertion);
  });

  test("V2 V3 rejects a passkey of another user and one that was not listed", async () => {
    const [user, { credential }] = [await application.registerUser(), await application.registerUser()];
    const named = { user_id: user.userId };
    expect((await signIn(user.authenticator, { credential }, named)).body).toEqual(invalidAssertion);

    const options = await application.post("/login/initialize", named);
    const unlisted = await application.register(user.userId);
    const call = { origin: application.origin, credential: unlisted.credential };
    const answer = unlisted.authenticator.get(options.body, call);
    expect((await finalize(answer)).body).toEqual(invalidAssertion);
  });

  test("rejects a deleted passkey", async () => {
    const { authenticator, credentialId } = await application.registerUser();
    const answer = await application.answer(authenticator, "/login");
    expect((await application.call("DELETE", `/credentials/${credentialId}`)).status).toBe(204);
    expect((await finalize(answer)).body).toEqual(invalidAssertion);
  });

  test("rejects a second factor with its own error if the signature is valid", async () => {
    const userId = randomUUID();
    const { authenticator, credential } = await application.register(userId, { mfa: true });
    const call = { credential, userHandle: Buffer.from(userId).toString("base64url") };
    const unusable = errorBody(400, "MFA credentials are not usable for normal login", "");
    expect((await signIn(authenticator, call)).body).toEqual(unusable);
    const broken = await signIn(authenticator, { ...call, brokenSignature: true });
    expect(broken.body).toEqual(invalidAssertion);

    // The same if the options listed a passkey of the user.
    await application.register(userId);
    expect((await signIn(authenticator, call, { user_id: userId })).status).toBe(400);
  });
});

describe("V15 the signature counter", () => {
  test("must increase", async () => {
    const { authenticator, userId } = await application.registerUser({ counts: true, backup: "no" });
    const sign = async (signCount: number) => (await signIn(authenticator, { signCount })).body;
    expect(await sign(7)).toEqual({ token: expect.any(String) });
    for (const stale of [7, 6, 0])
      expect(await sign(stale)).toEqual(
        errorBody(401, "failed to validate assertion", "the signature counter did not increase"),
      );
    expect(await sign(8)).toEqual({ token: expect.any(String) });
    expect((await auditTypes(userId)).slice(-2)).toEqual([
      "webauthn_authentication_final_failed",
      "webauthn_authentication_final_succeeded",
    ]);
  });

  test("may reach the largest number that an authenticator can send", async () => {
    const { authenticator } = await application.registerUser({ counts: true, backup: "no" });
    for (const signCount of [2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1]) {
      const { status } = await signIn(authenticator, { signCount });
      expect([signCount, status]).toEqual([signCount, 200]);
    }
  });

  test("writes an audit log entry for a stale counter if configured to warn", async () => {
    const warned = await passkeyApplication(runtime.configured({ STILE_WEBAUTHN_SIGN_COUNT: "warn" }));
    const { authenticator, userId } = await application.registerUser({ counts: true, backup: "no" });
    const answer = await warned.answer(authenticator, "/login", {}, { signCount: 1 });
    expect((await finalize(answer, warned)).status).toBe(200);
    expect(await auditTypes(userId)).toContain("passkey_sign_count_stale");
  });

  test("accepts one of two concurrent answers with the same count", async () => {
    const { authenticator } = await application.registerUser({ counts: true, backup: "no" });
    const answers = [];
    for (let count = 0; count < 2; count++)
      answers.push(await application.answer(authenticator, "/login", {}, { signCount: 5 }));
    const statuses = await Promise.all(answers.map(async (answer) => (await finalize(answer)).status));
    expect(statuses.toSorted()).toEqual([200, 401]);
  });
});

describe("mfa/login", () => {
  test("lists all credentials of the user", async () => {
    const { userId, credentialId } = await application.registerUser();
    const factor = await application.register(userId, { mfa: true });
    const { body } = await application.post("/mfa/login/initialize", { user_id: userId });
    expect(body).toEqual({
      publicKey: {
        challenge: expect.any(String),
        timeout: 300_000,
        rpId: "localhost",
        allowCredentials: [
          { type: "public-key", id: credentialId },
          { type: "public-key", id: factor.credentialId },
        ],
        userVerification: "discouraged",
      },
      mediation: "optional",
    });
  });

  test("accepts a passkey and a second factor", async () => {
    const { userId, authenticator } = await application.registerUser();
    const factor = await application.register(userId, { mfa: true });
    for (const [each, method] of [
      [authenticator, "passkey"],
      [factor.authenticator, "security_key"],
    ] as const) {
      const answer = await application.answer(
        each,
        "/mfa/login",
        { user_id: userId },
        { userVerified: false },
      );
      const { body } = await finalizeMfa(answer);
      expect(decodeJwt(body.token)).toEqual({
        sub: userId,
        amr: [method],
        aud: ["localhost"],
        cred: answer.id,
        iat: expect.any(Number),
        exp: expect.any(Number),
      });
    }
    expect((await auditTypes(userId)).slice(-2)).toEqual([
      "mfa_authentication_init_succeeded",
      "mfa_authentication_final_succeeded",
    ]);
  });

  test("requires a key for initialize and finalize", async () => {
    const { userId, authenticator } = await application.registerUser();
    const named = { user_id: userId };
    expect((await application.postWithoutKey("/mfa/login/initialize", named)).status).toBe(401);
    const answer = await application.answer(authenticator, "/mfa/login", named);
    expect((await application.postWithoutKey("/mfa/login/finalize", answer)).status).toBe(401);
    expect((await finalizeMfa(answer)).status).toBe(200);
  });

  test.each([
    [undefined, invalidRequest("user_id is a required field")],
    [{}, invalidRequest("user_id is a required field")],
    [{ user_id: null }, invalidRequest("user_id is a required field")],
    [{ user_id: "" }, invalidRequest("user_id is a required field")],
    [{ user_id: 7 }, invalidRequest("user_id must be a string")],
    [{ user_id: "unknown" }, errorBody(404, "user not found", "")],
  ])("rejects %j", async (body, expected) => {
    expect((await application.post("/mfa/login/initialize", body)).body).toEqual(expected);
  });

  test("rejects a user without credentials", async () => {
    const userId = randomUUID();
    await application.post("/registration/initialize", { user_id: userId, username: "ada" });
    const { body } = await application.post("/mfa/login/initialize", { user_id: userId });
    expect(body).toEqual(errorBody(400, "user has no suitable credentials for this operation", ""));
    expect((await auditTypes(userId)).at(-1)).toBe("mfa_authentication_init_failed");
  });

  test("does not accept the challenge of a registration", async () => {
    const { userId, authenticator } = await application.registerUser();
    const named = { user_id: userId };
    const { body } = await application.post("/registration/initialize", {
      ...named,
      username: "ada",
    });
    const { challenge } = body.publicKey;
    const login = await application.answer(authenticator, "/login", {}, { challenge });
    expect((await finalize(login)).body).toEqual(unknownChallenge);
    const factor = await application.answer(authenticator, "/mfa/login", named, { challenge });
    expect((await finalizeMfa(factor)).body).toEqual(unknownChallenge);
  });
});

test("A129 calls without a key leave a hundred audit entries of a source in an hour, and those with one stay complete", async () => {
  const other = await newTenant();
  // The entry of the application's own key.
  await runtime.database.write.delete(schema.auditLogs).where(eq(schema.auditLogs.tenantId, other.tenant.id));
  const { authenticator, answer, userId, credentialId } = await other.registerUser();
  const challenge = randomBytes(32).toString("base64url");
  const assertion = await other.answer(authenticator, "/login", {}, { challenge });
  for (let times = 0; times < 40; times++) {
    expect((await other.postWithoutKey("/login/initialize")).status).toBe(200);
    expect((await finalize(assertion, other)).status).toBe(401);
    expect((await other.postWithoutKey("/registration/finalize", answer)).status).toBe(400);
  }
  const wrong = { ...(await other.answer(authenticator, "/login", { user_id: userId })), id: credentialId };
  wrong.response = { ...wrong.response, signature: "AAAA" };
  expect((await finalize(wrong, other)).status).toBe(401);
  expect((await other.post("/login/initialize", { user_id: "unknown" })).status).toBe(404);
  const login = await other.answer(authenticator, "/login");
  expect((await finalize(login, other)).status).toBe(200);

  const rows = await runtime.database.read
    .select({ type: schema.auditLogs.type, details: schema.auditLogs.details })
    .from(schema.auditLogs)
    .where(eq(schema.auditLogs.tenantId, other.tenant.id))
    .orderBy(schema.auditLogs.createdAt);
  for (const { type, details } of rows)
    expect([type, typeof details.reason]).toEqual([type, type.endsWith("_failed") ? "string" : "undefined"]);
  const types = rows.map(({ type }) => type);
  expect(types.indexOf("audit_limit_reached")).toBe(3 + 100);
  expect(types.slice(3 + 100 + 1)).toEqual([
    "webauthn_authentication_init_succeeded",
    "webauthn_authentication_final_failed",
    "webauthn_authentication_init_failed",
    "webauthn_authentication_init_succeeded",
    "webauthn_authentication_final_succeeded",
  ]);
});
