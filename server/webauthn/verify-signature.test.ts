import { generateKeyPairSync, sign } from "node:crypto";
import { describe, expect, test } from "vitest";
import { encodeCbor } from "../testing/cbor.ts";
import { offCurveKey } from "../testing/cose-key.ts";
import {
  signatureAlgorithms as algorithms,
  coseKeyOf as coseKey,
  ecKey as ec,
  otherEcdsaEncodings,
  shortRsaSignature,
} from "../testing/signature-algorithms.ts";
import { offeredAlgorithms } from "./algorithms.ts";
import { importCredentialKey } from "./cose-key.ts";
import { verifySignature } from "./verify-signature.ts";

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

const keyOf = (named: string) => {
  const found = algorithms.find(([name]) => name === named);
  if (!found) throw new Error(`${named} is missing`);
  const [, id, key, digest, options] = found;
  return { cose: coseKey(key, id), key, sign: (data: Buffer) => sign(digest, data, { key, ...options }) };
};

test("an ECDSA signature has one encoding, DER (RFC 3279, 2.2.3)", () => {
  const { cose, key, sign: signed } = keyOf("ES256");
  expect(verifyCoseSignature(cose, text, signed(text))).toBe(true);
  for (const other of otherEcdsaEncodings(text, key))
    expect(verifyCoseSignature(cose, text, other)).toBe(false);
});

test("an RSA signature has the length of its key, leading zeros included (RFC 8017, 8.1.2)", () => {
  const { cose, sign: signed } = keyOf("PS256");
  const { data, signature, short } = shortRsaSignature((round) => {
    const data = Buffer.from(`round ${round}`);
    return { data, signature: signed(data) };
  });
  expect(verifyCoseSignature(cose, data, signature)).toBe(true);
  expect(verifyCoseSignature(cose, data, short)).toBe(false);
});

test.each<[string, Buffer]>([
  ["RS1, by SHA-1", coseKey(keyOf("RS256").key, -65535)],
  ["ES256K, on the curve secp256k1", coseKey(ec("secp256k1"), -47)],
  ["an unknown algorithm", coseKey(keyOf("RS256").key, 0)],
  ["a point that is not on its curve", offCurveKey()],
  ["RSA of 1024 bits", coseKey(generateKeyPairSync("rsa", { modulusLength: 1024 }).privateKey, -257)],
  ["no bytes", Buffer.alloc(0)],
  ["a number instead of a map", encodeCbor(7)],
])("returns null for a key of %s", (_, key) => {
  expect(verifyCoseSignature(key, text, Buffer.alloc(64))).toBe(null);
});
