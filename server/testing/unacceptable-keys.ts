import { generateKeyPairSync } from "node:crypto";
import { coseAlgorithms, makeKey } from "./cose-key.ts";

/** Public keys of credentials that must be accepted nowhere, although a lenient decoder reads a key from most of them. */

/** The encoded members of a COSE_Key of P-256, in canonical order. */
function ecMembers(): Buffer[] {
  const { cose } = makeKey(coseAlgorithms.ES256);
  const [x, y] = [cose.subarray(-67, -35), cose.subarray(-32)];
  return [hex("0102"), hex("0326"), hex("2001"), hex("215820", x), hex("225820", y)];
}

const hex = (text: string, ...more: Buffer[]) => Buffer.concat([Buffer.from(text, "hex"), ...more]);

const mapOf = (members: readonly Buffer[]) => Buffer.concat([Buffer.of(0xa0 | members.length), ...members]);

/** A COSE_Key of RSA with these octets as modulus and exponent. */
export function rsaCoseKey(n: Buffer, e: Buffer = Buffer.of(1, 0, 1)): Buffer {
  const size = Buffer.alloc(2);
  size.writeUInt16BE(n.length);
  return mapOf([
    hex("0103"),
    hex("03390100"),
    hex("2059", size, n),
    hex("21", Buffer.of(0x40 | e.length), e),
  ]);
}

/** The modulus of a new key, in as few octets as possible. */
function modulus(modulusLength: number): Buffer {
  const { publicKey } = generateKeyPairSync("rsa", { modulusLength });
  return Buffer.from(publicKey.export({ format: "jwk" }).n ?? "", "base64url");
}

const padded = (bytes: Buffer, length: number) => Buffer.concat([Buffer.alloc(length - bytes.length), bytes]);

/** A key of P-256 whose members are in another order than that of CTAP2. */
export function unorderedKey(): Buffer {
  const [kty, alg, ...others] = ecMembers() as [Buffer, Buffer, ...Buffer[]];
  return mapOf([...others, alg, kty]);
}

export function unacceptableKeys(): [what: string, cose: Buffer][] {
  const [kty, alg, crv, x, y] = ecMembers() as [Buffer, Buffer, Buffer, Buffer, Buffer];
  const strong = modulus(2048);
  return [
    ["a byte after the key", Buffer.concat([mapOf([kty, alg, crv, x, y]), Buffer.of(0)])],
    [
      "a second key after the key",
      Buffer.concat([mapOf([kty, alg, crv, x, y]), mapOf([kty, alg, crv, x, y])]),
    ],
    ["the algorithm as a float of 16 bits", mapOf([kty, hex("03f9c700"), crv, x, y])],
    ["the algorithm as a float of 32 bits", mapOf([kty, hex("03fac0e00000"), crv, x, y])],
    ["the algorithm as a float of 64 bits", mapOf([kty, hex("03fbc01c000000000000"), crv, x, y])],
    ["the algorithm twice", mapOf([kty, alg, alg, crv, x, y])],
    ["two algorithms", mapOf([kty, hex("033822"), alg, crv, x, y])],
    ["two coordinates of one name", mapOf([kty, alg, crv, x, y, y])],
    ["the algorithm in more bytes than necessary", mapOf([kty, hex("033806"), crv, x, y])],
    ["a label in more bytes than necessary", mapOf([kty, hex("180326"), crv, x, y])],
    ["a length in more bytes than necessary", mapOf([kty, alg, crv, hex("21590020", x.subarray(3)), y])],
    ["a map with its size in a further byte", Buffer.concat([hex("b805"), kty, alg, crv, x, y])],
    ["a map of indefinite length", Buffer.concat([hex("bf"), kty, alg, crv, x, y, hex("ff")])],
    ["a string of indefinite length", mapOf([kty, alg, crv, hex("215f5820", x.subarray(3), hex("ff")), y])],
    ["a tag", Buffer.concat([hex("d9d9f7"), mapOf([kty, alg, crv, x, y])])],
    ["a modulus of 512 bits after zeros", rsaCoseKey(padded(modulus(512), 257))],
    ["a modulus of 2047 bits", rsaCoseKey(modulus(2047))],
    ["a modulus of 2047 bits after a zero", rsaCoseKey(padded(modulus(2047), 257))],
    ["a modulus of 2048 bits after a zero", rsaCoseKey(padded(strong, 257))],
    ["an exponent after a zero", rsaCoseKey(strong, Buffer.of(0, 1, 0, 1))],
    ["the exponent 3", rsaCoseKey(strong, Buffer.of(3))],
    ["an exponent of 40 bits", rsaCoseKey(strong, Buffer.of(1, 0, 0, 0, 1))],
  ];
}
