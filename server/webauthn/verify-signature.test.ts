import { constants, generateKeyPairSync, type JsonWebKey, type KeyObject, sign } from "node:crypto";
import { describe, expect, test } from "vitest";
import { type Cbor, encodeCbor } from "../testing/cbor.ts";
import { offCurveKey } from "../testing/cose-key.ts";
import { importCredentialKey, offeredAlgorithms } from "./cose-key.ts";
import { verifySignature } from "./verify-signature.ts";

const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
const ec = (namedCurve: string) => generateKeyPairSync("ec", { namedCurve }).privateKey;
const pss = (saltLength: number) => ({ padding: constants.RSA_PKCS1_PSS_PADDING, saltLength });

/** Algorithms of the IANA COSE registry: identifier, key, hash, and signature options (RFC 9053, RFC 8230, RFC 8812). */
const algorithms: [name: string, id: number, key: KeyObject, digest: string | null, options?: object][] = [
  ["ES256", -7, ec("P-256"), "sha256"],
  ["ES384", -35, ec("P-384"), "sha384"],
  ["ES512", -36, ec("P-521"), "sha512"],
  ["RS256", -257, rsa, "sha256"],
  ["RS384", -258, rsa, "sha384"],
  ["RS512", -259, rsa, "sha512"],
  ["PS256", -37, rsa, "sha256", pss(32)],
  ["PS384", -38, rsa, "sha384", pss(48)],
  ["PS512", -39, rsa, "sha512", pss(64)],
  ["EdDSA", -8, generateKeyPairSync("ed25519").privateKey, null],
];

const curves: Record<string, number> = { "P-256": 1, "P-384": 2, "P-521": 3, secp256k1: 8 };

function coseKey(key: KeyObject, id: number): Buffer {
  const jwk = key.export({ format: "jwk" }) as JsonWebKey;
  const part = (text = "") => Buffer.from(text, "base64url");
  const cose = new Map<number, Cbor>([[3, id]]);
  if (jwk.kty === "RSA") cose.set(1, 3).set(-1, part(jwk.n)).set(-2, part(jwk.e));
  else if (jwk.kty === "OKP") cose.set(1, 1).set(-1, 6).set(-2, part(jwk.x));
  else
    cose
      .set(1, 2)
      .set(-1, curves[jwk.crv ?? ""] ?? 0)
      .set(-2, part(jwk.x))
      .set(-3, part(jwk.y));
  return encodeCbor(cose);
}

const text = Buffer.from("the signed data");

/** Null if the key cannot be used. */
function verifyCoseSignature(encoded: Uint8Array, signed: Uint8Array, signature: Uint8Array): boolean | null {
  const key = importCredentialKey(encoded);
  return key && verifySignature(key, signed, signature);
}

test("verifies every algorithm that is offered to authenticators", () => {
  expect(algorithms.map(([, id]) => id).sort()).toEqual([...offeredAlgorithms].sort());
});

describe.each(algorithms)("%s", (_, id, key, digest, options = {}) => {
  const signature = sign(digest, text, { key, ...options });

  test("verifies the signed data only", () => {
    expect(verifyCoseSignature(coseKey(key, id), text, signature)).toBe(true);
    expect(verifyCoseSignature(coseKey(key, id), Buffer.from("something else"), signature)).toBe(false);
    for (const at of [0, signature.length >> 1, signature.length - 1]) {
      const altered = Buffer.from(signature);
      altered[at] = (altered[at] ?? 0) ^ 1;
      expect(verifyCoseSignature(coseKey(key, id), text, altered)).toBe(false);
    }
    for (const other of [Buffer.alloc(0), signature.subarray(1), Buffer.concat([signature, Buffer.of(0)])])
      expect(verifyCoseSignature(coseKey(key, id), text, other)).toBe(false);
  });

  test("A69 rejects the signature under another algorithm", () => {
    for (const [, other] of algorithms)
      if (other !== id)
        expect([false, null]).toContain(verifyCoseSignature(coseKey(key, other), text, signature));
  });
});

test("an ECDSA signature has one encoding, DER (RFC 3279, 2.2.3)", () => {
  const [, id, key] = algorithms[0] ?? [];
  if (!key || id === undefined) throw new Error("ES256 is missing");
  const signature = sign("sha256", text, key);
  const r = signature.subarray(4, 4 + (signature[3] ?? 0));
  const s = signature.subarray(6 + r.length);
  const tagged = (tag: number, ...parts: Uint8Array[]) => {
    const content = Buffer.concat(parts);
    return Buffer.concat([Buffer.of(tag, content.length), content]);
  };
  const [integerR, integerS] = [tagged(0x02, r), tagged(0x02, s)];
  const verifies = (encoded: Buffer) => verifyCoseSignature(coseKey(key, id), text, encoded);
  expect(verifies(tagged(0x30, integerR, integerS))).toBe(true);
  for (const other of [
    tagged(0x30, tagged(0x02, Buffer.of(0), r), integerS),
    tagged(0x30, integerR, integerS, Buffer.of(0)),
    Buffer.concat([Buffer.of(0x30, 0x81), signature.subarray(1)]),
    Buffer.concat([Buffer.of(0x30, 0x80), signature.subarray(2), Buffer.alloc(2)]),
    sign("sha256", text, { key, dsaEncoding: "ieee-p1363" }),
  ])
    expect(verifies(other)).toBe(false);
});

test("an RSA signature has the length of its key, leading zeros included (RFC 8017, 8.1.2)", () => {
  // One in 256 begins with a zero byte; the number is the same without it.
  for (let round = 0; ; round++) {
    const signed = Buffer.from(`round ${round}`);
    const signature = sign("sha256", signed, { key: rsa, ...pss(32) });
    if (signature[0] !== 0) continue;
    expect(verifyCoseSignature(coseKey(rsa, -37), signed, signature)).toBe(true);
    expect(verifyCoseSignature(coseKey(rsa, -37), signed, signature.subarray(1))).toBe(false);
    return;
  }
});

test.each<[string, Buffer]>([
  ["RS1, by SHA-1", coseKey(rsa, -65535)],
  ["ES256K, on the curve secp256k1", coseKey(ec("secp256k1"), -47)],
  ["an unknown algorithm", coseKey(rsa, 0)],
  ["a point that is not on its curve", offCurveKey()],
  ["RSA of 1024 bits", coseKey(generateKeyPairSync("rsa", { modulusLength: 1024 }).privateKey, -257)],
  ["no bytes", Buffer.alloc(0)],
  ["a number instead of a map", encodeCbor(7)],
])("returns null for a key of %s", (_, key) => {
  expect(verifyCoseSignature(key, text, Buffer.alloc(64))).toBe(null);
});
