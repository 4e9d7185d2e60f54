import { constants, createPublicKey, generateKeyPairSync, sign } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { integer, octetString, sequence } from "../../lib/der-encoding.ts";
import {
  makeUafKey,
  negativeRSignature,
  type UafAlgorithm,
  uafAlgorithms,
  uafSignature,
} from "../../testing/uaf-authenticator/keys.ts";
import { type Algorithm, algorithms, defaultAlgorithms } from "./algorithms.ts";
import { verifySignature } from "./verify-signature.ts";

const ids = Object.keys(uafAlgorithms).map((id) => Number(id) as UafAlgorithm);
const data = Buffer.from("what was signed");

function signed(id: UafAlgorithm) {
  const algorithm = algorithms.get(id);
  if (!algorithm) throw new Error("no such algorithm");
  const privateKey = makeUafKey(id);
  return {
    algorithm,
    key: createPublicKey(privateKey),
    signature: uafSignature(id, data, privateKey),
    privateKey,
  };
}

test("verifies the algorithms of the test authenticator, and no other", () => {
  expect([...algorithms.keys()]).toEqual(ids);
  expect(algorithms.has(0x0007)).toBe(false);
});

test("does not accept SHA-1 by default", () => {
  expect(defaultAlgorithms).toEqual(ids.filter((id) => id !== 0x000f));
});

test.each(ids)("accepts a signature with algorithm %i, and none that differs", (id) => {
  const { algorithm, key, signature } = signed(id);
  expect(verifySignature(algorithm, key, data, signature, true)).toBe(true);
  expect(verifySignature(algorithm, key, Buffer.from("something else"), signature, true)).toBe(false);
  expect(verifySignature(algorithm, createPublicKey(makeUafKey(id)), data, signature, true)).toBe(false);
  const flipped = Buffer.from(signature);
  for (const at of [0, 1, 2, 3, 4, signature.length >> 1, signature.length - 1]) {
    flipped[at] = (flipped[at] ?? 0) ^ 1;
    expect(verifySignature(algorithm, key, data, flipped, false), `byte ${at}`).toBe(false);
    flipped[at] = (flipped[at] ?? 0) ^ 1;
  }
  for (const other of [
    signature.subarray(1),
    signature.subarray(0, -1),
    Buffer.concat([signature, Buffer.of(0)]),
    Buffer.concat([Buffer.of(0), signature]),
    Buffer.alloc(0),
    Buffer.alloc(signature.length),
  ])
    expect(verifySignature(algorithm, key, data, other, true)).toBe(false);
});

test("rejects an RSA signature without its leading zero", () => {
  const { algorithm, key, privateKey } = signed(0x0003);
  const pss = { key: privateKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 };
  let signature = sign("sha256", data, pss);
  // One of 256 signatures begins with a zero.
  while (signature[0] !== 0) signature = sign("sha256", data, pss);
  expect(verifySignature(algorithm, key, data, signature, true)).toBe(true);
  expect(verifySignature(algorithm, key, data, signature.subarray(1), true)).toBe(false);
});

/** The algorithms that sign differently with the same key. */
function alternativesTo(id: UafAlgorithm): [number, Algorithm][] {
  const { key, hash, padding, encoding } = algorithms.get(id) ?? {};
  return [...algorithms].filter(
    ([, other]) =>
      other.key === key && (other.hash !== hash || other.padding !== padding || other.encoding !== encoding),
  );
}

// The keys of the others have one algorithm.
test.each(ids.filter((id) => id < 0x0010))(
  "rejects a signature with algorithm %i as another algorithm of the same key",
  (id) => {
    const { key, signature } = signed(id);
    const alternatives = alternativesTo(id);
    expect(alternatives).not.toEqual([]);
    for (const [other, algorithm] of alternatives)
      expect(verifySignature(algorithm, key, data, signature, true), `as ${other}`).toBe(false);
  },
);

describe("an ECDSA signature in DER", () => {
  const { algorithm, key, privateKey } = signed(0x0002);
  const raw = sign("sha256", data, { key: privateKey, dsaEncoding: "ieee-p1363" });
  const [r, s] = [raw.subarray(0, 32), raw.subarray(32)];
  const zeroed = (number: Buffer) => Buffer.concat([Buffer.of(0, 0), number]);

  test("with negative numbers is accepted only if not strict", () => {
    const signature = negativeRSignature(data, privateKey);
    expect(verifySignature(algorithm, key, data, signature, true)).toBe(false);
    expect(verifySignature(algorithm, key, data, signature, false)).toBe(true);
    expect(verifySignature(algorithm, key, Buffer.from("something else"), signature, false)).toBe(false);
  });

  test("is otherwise parsed strictly", () => {
    for (const signature of [
      sequence(integer(r)),
      sequence(integer(r), integer(s), integer(s)),
      sequence(octetString(r), integer(s)),
      octetString(Buffer.concat([integer(r), integer(s)])),
      Buffer.concat([sequence(integer(r), integer(s)), Buffer.of(0)]),
      sequence(integer(Buffer.concat([Buffer.of(1), r])), integer(s)),
      sequence(integer(Buffer.alloc(32)), integer(Buffer.alloc(32))),
      sequence(integer(Buffer.alloc(0)), integer(Buffer.alloc(0))),
      raw,
    ])
      expect(verifySignature(algorithm, key, data, signature, false)).toBe(false);
    expect(
      verifySignature(algorithm, key, data, sequence(integer(zeroed(r)), integer(zeroed(s))), true),
    ).toBe(false);
  });
});

describe("an RSA signature in DER", () => {
  test.each([0x0004, 0x0009] as const)(
    "with algorithm %i is in an octet string, in its canonical encoding",
    (id) => {
      const { algorithm, key, signature } = signed(id);
      const number = signature.subarray(4);
      for (const other of [
        number,
        Buffer.concat([Buffer.from("0483000100", "hex"), number]),
        Buffer.concat([Buffer.from("03820100", "hex"), number]),
        Buffer.concat([Buffer.from("2480", "hex"), signature, Buffer.of(0, 0)]),
        octetString(signature),
      ])
        expect(verifySignature(algorithm, key, data, other, false)).toBe(false);
    },
  );

  test("with PSS has a salt as long as its hash", () => {
    const { algorithm, key, privateKey } = signed(0x0003);
    const salted = (saltLength: number) => sign("sha256", data, { key: privateKey, padding: 6, saltLength });
    expect(verifySignature(algorithm, key, data, salted(32), true)).toBe(true);
    expect(verifySignature(algorithm, key, data, salted(20), true)).toBe(false);
    expect(verifySignature(algorithm, key, data, salted(0), true)).toBe(false);
  });
});

test("rejects a signature with a key of another kind, without an exception", () => {
  const keys = [makeUafKey(1), makeUafKey(8), makeUafKey(18), generateKeyPairSync("x25519").privateKey].map(
    (key) => createPublicKey(key),
  );
  for (const algorithm of algorithms.values()) {
    for (const key of keys)
      expect(verifySignature(algorithm, key, data, Buffer.alloc(64, 1), false)).toBe(false);
  }
});

test("rejects any bytes as a signature", () => {
  const all = ids.map(signed);
  fc.assert(
    fc.property(fc.constantFrom(...all), fc.uint8Array({ maxLength: 300 }), ({ algorithm, key }, bytes) => {
      expect(verifySignature(algorithm, key, data, Buffer.from(bytes), false)).toBe(false);
    }),
    { numRuns: 500 },
  );
});
