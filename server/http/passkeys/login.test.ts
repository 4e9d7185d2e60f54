import { randomBytes, randomUUID } from "node:crypto";
import { eq } from "drizzle-orm";
import { decodeJwt } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { schema } from "#db/client";
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

const finish = (answer: unknown, by = application) => by.callWithoutKey("POST", "/login/finalize", answer);
const finishMfa = (answer: unknown, by = application) => by.call("POST", "/mfa/login/finalize", answer);

const stranger = problem(
  401,
  "failed to get session data",
  "received challenge does not match with any stored one",
);
const unproved = problem(401, "failed to validate assertion");

async function auditTypes(userId: string) {
  const rows = await runtime.database.read
    .select()
    .from(schema.auditLogs)
    .where(eq(schema.auditLogs.tenantId, runtime.tenant.id))
    .orderBy(schema.auditLogs.createdAt);
  return rows.filter(({ details }) => details.actor_user_id === userId).map(({ type }) => type);
}

/** A user with a passkey. */
async function somebody(
  settings: Parameters<typeof softwareAuthenticator>[0] = {},
  userId: string = randomUUID(),
) {
  const registered = await application.register(userId, { authenticator: softwareAuthenticator(settings) });
  return { userId, ...registered };
}

describe("login/initialize", () => {
  test.each([
    ["nothing", undefined, {}],
    ["nothing of no type", undefined, { "content-type": "text/plain" }],
    ["an empty object", {}, {}],
    ["null", { user_id: null }, {}],
    ["what nobody knows", { something: "else" }, {}],
  ])("gives anybody options for any passkey, sent %s", async (_, body, headers) => {
    const answer = await application.callWithoutKey("POST", "/login/initialize", body, headers);
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

  test("gives an application those of a user, with their passkeys and no second factors", async () => {
    const { userId, credentialId } = await somebody();
    await application.register(userId, { mfa: true });
    const { body } = await application.call("POST", "/login/initialize", { user_id: userId });
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
    ["none", {}, "api key is missing", ""],
    ["a blank one", { apikey: "  " }, "api key is missing", ""],
    [
      "a wrong one",
      { apikey: "x".repeat(49) },
      "The api key is invalid",
      "api keys needs to be an apiKey Header and 32 byte long",
    ],
  ])("is 401 for a user and, of keys, %s", async (_, headers, title, details) => {
    const { userId } = await somebody();
    const answer = await application.callWithoutKey(
      "POST",
      "/login/initialize",
      { user_id: userId },
      headers,
    );
    expect(answer.body).toEqual({ title, details, status: 401 });
  });

  test.each(["unknown", "a\0", "x".repeat(5_000), "__proto__"])("is 404 for the user %j", async (userId) => {
    const { body } = await application.call("POST", "/login/initialize", { user_id: userId });
    const told = userId.includes("\0")
      ? problem(400, "unable to validate request", "user_id must not contain the character NUL")
      : problem(404, "user not found", "");
    expect(body).toEqual(told);
  });

  test.each([
    [{ user_id: "" }, "user_id is a required field"],
    [{ user_id: 1 }, "user_id must be a string"],
    [{ user_id: ["a"] }, "user_id must be a string"],
    ["[]", "the body must be a JSON object"],
    ["{", "the body must be a JSON object"],
  ])("is 400 for %j", async (body, details) => {
    const answer = await application.call("POST", "/login/initialize", body);
    expect(answer.body).toEqual(problem(400, "unable to validate request", details));
  });

  test("is 400 for a user without a passkey, which is noted", async () => {
    const userId = randomUUID();
    await application.register(userId, { mfa: true });
    const { body } = await application.call("POST", "/login/initialize", { user_id: userId });
    expect(body).toEqual(
      problem(400, expect.stringMatching(/^failed to create webauthn assertion options for login: /)),
    );
    expect((await auditTypes(userId)).at(-1)).toBe("webauthn_authentication_init_failed");
  });

  test("is 429 for a source that asks too often, which applications are not", async () => {
    const limited = await passkeyApplication(
      runtime.configured({
        STILE_RATE_LIMITER_ENABLED: "true",
        STILE_RATE_LIMITER_PASSKEY_CHALLENGES_PER_MINUTE: "2",
      }),
    );
    const { userId } = await somebody();
    for (const status of [200, 200, 429, 429])
      expect((await limited.callWithoutKey("POST", "/login/initialize")).status).toBe(status);
    const refused = await limited.callWithoutKey("POST", "/login/initialize");
    expect(refused.body).toEqual(problem(429, "Too Many Requests"));
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    const wrong = { apikey: "x".repeat(49) };
    expect((await limited.callWithoutKey("POST", "/login/initialize", undefined, wrong)).status).toBe(429);
    expect((await limited.call("POST", "/login/initialize")).status).toBe(200);
    expect((await limited.call("POST", "/login/initialize", { user_id: userId })).status).toBe(200);
  });

  test("can be asked by the application's pages, and read by no others", async () => {
    const { origin } = application;
    const allowed = async (from: string) => {
      const preflight = await application.callWithoutKey("OPTIONS", "/login/initialize", undefined, {
        origin: from,
        "access-control-request-method": "POST",
        "access-control-request-headers": "apikey, content-type",
      });
      const asked = await application.callWithoutKey("POST", "/login/initialize", {}, { origin: from });
      const refused = await application.callWithoutKey("POST", "/login/finalize", {}, { origin: from });
      return [preflight, asked, refused].map(({ headers }) => headers.get("access-control-allow-origin"));
    };
    expect(await allowed(origin)).toEqual([origin, origin, origin]);
    expect(await allowed("https://evil.example")).toEqual([null, null, null]);
  });
});

describe("login/finalize", () => {
  test("gives a token of whoever the passkey is", async () => {
    const { userId, authenticator, credentialId } = await somebody();
    const { status, body } = await finish(await application.answer(authenticator, "/login"));
    expect(status).toBe(200);
    expect(decodeJwt(body.token)).toEqual({
      sub: userId,
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

  test("does so for a user whom the application named, with their handle or without", async () => {
    const { userId, authenticator } = await somebody();
    for (const userHandle of [undefined, null, ""]) {
      const call = userHandle === undefined ? {} : { userHandle };
      const answer = await application.answer(authenticator, "/login", { user_id: userId }, call);
      expect((await finish(answer)).status).toBe(200);
    }
  });

  test("keeps when, how often and how well backed up the passkey was used", async () => {
    const { authenticator, credentialId } = await somebody({ counts: true, backup: "eligible" });
    const before = (await application.call("GET", `/credentials/${credentialId}`)).body;
    expect(
      (await finish(await application.answer(authenticator, "/login", {}, { backedUp: true }))).status,
    ).toBe(200);
    const after = (await application.call("GET", `/credentials/${credentialId}`)).body;
    expect(after).toEqual({ ...before, backup_state: true, last_used_at: expect.any(String) });
    expect(Date.parse(after.last_used_at)).toBeGreaterThan(Date.parse(before.last_used_at));
    const { passkeyCredentials: table } = schema;
    const rows = await runtime.database.read.select().from(table).where(eq(table.id, credentialId));
    expect(rows[0]?.signCount).toBe(2);
  });

  test.each([
    ["of sixteen characters", "sixteen letters!"],
    ["that is a UUID", randomUUID()],
    ["beyond ASCII", "用户-😀"],
  ])("knows a user by an id %s", async (_, userId) => {
    const { authenticator } = await somebody({}, userId);
    const { body } = await finish(await application.answer(authenticator, "/login"));
    expect(decodeJwt(body.token).sub).toBe(userId);
  });

  test("knows a user by the sixteen bytes of a UUID, as credentials made elsewhere do", async () => {
    const userId = randomUUID();
    const { authenticator } = await somebody({}, userId);
    const userHandle = Buffer.from(userId.replaceAll("-", ""), "hex").toString("base64url");
    const { body } = await finish(await application.answer(authenticator, "/login", {}, { userHandle }));
    expect(decodeJwt(body.token).sub).toBe(userId);
  });

  test("V16 tolerates extensions that nobody asked for", async () => {
    const { authenticator } = await somebody();
    const answer = await application.answer(
      authenticator,
      "/login",
      {},
      { extensions: new Map([["odd", true]]) },
    );
    expect((await finish(answer)).status).toBe(200);
  });

  test("takes a web origin in any case of letters", async () => {
    const { authenticator } = await somebody();
    const origin = application.origin.toUpperCase();
    expect((await finish(await application.answer(authenticator, "/login", {}, { origin }))).status).toBe(
      200,
    );
  });

  test.each<[string, unknown]>([
    ["nothing", undefined],
    ["an empty object", {}],
    ["no JSON", "{"],
    ["a list", "[]"],
    [
      "no signature",
      {
        id: "AAAA",
        rawId: "AAAA",
        type: "public-key",
        response: { clientDataJSON: "AAAA", authenticatorData: "AAAA" },
      },
    ],
    [
      "client data that is none",
      {
        id: "AAAA",
        rawId: "AAAA",
        type: "public-key",
        response: { clientDataJSON: "AAAA", authenticatorData: "AAAA", signature: "AAAA" },
      },
    ],
  ])("is 400 for %s", async (_, body) => {
    expect((await finish(body)).body).toEqual(problem(400, "unable to finish login"));
    expect((await finishMfa(body)).body).toEqual(problem(400, "unable to finish login"));
  });

  test.each<[string, Partial<GetCall>, object]>([
    ["V3 a handle of nobody's", { userHandle: "bm9ib2R5" }, problem(401, "failed to get user handle")],
    ["V3 no handle", { userHandle: null }, problem(401, "failed to get user handle")],
    ["V3 an empty handle", { userHandle: "" }, problem(401, "failed to get user handle")],
    ["V3 a handle that is no text", { userHandle: "_w" }, problem(401, "failed to get user handle")],
    ["V3 a handle with NUL", { userHandle: "AA" }, problem(401, "failed to get user handle")],
    ["V4 another ceremony", { type: "webauthn.create" }, unproved],
    ["V6 another origin", { origin: "https://evil.example" }, unproved],
    ["V7 a page in a frame", { crossOrigin: true }, unproved],
    ["V8 a top origin", { topOrigin: "https://evil.example" }, unproved],
    ["V9 another relying party", { rpId: "evil.example" }, unproved],
    ["V10 nobody present", { userPresent: false }, unproved],
    ["V11 an unverified user", { userVerified: false }, unproved],
    ["V12 backed up without being eligible", { backupEligible: false, backedUp: true }, unproved],
    ["V13 no longer eligible for backup", { backupEligible: false, backedUp: false }, unproved],
    ["V14 a broken signature", { brokenSignature: true }, unproved],
  ])("refuses %s, and the challenge is used up", async (_, call, expected) => {
    const { authenticator, userId } = await somebody();
    const answer = await application.answer(authenticator, "/login", {}, call);
    expect((await finish(answer)).body).toEqual(expected);
    expect((await finish(answer)).body).toEqual(stranger);
    if (expected === unproved)
      expect((await auditTypes(userId)).at(-1)).toBe("webauthn_authentication_final_failed");
  });

  test("names the setting where the page is none of the relying party's", async () => {
    const { authenticator } = await somebody();
    const answer = await application.answer(authenticator, "/login", {}, { origin: "https://shop.example" });
    expect((await finish(answer)).body.details).toContain("passkey_server.relying_party.origins");
  });

  test("V5 is 401 for a challenge that nobody gave", async () => {
    const { authenticator } = await somebody();
    const challenge = randomBytes(32).toString("base64url");
    const answer = await application.answer(authenticator, "/login", {}, { challenge });
    expect((await finish(answer)).body).toEqual(stranger);
  });

  test("V3 refuses the handle of somebody else", async () => {
    const [one, other] = [await somebody(), await somebody()];
    const userHandle = Buffer.from(other.userId).toString("base64url");
    const answer = await application.answer(one.authenticator, "/login", {}, { userHandle });
    expect((await finish(answer)).body).toEqual(unproved);
  });

  test("V2 and V3 refuse the passkey of somebody else, and one that was not listed", async () => {
    const [one, other] = [await somebody(), await somebody()];
    const [credential] = other.authenticator.credentials;
    if (!credential) throw new Error("no credential");
    const asked = { user_id: one.userId };
    const theirs = await application.answer(one.authenticator, "/login", asked, { credential });
    expect((await finish(theirs)).body).toEqual(unproved);

    const options = await application.call("POST", "/login/initialize", asked);
    const later = await application.register(one.userId);
    const [unlisted] = later.authenticator.credentials;
    if (!unlisted) throw new Error("no credential");
    const answer = later.authenticator.get(options.body, {
      origin: application.origin,
      credential: unlisted,
    });
    expect((await finish(answer)).body).toEqual(unproved);
  });

  test("refuses a passkey that is gone, and one that nobody knows", async () => {
    const { authenticator, credentialId } = await somebody();
    const answer = await application.answer(authenticator, "/login");
    expect((await application.call("DELETE", `/credentials/${credentialId}`)).status).toBe(204);
    expect((await finish(answer)).body).toEqual(unproved);
  });

  test("refuses a second factor as what it is, once its signature is right", async () => {
    const userId = randomUUID();
    const authenticator = softwareAuthenticator();
    await application.register(userId, { authenticator, mfa: true });
    const [credential] = authenticator.credentials;
    if (!credential) throw new Error("no credential");
    const userHandle = Buffer.from(userId).toString("base64url");
    const call = { credential, userHandle };
    const answer = await application.answer(authenticator, "/login", {}, call);
    expect((await finish(answer)).body).toEqual(
      problem(400, "MFA credentials are not usable for normal login", ""),
    );
    const broken = { ...call, brokenSignature: true };
    expect((await finish(await application.answer(authenticator, "/login", {}, broken))).body).toEqual(
      unproved,
    );

    // The same where another passkey of theirs was asked for.
    await application.register(userId);
    const asked = { user_id: userId };
    expect((await finish(await application.answer(authenticator, "/login", asked, call))).status).toBe(400);
  });

  test("refuses after the challenge has expired, whoever was asked for", async () => {
    const late = await testRuntime();
    const by = await passkeyApplication(late);
    const userId = randomUUID();
    const { authenticator } = await by.register(userId);
    for (const body of [{}, { user_id: userId }]) {
      const answer = await by.answer(authenticator, "/login", body);
      late.advanceClock(301);
      expect((await finish(answer, by)).body).toEqual(
        problem(401, "failed to validate assertion", "the challenge has expired"),
      );
    }
    const factor = await by.answer(authenticator, "/mfa/login", { user_id: userId });
    late.advanceClock(301);
    expect((await finishMfa(factor, by)).status).toBe(401);
    const inTime = await by.answer(authenticator, "/login");
    late.advanceClock(299);
    expect((await finish(inTime, by)).status).toBe(200);
    await late.close();
  });

  test("takes one of ten answers at once", async () => {
    const { authenticator } = await somebody();
    const answer = await application.answer(authenticator, "/login");
    const statuses = await Promise.all(Array.from({ length: 10 }, async () => (await finish(answer)).status));
    expect(statuses.toSorted()).toEqual([200, ...Array(9).fill(401)]);
  });
});

describe("V15 the signature counter", () => {
  test("has to grow", async () => {
    const { authenticator, userId } = await somebody({ counts: true, backup: "no" });
    const sign = async (signCount: number) =>
      (await finish(await application.answer(authenticator, "/login", {}, { signCount }))).body;
    expect(await sign(7)).toEqual({ token: expect.any(String) });
    for (const stale of [7, 6, 0])
      expect(await sign(stale)).toEqual(
        problem(401, "failed to validate assertion", "the signature counter did not increase"),
      );
    expect(await sign(8)).toEqual({ token: expect.any(String) });
    expect((await auditTypes(userId)).slice(-2)).toEqual([
      "webauthn_authentication_final_failed",
      "webauthn_authentication_final_succeeded",
    ]);
  });

  test("may stand still where that only raises an alarm", async () => {
    const warned = await passkeyApplication(runtime.configured({ STILE_WEBAUTHN_SIGN_COUNT: "warn" }));
    const { authenticator, userId } = await somebody({ counts: true, backup: "no" });
    const answer = await warned.answer(authenticator, "/login", {}, { signCount: 1 });
    expect((await finish(answer, warned)).status).toBe(200);
    expect(await auditTypes(userId)).toContain("passkey_sign_count_stale");
  });

  test("lets one of two answers with the same count in", async () => {
    const { authenticator } = await somebody({ counts: true, backup: "no" });
    const answers = [];
    for (let twice = 0; twice < 2; twice++)
      answers.push(await application.answer(authenticator, "/login", {}, { signCount: 5 }));
    const statuses = await Promise.all(answers.map(async (answer) => (await finish(answer)).status));
    expect(statuses.toSorted()).toEqual([200, 401]);
  });
});

describe("mfa/login", () => {
  test("asks for any credential of the user's", async () => {
    const { userId, credentialId } = await somebody();
    const factor = await application.register(userId, { mfa: true });
    const { body } = await application.call("POST", "/mfa/login/initialize", { user_id: userId });
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

  test("takes a passkey and a second factor alike", async () => {
    const { userId, authenticator } = await somebody();
    const factor = await application.register(userId, { mfa: true });
    for (const one of [authenticator, factor.authenticator]) {
      const answer = await application.answer(one, "/mfa/login", { user_id: userId });
      const { body } = await finishMfa(answer);
      expect(decodeJwt(body.token)).toEqual({
        sub: userId,
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

  test("needs a key for both halves", async () => {
    const { userId, authenticator } = await somebody();
    const asked = { user_id: userId };
    expect((await application.callWithoutKey("POST", "/mfa/login/initialize", asked)).status).toBe(401);
    const answer = await application.answer(authenticator, "/mfa/login", asked);
    expect((await application.callWithoutKey("POST", "/mfa/login/finalize", answer)).status).toBe(401);
    expect((await finishMfa(answer)).status).toBe(200);
  });

  test.each([
    [undefined, problem(400, "unable to validate request", "user_id is a required field")],
    [{}, problem(400, "unable to validate request", "user_id is a required field")],
    [{ user_id: null }, problem(400, "unable to validate request", "user_id is a required field")],
    [{ user_id: "" }, problem(400, "unable to validate request", "user_id is a required field")],
    [{ user_id: 7 }, problem(400, "unable to validate request", "user_id must be a string")],
    [{ user_id: "unknown" }, problem(404, "user not found", "")],
  ])("refuses %j", async (body, expected) => {
    expect((await application.call("POST", "/mfa/login/initialize", body)).body).toEqual(expected);
  });

  test("is 400 for a user without credentials", async () => {
    const userId = randomUUID();
    await application.call("POST", "/registration/initialize", { user_id: userId, username: "ada" });
    const { body } = await application.call("POST", "/mfa/login/initialize", { user_id: userId });
    expect(body).toEqual(problem(400, "user has no suitable credentials for this operation", ""));
    expect((await auditTypes(userId)).at(-1)).toBe("mfa_authentication_init_failed");
  });

  test("does not cross over with a login, nor either with a registration", async () => {
    const { userId, authenticator } = await somebody();
    const asked = { user_id: userId };
    const factor = await application.answer(authenticator, "/mfa/login", asked);
    const login = await application.answer(authenticator, "/login", asked);
    expect((await finish(factor)).body).toEqual(stranger);
    expect((await finishMfa(login)).body).toEqual(stranger);

    const { body } = await application.call("POST", "/registration/initialize", {
      user_id: userId,
      username: "ada",
    });
    const { challenge } = body.publicKey;
    expect((await finish(await application.answer(authenticator, "/login", {}, { challenge }))).body).toEqual(
      stranger,
    );
    // None of the challenges was used up by it.
    expect((await finishMfa(factor)).status).toBe(200);
    expect((await finish(login)).status).toBe(200);
  });
});

test("answers to challenges that nobody gave are noted, but only so often", async () => {
  const limited = await passkeyApplication(
    runtime.configured({
      STILE_RATE_LIMITER_ENABLED: "true",
      STILE_RATE_LIMITER_PASSKEY_CHALLENGES_PER_MINUTE: "2",
    }),
  );
  const { authenticator, credentialId, answer } = await somebody();
  const challenge = randomBytes(32).toString("base64url");
  const made = await application.answer(authenticator, "/login", {}, { challenge });
  for (let times = 0; times < 3; times++) {
    expect((await finish(made, limited)).status).toBe(401);
    expect((await limited.callWithoutKey("POST", "/registration/finalize", answer)).status).toBe(400);
  }
  const rows = await runtime.database.read.select().from(schema.auditLogs);
  const noted = rows.filter(
    ({ type, details }) => type.endsWith("_failed") && details.credential_id === credentialId,
  );
  expect(noted).toHaveLength(2);
});
