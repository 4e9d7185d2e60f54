import { randomUUID } from "node:crypto";
import { eq } from "drizzle-orm";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import { ConflictError } from "#db/errors";
import type { Write } from "#db/write";
import {
  consecutiveLimit,
  failureSubject,
  MAX_CONSECUTIVE_FAILURES,
  unlimited,
} from "../../limits/failure-counters.ts";
import type { RequestContext } from "../../runtime.ts";
import { countFailure } from "../../testing/failures.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { requestContext } from "../../testing/request-context.ts";
import { verifyAssertion } from "../../testing/verify-assertion.ts";
import { softwareAuthenticator } from "../../testing/webauthn-authenticator.ts";
import { commitWrites } from "../../testing/writes.ts";
import { credentialIds, insertCredential } from "../webauthn-credentials.ts";
import { createCreationOptions, createRequestOptions, verifyAttestation } from "./passkeys.ts";

const runtime = await runtimeForTests({ BASE_URL: "https://login.example" });

const origin = "https://login.example";
const start = new Date("2030-01-01T12:00:00.000Z");

const scopeAt = (seconds = 0, settings: Record<string, string> = {}) =>
  requestContext(runtime.configured(settings), { now: new Date(start.getTime() + seconds * 1000) });

const write = (...changes: Write[]) => commitWrites(runtime, ...changes);

async function newUser(): Promise<string> {
  const id = randomUUID();
  await runtime.database.write.insert(schema.users).values({ tenantId: runtime.tenant.id, id });
  return id;
}

type Authenticator = ReturnType<typeof softwareAuthenticator>;

async function opened<Options>(opening: Promise<{ options: Options; write: Write }>): Promise<Options> {
  const { options, write: change } = await opening;
  await write(change);
  return options;
}

const creationFor = (
  context: RequestContext,
  flowId: string,
  userId: string,
  about: { kind?: "passkey" | "security_key"; conditional?: boolean } = {},
) =>
  opened(
    createCreationOptions(context, {
      flowId,
      user: { id: userId, name: "carla", displayName: "Carla" },
      pending: [],
      kind: "passkey",
      ...about,
    }),
  );

/** A user with a passkey in an authenticator, registered in the ordinary way. */
async function registered(settings: Parameters<typeof softwareAuthenticator>[0] = {}) {
  const context = scopeAt();
  const authenticator = softwareAuthenticator(settings);
  const userId = await newUser();
  const flowId = randomUUID();
  const response = authenticator.create(await creationFor(context, flowId, userId), { origin });
  const verified = await verifyAttestation(context, { flowId, userId, response, kind: "passkey" });
  if (!verified.ok) throw new Error(verified.reason);
  await write(insertCredential(context, userId, verified.credential));
  return { authenticator, userId, credentialId: verified.credential.id };
}

/** A response to a new challenge of a flow. */
async function answered(
  authenticator: Authenticator,
  about: Parameters<typeof createRequestOptions>[1],
  call: Partial<Parameters<Authenticator["get"]>[1]> = {},
) {
  return authenticator.get(await opened(createRequestOptions(scopeAt(), about)), { origin, ...call });
}

async function rowOf(credentialId: string) {
  const { webauthnCredentials } = schema;
  const [row] = await runtime.database.read
    .select()
    .from(webauthnCredentials)
    .where(eq(webauthnCredentials.id, credentialId));
  if (!row) throw new Error("no such credential");
  return row;
}

describe("options", () => {
  test("for signing in accept any passkey of this relying party", async () => {
    const { publicKey } = await opened(createRequestOptions(scopeAt(), { flowId: randomUUID() }));
    expect(publicKey).toEqual({
      challenge: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      timeout: 300_000,
      rpId: "login.example",
      userVerification: "preferred",
    });
  });

  test("for signing in list the given passkeys, without second factors", async () => {
    const allowed = [
      { id: "AAAA", transports: ["internal"], mfaOnly: false },
      { id: "BBBB", transports: [], mfaOnly: false },
      { id: "CCCC", transports: ["usb"], mfaOnly: true },
    ];
    const { publicKey } = await opened(createRequestOptions(scopeAt(), { flowId: randomUUID(), allowed }));
    expect(publicKey.allowCredentials).toEqual([
      { type: "public-key", id: "AAAA", transports: ["internal"] },
      { type: "public-key", id: "BBBB" },
    ]);
    const none = await opened(createRequestOptions(scopeAt(), { flowId: randomUUID(), allowed: [] }));
    expect(none.publicKey).not.toHaveProperty("allowCredentials");
  });

  test("for creation describe the requested passkey", async () => {
    const userId = await newUser();
    const settings = {
      STILE_SERVICE_NAME: "Acme",
      STILE_WEBAUTHN_TIMEOUT: "2m",
      STILE_PASSKEY_USER_VERIFICATION: "required",
      STILE_PASSKEY_ATTESTATION_PREFERENCE: "direct",
    };
    const { options } = await createCreationOptions(scopeAt(0, settings), {
      flowId: randomUUID(),
      user: { id: userId, name: "carla@example.com", displayName: "Carla" },
      pending: [{ id: "AAAA", transports: [], mfaOnly: true }],
      kind: "passkey",
    });
    expect(options.publicKey).toEqual({
      rp: { name: "Acme", id: "login.example" },
      user: {
        id: expect.stringMatching(/^[A-Za-z0-9_-]{86}$/),
        name: "carla@example.com",
        displayName: "Carla",
      },
      challenge: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      pubKeyCredParams: [-7, -35, -36, -257, -258, -259, -37, -38, -39, -8].map((alg) => ({
        type: "public-key",
        alg,
      })),
      timeout: 120_000,
      excludeCredentials: [{ type: "public-key", id: "AAAA" }],
      authenticatorSelection: {
        requireResidentKey: true,
        residentKey: "required",
        userVerification: "required",
      },
      attestation: "direct",
    });
  });

  test("have a timeout of at most five minutes, even if a longer one is configured", async () => {
    const { options } = await createRequestOptions(scopeAt(0, { STILE_WEBAUTHN_TIMEOUT: "1h" }), {
      flowId: randomUUID(),
    });
    expect(options.publicKey.timeout).toBe(300_000);
  });
});

describe("a passkey", () => {
  test("signs in with or without a known account, and its record is updated", async () => {
    const { authenticator, userId, credentialId } = await registered({ counts: true, backup: "eligible" });
    expect(await credentialIds(runtime.database.read, runtime.tenant.id, userId)).toEqual([
      { id: credentialId, transports: ["internal", "hybrid"], mfaOnly: false },
    ]);
    for (const about of [{}, { userId }]) {
      const flowId = randomUUID();
      const response = await answered(authenticator, { flowId, ...about }, { backedUp: true });
      const verified = await verifyAssertion(scopeAt(60), { flowId, response, ...about });
      if (!verified.ok) throw new Error(verified.reason);
      expect(verified).toMatchObject({ userId, credentialId, userVerified: true });
      await write(...verified.writes);
    }
    expect(await rowOf(credentialId)).toMatchObject({
      signCount: 3,
      backupState: true,
      lastUsedAt: scopeAt(60).now,
    });
  });

  test("answers an open challenge after the flow has identified its owner", async () => {
    const { authenticator, userId } = await registered();
    const flowId = randomUUID();
    const response = await answered(authenticator, { flowId });
    expect(await verifyAssertion(scopeAt(), { flowId, response, userId })).toMatchObject({ ok: true });
  });

  test("is rejected if it belongs to another account", async () => {
    const other = await registered();
    const { userId } = await registered();
    const flowId = randomUUID();
    const response = await answered(other.authenticator, { flowId });
    expect(await verifyAssertion(scopeAt(), { flowId, response, userId })).toEqual({
      ok: false,
      reason: "user_mismatch",
    });
  });

  test("is unknown if it was never registered, or at another tenant", async () => {
    const { authenticator } = await registered();
    const flowId = randomUUID();
    const unknown = softwareAuthenticator();
    unknown.create(await creationFor(scopeAt(), flowId, randomUUID()), { origin });
    const response = await answered(unknown, { flowId });
    expect(await verifyAssertion(scopeAt(), { flowId, response })).toEqual({
      ok: false,
      reason: "credential_unknown",
      credentialId: response.id,
    });

    const elsewhere = { ...scopeAt(), tenant: { ...runtime.tenant, id: randomUUID() } };
    const options = await opened(createRequestOptions(elsewhere, { flowId }));
    expect(
      await verifyAssertion(elsewhere, { flowId, response: authenticator.get(options, { origin }) }),
    ).toMatchObject({ ok: false, reason: "credential_unknown" });
  });

  test("is rejected if the options did not list it", async () => {
    const { authenticator, userId } = await registered();
    const flowId = randomUUID();
    const options = await opened(
      createRequestOptions(scopeAt(), {
        flowId,
        userId,
        allowed: [{ id: "AAAA", transports: [], mfaOnly: false }],
      }),
    );
    const [credential] = authenticator.credentials;
    const response = authenticator.get(options, { origin, ...(credential ? { credential } : {}) });
    expect(await verifyAssertion(scopeAt(), { flowId, response, userId })).toEqual({
      ok: false,
      reason: "credential_not_allowed",
    });
  });

  test("is registered once, for one account", async () => {
    const { authenticator, credentialId } = await registered();
    const [held] = authenticator.credentials;
    const flowId = randomUUID();
    const userId = await newUser();
    const options = await creationFor(scopeAt(), flowId, userId);
    const response = softwareAuthenticator().create(options, {
      origin,
      ...(held ? { credentialId: held.id } : {}),
    });
    expect(response.id).toBe(credentialId);
    expect(await verifyAttestation(scopeAt(), { flowId, userId, response, kind: "passkey" })).toEqual({
      ok: false,
      reason: "credential_taken",
    });
  });

  test("is written once by two concurrent registrations", async () => {
    const context = scopeAt();
    const credentialId = Buffer.from(randomUUID());
    const verdicts = await Promise.all(
      [await newUser(), await newUser()].map(async (userId) => {
        const flowId = randomUUID();
        const response = softwareAuthenticator().create(await creationFor(context, flowId, userId), {
          origin,
          credentialId,
        });
        const verified = await verifyAttestation(context, { flowId, userId, response, kind: "passkey" });
        if (!verified.ok) throw new Error(verified.reason);
        return insertCredential(context, userId, verified.credential);
      }),
    );
    const results = await Promise.allSettled(verdicts.map((change) => write(change)));
    const rejected = results.filter((result) => result.status === "rejected");
    expect(rejected).toHaveLength(1);
    expect(rejected[0]?.reason.cause).toMatchObject({
      code: "23505",
      constraint: "webauthn_credentials_pkey",
    });
  });
});

describe("a challenge", () => {
  test("accepts one response, valid or not", async () => {
    const { authenticator } = await registered();
    const flowId = randomUUID();
    const wrong = await answered(authenticator, { flowId }, { brokenSignature: true });
    expect(await verifyAssertion(scopeAt(), { flowId, response: wrong })).toEqual({
      ok: false,
      reason: "not_verified",
    });
    const challenge = JSON.parse(
      Buffer.from(wrong.response.clientDataJSON, "base64url").toString(),
    ).challenge;
    const right = authenticator.get({ challenge, rpId: "login.example" }, { origin });
    expect(await verifyAssertion(scopeAt(), { flowId, response: right })).toEqual({
      ok: false,
      reason: "challenge_unknown",
    });

    const response = await answered(authenticator, { flowId });
    expect((await verifyAssertion(scopeAt(), { flowId, response })).ok).toBe(true);
    expect(await verifyAssertion(scopeAt(), { flowId, response })).toEqual({
      ok: false,
      reason: "challenge_unknown",
    });
  });

  test("A13 accepts one of 50 concurrent responses", async () => {
    const { authenticator } = await registered();
    const flowId = randomUUID();
    const response = await answered(authenticator, { flowId });
    const verdicts = await Promise.all(
      Array.from({ length: 50 }, () => verifyAssertion(scopeAt(), { flowId, response })),
    );
    expect(verdicts.filter(({ ok }) => ok)).toHaveLength(1);
  });

  test("stays consumed when the step that verified it is never committed", async () => {
    const { authenticator } = await registered();
    const flowId = randomUUID();
    const response = await answered(authenticator, { flowId });
    expect((await verifyAssertion(scopeAt(), { flowId, response })).ok).toBe(true);
    const { rows } = await runtime.database.read.$client.query(
      "select 1 from webauthn_challenges where flow_id = $1",
      [flowId],
    );
    expect(rows).toEqual([]);
  });

  test("expires at its timeout, to the millisecond", async () => {
    const { authenticator } = await registered();
    const flowId = randomUUID();
    const late = await answered(authenticator, { flowId });
    expect(await verifyAssertion(scopeAt(300), { flowId, response: late })).toEqual({
      ok: false,
      reason: "challenge_unknown",
    });
    const timely = await answered(authenticator, { flowId });
    expect((await verifyAssertion(scopeAt(299.999), { flowId, response: timely })).ok).toBe(true);
  });

  test("is bound to its flow, tenant, ceremony and account, and others do not consume it", async () => {
    const { authenticator, userId } = await registered();
    const flowId = randomUUID();
    const unknown = { ok: false, reason: "challenge_unknown" };
    const response = await answered(authenticator, { flowId });
    expect(await verifyAssertion(scopeAt(), { flowId: randomUUID(), response })).toEqual(unknown);
    const elsewhere = { ...scopeAt(), tenant: { ...runtime.tenant, id: randomUUID() } };
    expect(await verifyAssertion(elsewhere, { flowId, response })).toEqual(unknown);
    expect((await verifyAssertion(scopeAt(), { flowId, response })).ok).toBe(true);

    const ofAccount = await answered(authenticator, { flowId, userId });
    expect(await verifyAssertion(scopeAt(), { flowId, response: ofAccount })).toEqual(unknown);
    const ofAnother = await answered(authenticator, { flowId, userId: randomUUID() });
    expect(await verifyAssertion(scopeAt(), { flowId, response: ofAnother, userId })).toEqual(unknown);

    const { challenge } = (await creationFor(scopeAt(), flowId, userId)).publicKey;
    const crossed = authenticator.get({ challenge, rpId: "login.example" }, { origin });
    expect(await verifyAssertion(scopeAt(), { flowId, response: crossed, userId })).toEqual(unknown);
  });

  test("for creation is bound to its account", async () => {
    const flowId = randomUUID();
    const options = await creationFor(scopeAt(), flowId, randomUUID());
    const response = softwareAuthenticator().create(options, { origin });
    expect(
      await verifyAttestation(scopeAt(), { flowId, userId: randomUUID(), response, kind: "passkey" }),
    ).toEqual({
      ok: false,
      reason: "challenge_unknown",
    });
  });

  test("may be one of several open challenges", async () => {
    const { authenticator } = await registered();
    const flowId = randomUUID();
    const responses = await Promise.all([1, 2, 3].map(() => answered(authenticator, { flowId })));
    for (const response of responses)
      expect((await verifyAssertion(scopeAt(), { flowId, response })).ok).toBe(true);
  });
});

describe("the signature counter of an assertion", () => {
  test("is rejected if it did not increase, and the owner is returned", async () => {
    const { authenticator, userId, credentialId } = await registered({ counts: true });
    const flowId = randomUUID();
    const response = await answered(authenticator, { flowId }, { signCount: 1 });
    expect(await verifyAssertion(scopeAt(), { flowId, response })).toEqual({
      ok: false,
      reason: "sign_count",
      userId,
      credentialId,
    });
  });

  test("is accepted and audited although it did not increase, if so configured", async () => {
    const { authenticator, userId, credentialId } = await registered({ counts: true });
    const flowId = randomUUID();
    const context = scopeAt(0, { STILE_WEBAUTHN_SIGN_COUNT: "warn" });
    const verified = await verifyAssertion(context, {
      flowId,
      response: await answered(authenticator, { flowId }, { signCount: 0 }),
    });
    if (!verified.ok) throw new Error(verified.reason);
    await write(...verified.writes);
    expect((await rowOf(credentialId)).signCount).toBe(1);
    const { auditLogs } = schema;
    const lines = await runtime.database.read.select().from(auditLogs).where(eq(auditLogs.userId, userId));
    expect(lines.map(({ type }) => type)).toEqual(["passkey_sign_count_stale"]);
  });

  test("is rejected by the write if a concurrent assertion has passed it", async () => {
    const { authenticator, credentialId } = await registered({ counts: true });
    const flowId = randomUUID();
    const [early, late] = [
      await answered(authenticator, { flowId }),
      await answered(authenticator, { flowId }),
    ];
    const verdicts = [];
    for (const response of [early, late]) {
      const verified = await verifyAssertion(scopeAt(), { flowId, response });
      if (!verified.ok) throw new Error(verified.reason);
      verdicts.push(verified.writes);
    }
    const [writeEarly, writeLate] = verdicts;
    if (!writeEarly || !writeLate) throw new Error("a correct assertion was rejected");
    await write(...writeLate);
    await expect(write(...writeEarly)).rejects.toThrow(new ConflictError("passkey"));
    expect((await rowOf(credentialId)).signCount).toBe(3);
  });
});

test("rejects a passkey that was deleted between verification and commit", async () => {
  const { authenticator, credentialId } = await registered();
  const flowId = randomUUID();
  const verified = await verifyAssertion(scopeAt(), {
    flowId,
    response: await answered(authenticator, { flowId }),
  });
  if (!verified.ok) throw new Error(verified.reason);
  await runtime.database.write
    .delete(schema.webauthnCredentials)
    .where(eq(schema.webauthnCredentials.id, credentialId));
  await expect(write(...verified.writes)).rejects.toThrow(new ConflictError("passkey"));
});

test("rejects a second factor as the only factor", async () => {
  const { authenticator, userId, credentialId } = await registered();
  const { webauthnCredentials } = schema;
  await runtime.database.write
    .update(webauthnCredentials)
    .set({ mfaOnly: true })
    .where(eq(webauthnCredentials.id, credentialId));
  const flowId = randomUUID();
  const response = await answered(authenticator, { flowId });
  expect(await verifyAssertion(scopeAt(), { flowId, response })).toEqual({
    ok: false,
    reason: "mfa_only",
    userId,
    credentialId,
  });
});

test("A20 signing in with a passkey unlocks the password", async () => {
  const { authenticator, userId } = await registered();
  const subject = failureSubject(runtime.vault, runtime.tenant.id, { userId });
  const key = { tenantId: runtime.tenant.id, method: "password", subject, source: "" } as const;
  for (let failure = 0; failure < MAX_CONSECUTIVE_FAILURES; failure++)
    await countFailure(runtime.database, key, unlimited, start);
  const flowId = randomUUID();
  const verified = await verifyAssertion(scopeAt(), {
    flowId,
    response: await answered(authenticator, { flowId }),
  });
  if (!verified.ok) throw new Error(verified.reason);
  await write(...verified.writes);
  expect(await countFailure(runtime.database, key, consecutiveLimit, start)).toMatchObject({ ok: true });
});

describe("malformed input", () => {
  const flowId = randomUUID();
  const userId = randomUUID();
  const neverThrows = async (response: unknown) => {
    expect((await verifyAssertion(scopeAt(), { flowId, response })).ok).toBe(false);
    expect((await verifyAttestation(scopeAt(), { flowId, userId, response, kind: "passkey" })).ok).toBe(
      false,
    );
  };

  test("A93 gets a verdict and never throws", async () => {
    await fc.assert(fc.asyncProperty(fc.anything({ maxDepth: 3 }), neverThrows), { numRuns: 100 });
  });

  test("A90 A93 gets a verdict when one part of a valid response is replaced", async () => {
    const { authenticator } = await registered();
    const malformed = fc.oneof(
      fc.anything({ maxDepth: 1 }),
      fc.base64String().map((text) => text.replace(/\+/g, "-").replace(/\//g, "_").replace(/=/g, "")),
      fc.constantFrom("\0", "\ud800", "A".repeat(100_000), "__proto__"),
    );
    const replace = (response: { response: object }, part: string, value: unknown) =>
      part in response.response
        ? { ...response, response: { ...response.response, [part]: value } }
        : { ...response, [part]: value };
    const members = ["id", "rawId", "type", "response", "clientDataJSON"];

    // Each response finds its challenge open, so the challenge is not the reason of its rejection.
    const assertionParts = fc.constantFrom(...members, "authenticatorData", "signature");
    await fc.assert(
      fc.asyncProperty(assertionParts, malformed, async (part, value) => {
        const response = replace(await answered(authenticator, { flowId }), part, value);
        expect((await verifyAssertion(scopeAt(), { flowId, response })).ok).toBe(false);
      }),
      { numRuns: 40 },
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...members, "attestationObject"), malformed, async (part, value) => {
        const options = await creationFor(scopeAt(), flowId, userId);
        const response = replace(softwareAuthenticator().create(options, { origin }), part, value);
        expect((await verifyAttestation(scopeAt(), { flowId, userId, response, kind: "passkey" })).ok).toBe(
          false,
        );
      }),
      { numRuns: 40 },
    );
    const response = await answered(authenticator, { flowId });
    expect((await verifyAssertion(scopeAt(), { flowId, response })).ok).toBe(true);
  });

  test.each([
    "null",
    "1",
    '""',
    "[]",
    "{}",
    '{"type":"webauthn.get","challenge":"\\u0000","origin":"x"}',
    '{"challenge":1}',
    "{",
    "\uFEFF\uFEFF{}",
  ])("gets a verdict as client data %j", async (text) => {
    const { authenticator } = await registered();
    const right = await answered(authenticator, { flowId });
    const clientDataJSON = Buffer.from(text).toString("base64url");
    await neverThrows({ ...right, response: { ...right.response, clientDataJSON } });
  });
});
