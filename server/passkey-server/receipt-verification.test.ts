import { generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { anything, array, assert, base64String, property, string, tuple } from "fast-check";
import { describe, expect, test } from "vitest";
import { coseAlgorithms } from "../testing/cose-key.ts";
import { agreed, type ReceiptOverrides, receiptIssuer } from "../testing/receipts.ts";
import { softwareAuthenticator } from "../testing/webauthn-authenticator.ts";
import { type ReceiptExpectations, receiptRejections, verifyReceipt } from "./receipt-verification.ts";

const issuer = receiptIssuer();
const { jwks, publicKey } = issuer;

const ok = (receipt: string, expected: Partial<ReceiptExpectations> = {}) =>
  verifyReceipt(receipt, { jwks, ...expected });

describe("a true receipt", () => {
  test("tells who agreed to what, when and where", async () => {
    const verdict = ok(await issuer.issue(), {
      publicKey,
      origins: [agreed.origin],
      relyingPartyId: agreed.rpId,
    });
    expect(verdict).toEqual({
      ok: true,
      receipt: {
        transactionId: agreed.id,
        userId: agreed.userId,
        data: { amount: "149.90", currency: "EUR", payee: "Bergmann & Söhne" },
        canonicalData: agreed.data,
        createdAt: new Date("2026-11-25T09:20:00Z"),
        confirmedAt: new Date("2026-11-25T09:20:30Z"),
        issuer: "https://login.example/passkeys/00000000-0000-4000-8000-000000000001",
        tenantId: "00000000-0000-4000-8000-000000000001",
        issuerKeyId: "key-1",
        relyingPartyId: agreed.rpId,
        origin: agreed.origin,
        credentialId: issuer.authenticator.credentials[0]?.id.toString("base64url"),
        publicKey,
        aaguid: "00000000-0000-0000-0000-000000000000",
        userVerified: true,
      },
    });
  });

  test.each([
    ["ES256", coseAlgorithms.ES256],
    ["EdDSA", coseAlgorithms.EdDSA],
    ["RS256", coseAlgorithms.RS256],
  ])("holds with a passkey that signs by %s", async (_, algorithm) => {
    const authenticator = softwareAuthenticator({ algorithms: [algorithm] });
    const other = receiptIssuer({ authenticator });
    const receipt = await other.issue();
    expect(verifyReceipt(receipt, other)).toMatchObject({ ok: true });
    const broken = await other.issue({ call: { brokenSignature: true } });
    expect(verifyReceipt(broken, other)).toMatchObject({ code: "authenticator_signature" });
  });

  test.each([
    ["RS256", generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey],
    ["EdDSA", generateKeyPairSync("ed25519").privateKey],
  ])("holds with an issuer that signs by %s", async (algorithm, key) => {
    const other = receiptIssuer({ key, algorithm });
    expect(verifyReceipt(await other.issue(), other)).toMatchObject({ ok: true });
  });

  test("says so when the authenticator did not make sure who was there", async () => {
    expect(ok(await issuer.issue({ call: { userVerified: false } }))).toMatchObject({
      ok: true,
      receipt: { userVerified: false },
    });
  });

  test("holds without a user handle, which security keys do not send", async () => {
    expect(ok(await issuer.issue({ call: { userHandle: null } }))).toMatchObject({ ok: true });
  });

  test("holds for authenticators whose AAGUID is no UUID, as that of Google's password manager", async () => {
    const aaguid = "ea9b8d66-4d01-1d21-3ce4-b6b48cb575d4";
    const receipt = await issuer.issue({ claims: { credential: { ...credential, aaguid } } });
    expect(ok(receipt)).toMatchObject({ ok: true, receipt: { aaguid } });
  });

  test("holds without the issuer's keys, and names none", async () => {
    const verdict = verifyReceipt(await issuer.issue(), { jwks: null, publicKey });
    expect(verdict).toMatchObject({ ok: true, receipt: { issuerKeyId: null } });
  });

  test("holds with members that a later version adds", async () => {
    expect(ok(await issuer.issue({ claims: { note: "x" } }))).toMatchObject({ ok: true });
  });
});

const otherKey = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
const stranger = receiptIssuer();
const credentialOf = async (from: typeof issuer) => {
  const [, body = ""] = (await from.issue()).split(".");
  return JSON.parse(Buffer.from(body, "base64url").toString()).credential as Record<string, unknown>;
};
const credential = await credentialOf(issuer);
const foreign = await credentialOf(stranger);
const elsewhere = "https://evil.example";

describe("a receipt that is not true", () => {
  test.each<[keyof typeof receiptRejections, string, ReceiptOverrides]>([
    ["not_a_receipt", "is a token of another kind", { header: { typ: "JWT" } }],
    ["not_a_receipt", "asks to be understood", { header: { crit: ["b64"], b64: true } }],
    ["key_unknown", "names another key", { header: { kid: "key-2" } }],
    ["issuer_signature", "was signed by another key", { key: otherKey }],
    ["malformed", "lacks what it is about", { claims: { data: undefined } }],
    ["malformed", "has a time that is none", { claims: { confirmed_at: "yesterday" } }],
    ["data_not_canonical", "spells its data otherwise", { claims: { data: agreed.data.replace(":", ": ") } }],
    ["data_not_canonical", "holds no object", { claims: { data: "[1]" }, signed: { data: "[1]" } }],
    [
      "client_data_malformed",
      "holds what no browser says",
      { claims: { response: { clientDataJSON: "AAAA", authenticatorData: "AAAA", signature: "AAAA" } } },
    ],
    [
      "client_data_malformed",
      "A91 says one thing to one reader and another to the next",
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
    ["wrong_ceremony", "was made at a registration", { call: { type: "webauthn.create" } }],
    [
      "challenge_mismatch",
      "A69 states other data than was signed",
      { signed: { data: agreed.data.replace("149.90", "14.99") } },
    ],
    ["challenge_mismatch", "A69 states another id than was signed", { signed: { id: "order-2042" } }],
    ["challenge_mismatch", "signed a short challenge", { signed: { random: Buffer.alloc(31) } }],
    ["challenge_mismatch", "signed a long challenge", { signed: { random: Buffer.alloc(33) } }],
    ["origin_mismatch", "was made on another page", { call: { origin: elsewhere } }],
    ["framed", "was made within another page", { call: { crossOrigin: true } }],
    ["framed", "names a page around it", { call: { topOrigin: elsewhere } }],
    ["relying_party_mismatch", "is for another relying party", { call: { rpId: "evil.example" } }],
    ["user_absent", "was made while nobody was there", { call: { userPresent: false } }],
    ["user_mismatch", "is somebody else's passkey", { call: { userHandle: "Z3JhY2U" } }],
    ["user_mismatch", "states somebody else", { claims: { user_id: "grace" } }],
    [
      "public_key_unusable",
      "states a key that is none",
      { claims: { credential: { ...credential, public_key: "AAAA" } } },
    ],
    [
      "authenticator_signature",
      "states another key",
      { claims: { credential: { ...credential, public_key: foreign.public_key } } },
    ],
    [
      "authenticator_signature",
      "was signed by another key",
      {
        call: {
          ...(stranger.authenticator.credentials[0]
            ? { credential: stranger.authenticator.credentials[0] }
            : {}),
        },
      },
    ],
    ["authenticator_signature", "carries a broken signature", { call: { brokenSignature: true } }],
    [
      "authenticator_data_malformed",
      "has bytes that belong to nothing",
      { call: { authenticatorDataTail: Buffer.of(1) } },
    ],
  ])("%s: it %s", async (code, _, falsehood) => {
    expect(ok(await issuer.issue(falsehood))).toEqual({ ok: false, code, reason: receiptRejections[code] });
  });

  test("A69 fails at the issuer's signature as soon as one byte of it is another", async () => {
    const receipt = await issuer.issue();
    const survivors = [...receipt].flatMap((character, at) => {
      const other = character === "A" ? "B" : "A";
      const altered = receipt.slice(0, at) + other + receipt.slice(at + 1);
      return ok(altered).ok ? [at] : [];
    });
    expect(survivors).toEqual([]);
    for (const more of [
      `${receipt}A`,
      `${receipt}=`,
      `${receipt}.`,
      ` ${receipt}`,
      `${receipt}\n`,
      receipt.slice(1),
    ]) {
      expect(ok(more)).toMatchObject({ ok: false });
    }
  });

  test("A69 fails at the passkey's signature where nobody looks at the issuer's, for what the passkey signed", async () => {
    const receipt = await issuer.issue();
    const [head = "", body = "", signature = ""] = receipt.split(".");
    const claims = JSON.parse(Buffer.from(body, "base64url").toString());
    const forged = (changed: object) =>
      [head, Buffer.from(JSON.stringify({ ...claims, ...changed })).toString("base64url"), signature].join(
        ".",
      );
    const judged = (changed: object) => verifyReceipt(forged(changed), { jwks: null, publicKey });
    expect(judged({})).toMatchObject({ ok: true });
    for (const changed of [
      { transaction_id: "order-2042" },
      { data: agreed.data.replace("1", "2") },
      { user_id: "grace" },
      { relying_party: { id: "evil.example", origins: [agreed.origin] } },
      { relying_party: { id: agreed.rpId, origins: [elsewhere] } },
      { credential: foreign },
    ])
      expect(judged(changed)).toMatchObject({ ok: false });
    for (const [name, value] of Object.entries<string>(claims.response)) {
      const survivors = [...Buffer.from(value, "base64url")].flatMap((byte, at, bytes) => {
        const altered = Buffer.from(bytes);
        altered[at] = byte ^ 1;
        const response = { ...claims.response, [name]: altered.toString("base64url") };
        return judged({ response }).ok ? [at] : [];
      });
      expect([name, survivors]).toEqual([name, []]);
    }
  });

  test("is none with the keys of somebody else, of another kind, or none at all", async () => {
    const receipt = await issuer.issue();
    const code = (keys: unknown) => {
      const verdict = verifyReceipt(receipt, { jwks: keys as typeof jwks });
      return verdict.ok ? "ok" : verdict.code;
    };
    expect(code(stranger.jwks)).toBe("issuer_signature");
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
    // RFC 7517, 4.5: keys of several kinds may go by one name.
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

  test("is none where something else is expected", async () => {
    const receipt = await issuer.issue();
    expect(ok(receipt, { publicKey: stranger.publicKey })).toMatchObject({ code: "public_key_mismatch" });
    expect(ok(receipt, { publicKey: "" })).toMatchObject({ code: "public_key_mismatch" });
    expect(ok(receipt, { origins: [elsewhere] })).toMatchObject({ code: "origin_mismatch" });
    expect(ok(receipt, { relyingPartyId: "example" })).toMatchObject({ code: "relying_party_mismatch" });
  });

  test("nothing that is no receipt makes it throw", async () => {
    const part = anything().map((value) => Buffer.from(JSON.stringify(value) ?? "").toString("base64url"));
    const parts = array(part, { minLength: 2, maxLength: 4 }).map((all) => all.join("."));
    const [head = "", , signature = ""] = (await issuer.issue()).split(".");
    await assert(
      property(tuple(string(), parts, base64String(), part), ([text, joined, encoded, body]) => {
        for (const one of [text, joined, encoded, `${head}.${body}.${signature}`]) {
          expect(ok(one).ok).toBe(false);
          expect(verifyReceipt(one, { jwks: null }).ok).toBe(false);
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

  test("verifies, today and later", () => {
    const { receipt, jwks, public_key: publicKey } = example;
    expect(verifyReceipt(receipt, { jwks, publicKey })).toMatchObject({
      ok: true,
      receipt: { transactionId: agreed.id, canonicalData: agreed.data, origin: agreed.origin },
    });
  });

  test("fails with each of its characters altered", () => {
    const { receipt, jwks } = example;
    const survivors = [...receipt].flatMap((character, at) => {
      const altered = receipt.slice(0, at) + (character === "x" ? "y" : "x") + receipt.slice(at + 1);
      return verifyReceipt(altered, { jwks }).ok ? [at] : [];
    });
    expect(survivors).toEqual([]);
  });
});
