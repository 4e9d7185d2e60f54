import { createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeCbor } from "../../testing/cbor.ts";
import { coseAlgorithms, encodeCoseKey } from "../../testing/cose-key.ts";
import { smallOrderPoints } from "../../testing/small-order-points.ts";
import { exportUafKey, spkiOf, type UafKeyFormat } from "../../testing/uaf-authenticator/keys.ts";
import { isOfKind, type KeyKind } from "./key-kinds.ts";
import { importPublicKey, keyFormats } from "./public-keys.ts";

const ec = (namedCurve: string) => generateKeyPairSync("ec", { namedCurve }).privateKey;
const rsa = (modulusLength: number, publicExponent = 0x10001) =>
  generateKeyPairSync("rsa", { modulusLength, publicExponent }).privateKey;

const pairs: Record<KeyKind, KeyObject> = {
  "P-256": ec("prime256v1"),
  secp256k1: ec("secp256k1"),
  "P-384": ec("secp384r1"),
  "P-521": ec("secp521r1"),
  Ed25519: generateKeyPairSync("ed25519").privateKey,
  RSA: rsa(2048),
};

const kinds = Object.keys(pairs) as KeyKind[];
const part = (text: string | undefined) => Buffer.from(text ?? "", "base64url");

const cose = (kind: KeyKind): Buffer => {
  const { x, y, n, e } = pairs[kind].export({ format: "jwk" });
  if (kind === "RSA")
    return encodeCbor(
      new Map<number, number | Buffer>([
        [1, 3],
        [3, -257],
        [-1, part(n)],
        [-2, part(e)],
      ]),
    );
  if (kind === "Ed25519")
    return encodeCbor(
      new Map<number, number | Buffer>([
        [1, 1],
        [3, -8],
        [-1, 6],
        [-2, part(x)],
      ]),
    );
  const [alg, curve] = (
    { "P-256": [-7, 1], "P-384": [-35, 2], "P-521": [-36, 3], secp256k1: [-47, 8] } as const
  )[kind];
  return encodeCbor(
    new Map<number, number | Buffer>([
      [1, 2],
      [3, alg],
      [-1, curve],
      [-2, part(x)],
      [-3, part(y)],
    ]),
  );
};

const written: [KeyKind, number, Buffer][] = [
  ...kinds.flatMap((kind): [KeyKind, number, Buffer][] => {
    const formats: UafKeyFormat[] =
      kind === "RSA" ? [0x0102, 0x0103] : kind === "Ed25519" ? [0x0101] : [0x0100, 0x0101];
    return formats.map((format) => [kind, format, exportUafKey(pairs[kind], format)]);
  }),
  ["RSA", 0x0103, spkiOf(pairs.RSA)],
  ["Ed25519", 0x0100, part(pairs.Ed25519.export({ format: "jwk" }).x)],
  ...(["P-256", "P-384", "P-521", "Ed25519", "RSA"] as const).map((kind): [KeyKind, number, Buffer] => [
    kind,
    0x0104,
    cose(kind),
  ]),
];

test.each(written)("reads a %s key in format %i", (kind, format, encoded) => {
  const key = importPublicKey(encoded, format, kind);
  expect(key?.equals(createPublicKey(pairs[kind]))).toBe(true);
});

test.each(written)(
  "rejects a %s key in format %i as another kind and in another format",
  (kind, format, encoded) => {
    for (const other of kinds) {
      if (other === kind) continue;
      // By chance a point could lie on another curve too.
      expect(importPublicKey(encoded, format, other), other).toBeNull();
    }
    for (const other of [...keyFormats, 0, 0x0105, 0xffff]) {
      if (other !== format) expect(importPublicKey(encoded, other, kind), `format ${other}`).toBeNull();
    }
  },
);

test.each(written)("rejects a %s key in format %i with a byte more or less", (kind, format, encoded) => {
  const raw = format === 0x0102;
  expect(importPublicKey(encoded.subarray(1), format, kind)).toBeNull();
  expect(importPublicKey(Buffer.concat([Buffer.of(0), encoded]), format, kind)).toBeNull();
  expect(importPublicKey(Buffer.alloc(0), format, kind)).toBeNull();
  // The exponent of a raw RSA key ends where the bytes end.
  if (!raw) expect(importPublicKey(encoded.subarray(0, -1), format, kind)).toBeNull();
  expect(importPublicKey(Buffer.concat([encoded, Buffer.of(0)]), format, kind)).toBeNull();
});

describe("rejects", () => {
  test.each(["P-256", "secp256k1", "P-384", "P-521"] as const)("a point that is not on %s", (kind) => {
    for (const format of [0x0100, 0x0101] as const) {
      const encoded = exportUafKey(pairs[kind], format);
      encoded[encoded.length - 1] = (encoded.at(-1) ?? 0) ^ 1;
      expect(importPublicKey(encoded, format, kind)).toBeNull();
    }
  });

  test("a compressed point, and the point at infinity", () => {
    const point = exportUafKey(pairs["P-256"], 0x0100);
    const compressed = Buffer.concat([Buffer.of(2 + ((point[64] ?? 0) & 1)), point.subarray(1, 33)]);
    expect(importPublicKey(compressed, 0x0100, "P-256")).toBeNull();
    expect(importPublicKey(Buffer.of(0), 0x0100, "P-256")).toBeNull();
    expect(importPublicKey(Buffer.alloc(65), 0x0100, "P-256")).toBeNull();
    const hybrid = Buffer.concat([Buffer.of(6 + ((point[64] ?? 0) & 1)), point.subarray(1)]);
    expect(importPublicKey(hybrid, 0x0100, "P-256")).toBeNull();
  });

  test("a curve with explicit parameters", () => {
    const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256", paramEncoding: "explicit" });
    expect(importPublicKey(publicKey.export({ format: "der", type: "spki" }), 0x0101, "P-256")).toBeNull();
  });

  test("bytes that are not a point of Ed25519", () => {
    const beside = Buffer.from(`02${"00".repeat(31)}`, "hex");
    expect(importPublicKey(beside, 0x0100, "Ed25519")).toBeNull();
    expect(importPublicKey(Buffer.alloc(32, 0xff), 0x0100, "Ed25519")).toBeNull();
  });

  test("an RSA key that is too short", () => {
    const short = rsa(1024);
    expect(importPublicKey(exportUafKey(short, 0x0103), 0x0103, "RSA")).toBeNull();
    expect(importPublicKey(spkiOf(short), 0x0103, "RSA")).toBeNull();
    expect(importPublicKey(exportUafKey(short, 0x0102), 0x0102, "RSA")).toBeNull();
  });

  test("an RSA key that is slow to verify with", () => {
    const modulus = (bits: number) => Buffer.alloc(bits / 8, 0xff).toString("base64url");
    const spki = (bits: number) =>
      createPublicKey({ format: "jwk", key: { kty: "RSA", n: modulus(bits), e: "AQAB" } }).export({
        format: "der",
        type: "spki",
      });
    expect(importPublicKey(spki(8192), 0x0103, "RSA")).not.toBeNull();
    expect(importPublicKey(spki(8200), 0x0103, "RSA")).toBeNull();
  });

  test("an RSA key with an exponent of 1, an even or an overlong exponent", () => {
    const modulus = exportUafKey(pairs.RSA, 0x0102).subarray(0, 256);
    for (const exponent of ["01", "02", "010000", "0100000001", "00"]) {
      const encoded = Buffer.concat([modulus, Buffer.from(exponent, "hex")]);
      expect(importPublicKey(encoded, 0x0102, "RSA"), exponent).toBeNull();
    }
  });

  test("a new COSE key with an exponent of 3, which a stored one may have, as former versions accepted it", () => {
    const { publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048, publicExponent: 3 });
    const encoded = encodeCoseKey(publicKey.export({ format: "jwk" }), coseAlgorithms.RS256);
    expect(importPublicKey(encoded, 0x0104, "RSA")).toBeNull();
    expect(importPublicKey(encoded, 0x0104, "RSA", "storage")).not.toBeNull();
  });

  test("a key for RSASSA-PSS only, which the formats do not know", () => {
    const { publicKey } = generateKeyPairSync("rsa-pss", { modulusLength: 2048 });
    expect(importPublicKey(publicKey.export({ format: "der", type: "spki" }), 0x0103, "RSA")).toBeNull();
  });

  test("malformed DER", () => {
    const encoded = exportUafKey(pairs.RSA, 0x0103);
    const longer = Buffer.concat([Buffer.from("3083000", "hex"), encoded.subarray(1)]);
    expect(importPublicKey(longer, 0x0103, "RSA")).toBeNull();
  });
});

test("any bytes are a key or rejected, without an exception", () => {
  const format = fc.constantFrom(...keyFormats);
  const kind = fc.constantFrom(...kinds);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), format, kind, (bytes, format, kind) => {
      expect(importPublicKey(Buffer.from(bytes), format, kind)?.type ?? "public").toBe("public");
    }),
  );
  fc.assert(
    fc.property(
      fc.constantFrom(...written),
      fc.nat(),
      fc.integer({ min: 1, max: 255 }),
      ([kind, format, encoded], at, by) => {
        const altered = Buffer.from(encoded);
        const index = at % altered.length;
        // The last byte of `alg` names the hash of RSA (RS256, RS384, RS512), which is no part of the key.
        fc.pre(kind !== "RSA" || format !== 0x0104 || index !== 6);
        altered[index] = (altered[index] ?? 0) ^ by;
        expect(importPublicKey(altered, format, kind)?.equals(createPublicKey(pairs[kind])) ?? false).toBe(
          false,
        );
      },
    ),
  );
});

describe("A132 an Ed25519 point of small order is rejected", () => {
  const spkiHead = exportUafKey(pairs.Ed25519, 0x0101).subarray(0, -32);
  const coseHead = cose("Ed25519").subarray(0, -32);

  test.each([
    ["raw", 0x0100, Buffer.alloc(0)],
    ["in DER", 0x0101, spkiHead],
    ["as COSE_Key", 0x0104, coseHead],
  ] as const)("%s", (_, format, head) => {
    for (const point of smallOrderPoints) {
      const encoded = Buffer.concat([head, point]);
      expect(importPublicKey(encoded, format, "Ed25519"), point.toString("hex")).toBeNull();
    }
  });

  test("as the key of a certificate", () => {
    for (const point of smallOrderPoints) {
      const key = createPublicKey({ key: Buffer.concat([spkiHead, point]), format: "der", type: "spki" });
      expect(isOfKind(key, "Ed25519"), point.toString("hex")).toBe(false);
    }
  });
});
