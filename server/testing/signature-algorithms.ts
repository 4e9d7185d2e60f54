import { constants, generateKeyPairSync, type JsonWebKey, type KeyObject, sign } from "node:crypto";
import { type Cbor, encodeCbor } from "./cbor.ts";

const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
const pss = (saltLength: number) => ({ padding: constants.RSA_PKCS1_PSS_PADDING, saltLength });

/** Generates a private key on a curve, by the curve's name in JSON Web Keys. */
export const ecKey = (namedCurve: string) => generateKeyPairSync("ec", { namedCurve }).privateKey;

/** Algorithms of the IANA COSE registry: identifier, key, hash, and signature options (RFC 9053, RFC 8230, RFC 8812). */
export const signatureAlgorithms: [
  name: string,
  id: number,
  key: KeyObject,
  digest: string | null,
  options?: object,
][] = [
  ["ES256", -7, ecKey("P-256"), "sha256"],
  ["ES384", -35, ecKey("P-384"), "sha384"],
  ["ES512", -36, ecKey("P-521"), "sha512"],
  ["RS256", -257, rsa, "sha256"],
  ["RS384", -258, rsa, "sha384"],
  ["RS512", -259, rsa, "sha512"],
  ["PS256", -37, rsa, "sha256", pss(32)],
  ["PS384", -38, rsa, "sha384", pss(48)],
  ["PS512", -39, rsa, "sha512", pss(64)],
  ["EdDSA", -8, generateKeyPairSync("ed25519").privateKey, null],
];

const curves: Record<string, number> = { "P-256": 1, "P-384": 2, "P-521": 3, secp256k1: 8 };

/** The public key of a private one, as a COSE_Key for an algorithm of any kind. */
export function coseKeyOf(key: KeyObject, id: number): Buffer {
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

/** Encodings of an ECDSA signature other than DER, which some decoders read (RFC 3279, 2.2.3). */
export function otherEcdsaEncodings(signed: Uint8Array, key: KeyObject): Buffer[] {
  const signature = sign("sha256", signed, key);
  const r = signature.subarray(4, 4 + (signature[3] ?? 0));
  const s = signature.subarray(6 + r.length);
  const tagged = (tag: number, ...parts: Uint8Array[]) => {
    const content = Buffer.concat(parts);
    return Buffer.concat([Buffer.of(tag, content.length), content]);
  };
  const [integerR, integerS] = [tagged(0x02, r), tagged(0x02, s)];
  return [
    tagged(0x30, tagged(0x02, Buffer.of(0), r), integerS),
    tagged(0x30, integerR, integerS, Buffer.of(0)),
    Buffer.concat([Buffer.of(0x30, 0x81), signature.subarray(1)]),
    Buffer.concat([Buffer.of(0x30, 0x80), signature.subarray(2), Buffer.alloc(2)]),
    sign("sha256", signed, { key, dsaEncoding: "ieee-p1363" }),
  ];
}

/**
 * An RSA signature that begins with a zero byte, as one in 256 does, without that byte: the same number (RFC 8017, 8.1.2).
 *
 * @param signing makes the signature of a round
 */
export function shortRsaSignature<Round>(signing: (round: number) => Round & { signature: Buffer }) {
  for (let round = 0; ; round++) {
    const made = signing(round);
    if (made.signature[0] === 0) return { ...made, short: made.signature.subarray(1) };
  }
}
