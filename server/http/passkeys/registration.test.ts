import { randomBytes, randomUUID } from "node:crypto";
import { and, eq } from "drizzle-orm";
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from "jose";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { schema } from "#db/client";
import { coseAlgorithms } from "../../testing/cose-key.ts";
import { type PasskeyApplication, passkeyApplication } from "../../testing/passkey-application.ts";
import { type TestRuntime, testRuntime } from "../../testing/runtime.ts";
import { type CreateCall, softwareAuthenticator } from "../../testing/webauthn-authenticator.ts";

let runtime: TestRuntime;
let application: PasskeyApplication;

beforeAll(async () => {
  runtime = await testRuntime();
  application = await passkeyApplication(runtime);
});

afterAll(() => runtime.close());

const userOf = (userId: string = randomUUID()) => ({ user_id: userId, username: "ada" });

const problem = (status: number, title: unknown, details: unknown = expect.any(String)) => ({
  status,
  title,
  details,
});

async function auditOf(userId: string) {
  const rows = await runtime.database.read
    .select()
    .from(schema.auditLogs)
    .where(eq(schema.auditLogs.tenantId, runtime.tenant.id))
    .orderBy(schema.auditLogs.createdAt);
  return rows.filter(({ details }) => details.actor_user_id === userId);
}

/** Options for a new credential, and the browser's answer. */
async function made(
  about: {
    mfa?: boolean;
    userId?: string;
    call?: Partial<CreateCall>;
    application?: PasskeyApplication;
  } = {},
) {
  const { mfa = false, userId = randomUUID(), application: by = application } = about;
  const base = `${mfa ? "/mfa" : ""}/registration`;
  const { body } = await by.call("POST", `${base}/initialize`, userOf(userId));
  const answer = softwareAuthenticator().create(body, { origin: by.origin, ...about.call });
  return {
    userId,
    answer,
    finish: (changed: unknown = answer) => by.call("POST", `${base}/finalize`, changed),
  };
}

describe("registration/initialize", () => {
  test("gives the options of a passkey, and nothing else", async () => {
    const userId = randomUUID();
    const { status, body } = await application.call("POST", "/registration/initialize", {
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
          id: Buffer.from(userId).toString("base64url"),
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

  test("gives those of a second factor", async () => {
    const { body } = await application.call("POST", "/mfa/registration/initialize", userOf());
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
    ["", {}],
    ["blank", { display_name: "  " }],
    ["null", { display_name: null, icon: null }],
    ["an empty picture", { display_name: "", icon: "" }],
  ])("takes the name where no other is shown (%s)", async (_, given) => {
    const { body } = await application.call("POST", "/registration/initialize", { ...userOf(), ...given });
    expect(body.publicKey.user).toEqual({ id: expect.any(String), name: "ada", displayName: "ada" });
  });

  test("writes a user, and writes them anew", async () => {
    const userId = randomUUID();
    const shown = async (given: object) =>
      (await application.call("POST", "/registration/initialize", { user_id: userId, ...given })).status;
    expect(await shown({ username: "ada", icon: "https://example.com/a.png" })).toBe(200);
    expect(await shown({ username: "ada", display_name: "Ada", icon: null })).toBe(200);
    const { passkeyUsers: table } = schema;
    const rows = await runtime.database.read.select().from(table).where(eq(table.userId, userId));
    expect(rows).toMatchObject([{ name: "ada", displayName: "Ada", icon: null }]);
  });

  test.each(["用户-😀", "__proto__", "constructor", "a b/c?d=e&f", "é", "x".repeat(64), "'; --"])(
    "A90 takes any text as a user's id: %s",
    async (userId) => {
      const { body } = await application.call("POST", "/registration/initialize", userOf(userId));
      expect(Buffer.from(body.publicKey.user.id, "base64url").toString()).toBe(userId);
      const { credentialId } = await application.register(userId);
      const query = new URLSearchParams({ user_id: userId });
      const { body: listed } = await application.call("GET", `/credentials?${query}`);
      expect(listed).toMatchObject([{ id: credentialId, user_id: userId }]);
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    },
  );

  const required = (name: string) => `${name} is a required field`;

  test.each<[what: string, body: unknown, details: string]>([
    ["nothing", undefined, `${required("user_id")} and ${required("username")}`],
    ["an empty object", {}, `${required("user_id")} and ${required("username")}`],
    [
      "null for both",
      { user_id: null, username: null },
      `${required("user_id")} and ${required("username")}`,
    ],
    ["no name", { user_id: "a" }, required("username")],
    ["an empty id", { user_id: "", username: "a" }, required("user_id")],
    ["A93 a number", { user_id: 1, username: "a" }, "user_id must be a string"],
    ["A93 a list", { user_id: ["a"], username: "a" }, "user_id must be a string"],
    [
      "A93 empty lists",
      { user_id: [], username: [] },
      "user_id must be a string and username must be a string",
    ],
    ["A93 an object", { user_id: { $ne: 1 }, username: "a" }, "user_id must be a string"],
    ["A93 a truth", { user_id: "a", username: true }, "username must be a string"],
    [
      "an id of 65 bytes",
      { user_id: "é".repeat(33), username: "a" },
      "user_id cannot have more than 64 bytes",
    ],
    ["NUL", { user_id: "a\0", username: "a" }, "user_id must not contain the character NUL"],
    [
      "a name of 129",
      { user_id: "a", username: "a".repeat(129) },
      "username cannot have more than 128 entries",
    ],
    [
      "a shown name of 129",
      { user_id: "a", username: "a", display_name: "a".repeat(129) },
      "display_name cannot have more than 128 entries",
    ],
    ["no address", { user_id: "a", username: "a", icon: "ada.png" }, "icon must be a valid URL"],
    ["a script", { user_id: "a", username: "a", icon: "javascript:alert(1)" }, "icon must be a valid URL"],
    ["no object", "[]", "the body must be a JSON object"],
    ["no JSON", "{", "the body must be a JSON object"],
    ["A91 a name twice", '{"user_id":"a","user_id":"b","username":"c"}', "the body must be a JSON object"],
    ["A90 a prototype", '{"__proto__":{"user_id":"a"}}', "the body must be a JSON object"],
    ["A91 deep lists", "[".repeat(10_000), "the body must be a JSON object"],
    ["half a surrogate pair", '{"user_id":"\\ud800","username":"a"}', "the body must be a JSON object"],
  ])("is 400 for %s", async (_, body, details) => {
    const answer = await application.call("POST", "/registration/initialize", body);
    expect(answer.body).toEqual(problem(400, "unable to validate request", details));
    expect(answer.status).toBe(400);
  });

  test("counts characters, not halves of them", async () => {
    const given = { user_id: randomUUID(), username: "😀".repeat(128) };
    expect((await application.call("POST", "/registration/initialize", given)).status).toBe(200);
  });

  test("A91 is 413 for a body that is too long, and 400 for one of another type", async () => {
    const long = { ...userOf(), more: "x".repeat(70_000) };
    expect((await application.call("POST", "/registration/initialize", long)).body).toEqual(
      problem(413, "Request Entity Too Large", ""),
    );
    const other = { "content-type": "text/plain" };
    expect((await application.call("POST", "/registration/initialize", userOf(), other)).status).toBe(400);
  });

  test("names the user's credentials of the same kind, so that no authenticator makes two", async () => {
    const userId = randomUUID();
    const passkey = await application.register(userId);
    const factor = await application.register(userId, { mfa: true });
    const excluded = async (path: string) =>
      (await application.call("POST", path, userOf(userId))).body.publicKey.excludeCredentials;
    expect(await excluded("/registration/initialize")).toEqual([
      { type: "public-key", id: passkey.credentialId },
    ]);
    expect(await excluded("/mfa/registration/initialize")).toEqual([
      { type: "public-key", id: factor.credentialId },
    ]);
  });

  test("tells of transports only where that is configured", async () => {
    const telling = await passkeyApplication(
      runtime.configured({ STILE_PASSKEY_SERVER_SEND_TRANSPORTS: "true" }),
    );
    const userId = randomUUID();
    await telling.register(userId);
    const { body } = await telling.call("POST", "/registration/initialize", userOf(userId));
    expect(body.publicKey.excludeCredentials[0].transports).toEqual(["internal", "hybrid"]);
  });

  test("does as it is configured", async () => {
    const other = await passkeyApplication(
      runtime.configured({
        STILE_PASSKEY_SERVER_TIMEOUT: "60",
        STILE_PASSKEY_SERVER_ATTACHMENT: "platform",
        STILE_PASSKEY_SERVER_USER_VERIFICATION: "preferred",
        STILE_PASSKEY_SERVER_RESIDENT_KEY_REQUIREMENT: "preferred",
        STILE_PASSKEY_SERVER_ATTESTATION_PREFERENCE: "none",
      }),
    );
    const { body } = await other.call("POST", "/registration/initialize", userOf());
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
  test("gives a token that anybody can verify by the published keys", async () => {
    const { userId, finish, answer } = await made();
    const { status, body } = await finish();
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
      aud: ["localhost"],
      cred: answer.id,
      iat: expect.any(Number),
      exp: (payload.iat ?? 0) + 300,
    });
    expect(decodeProtectedHeader(body.token)).toEqual({ alg: "RS256", typ: "JWT", kid: keys.keys[0].kid });
  });

  test("needs no key for a passkey, and one for a second factor", async () => {
    const passkey = await made();
    expect((await application.callWithoutKey("POST", "/registration/finalize", passkey.answer)).status).toBe(
      200,
    );
    const factor = await made({ mfa: true });
    expect(
      (await application.callWithoutKey("POST", "/mfa/registration/finalize", factor.answer)).status,
    ).toBe(401);
    expect((await factor.finish()).status).toBe(200);
  });

  test("keeps what was registered", async () => {
    const authenticator = softwareAuthenticator({
      aaguid: Buffer.from("fbfc3007154e4ecc8c0b6e020557d7bd", "hex"),
      backup: "eligible",
      counts: true,
    });
    const { credentialId } = await application.register(randomUUID(), { authenticator });
    const { body } = await application.call("GET", `/credentials/${credentialId}`);
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
    const { body: factor } = await application.call("GET", `/credentials/${unnamed.credentialId}`);
    expect(factor).toMatchObject({ name: `cred-${unnamed.credentialId}`, is_mfa: true });
  });

  test("takes base64url with its padding, and transports where older clients have them", async () => {
    const { answer, finish } = await made();
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
    expect((await finish(older)).status).toBe(200);
    const { body } = await application.call("GET", `/credentials/${answer.id}`);
    expect(body.transports).toEqual(["usb"]);
  });

  test.each<[string, (answer: Record<string, unknown>) => unknown]>([
    ["nothing", () => undefined],
    ["no JSON", () => "{"],
    ["no object", () => "[]"],
    ["no id", ({ id: _, ...rest }) => rest],
    ["no type", ({ type: _, ...rest }) => rest],
    ["another type", (answer) => ({ ...answer, type: "password" })],
    ["a type that is padded", (answer) => ({ ...answer, type: "public-key=" })],
    ["no response", ({ response: _, ...rest }) => rest],
    [
      "client data that is none",
      (answer) => ({ ...answer, response: { ...(answer.response as object), clientDataJSON: "AAAA" } }),
    ],
    ["an id that is no base64url", (answer) => ({ ...answer, id: "a b" })],
    ["A93 a number", (answer) => ({ ...answer, id: 1 })],
  ])("is 400 for %s", async (_, change) => {
    const { answer, finish } = await made();
    const body = change({ ...answer });
    const refusal =
      body === undefined ? await application.call("POST", "/registration/finalize") : await finish(body);
    expect(refusal.body).toEqual(problem(400, "unable to parse credential creation response"));
    // Whoever cannot be understood has used nothing up.
    expect((await finish()).status).toBe(200);
  });

  const stranger = problem(400, "received challenge does not match with any stored one");

  test("is 400 for a challenge that nobody gave", async () => {
    const challenge = randomBytes(32).toString("base64url");
    const { finish } = await made({ call: { challenge } });
    expect((await finish()).body).toEqual(stranger);
  });

  test.each<[string, Partial<CreateCall>]>([
    ["R3 another ceremony", { type: "webauthn.get" }],
    ["R5 another origin", { origin: "https://evil.example" }],
    ["R6 a page in a frame", { crossOrigin: true }],
    ["R7 a top origin", { topOrigin: "https://evil.example" }],
    ["R10 another relying party", { rpId: "evil.example" }],
    ["R11 nobody present", { userPresent: false }],
    ["R13 backed up without being eligible", { backupEligible: false, backedUp: true }],
    ["R15 an algorithm that was not offered", { algorithm: coseAlgorithms.ES256K }],
    ["R9 bytes after the attestation object", { attestationObjectTail: Buffer.of(0) }],
    ["R16 an unknown format", { fmt: "odd" }],
    ["a key beside its curve", { offCurve: true }],
  ])("is 400 for %s, and the challenge is used up", async (_, call) => {
    const refused = await made({ call });
    expect((await refused.finish()).body).toEqual(problem(400, "failed to validate attestation"));
    expect((await refused.finish()).body).toEqual(stranger);
    const lines = await auditOf(refused.userId);
    expect(lines.map(({ type }) => type)).toEqual([
      "webauthn_registration_init_succeeded",
      "webauthn_registration_final_failed",
    ]);
    expect(lines[1]?.details.error).toMatch(/^failed to validate attestation: /);
  });

  test("names the setting where the page is none of the relying party's", async () => {
    const { finish } = await made({ call: { origin: "https://shop.example" } });
    expect((await finish()).body.details).toContain("passkey_server.relying_party.origins");
  });

  test("R20 is 400 for an id of 1024 bytes, and takes one of 1023", async () => {
    const long = await made({ call: { credentialId: randomBytes(1024) } });
    expect((await long.finish()).body).toEqual(problem(400, "unable to parse credential creation response"));
    const { answer, finish } = await made({ call: { credentialId: randomBytes(1023) } });
    expect((await finish()).status).toBe(200);
    expect((await application.call("GET", `/credentials/${answer.id}`)).body.id).toBe(answer.id);
  });

  test("R23 tolerates extensions that nobody asked for", async () => {
    const { finish } = await made({ call: { extensions: new Map([["credProtect", 2]]) } });
    expect((await finish()).status).toBe(200);
  });

  test("R12 is 422 for a user who was not verified, where that is required", async () => {
    const { finish } = await made({ call: { userVerified: false } });
    expect((await finish()).body).toEqual(
      problem(422, expect.stringMatching(/^failed to validate attestation:/)),
    );
    const factor = await made({ mfa: true, call: { userVerified: false } });
    expect((await factor.finish()).status).toBe(200);
  });

  test("asks for the verification that its options asked for, whatever is configured since", async () => {
    const { answer } = await made({ call: { userVerified: false } });
    const lenient = await passkeyApplication(
      runtime.configured({ STILE_PASSKEY_SERVER_USER_VERIFICATION: "discouraged" }),
    );
    expect((await lenient.call("POST", "/registration/finalize", answer)).status).toBe(422);
  });

  test("R21 is 409 for a credential id that is taken, by whomever", async () => {
    const credentialId = randomBytes(32);
    expect((await (await made({ call: { credentialId } })).finish()).status).toBe(200);
    const other = await made({ mfa: true, call: { credentialId } });
    expect((await other.finish()).body).toEqual(problem(409, "credential already exists"));
    const [, line] = await auditOf(other.userId);
    expect(line).toMatchObject({ type: "mfa_registration_final_failed", userId: null });
  });

  const remove = (userId: string) =>
    runtime.database.write
      .delete(schema.passkeyUsers)
      .where(
        and(eq(schema.passkeyUsers.tenantId, runtime.tenant.id), eq(schema.passkeyUsers.userId, userId)),
      );

  test("is 404 for a user who went while they were registering", async () => {
    const { userId, answer, finish } = await made();
    const keys = runtime.signingKeys.of(runtime.tenant, "passkeys");
    const sign = vi.spyOn(keys, "sign").mockImplementationOnce(async () => {
      await remove(userId);
      return "a token that nobody gets";
    });
    expect((await finish()).body).toEqual(problem(404, "user not found"));
    expect(sign).toHaveBeenCalledOnce();
    expect((await application.call("GET", `/credentials/${answer.id}`)).status).toBe(404);
  });

  test("is 400 for a user who went before: their challenges went with them", async () => {
    const { userId, finish } = await made();
    await remove(userId);
    expect((await finish()).body).toEqual(stranger);
  });

  test("is 400 for an expired challenge", async () => {
    const late = await testRuntime();
    const by = await passkeyApplication(late);
    const { finish } = await made({ application: by });
    late.advanceClock(301);
    expect((await finish()).body).toEqual(
      problem(400, "failed to validate attestation", "the challenge has expired"),
    );
    const { finish: inTime } = await made({ application: by });
    late.advanceClock(299);
    expect((await inTime()).status).toBe(200);
    await late.close();
  });

  test("does not take the answer to the other kind", async () => {
    const passkey = await made();
    expect((await application.call("POST", "/mfa/registration/finalize", passkey.answer)).body).toEqual(
      stranger,
    );
    const factor = await made({ mfa: true });
    expect((await application.call("POST", "/registration/finalize", factor.answer)).body).toEqual(stranger);
    // Neither was used up by it.
    expect((await passkey.finish()).status).toBe(200);
    expect((await factor.finish()).status).toBe(200);
  });

  test("takes one of ten answers at once", async () => {
    const { finish } = await made();
    const statuses = await Promise.all(Array.from({ length: 10 }, async () => (await finish()).status));
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 400)).toHaveLength(9);
  });

  test("writes what came of it", async () => {
    const { userId, answer, finish } = await made();
    await finish();
    expect(await auditOf(userId)).toMatchObject([
      { type: "webauthn_registration_init_succeeded", userId: null, requestId: "request-1" },
      {
        type: "webauthn_registration_final_succeeded",
        details: { actor_user_id: userId, credential_id: answer.id },
      },
    ]);
  });
});
