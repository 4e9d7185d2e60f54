import { randomUUID } from "node:crypto";
import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import type { Write } from "#db/write";
import type { RequestContext } from "../../runtime.ts";
import { runtimeForTests } from "../../testing/open-for-tests.ts";
import { requestContext } from "../../testing/request-context.ts";
import { verifyAssertion } from "../../testing/verify-assertion.ts";
import { softwareAuthenticator } from "../../testing/webauthn-authenticator.ts";
import { commitWrites } from "../../testing/writes.ts";
import {
  createCreationOptions,
  createRequestOptions,
  type Proof,
  verifyAttestation,
} from "../passkey/passkeys.ts";
import { credentialIds, insertCredential } from "../webauthn-credentials.ts";

const runtime = await runtimeForTests({ BASE_URL: "https://login.example" });

const origin = "https://login.example";
const unknown = { ok: false, reason: "challenge_unknown" };

const scopeWith = (settings: Record<string, string> = {}) =>
  requestContext(runtime.configured(settings), { now: new Date("2030-01-01T12:00:00.000Z") });

async function opened<Options>(opening: Promise<{ options: Options; write: Write }>): Promise<Options> {
  const { options, write } = await opening;
  await runtime.database.write.transaction(write);
  return options;
}

/** A USB key: without user verification or synchronisation, with a signature counter. */
const usbKey = () =>
  softwareAuthenticator({
    userVerification: false,
    backup: "no",
    counts: true,
    transports: ["usb"],
    attachment: "cross-platform",
    aaguid: Buffer.from("ee882879721c491397753dfcce97072a", "hex"),
  });

type Kind = "passkey" | "security_key";

const creation = (
  context: RequestContext,
  flowId: string,
  userId: string,
  about: { kind: Kind; conditional?: boolean },
) =>
  opened(
    createCreationOptions(context, {
      flowId,
      user: { id: userId, name: "carla", displayName: "Carla" },
      pending: [],
      ...about,
    }),
  );

async function register(
  authenticator: ReturnType<typeof softwareAuthenticator>,
  kind: Kind,
  owner?: string,
): Promise<{ userId: string; credentialId: string }> {
  const context = scopeWith();
  const userId = owner ?? randomUUID();
  if (!owner)
    await runtime.database.write.insert(schema.users).values({ tenantId: runtime.tenant.id, id: userId });
  const flowId = randomUUID();
  const response = authenticator.create(await creation(context, flowId, userId, { kind }), { origin });
  const verified = await verifyAttestation(context, { flowId, userId, response, kind });
  if (!verified.ok) throw new Error(verified.reason);
  await runtime.database.write.transaction(insertCredential(context, userId, verified.credential));
  return { userId, credentialId: verified.credential.id };
}

async function rowOf(credentialId: string) {
  const { webauthnCredentials: table } = schema;
  const [row] = await runtime.database.read.select().from(table).where(eq(table.id, credentialId));
  if (!row) throw new Error("no such credential");
  return row;
}

/** Answers a new challenge for a second factor, and returns the verdict. */
async function show(
  authenticator: ReturnType<typeof softwareAuthenticator>,
  userId: string,
  { proof = { secondFactor: true }, call = {} }: { proof?: Proof; call?: object } = {},
  context = scopeWith(),
) {
  const flowId = randomUUID();
  const allowed = await credentialIds(runtime.database.read, runtime.tenant.id, userId);
  const options = await opened(createRequestOptions(context, { flowId, userId, allowed, ...proof }));
  const response = authenticator.get(options, { origin, ...call });
  return verifyAssertion(context, { flowId, response, userId, ...proof });
}

describe("options for creating a security key", () => {
  test("request no passkey, and the configured kind of authenticator", async () => {
    const userId = randomUUID();
    const { options } = await createCreationOptions(scopeWith({ STILE_PASSKEY_HINTS: "client-device" }), {
      flowId: randomUUID(),
      user: { id: userId, name: "carla@example.com", displayName: "Carla" },
      pending: [{ id: "AAAA", transports: ["usb"], mfaOnly: true }],
      kind: "security_key",
    });
    expect(options).toEqual({ publicKey: expect.anything() });
    expect(options.publicKey).toMatchObject({
      excludeCredentials: [{ type: "public-key", id: "AAAA", transports: ["usb"] }],
      authenticatorSelection: {
        authenticatorAttachment: "cross-platform",
        requireResidentKey: false,
        residentKey: "discouraged",
        userVerification: "discouraged",
      },
      attestation: "none",
      hints: ["security-key"],
    });
  });

  test.each([
    ["platform", "platform", ["client-device"]],
    ["no_preference", undefined, undefined],
  ])("follow the attachment %s", async (setting, attachment, hints) => {
    const context = scopeWith({
      STILE_MFA_SECURITY_KEYS_AUTHENTICATOR_ATTACHMENT: setting,
      STILE_MFA_SECURITY_KEYS_USER_VERIFICATION: "required",
      STILE_MFA_SECURITY_KEYS_ATTESTATION_PREFERENCE: "direct",
    });
    const { publicKey } = await creation(context, randomUUID(), randomUUID(), { kind: "security_key" });
    expect(publicKey.authenticatorSelection?.authenticatorAttachment).toBe(attachment);
    expect(publicKey.authenticatorSelection?.userVerification).toBe("required");
    expect(publicKey.attestation).toBe("direct");
    expect(publicKey.hints).toEqual(hints);
  });
});

test("options for passkeys contain the configured hints", async () => {
  const context = scopeWith({ STILE_PASSKEY_HINTS: "client-device,hybrid" });
  const hints = ["client-device", "hybrid"];
  const flowId = randomUUID();
  expect((await opened(createRequestOptions(context, { flowId }))).publicKey.hints).toEqual(hints);
  expect((await creation(context, flowId, randomUUID(), { kind: "passkey" })).publicKey.hints).toEqual(hints);
});

test("an unknown hint is a configuration error", () => {
  expect(() => scopeWith({ STILE_PASSKEY_HINTS: "phone" })).toThrow("STILE_PASSKEY_HINTS");
});

describe("a security key", () => {
  test("is stored as a second factor only, with the name of its model", async () => {
    const { credentialId } = await register(usbKey(), "security_key");
    expect(await rowOf(credentialId)).toMatchObject({
      mfaOnly: true,
      name: "YubiKey 5",
      aaguid: "ee882879-721c-4913-9775-3dfcce97072a",
      transports: ["usb"],
      backupEligible: false,
      userVerified: false,
    });
  });

  test("is accepted after a first factor, and never alone", async () => {
    const key = usbKey();
    const { userId, credentialId } = await register(key, "security_key");
    const shown = await show(key, userId);
    if (!shown.ok) throw new Error(shown.reason);
    expect(shown).toMatchObject({ userId, credentialId, userVerified: false });
    await commitWrites(runtime, ...shown.writes);
    expect(await rowOf(credentialId)).toMatchObject({ signCount: 2, lastUsedAt: scopeWith().now });
    const [held] = key.credentials;
    expect(await show(key, userId, { proof: {}, call: { credential: held } })).toMatchObject({
      ok: false,
      reason: "mfa_only",
    });
  });

  test("is rejected if it belongs to another account", async () => {
    const [key, other] = [usbKey(), usbKey()];
    const { userId } = await register(key, "security_key");
    await register(other, "security_key");
    const [credential] = other.credentials;
    expect(await show(other, userId, { call: { credential } })).toEqual({
      ok: false,
      reason: "credential_not_allowed",
    });
  });

  test("must verify its user if that is configured or requested", async () => {
    const phone = softwareAuthenticator({ backup: "no" });
    const { userId } = await register(phone, "security_key");
    const required = scopeWith({ STILE_MFA_SECURITY_KEYS_USER_VERIFICATION: "required" });
    const unverified = { call: { userVerified: false } };
    const rejected = { ok: false, reason: "not_verified" };
    expect(await show(phone, userId, unverified, required)).toEqual(rejected);
    const verified = { secondFactor: true, verified: true };
    expect(await show(phone, userId, { ...unverified, proof: verified })).toEqual(rejected);
    expect(await show(phone, userId, { proof: verified })).toMatchObject({ ok: true, userVerified: true });
    expect(await show(phone, userId, unverified)).toMatchObject({ ok: true, userVerified: false });
  });

  test("V17 is recorded as capable of user verification after it verified its user", async () => {
    const phone = softwareAuthenticator({ backup: "no" });
    const { userId, credentialId } = await register(phone, "security_key");
    expect((await rowOf(credentialId)).userVerified).toBe(false);
    const shown = await show(phone, userId, { call: { userVerified: true } });
    if (!shown.ok) throw new Error(shown.reason);
    await commitWrites(runtime, ...shown.writes);
    expect((await rowOf(credentialId)).userVerified).toBe(true);
  });

  test("is accepted as any other credential of the account is, and the options list all", async () => {
    const [key, phone] = [usbKey(), softwareAuthenticator()];
    const { userId, credentialId } = await register(key, "security_key");
    const passkey = await register(phone, "passkey", userId);
    const allowed = await credentialIds(runtime.database.read, runtime.tenant.id, userId);
    const about = { flowId: randomUUID(), userId, allowed, secondFactor: true };
    const { publicKey } = await opened(createRequestOptions(scopeWith(), about));
    expect(publicKey.allowCredentials?.map(({ id }) => id).toSorted()).toEqual(
      [credentialId, passkey.credentialId].toSorted(),
    );
    expect(publicKey).toMatchObject({ userVerification: "discouraged", hints: ["security-key"] });
    expect(await show(phone, userId)).toMatchObject({ ok: true });
    expect(await show(key, userId)).toMatchObject({ ok: true });
  });
});

describe("a challenge", () => {
  test("is rejected for a second factor if it was opened for a first factor, and vice versa", async () => {
    const key = usbKey();
    const { userId } = await register(key, "security_key");
    const [credential] = key.credentials;
    const context = scopeWith();
    for (const [asked, answered] of [
      [{}, { secondFactor: true }],
      [{ secondFactor: true }, {}],
    ] as Proof[][]) {
      const flowId = randomUUID();
      const options = await opened(createRequestOptions(context, { flowId, userId, ...asked }));
      const response = key.get(options, { origin, ...(credential ? { credential } : {}) });
      expect(await verifyAssertion(context, { flowId, response, userId, ...answered })).toEqual(unknown);
    }
  });

  test("is rejected for a security key if it was opened for a passkey, and vice versa", async () => {
    const context = scopeWith();
    const [userId, flowId] = [randomUUID(), randomUUID()];
    for (const [asked, answered] of [
      ["passkey", "security_key"],
      ["security_key", "passkey"],
    ] as [Kind, Kind][]) {
      const options = await creation(context, flowId, userId, { kind: asked });
      const response = softwareAuthenticator().create(options, { origin });
      expect(await verifyAttestation(context, { flowId, userId, response, kind: answered })).toEqual(unknown);
    }
  });
});

describe("R11 a passkey of a conditional creation", () => {
  const alone = { origin, userPresent: false, userVerified: false };

  test("needs no user presence if its challenge allows it", async () => {
    const context = scopeWith();
    const [userId, flowId] = [randomUUID(), randomUUID()];
    const about = { kind: "passkey", conditional: true } as const;
    const options = await creation(context, flowId, userId, about);
    expect(options.mediation).toBe("conditional");
    const response = softwareAuthenticator().create(options, alone);
    expect(await verifyAttestation(context, { flowId, userId, response, kind: "passkey" })).toMatchObject({
      ok: true,
      credential: { userVerified: false, mfaOnly: false },
    });
  });

  test.each<[Kind, Record<string, string>]>([
    ["passkey", {}],
    ["security_key", {}],
  ])("is rejected for an ordinary challenge of a %s", async (kind) => {
    const context = scopeWith();
    const [userId, flowId] = [randomUUID(), randomUUID()];
    const options = await creation(context, flowId, userId, { kind });
    expect(options.mediation).toBeUndefined();
    const response = softwareAuthenticator().create(options, alone);
    expect(await verifyAttestation(context, { flowId, userId, response, kind })).toEqual({
      ok: false,
      reason: "not_verified",
    });
  });

  test("is rejected if user verification is required", async () => {
    const context = scopeWith({ STILE_PASSKEY_USER_VERIFICATION: "required" });
    const [userId, flowId] = [randomUUID(), randomUUID()];
    const options = await creation(context, flowId, userId, { kind: "passkey", conditional: true });
    const response = softwareAuthenticator().create(options, alone);
    expect(await verifyAttestation(context, { flowId, userId, response, kind: "passkey" })).toEqual({
      ok: false,
      reason: "not_verified",
    });
  });
});

describe("an origin of another domain", () => {
  const related = "https://shop.example.net";

  test("is accepted if it is configured as related, and rejected otherwise", async () => {
    const named = scopeWith({ STILE_WEBAUTHN_RELATED_ORIGINS: related });
    const phone = softwareAuthenticator();
    for (const [context, ok] of [
      [scopeWith(), false],
      [named, true],
    ] as const) {
      const [userId, flowId] = [randomUUID(), randomUUID()];
      const options = await creation(context, flowId, userId, { kind: "passkey" });
      const response = phone.create(options, { origin: related });
      expect((await verifyAttestation(context, { flowId, userId, response, kind: "passkey" })).ok).toBe(ok);
    }
    const { userId } = await register(phone, "passkey");
    expect((await show(phone, userId, { call: { origin: related }, proof: {} }, named)).ok).toBe(true);
    expect((await show(phone, userId, { call: { origin: related }, proof: {} })).ok).toBe(false);
    expect((await show(phone, userId, { call: { origin: "https://net" }, proof: {} }, named)).ok).toBe(false);
  });
});

test("rejects attestation formats that are not configured", async () => {
  const context = scopeWith({
    STILE_PASSKEY_ATTESTATION_FORMATS: "packed",
    STILE_PASSKEY_ATTESTATION_PREFERENCE: "direct",
  });
  const [userId, flowId] = [randomUUID(), randomUUID()];
  for (const [attestation, verdict] of [
    ["none", { ok: false, reason: "attestation_format_refused" }],
    ["packed", { ok: true }],
  ] as const) {
    const options = await creation(context, flowId, userId, { kind: "passkey" });
    const response = softwareAuthenticator({ attestation }).create(options, { origin });
    expect(await verifyAttestation(context, { flowId, userId, response, kind: "passkey" })).toMatchObject(
      verdict,
    );
  }
});
