import { randomBytes, randomUUID } from "node:crypto";
import { and, eq } from "drizzle-orm";
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from "jose";
import { describe, expect, test, vi } from "vitest";
import { schema } from "#db/client";
import { coseAlgorithms, offCurveKey } from "../../testing/cose-key.ts";
import { type PasskeyApplication, passkeyApplication } from "../../testing/passkey-application.ts";
import { errorBody, invalidRequest, passkeySuite } from "../../testing/passkey-suite.ts";
import { type CreateCall, softwareAuthenticator } from "../../testing/webauthn-authenticator.ts";

const { runtime, application, auditLogs } = await passkeySuite();

const userOf = (userId: string = randomUUID()) => ({ user_id: userId, username: "ada" });

const auditLogsOf = (userId: string) => auditLogs("actor_user_id", userId);

/** Initializes a registration and returns the browser's answer and a function that finalizes it. */
async function initializeRegistration(
  options: {
    mfa?: boolean;
    userId?: string;
    call?: Partial<CreateCall>;
    application?: PasskeyApplication;
  } = {},
) {
  const { mfa = false, userId = randomUUID(), application: by = application } = options;
  const base = `${mfa ? "/mfa" : ""}/registration`;
  const { body } = await by.post(`${base}/initialize`, userOf(userId));
  const answer = softwareAuthenticator().create(body, { origin: by.origin, ...options.call });
  return {
    userId,
    answer,
    finalize: (changed: unknown = answer) => by.post(`${base}/finalize`, changed),
  };
}

describe("registration/initialize", () => {
  test("returns the options of a passkey", async () => {
    const userId = randomUUID();
    const { status, body } = await application.post("/registration/initialize", {
      user_id: userId,
      username: "ada",
      display_name: "Ada Lovelace",
      icon: "https://example.com/ada.png",
      something: "else",
    });
    expect(status).toBe(200);
    expect(body).toEqual({
      publicKey: {
        rp: { id: "localhost", name: expect.any(String) },
        user: {
          id: expect.stringMatching(/^[A-Za-z0-9_-]{86}$/),
          name: "ada",
          displayName: "Ada Lovelace",
          icon: "https://example.com/ada.png",
        },
        challenge: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
        pubKeyCredParams: [-7, -35, -36, -257, -258, -259, -37, -38, -39, -8].map((alg) => ({
          type: "public-key",
          alg,
        })),
        timeout: 300_000,
        authenticatorSelection: {
          requireResidentKey: true,
          residentKey: "required",
          userVerification: "required",
        },
        attestation: "direct",
      },
    });
  });

  test("returns the options of a second factor", async () => {
    const { body } = await application.post("/mfa/registration/initialize", userOf());
    expect(body.publicKey).toMatchObject({
      authenticatorSelection: {
        authenticatorAttachment: "cross-platform",
        requireResidentKey: false,
        residentKey: "discouraged",
        userVerification: "discouraged",
      },
      attestation: "direct",
    });
  });

  test.each([
    ["absent", {}],
    ["blank", { display_name: "  " }],
    ["null", { display_name: null, icon: null }],
    ["empty, with an empty icon", { display_name: "", icon: "" }],
  ])("uses the user name as display name if that is %s", async (_, given) => {
    const { body } = await application.post("/registration/initialize", { ...userOf(), ...given });
    expect(body.publicKey.user).toEqual({ id: expect.any(String), name: "ada", displayName: "ada" });
  });

  test("creates a user and updates it", async () => {
    const userId = randomUUID();
    const initialize = async (given: object) =>
      (await application.post("/registration/initialize", { user_id: userId, ...given })).status;
    expect(await initialize({ username: "ada", icon: "https://example.com/a.png" })).toBe(200);
    expect(await initialize({ username: "ada", display_name: "Ada", icon: null })).toBe(200);
    const { passkeyUsers: table } = schema;
    const rows = await runtime.database.read.select().from(table).where(eq(table.userId, userId));
    expect(rows).toMatchObject([{ name: "ada", displayName: "Ada", icon: null }]);
  });

  test.each(["用户-😀", "__proto__", "constructor", "a b/c?d=e&f", "é", "x".repeat(64), "'; --"])(
    "A90 accepts any text as user id: %s",
    async (userId) => {
      const { body } = await application.post("/registration/initialize", userOf(userId));
      expect(body.publicKey.user.id).toMatch(/^[A-Za-z0-9_-]{86}$/);
      const { credentialId } = await application.register(userId);
      const query = new URLSearchParams({ user_id: userId });
      const { body: listed } = await application.get(`/credentials?${query}`);
      expect(listed).toMatchObject([{ id: credentialId, user_id: userId }]);
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    },
  );

  const required = (name: string) => `${name} is a required field`;

  test.each<[name: string, body: unknown, details: string]>([
    ["no body", undefined, `${required("user_id")} and ${required("username")}`],
    ["an empty object", {}, `${required("user_id")} and ${required("username")}`],
    [
      "null for both",
      { user_id: null, username: null },
      `${required("user_id")} and ${required("username")}`,
    ],
    ["no username", { user_id: "a" }, required("username")],
    ["an empty id", { user_id: "", username: "a" }, required("user_id")],
    ["A93 a number", { user_id: 1, username: "a" }, "user_id must be a string"],
    ["A93 an array", { user_id: ["a"], username: "a" }, "user_id must be a string"],
    [
      "A93 empty arrays",
      { user_id: [], username: [] },
      "user_id must be a string and username must be a string",
    ],
    ["A93 an object", { user_id: { $ne: 1 }, username: "a" }, "user_id must be a string"],
    ["A93 a boolean", { user_id: "a", username: true }, "username must be a string"],
    [
      "an id of 65 bytes",
      { user_id: "é".repeat(33), username: "a" },
      "user_id cannot have more than 64 bytes",
    ],
    ["NUL", { user_id: "a\0", username: "a" }, "user_id must not contain the character NUL"],
    [
      "a username of 129 characters",
      { user_id: "a", username: "a".repeat(129) },
      "username cannot have more than 128 entries",
    ],
    [
      "a display name of 129 characters",
      { user_id: "a", username: "a", display_name: "a".repeat(129) },
      "display_name cannot have more than 128 entries",
    ],
    ["a relative URL", { user_id: "a", username: "a", icon: "ada.png" }, "icon must be a valid URL"],
    [
      "a javascript: URL",
      { user_id: "a", username: "a", icon: "javascript:alert(1)" },
      "icon must be a valid URL",
    ],
    ["an array as body", "[]", "the body must be a JSON object"],
    ["invalid JSON", "{", "the body must be a JSON object"],
    [
      "A91 a duplicate name",
      '{"user_id":"a","user_id":"b","username":"c"}',
      "the member user_id occurs twice",
    ],
    ["A90 __proto__", '{"__proto__":{"user_id":"a"}}', "the member __proto__ is not allowed"],
    ["A91 deep arrays", "[".repeat(10_000), "the body must be a JSON object"],
    [
      "half a surrogate pair",
      '{"user_id":"\\ud800","username":"a"}',
      "the text at user_id is not well-formed Unicode",
    ],
  ])("rejects %s", async (_, body, details) => {
    const answer = await application.post("/registration/initialize", body);
    expect(answer.body).toEqual(invalidRequest(details));
    expect(answer.status).toBe(400);
  });

  test("counts code points, not UTF-16 code units", async () => {
    const given = { user_id: randomUUID(), username: "😀".repeat(128) };
    expect((await application.post("/registration/initialize", given)).status).toBe(200);
  });

  test("A91 rejects a body that is too long with 413, and another content type with 400", async () => {
    const long = { ...userOf(), more: "x".repeat(70_000) };
    expect((await application.post("/registration/initialize", long)).body).toEqual(
      errorBody(413, "Request Entity Too Large", ""),
    );
    const other = { "content-type": "text/plain" };
    expect((await application.post("/registration/initialize", userOf(), other)).status).toBe(400);
  });

  test("excludes the user's credentials of the same kind", async () => {
    const userId = randomUUID();
    const passkey = await application.register(userId);
    const factor = await application.register(userId, { mfa: true });
    const excluded = async (path: string) =>
      (await application.post(path, userOf(userId))).body.publicKey.excludeCredentials;
    expect(await excluded("/registration/initialize")).toEqual([
      { type: "public-key", id: passkey.credentialId },
    ]);
    expect(await excluded("/mfa/registration/initialize")).toEqual([
      { type: "public-key", id: factor.credentialId },
    ]);
  });

  test("sends transports if configured", async () => {
    const withTransports = await passkeyApplication(
      runtime.configured({ STILE_PASSKEY_SERVER_SEND_TRANSPORTS: "true" }),
    );
    const userId = randomUUID();
    await withTransports.register(userId);
    const { body } = await withTransports.post("/registration/initialize", userOf(userId));
    expect(body.publicKey.excludeCredentials[0].transports).toEqual(["internal", "hybrid"]);
  });

  test("applies the configuration", async () => {
    const other = await passkeyApplication(
      runtime.configured({
        STILE_PASSKEY_SERVER_TIMEOUT: "60",
        STILE_PASSKEY_SERVER_ATTACHMENT: "platform",
        STILE_PASSKEY_SERVER_USER_VERIFICATION: "preferred",
        STILE_PASSKEY_SERVER_RESIDENT_KEY_REQUIREMENT: "preferred",
        STILE_PASSKEY_SERVER_ATTESTATION_PREFERENCE: "none",
      }),
    );
    const { body } = await other.post("/registration/initialize", userOf());
    expect(body.publicKey).toMatchObject({
      timeout: 60_000,
      authenticatorSelection: {
        authenticatorAttachment: "platform",
        requireResidentKey: false,
        residentKey: "preferred",
        userVerification: "preferred",
      },
      attestation: "none",
    });
  });
});

describe("registration/finalize", () => {
  test("returns a token that the published keys verify", async () => {
    const { userId, finalize, answer } = await initializeRegistration();
    const { status, body } = await finalize();
    expect(status).toBe(200);
    expect(Object.keys(body)).toEqual(["token"]);
    const { body: keys, headers } = await application.callWithoutKey("GET", "/.well-known/jwks.json");
    expect(headers.get("cache-control")).toBe("max-age=600");
    expect(keys.keys).toEqual([
      {
        kty: "RSA",
        n: expect.stringMatching(/^[A-Za-z0-9_-]{342}$/),
        e: "AQAB",
        kid: expect.any(String),
        alg: "RS256",
        use: "sig",
      },
    ]);
    const { payload } = await jwtVerify(body.token, createLocalJWKSet(keys), { audience: "localhost" });
    expect(payload).toEqual({
      sub: userId,
      amr: ["passkey", "mfa"],
      aud: ["localhost"],
      cred: answer.id,
      iat: expect.any(Number),
      exp: (payload.iat ?? 0) + 300,
    });
    expect(decodeProtectedHeader(body.token)).toEqual({ alg: "RS256", typ: "JWT", kid: keys.keys[0].kid });
  });

  test("requires a key for a second factor only", async () => {
    const passkey = await initializeRegistration();
    expect((await application.postWithoutKey("/registration/finalize", passkey.answer)).status).toBe(200);
    const factor = await initializeRegistration({ mfa: true });
    expect((await application.postWithoutKey("/mfa/registration/finalize", factor.answer)).status).toBe(401);
    expect((await factor.finalize()).status).toBe(200);
  });

  test("stores the properties of the credential", async () => {
    const authenticator = softwareAuthenticator({
      aaguid: Buffer.from("fbfc3007154e4ecc8c0b6e020557d7bd", "hex"),
      backup: "eligible",
      counts: true,
    });
    const { credentialId } = await application.register(randomUUID(), { authenticator });
    const { body } = await application.get(`/credentials/${credentialId}`);
    expect(body).toMatchObject({
      name: "iCloud Keychain",
      public_key: authenticator.credentials[0]?.key.cose.toString("base64url"),
      attestation_type: "none",
      aaguid: "fbfc3007-154e-4ecc-8c0b-6e020557d7bd",
      last_used_at: body.created_at,
      transports: ["internal", "hybrid"],
      backup_eligible: true,
      backup_state: false,
      is_mfa: false,
    });
    const unnamed = await application.register(randomUUID(), { mfa: true });
    const { body: factor } = await application.get(`/credentials/${unnamed.credentialId}`);
    expect(factor).toMatchObject({ name: `cred-${unnamed.credentialId}`, is_mfa: true });
  });

  test("accepts padded base64url, and transports where older clients send them", async () => {
    const { answer, finalize } = await initializeRegistration();
    const pad = (text: string) => text.padEnd(Math.ceil(text.length / 4) * 4, "=");
    const { clientDataJSON, attestationObject } = answer.response;
    const older = {
      ...answer,
      id: pad(answer.id),
      rawId: pad(answer.rawId),
      transports: ["usb"],
      response: {
        clientDataJSON: pad(clientDataJSON),
        attestationObject: pad(attestationObject),
        transports: [],
      },
    };
    expect((await finalize(older)).status).toBe(200);
    const { body } = await application.get(`/credentials/${answer.id}`);
    expect(body.transports).toEqual(["usb"]);
  });

  test.each<[string, (answer: Record<string, unknown>) => unknown, string]>([
    ["no id", ({ id: _, ...rest }) => rest, "id is missing"],
    ["no type", ({ type: _, ...rest }) => rest, "type is missing"],
    ["a padded type", (answer) => ({ ...answer, type: "public-key=" }), "type must be public-key"],
    ["no response", ({ response: _, ...rest }) => rest, "response.clientDataJSON is missing"],
    [
      "invalid client data",
      (answer) => ({ ...answer, response: { ...(answer.response as object), clientDataJSON: "AAAA" } }),
      "response.clientDataJSON cannot be read",
    ],
    ["an id that is not base64url", (answer) => ({ ...answer, id: "a b" }), "id must be base64url"],
    [
      "a transport of another type",
      (answer) => ({ ...answer, response: { ...(answer.response as object), transports: ["usb", 7] } }),
      "response.transports[1] must be a string",
    ],
  ])(
    "rejects %s with the name of the member, and does not use up the challenge",
    async (_, change, details) => {
      const { answer, finalize } = await initializeRegistration();
      expect((await finalize(change({ ...answer }))).body).toEqual(
        errorBody(400, "unable to parse credential creation response", details),
      );
      expect((await finalize()).status).toBe(200);
    },
  );

  const unknownChallenge = errorBody(400, "received challenge does not match with any stored one");

  test.each<[string, Partial<CreateCall>]>([
    ["R3 another ceremony", { type: "webauthn.get" }],
    ["R5 another origin", { origin: "https://evil.example" }],
    ["R6 a cross-origin frame", { crossOrigin: true }],
    ["R7 a top origin", { topOrigin: "https://evil.example" }],
    ["R10 another relying party", { rpId: "evil.example" }],
    ["R11 an absent user", { userPresent: false }],
    ["R13 a backup state without eligibility", { backupEligible: false, backedUp: true }],
    ["R15 an algorithm that was not offered", { algorithm: coseAlgorithms.ES256K }],
    ["R9 bytes after the attestation object", { attestationObjectTail: Buffer.of(0) }],
    ["R16 an unknown attestation format", { fmt: "odd" }],
    ["a public key that is not on its curve", { publicKey: offCurveKey() }],
  ])("rejects %s and uses up the challenge", async (_, call) => {
    const attempt = await initializeRegistration({ call });
    expect((await attempt.finalize()).body).toEqual(errorBody(400, "failed to validate attestation"));
    expect((await attempt.finalize()).body).toEqual(unknownChallenge);
    const entries = await auditLogsOf(attempt.userId);
    expect(entries.map(({ type }) => type)).toEqual([
      "webauthn_registration_init_succeeded",
      "webauthn_registration_final_failed",
    ]);
    expect(entries[1]?.details.error).toMatch(/^failed to validate attestation: /);
  });

  test("R20 accepts an id of 1023 bytes and rejects one of 1024", async () => {
    const long = await initializeRegistration({ call: { credentialId: randomBytes(1024) } });
    expect((await long.finalize()).body).toEqual(
      errorBody(400, "unable to parse credential creation response"),
    );
    const { answer, finalize } = await initializeRegistration({ call: { credentialId: randomBytes(1023) } });
    expect((await finalize()).status).toBe(200);
    expect((await application.get(`/credentials/${answer.id}`)).body.id).toBe(answer.id);
  });

  test("R23 ignores extensions that were not requested", async () => {
    const { finalize } = await initializeRegistration({
      call: { extensions: new Map([["credProtect", 2]]) },
    });
    expect((await finalize()).status).toBe(200);
  });

  test("R12 rejects an unverified user with 422 if verification is required", async () => {
    const { finalize } = await initializeRegistration({ call: { userVerified: false } });
    expect((await finalize()).body).toEqual(
      errorBody(422, expect.stringMatching(/^failed to validate attestation:/)),
    );
    const factor = await initializeRegistration({ mfa: true, call: { userVerified: false } });
    expect((await factor.finalize()).status).toBe(200);
  });

  test("requires the verification of its options if the configuration has changed", async () => {
    const { answer } = await initializeRegistration({ call: { userVerified: false } });
    const lenient = await passkeyApplication(
      runtime.configured({ STILE_PASSKEY_SERVER_USER_VERIFICATION: "discouraged" }),
    );
    expect((await lenient.post("/registration/finalize", answer)).status).toBe(422);
  });

  test("R21 rejects a credential id that is registered for any user with 409", async () => {
    const credentialId = randomBytes(32);
    expect((await (await initializeRegistration({ call: { credentialId } })).finalize()).status).toBe(200);
    const other = await initializeRegistration({ mfa: true, call: { credentialId } });
    expect((await other.finalize()).body).toEqual(errorBody(409, "credential already exists"));
    const [, entry] = await auditLogsOf(other.userId);
    expect(entry).toMatchObject({
      type: "mfa_registration_final_failed",
      userId: null,
      details: { reason: "credential_exists", error: expect.stringContaining("credential already exists") },
    });
  });

  const remove = (userId: string) =>
    runtime.database.write
      .delete(schema.passkeyUsers)
      .where(
        and(eq(schema.passkeyUsers.tenantId, runtime.tenant.id), eq(schema.passkeyUsers.userId, userId)),
      );

  test("rejects a user who is deleted concurrently with 404", async () => {
    const { userId, answer, finalize } = await initializeRegistration();
    const keys = runtime.signingKeys.of(runtime.tenant, "passkeys");
    const sign = vi.spyOn(keys, "sign").mockImplementationOnce(async () => {
      await remove(userId);
      return "an unused token";
    });
    expect((await finalize()).body).toEqual(errorBody(404, "user not found"));
    expect(sign).toHaveBeenCalledOnce();
    expect((await application.get(`/credentials/${answer.id}`)).status).toBe(404);
  });

  test("rejects a user who was deleted before, together with the challenge", async () => {
    const { userId, finalize } = await initializeRegistration();
    await remove(userId);
    expect((await finalize()).body).toEqual(unknownChallenge);
  });

  test("writes audit log entries", async () => {
    const { userId, answer, finalize } = await initializeRegistration();
    await finalize();
    expect(await auditLogsOf(userId)).toMatchObject([
      { type: "webauthn_registration_init_succeeded", userId: null, requestId: "request-1" },
      {
        type: "webauthn_registration_final_succeeded",
        details: { actor_user_id: userId, credential_id: answer.id },
      },
    ]);
  });
});
