import { constants, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { integer, octetString, sequence, unsigned } from "../../lib/der-encoding.ts";

/**
 * Keys and signatures of FIDO UAF authenticators, by the numbers of the FIDO Registry of Predefined Values
 * (sections 3.6.1 and 3.6.2).
 */

/** Key and signature parameters of an algorithm. */
interface Algorithm {
  kind: "P-256" | "P-384" | "P-521" | "secp256k1" | "rsa" | "ed25519";
  hash: "sha1" | "sha256" | "sha384" | "sha512" | null;
  /** Raw `r‖s` or number, DER SEQUENCE of `r` and `s`, or DER OCTET STRING around the number. */
  encoding: "raw" | "der";
  /** Bytes of salt, for RSASSA-PSS. */
  salt?: number;
}

/** ALG_SIGN_…, except SM2 (0x0007), which Node does not support. */
export const uafAlgorithms = {
  1: { kind: "P-256", hash: "sha256", encoding: "raw" },
  2: { kind: "P-256", hash: "sha256", encoding: "der" },
  3: { kind: "rsa", hash: "sha256", encoding: "raw", salt: 32 },
  4: { kind: "rsa", hash: "sha256", encoding: "der", salt: 32 },
  5: { kind: "secp256k1", hash: "sha256", encoding: "raw" },
  6: { kind: "secp256k1", hash: "sha256", encoding: "der" },
  8: { kind: "rsa", hash: "sha256", encoding: "raw" },
  9: { kind: "rsa", hash: "sha256", encoding: "der" },
  10: { kind: "rsa", hash: "sha384", encoding: "raw", salt: 48 },
  11: { kind: "rsa", hash: "sha512", encoding: "raw", salt: 64 },
  12: { kind: "rsa", hash: "sha256", encoding: "raw" },
  13: { kind: "rsa", hash: "sha384", encoding: "raw" },
  14: { kind: "rsa", hash: "sha512", encoding: "raw" },
  15: { kind: "rsa", hash: "sha1", encoding: "raw" },
  16: { kind: "P-384", hash: "sha384", encoding: "raw" },
  17: { kind: "P-521", hash: "sha512", encoding: "raw" },
  18: { kind: "ed25519", hash: null, encoding: "raw" },
} as const satisfies Record<number, Algorithm>;

export type UafAlgorithm = keyof typeof uafAlgorithms;

/** ALG_KEY_…: X9.62 point, SubjectPublicKeyInfo, n‖e, and DER of n and e. */
export type UafKeyFormat = 0x0100 | 0x0101 | 0x0102 | 0x0103;

/** The formats that can encode a key of an algorithm. */
export function keyFormatsOf(algorithm: UafAlgorithm): readonly UafKeyFormat[] {
  const { kind } = uafAlgorithms[algorithm];
  if (kind === "rsa") return [0x0102, 0x0103];
  return kind === "ed25519" ? [0x0101] : [0x0100, 0x0101];
}

/** The default format of an algorithm's keys: DER. */
export const keyFormatOf = (algorithm: UafAlgorithm): UafKeyFormat =>
  uafAlgorithms[algorithm].kind === "rsa" ? 0x0103 : 0x0101;

/** Generates a key pair. RSA keys have 2048 bits. */
export function makeUafKey(algorithm: UafAlgorithm): KeyObject {
  const { kind } = uafAlgorithms[algorithm];
  if (kind === "rsa") return generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
  if (kind === "ed25519") return generateKeyPairSync("ed25519").privateKey;
  return generateKeyPairSync("ec", { namedCurve: kind }).privateKey;
}

/** Signs with an algorithm. */
export function uafSignature(algorithm: UafAlgorithm, data: Uint8Array, key: KeyObject): Buffer {
  const { kind, hash, encoding, salt }: Algorithm = uafAlgorithms[algorithm];
  if (kind !== "rsa") {
    return sign(hash, data, { key, dsaEncoding: encoding === "raw" ? "ieee-p1363" : "der" });
  }
  const padding = salt === undefined ? constants.RSA_PKCS1_PADDING : constants.RSA_PKCS1_PSS_PADDING;
  const number = sign(hash, data, { key, padding, ...(salt === undefined ? {} : { saltLength: salt }) });
  return encoding === "der" ? octetString(number) : number;
}

/** Makes an ECDSA signature in DER whose `r` lacks the leading zero, as some devices do. */
export function negativeRSignature(data: Uint8Array, key: KeyObject): Buffer {
  for (;;) {
    const raw = sign("sha256", data, { key, dsaEncoding: "ieee-p1363" });
    const [r, s] = [raw.subarray(0, 32), raw.subarray(32)];
    // Then only `r` needs a leading zero.
    const fits = (r[0] ?? 0) >= 0x80 && (s[0] ?? 0) > 0 && (s[0] ?? 0) < 0x80;
    if (fits) return sequence(integer(r), integer(s));
  }
}

/**
 * Exports the public key in a format.
 *
 * @throws Error if the format is not for keys of this kind
 */
export function exportUafKey(key: KeyObject, format: UafKeyFormat): Buffer {
  const { x, y, n, e } = key.export({ format: "jwk" });
  const part = (value: string | undefined) => {
    if (value === undefined) throw new Error(`format 0x${format.toString(16)} does not fit the key`);
    return Buffer.from(value, "base64url");
  };
  switch (format) {
    case 0x0100:
      return Buffer.concat([Buffer.of(4), part(x), part(y)]);
    case 0x0101:
      return spkiOf(key);
    case 0x0102:
      return Buffer.concat([part(n), part(e)]);
    case 0x0103:
      return sequence(unsigned(part(n)), unsigned(part(e)));
  }
}

/** Exports SubjectPublicKeyInfo, which one real device sends for RSA keys as 0x0103. */
export function spkiOf(key: KeyObject): Buffer {
  return createPublicKey(key).export({ format: "der", type: "spki" });
}
