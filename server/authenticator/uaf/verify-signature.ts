import { constants, type KeyObject, verify } from "node:crypto";
import type { Algorithm } from "./algorithms.ts";
import type { Curve } from "./key-kinds.ts";
import { concatenateUnsigned, unwrapOctetString } from "./signature-encodings.ts";

/** Bytes of R and of S each. */
const scalarSizes: Partial<Record<Curve, number>> = { "P-256": 32, secp256k1: 32, "P-384": 48, "P-521": 66 };

/**
 * Verifies a signature.
 *
 * @param key of the algorithm's kind
 * @param strict whether to require valid DER: some authenticators omit the leading zero of numbers with the highest bit
 *   set
 * @returns false for malformed signatures too
 */
export function verifySignature(
  algorithm: Algorithm,
  key: KeyObject,
  data: Buffer,
  signature: Buffer,
  strict: boolean,
): boolean {
  try {
    if (algorithm.key === "RSA") return verifyRsa(algorithm, key, data, signature);
    if (algorithm.key === "Ed25519") return verify(null, data, key, signature);
    return verifyEcdsa(algorithm, key, data, signature, strict);
  } catch {
    return false;
  }
}

function verifyRsa(
  { hash, padding, encoding }: Algorithm,
  key: KeyObject,
  data: Buffer,
  signature: Buffer,
): boolean {
  const raw = encoding === "der" ? unwrapOctetString(signature) : signature;
  // RFC 8017, 8.1.2 and 8.2.2. OpenSSL also accepts a signature without its leading zeros.
  if (raw.length !== Math.ceil((key.asymmetricKeyDetails?.modulusLength ?? 0) / 8)) return false;
  if (padding === "pkcs1") return verify(hash, data, { key, padding: constants.RSA_PKCS1_PADDING }, raw);
  const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
  return verify(hash, data, { key, ...pss }, raw);
}

function verifyEcdsa(
  { key: curve, hash, encoding }: Algorithm,
  key: KeyObject,
  data: Buffer,
  signature: Buffer,
  strict: boolean,
): boolean {
  const verifiesRaw = (raw: Buffer) => verify(hash, data, { key, dsaEncoding: "ieee-p1363" }, raw);
  if (encoding === "raw") return verifiesRaw(signature);
  if (verify(hash, data, { key, dsaEncoding: "der" }, signature)) return true;
  return !strict && verifiesRaw(concatenateUnsigned(signature, scalarSizes[curve as Curve] ?? 0));
}
