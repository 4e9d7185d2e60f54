import { generateKeyPairSync, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { anything, array, assert, base64String, property, string, tuple } from "fast-check";
import { describe, expect, test } from "vitest";
import { coseAlgorithms, encodeCoseKey, smallOrderKeys } from "../testing/cose-key.ts";
import { type ReceiptOverrides, receiptIssuer, transaction } from "../testing/receipts.ts";
import { smallOrderPoints } from "../testing/small-order-points.ts";
import { softwareAuthenticator } from "../testing/webauthn-authenticator.ts";
import { type ReceiptExpectations, receiptRejections, verifyReceipt } from "./receipt-verification.ts";

const issuer = receiptIssuer();
const { jwks, publicKey } = issuer;

const verdictOf = (receipt: string, expected: Partial<ReceiptExpectations> = {}) =>
  verifyReceipt(receipt, { jwks, ...expected });

describe("a valid receipt", () => {
  test("returns user, data, times and origin", async () => {
    const verdict = verdictOf(await issuer.issue(), {
      publicKey,
      origins: [transaction.origin],
      relyingPartyId: transaction.rpId,
    });
    expect(verdict).toEqual({
      ok: true,
      receipt: {
        transactionId: transaction.id,
        userId: transaction.userId,
        data: { amount: "149.90", currency: "EUR", payee: "Bergmann & Söhne" },
        canonicalData: transaction.data,
        createdAt: new Date("2026-11-25T09:20:00Z"),
        confirmedAt: new Date("2026-11-25T09:20:30Z"),
        issuer: "https://login.example/passkeys/00000000-0000-4000-8000-000000000001",
        tenantId: "00000000-0000-4000-8000-000000000001",
        issuerKeyId: "key-1",
        relyingPartyId: transaction.rpId,
        origin: transaction.origin,
        credentialId: issuer.authenticator.credentials[0]?.id.toString("base64url"),
        publicKey,
        aaguid: "00000000-0000-0000-0000-000000000000",
        attestationTrust: null,
        userVerified: true,
      },
    });
  });

  test.each([
    ["ES256", coseAlgorithms.ES256],
    ["EdDSA", coseAlgorithms.EdDSA],
    ["RS256", coseAlgorithms.RS256],
  ])("is accepted with a passkey of %s", async (_, algorithm) => {
    const authenticator = softwareAuthenticator({ algorithms: [algorithm] });
    const other = receiptIssuer({ authenticator });
    const receipt = await other.issue();
    expect(verifyReceipt(receipt, other)).toMatchObject({ ok: true });
    const broken = await other.issue({ call: { brokenSignature: true } });
    expect(verifyReceipt(broken, other)).toMatchObject({ code: "authenticator_signature" });
  });

  test("is accepted with a passkey of RS256 whose exponent is 3, as former versions registered it", async () => {
    const authenticator = softwareAuthenticator({ algorithms: [coseAlgorithms.RS256] });
    receiptIssuer({ authenticator });
    const [credential] = authenticator.credentials;
    const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048, publicExponent: 3 });
    const cose = encodeCoseKey(publicKey.export({ format: "jwk" }), coseAlgorithms.RS256);
    Object.assign(credential ?? {}, {
      key: { algorithm: coseAlgorithms.RS256, privateKey, publicKey, cose },
    });
    const other = receiptIssuer({ authenticator });
    expect(verifyReceipt(await other.issue(), other)).toMatchObject({ ok: true });
  });

  test.each([
    ["RS256", generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey],
    ["EdDSA", generateKeyPairSync("ed25519").privateKey],
  ])("is accepted with an issuer's key of %s", async (algorithm, key) => {
    const other = receiptIssuer({ key, algorithm });
    expect(verifyReceipt(await other.issue(), other)).toMatchObject({ ok: true });
  });

  test("reports that the user was not verified", async () => {
    expect(verdictOf(await issuer.issue({ call: { userVerified: false } }))).toMatchObject({
      ok: true,
      receipt: { userVerified: false },
    });
  });

  test("is accepted without a user handle, which security keys do not send", async () => {
    expect(verdictOf(await issuer.issue({ call: { userHandle: null } }))).toMatchObject({ ok: true });
  });

  test("is accepted with an AAGUID that is not a UUID, as of Google Password Manager", async () => {
    const aaguid = "ea9b8d66-4d01-1d21-3ce4-b6b48cb575d4";
    const receipt = await issuer.issue({ claims: { credential: { ...credential, aaguid } } });
    expect(verdictOf(receipt)).toMatchObject({ ok: true, receipt: { aaguid } });
  });

  test("is accepted without the issuer's keys, and reports none", async () => {
    const verdict = verifyReceipt(await issuer.issue(), { jwks: null, publicKey });
    expect(verdict).toMatchObject({ ok: true, receipt: { issuerKeyId: null } });
  });

  test("is accepted with members of later versions", async () => {
    expect(verdictOf(await issuer.issue({ claims: { note: "x" } }))).toMatchObject({ ok: true });
  });
});

const otherKey = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
const otherIssuer = receiptIssuer();
const credentialOf = async (from: typeof issuer) => {
  const [, body = ""] = (await from.issue()).split(".");
  return JSON.parse(Buffer.from(body, "base64url").toString()).credential as Record<string, unknown>;
};
const credential = await credentialOf(issuer);
const otherCredential = await credentialOf(otherIssuer);
const otherOrigin = "https://evil.example";

describe("an invalid receipt", () => {
  test.each<[string, keyof typeof receiptRejections, ReceiptOverrides]>([
    ["rejects another token type", "not_a_receipt", { header: { typ: "JWT" } }],
    ["rejects critical header parameters", "not_a_receipt", { header: { crit: ["b64"], b64: true } }],
    ["rejects an unknown issuer's key", "key_unknown", { header: { kid: "key-2" } }],
    ["rejects a signature by another issuer's key", "issuer_signature", { key: otherKey }],
    ["rejects missing data", "malformed", { claims: { data: undefined } }],
    ["rejects an invalid time", "malformed", { claims: { confirmed_at: "yesterday" } }],
    [
      "rejects data that is not canonical",
      "data_not_canonical",
      { claims: { data: transaction.data.replace(":", ": ") } },
    ],
    [
      "rejects data that is not an object",
      "data_not_canonical",
      { claims: { data: "[1]" }, signed: { data: "[1]" } },
    ],
    [
      "rejects invalid client data",
      "client_data_malformed",
      { claims: { response: { clientDataJSON: "AAAA", authenticatorData: "AAAA", signature: "AAAA" } } },
    ],
    [
      "A91 rejects a duplicate member of the client data",
      "client_data_malformed",
      {
        claims: {
          response: {
            clientDataJSON: Buffer.from(
              '{"type":"webauthn.get","challenge":"AAAA","challenge":"AAAB","origin":"https://shop.example"}',
            ).toString("base64url"),
            authenticatorData: "AAAA",
            signature: "AAAA",
          },
        },
      },
    ],
    ["rejects the response of a registration", "wrong_ceremony", { call: { type: "webauthn.create" } }],
    [
      "A69 rejects data other than the signed data",
      "challenge_mismatch",
      { signed: { data: transaction.data.replace("149.90", "14.99") } },
    ],
    ["A69 rejects an id other than the signed one", "challenge_mismatch", { signed: { id: "order-2042" } }],
    ["rejects a short challenge", "challenge_mismatch", { signed: { random: Buffer.alloc(31) } }],
    ["rejects a long challenge", "challenge_mismatch", { signed: { random: Buffer.alloc(33) } }],
    ["rejects another origin", "origin_mismatch", { call: { origin: otherOrigin } }],
    ["rejects a cross-origin frame", "framed", { call: { crossOrigin: true } }],
    ["rejects a top origin", "framed", { call: { topOrigin: otherOrigin } }],
    ["rejects another relying party", "relying_party_mismatch", { call: { rpId: "evil.example" } }],
    ["rejects a signature without user presence", "user_absent", { call: { userPresent: false } }],
    ["rejects the user handle of another user", "user_mismatch", { call: { userHandle: "Z3JhY2U" } }],
    ["rejects another user id", "user_mismatch", { claims: { user_id: "grace" } }],
    [
      "rejects an invalid public key",
      "public_key_unusable",
      { claims: { credential: { ...credential, public_key: "AAAA" } } },
    ],
    [
      "rejects another public key",
      "authenticator_signature",
      { claims: { credential: { ...credential, public_key: otherCredential.public_key } } },
    ],
    [
      "rejects a signature by another passkey",
      "authenticator_signature",
      {
        call: {
          ...(otherIssuer.authenticator.credentials[0]
            ? { credential: otherIssuer.authenticator.credentials[0] }
            : {}),
        },
      },
    ],
    [
      "rejects a broken signature of the passkey",
      "authenticator_signature",
      { call: { brokenSignature: true } },
    ],
    [
      "rejects trailing bytes after the authenticator data",
      "authenticator_data_malformed",
      { call: { authenticatorDataTail: Buffer.of(1) } },
    ],
  ])("%s", async (_, code, changes) => {
    expect(verdictOf(await issuer.issue(changes))).toEqual({
      ok: false,
      code,
      reason: receiptRejections[code],
    });
  });

  test("A69 is rejected if any byte was changed", async () => {
    const receipt = await issuer.issue();
    const accepted = [...receipt].flatMap((character, at) => {
      const other = character === "A" ? "B" : "A";
      const altered = receipt.slice(0, at) + other + receipt.slice(at + 1);
      return verdictOf(altered).ok ? [at] : [];
    });
    expect(accepted).toEqual([]);
    for (const more of [
      `${receipt}A`,
      `${receipt}=`,
      `${receipt}.`,
      ` ${receipt}`,
      `${receipt}\n`,
      receipt.slice(1),
    ]) {
      expect(verdictOf(more)).toMatchObject({ ok: false });
    }
  });

  test("A69 is rejected by the passkey's signature alone if signed data were changed", async () => {
    const receipt = await issuer.issue();
    const [head = "", body = "", signature = ""] = receipt.split(".");
    const claims = JSON.parse(Buffer.from(body, "base64url").toString());
    const changedReceipt = (changed: object) =>
      [head, Buffer.from(JSON.stringify({ ...claims, ...changed })).toString("base64url"), signature].join(
        ".",
      );
    const verify = (changed: object) => verifyReceipt(changedReceipt(changed), { jwks: null, publicKey });
    expect(verify({})).toMatchObject({ ok: true });
    for (const changed of [
      { transaction_id: "order-2042" },
      { data: transaction.data.replace("1", "2") },
      { user_id: "grace" },
      { relying_party: { id: "evil.example", origins: [transaction.origin] } },
      { relying_party: { id: transaction.rpId, origins: [otherOrigin] } },
      { credential: otherCredential },
    ])
      expect(verify(changed)).toMatchObject({ ok: false });
    for (const [name, value] of Object.entries<string>(claims.response)) {
      const accepted = [...Buffer.from(value, "base64url")].flatMap((byte, at, bytes) => {
        const altered = Buffer.from(bytes);
        altered[at] = byte ^ 1;
        const response = { ...claims.response, [name]: altered.toString("base64url") };
        return verify({ response }).ok ? [at] : [];
      });
      expect([name, accepted]).toEqual([name, []]);
    }
  });

  test("A132 is rejected if the issuer's key or the passkey's is an Ed25519 point of small order", async () => {
    const { privateKey } = generateKeyPairSync("ed25519");
    const edIssuer = receiptIssuer({ key: privateKey, algorithm: "EdDSA" });
    const receipt = await edIssuer.issue();
    expect(verifyReceipt(receipt, edIssuer)).toMatchObject({ ok: true });
    const [jwk] = edIssuer.jwks.keys;
    for (const point of smallOrderPoints) {
      const jwks = { keys: [{ ...jwk, kid: "key-1", x: point.toString("base64url") }] };
      expect(verifyReceipt(receipt, { jwks }), "issuer").toMatchObject({ code: "key_unknown" });
    }
    for (const key of smallOrderKeys()) {
      const public_key = key.toString("base64url");
      const forged = await issuer.issue({ claims: { credential: { ...credential, public_key } } });
      expect(verdictOf(forged), "passkey").toMatchObject({ code: "public_key_unusable" });
    }
  });

  test.each([
    [2048, { ok: true }],
    [1024, { code: "key_unknown" }],
  ])("is verified by an RSA key of at least 2048 bits: %i", async (modulusLength, verdict) => {
    const key = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
    const [head, body] = (await receiptIssuer({ key, algorithm: "RS256" }).issue()).split(".");
    const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength });
    const signature = sign("sha256", Buffer.from(`${head}.${body}`), privateKey).toString("base64url");
    const keys = [{ ...publicKey.export({ format: "jwk" }), kid: "key-1" }];
    expect(verifyReceipt(`${head}.${body}.${signature}`, { jwks: { keys } })).toMatchObject(verdict);
  });

  test("is rejected with keys of another issuer, of another kind, or without keys", async () => {
    const receipt = await issuer.issue();
    const code = (keys: unknown) => {
      const verdict = verifyReceipt(receipt, { jwks: keys as typeof jwks });
      return verdict.ok ? "ok" : verdict.code;
    };
    expect(code(otherIssuer.jwks)).toBe("issuer_signature");
    const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).publicKey.export({ format: "jwk" });
    for (const keys of [
      [],
      [{ ...rsa, kid: "key-1" }],
      [null],
      [{ kid: "key-1", kty: "EC", crv: "P-256" }],
      "x",
    ])
      expect(code({ keys })).toBe("key_unknown");
    const [key] = jwks.keys;
    expect(code({ keys: [{ ...key, alg: "RS256" }] })).toBe("key_unknown");
    expect(code({ keys: [{ ...key, use: "enc" }] })).toBe("key_unknown");
    // RFC 7517, 4.5: keys of different types may have the same key id.
    expect(code({ keys: [{ ...rsa, kid: "key-1" }, key] })).toBe("ok");
    expect(
      verifyReceipt(
        receipt.replace(
          /^[^.]+/,
          Buffer.from('{"alg":"none","kid":"key-1","typ":"transaction-receipt+jwt"}').toString("base64url"),
        ),
        { jwks },
      ),
    ).toMatchObject({ code: "algorithm_unknown" });
  });

  test("is rejected if another key, origin or relying party is expected", async () => {
    const receipt = await issuer.issue();
    expect(verdictOf(receipt, { publicKey: otherIssuer.publicKey })).toMatchObject({
      code: "public_key_mismatch",
    });
    expect(verdictOf(receipt, { publicKey: "" })).toMatchObject({ code: "public_key_mismatch" });
    expect(verdictOf(receipt, { origins: [otherOrigin] })).toMatchObject({ code: "origin_mismatch" });
    expect(verdictOf(receipt, { relyingPartyId: "example" })).toMatchObject({
      code: "relying_party_mismatch",
    });
  });

  test("never makes verifyReceipt throw", async () => {
    const part = anything().map((value) => Buffer.from(JSON.stringify(value) ?? "").toString("base64url"));
    const parts = array(part, { minLength: 2, maxLength: 4 }).map((all) => all.join("."));
    const [head = "", , signature = ""] = (await issuer.issue()).split(".");
    await assert(
      property(tuple(string(), parts, base64String(), part), ([text, joined, encoded, body]) => {
        for (const input of [text, joined, encoded, `${head}.${body}.${signature}`]) {
          expect(verdictOf(input).ok).toBe(false);
          expect(verifyReceipt(input, { jwks: null }).ok).toBe(false);
        }
      }),
    );
  });
});

describe("the example in the repository", () => {
  const file = join(import.meta.dirname, "receipt.example.json");
  const example = JSON.parse(readFileSync(file, "utf8")) as {
    receipt: string;
    jwks: typeof jwks;
    public_key: string;
  };

  test("is accepted", () => {
    const { receipt, jwks, public_key: publicKey } = example;
    expect(verifyReceipt(receipt, { jwks, publicKey })).toMatchObject({
      ok: true,
      receipt: { transactionId: transaction.id, canonicalData: transaction.data, origin: transaction.origin },
    });
  });

  test("is rejected if any character was changed", () => {
    const { receipt, jwks } = example;
    const accepted = [...receipt].flatMap((character, at) => {
      const altered = receipt.slice(0, at) + (character === "x" ? "y" : "x") + receipt.slice(at + 1);
      return verifyReceipt(altered, { jwks }).ok ? [at] : [];
    });
    expect(accepted).toEqual([]);
  });
});
