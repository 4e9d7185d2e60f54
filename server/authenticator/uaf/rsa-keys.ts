import { createPublicKey, type KeyObject } from "node:crypto";

/** The raw format is for keys of 2048 bits. */
const RAW_MODULUS_BYTES = 256;

/**
 * Imports the raw format: modulus, then exponent.
 *
 * @throws Error if the bytes are not a key
 */
export function importRawRsaKey(encoded: Buffer): KeyObject {
  const n = encoded.subarray(0, RAW_MODULUS_BYTES).toString("base64url");
  const e = encoded.subarray(RAW_MODULUS_BYTES).toString("base64url");
  return createPublicKey({ format: "jwk", key: { kty: "RSA", n, e } });
}

/**
 * Imports an RSAPublicKey (RFC 8017 appendix A.1.1) as the registry defines, or a SubjectPublicKeyInfo, which some
 * devices send.
 *
 * @returns null if the bytes are neither, or not in DER
 */
export function importDerRsaKey(encoded: Buffer): KeyObject | null {
  return importCanonicalDer(encoded, "pkcs1") ?? importCanonicalDer(encoded, "spki");
}

/** @returns null unless the key exports to the same bytes; a SubjectPublicKeyInfo ends with the RSAPublicKey */
function importCanonicalDer(encoded: Buffer, type: "pkcs1" | "spki"): KeyObject | null {
  try {
    const key = createPublicKey({ key: encoded, format: "der", type });
    const spki = key.export({ format: "der", type: "spki" });
    return spki.subarray(-encoded.length).equals(encoded) ? key : null;
  } catch {
    return null;
  }
}
