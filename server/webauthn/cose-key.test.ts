import { generateKeyPairSync, type JsonWebKey } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Cbor, encodeCbor } from "../testing/cbor.ts";
import { smallOrderPoints } from "../testing/small-order-points.ts";
import { rsaCoseKey, unacceptableKeys, unorderedKey } from "../testing/unacceptable-keys.ts";
import { offeredAlgorithms } from "./algorithms.ts";
import { importCredentialKey } from "./cose-key.ts";

type CoseKey = Map<number, Cbor>;

const part = (text: string | undefined) => Buffer.from(text ?? "", "base64url");
const publicJwk = (pair: { publicKey: { export(options: { format: "jwk" }): JsonWebKey } }) =>
  pair.publicKey.export({ format: "jwk" });

function ecKey(alg: number, curve: string, crv: number): CoseKey {
  const { x, y } = publicJwk(generateKeyPairSync("ec", { namedCurve: curve }));
  return new Map<number, Cbor>([
    [1, 2],
    [3, alg],
    [-1, crv],
    [-2, part(x)],
    [-3, part(y)],
  ]);
}

function rsaKey(alg: number, modulusLength = 2048): CoseKey {
  const { n, e } = publicJwk(generateKeyPairSync("rsa", { modulusLength }));
  return new Map<number, Cbor>([
    [1, 3],
    [3, alg],
    [-1, part(n)],
    [-2, part(e)],
  ]);
}

function edKey(): CoseKey {
  const { x } = publicJwk(generateKeyPairSync("ed25519"));
  return new Map<number, Cbor>([
    [1, 1],
    [3, -8],
    [-1, 6],
    [-2, part(x)],
  ]);
}

const accepts = (key: CoseKey) => importCredentialKey(encodeCbor(key)) !== null;
const changed = (key: CoseKey, changes: [number, Cbor | undefined][]): CoseKey => {
  const copy = new Map(key);
  for (const [label, value] of changes) {
    if (value === undefined) copy.delete(label);
    else copy.set(label, value);
  }
  return copy;
};

const p256 = ecKey(-7, "P-256", 1);
const rsa = rsaKey(-257);
const ed = edKey();

test("accepts a key of every offered algorithm", () => {
  const keys = [
    p256,
    ecKey(-35, "P-384", 2),
    ecKey(-36, "P-521", 3),
    ...[-257, -258, -259, -37, -38, -39].map((alg) => changed(rsa, [[3, alg]])),
    ed,
  ];
  expect(keys.map((key) => key.get(3))).toEqual(offeredAlgorithms);
  for (const key of keys)
    expect(importCredentialKey(encodeCbor(key))).toMatchObject({
      algorithm: key.get(3),
      key: { type: "public" },
    });
});

describe("importCredentialKey", () => {
  const square = (key: CoseKey, label: number) => Buffer.from(key.get(label) as Uint8Array);
  const flipped = (bytes: Buffer) =>
    Buffer.from(bytes.map((byte, index) => (index === bytes.length - 1 ? byte ^ 1 : byte)));

  test.each<[string, CoseKey]>([
    ["rejects a point that is not on the curve", changed(p256, [[-3, flipped(square(p256, -3))]])],
    [
      "rejects the point at zero",
      changed(p256, [
        [-2, Buffer.alloc(32)],
        [-3, Buffer.alloc(32)],
      ]),
    ],
    ["rejects a coordinate beyond the field", changed(p256, [[-2, Buffer.alloc(32, 0xff)]])],
    ["rejects a coordinate too short", changed(p256, [[-2, square(p256, -2).subarray(1)]])],
    [
      "rejects a coordinate too long",
      changed(p256, [[-2, Buffer.concat([Buffer.alloc(1), square(p256, -2)])]]),
    ],
    ["rejects a compressed point", changed(p256, [[-3, true]])],
    ["rejects a missing y coordinate", changed(p256, [[-3, undefined]])],
    ["rejects another curve than the algorithm's", changed(p256, [[-1, 2]])],
    ["rejects another algorithm than the curve's", changed(p256, [[3, -35]])],
    ["rejects another kind of key than the algorithm's", changed(p256, [[1, 3]])],
    ["rejects an algorithm that was not offered", changed(p256, [[3, -47]])],
    ["rejects an algorithm by name", changed(p256, [[3, "-7"]])],
    ["rejects a missing algorithm", changed(p256, [[3, undefined]])],
    ["rejects a key id", changed(p256, [[2, Buffer.from("id")]])],
    ["key operations", changed(p256, [[4, [2]]])],
    ["rejects a private key", changed(p256, [[-4, Buffer.alloc(32, 1)]])],
    ["rejects an unknown parameter", changed(p256, [[-70001, 1]])],
    ["rejects a modulus of 1024 bits", rsaKey(-257, 1024)],
    [
      "rejects a shorter modulus padded to 2048 bits",
      changed(rsa, [[-1, Buffer.concat([Buffer.alloc(1), square(rsa, -1).subarray(1)])]]),
    ],
    ["rejects a modulus of 16384 bits", changed(rsa, [[-1, Buffer.alloc(2048, 0xff)]])],
    ["rejects an even modulus", changed(rsa, [[-1, flipped(square(rsa, -1))]])],
    ["rejects the exponent one", changed(rsa, [[-2, Buffer.of(1)]])],
    ["rejects an even exponent", changed(rsa, [[-2, Buffer.of(1, 0, 0)]])],
    ["rejects an exponent of 512 bits", changed(rsa, [[-2, Buffer.alloc(64, 0xff)]])],
    ["rejects a missing exponent", changed(rsa, [[-2, Buffer.alloc(0)]])],
    ["rejects an Edwards point of another curve", changed(ed, [[-1, 7]])],
    ["rejects an Edwards point too short", changed(ed, [[-2, square(ed, -2).subarray(1)]])],
    [
      "rejects an Edwards coordinate beyond the field",
      changed(ed, [[-2, Buffer.from(`ee${"ff".repeat(30)}7f`, "hex")]]),
    ],
    ["rejects a negative zero", changed(ed, [[-2, Buffer.from(`01${"00".repeat(30)}80`, "hex")]])],
  ])("%s", (_what, key) => {
    expect(accepts(key)).toBe(false);
  });

  test("rejects a value that is not a map", () => {
    for (const item of [1, "key", [1, 2], Buffer.from("key"), true] satisfies Cbor[]) {
      expect(importCredentialKey(encodeCbor(item))).toBe(null);
    }
    expect(importCredentialKey(Buffer.alloc(0))).toBe(null);
    expect(importCredentialKey(Buffer.alloc(50_000, 0x81))).toBe(null);
  });
});

test("accepts members in another order, which a former version may have stored", () => {
  expect(importCredentialKey(unorderedKey())?.algorithm).toBe(-7);
});

test.each(unacceptableKeys())("A144 rejects %s", (_what, cose) => {
  expect(importCredentialKey(cose)).toBe(null);
});

test("A144 accepts RSA keys from 2048 bits on, whose exponents are odd and beyond 2^16", () => {
  const bits = (modulusLength: number) => {
    const { n } = publicJwk(generateKeyPairSync("rsa", { modulusLength }));
    return importCredentialKey(rsaCoseKey(part(n))) !== null;
  };
  expect([2047, 2048, 2049, 3072].map(bits)).toEqual([false, true, true, true]);
  const modulus = Buffer.from(rsa.get(-1) as Uint8Array);
  const exponents = ["03", "ffff", "010000", "010001", "01000001", "ffffffff"];
  const accepted = exponents.map(
    (e) => importCredentialKey(rsaCoseKey(modulus, Buffer.from(e, "hex"))) !== null,
  );
  expect(accepted).toEqual([false, false, false, true, true, true]);
});

test("A144 a stored RSA key keeps an odd exponent from 3 on, which former versions accepted, and nothing else", () => {
  const modulus = Buffer.from(rsa.get(-1) as Uint8Array);
  const accepted = ["", "01", "02", "03", "0003", "11", "fffe", "ffff", "010001", "0100000001"].filter(
    (e) => importCredentialKey(rsaCoseKey(modulus, Buffer.from(e, "hex")), "storage") !== null,
  );
  expect(accepted).toEqual(["03", "11", "ffff", "010001"]);
  const others = unacceptableKeys().filter(([what]) => what !== "the exponent 3");
  for (const [what, cose] of others) expect(importCredentialKey(cose, "storage"), what).toBe(null);
});

test("A132 rejects Edwards points of small order", () => {
  for (const point of smallOrderPoints) {
    expect(accepts(changed(ed, [[-2, point]])), point.toString("hex")).toBe(false);
  }
});

test("rejects random bytes without throwing", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 120 }), (bytes) => {
      expect(importCredentialKey(bytes)).toBe(null);
    }),
    { numRuns: 1000 },
  );
});
