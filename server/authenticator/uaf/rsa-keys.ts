import { createPublicKey, type KeyObject } from "node:crypto";

/** Bytes of the modulus in the raw format, which is for keys of 2048 bits. */
const rawModulusSize = 256;

/**
 * Modulus, then exponent.
 *
 * @throws Error for what is no key
 */
export function rawRsaKey(encoded: Buffer): KeyObject {
  const n = encoded.subarray(0, rawModulusSize).toString("base64url");
  const e = encoded.subarray(rawModulusSize).toString("base64url");
  return createPublicKey({ format: "jwk", key: { kty: "RSA", n, e } });
}

/**
 * RSAPublicKey (RFC 8017 appendix A.1.1), says the registry; there are devices that send it in a SubjectPublicKeyInfo.
 *
 * @returns null for what is neither, or not in DER
 */
export function derRsaKey(encoded: Buffer): KeyObject | null {
  return rewrittenAlike(encoded, "pkcs1") ?? rewrittenAlike(encoded, "spki");
}

/** @returns null unless the key is written as it was read: the one form is the end of the other */
function rewrittenAlike(encoded: Buffer, type: "pkcs1" | "spki"): KeyObject | null {
  try {
    const key = createPublicKey({ key: encoded, format: "der", type });
    const spki = key.export({ format: "der", type: "spki" });
    return spki.subarray(-encoded.length).equals(encoded) ? key : null;
  } catch {
    return null;
  }
}
