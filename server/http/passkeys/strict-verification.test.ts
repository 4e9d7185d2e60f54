import { generateKeyPairSync, randomUUID } from "node:crypto";
import { and, eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { schema } from "#db/client";
import {
  createCreationOptions,
  createRequestOptions,
  verifyAttestation,
} from "../../methods/passkey/passkeys.ts";
import { insertCredential } from "../../methods/webauthn-credentials.ts";
import { verifyReceipt } from "../../passkey-server/receipt-verification.ts";
import { coseAlgorithms } from "../../testing/cose-key.ts";
import { importRecords } from "../../testing/moving.ts";
import { passkeySuite } from "../../testing/passkey-suite.ts";
import { receiptIssuer } from "../../testing/receipts.ts";
import { requestContext } from "../../testing/request-context.ts";
import { rsaCoseKey, unacceptableKeys } from "../../testing/unacceptable-keys.ts";
import { verifyAssertion } from "../../testing/verify-assertion.ts";
import { type CreateCall, softwareAuthenticator } from "../../testing/webauthn-authenticator.ts";
import { commitWrites } from "../../testing/writes.ts";

const { runtime, application } = await passkeySuite({ BASE_URL: "https://login.example" });
const context = requestContext(runtime);
const origin = "https://login.example";

async function newUser(): Promise<string> {
  const id = randomUUID();
  await runtime.database.write.insert(schema.users).values({ tenantId: runtime.tenant.id, id });
  return id;
}

/** A registration in a flow: the verdict, and the authenticator. */
async function registerInFlow(call: Partial<CreateCall> = {}) {
  const [userId, flowId] = [await newUser(), randomUUID()];
  const user = { id: userId, name: "ada", displayName: "Ada" };
  const { options, write } = await createCreationOptions(context, {
    flowId,
    user,
    pending: [],
    kind: "passkey",
  });
  await commitWrites(runtime, write);
  const authenticator = softwareAuthenticator();
  const response = authenticator.create(options, { origin, ...call });
  const verdict = await verifyAttestation(context, { flowId, userId, response, kind: "passkey" });
  return { userId, authenticator, verdict };
}

/** A passkey that was registered in a flow, and its sign-in. */
async function signedUp() {
  const { userId, authenticator, verdict } = await registerInFlow();
  if (!verdict.ok) throw new Error(verdict.reason);
  await commitWrites(runtime, insertCredential(context, userId, verdict.credential));
  return {
    authenticator,
    credentialId: verdict.credential.id,
    async signIn(call: Partial<Parameters<typeof authenticator.get>[1]> = {}) {
      const flowId = randomUUID();
      const { options, write } = await createRequestOptions(context, { flowId });
      await commitWrites(runtime, write);
      const response = authenticator.get(options, { origin, ...call });
      return verifyAssertion(context, { flowId, response });
    },
  };
}

/** Replaces a stored key, as a former version may have stored it. */
const store = (id: string, publicKey: Buffer) =>
  runtime.database.write
    .update(schema.webauthnCredentials)
    .set({ publicKey })
    .where(
      and(eq(schema.webauthnCredentials.tenantId, runtime.tenant.id), eq(schema.webauthnCredentials.id, id)),
    );

describe.each(unacceptableKeys())("A144 a public key with %s", (what, publicKey) => {
  test("is refused in a flow", async () => {
    const { verdict } = await registerInFlow({ publicKey });
    expect(verdict).toEqual({
      ok: false,
      reason: expect.stringMatching(/^(?:public_key_refused|not_verified|attestation_object_malformed)$/),
    });
  });

  test("is refused by the passkey server", async () => {
    const body = { user_id: randomUUID(), username: "ada" };
    const { body: options } = await application.post("/registration/initialize", body);
    const answer = softwareAuthenticator().create(options, { origin: application.origin, publicKey });
    const { status } = await application.post("/registration/finalize", answer);
    expect(status).toBe(400);
  });

  test("is refused in a receipt", async () => {
    const issuer = receiptIssuer();
    const [held] = issuer.authenticator.credentials;
    const receipt = await issuer.issue({
      claims: {
        credential: {
          id: held?.id.toString("base64url"),
          public_key: publicKey.toString("base64url"),
          aaguid: "00000000-0000-0000-0000-000000000000",
          attestation_type: "none",
          created_at: "2026-03-01T08:00:00.000Z",
        },
      },
    });
    // Former versions accepted this exponent: the key is read, and is not the one that signed.
    const code = what === "the exponent 3" ? "authenticator_signature" : "public_key_unusable";
    expect(verifyReceipt(receipt, { jwks: issuer.jwks })).toMatchObject({ code });
  });

  test("is refused in an import", async () => {
    const passkey = {
      id: Buffer.from(randomUUID()).toString("base64url"),
      public_key: publicKey.toString("base64url"),
    };
    const { imported, refusals } = await importRecords(runtime, runtime.tenant, [{ passkeys: [passkey] }]);
    expect({ imported, refusals }).toEqual({
      imported: 0,
      refusals: [{ line: 1, reason: "the public key of a passkey is not supported" }],
    });
  });

  test("that a former version stored does not sign in", async () => {
    const { credentialId, signIn } = await signedUp();
    await store(credentialId, publicKey);
    // Former versions accepted this exponent: the key is read, and is not the one that signed.
    const reason = what === "the exponent 3" ? "not_verified" : "public_key_refused";
    expect(await signIn()).toEqual({ ok: false, reason });
  });
});

test("A144 a key of 512 bits does not sign in, whatever its encoding", async () => {
  const { authenticator, credentialId, signIn } = await signedUp();
  expect(await signIn()).toMatchObject({ ok: true });
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 512 });
  const n = Buffer.from(publicKey.export({ format: "jwk" }).n ?? "", "base64url");
  const [held] = authenticator.credentials;
  for (const length of [64, 256, 257, 512]) {
    const cose = rsaCoseKey(Buffer.concat([Buffer.alloc(length - n.length), n]));
    Object.assign(held ?? {}, { key: { algorithm: coseAlgorithms.RS256, privateKey, publicKey, cose } });
    await store(credentialId, cose);
    expect(await signIn()).toEqual({ ok: false, reason: "public_key_refused" });
  }
});

describe.each(["type", "challenge", "origin", "crossOrigin", "example"])(
  "A144 client data with `%s` twice",
  (name) => {
    const twice = (data: Record<string, unknown>) => {
      const value = JSON.stringify(data[name] ?? "x");
      // The last one is the right one, and one name is spelled by an escape.
      return JSON.stringify(data).replace(
        "{",
        `{"${name}":"other","\\u00${Buffer.from(name[0] ?? "").toString("hex")}${name.slice(1)}":${value},`,
      );
    };
    const call = { clientData: twice };

    test("are refused in a flow", async () => {
      expect((await registerInFlow(call)).verdict).toEqual({ ok: false, reason: "malformed" });
      const { signIn } = await signedUp();
      expect(await signIn(call)).toEqual({ ok: false, reason: "malformed" });
    });

    test("are refused by the passkey server", async () => {
      const user = { user_id: randomUUID(), username: "ada" };
      const { body: options } = await application.post("/registration/initialize", user);
      const answer = softwareAuthenticator().create(options, { origin: application.origin, ...call });
      expect(await application.post("/registration/finalize", answer)).toMatchObject({ status: 400 });
      const { authenticator } = await application.registerUser();
      const signedIn = await application.answer(authenticator, "/login", undefined, call);
      expect(await application.postWithoutKey("/login/finalize", signedIn)).toMatchObject({
        status: 400,
      });
    });

    test("are refused in a receipt", async () => {
      const issuer = receiptIssuer();
      expect(verifyReceipt(await issuer.issue(), issuer)).toMatchObject({ ok: true });
      expect(verifyReceipt(await issuer.issue({ call }), issuer)).toMatchObject({
        code: "client_data_malformed",
      });
    });
  },
);
