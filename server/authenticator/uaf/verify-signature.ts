import { constants, type KeyObject, verify } from "node:crypto";
import type { Algorithm } from "./algorithms.ts";
import type { Curve } from "./key-kinds.ts";
import { unsignedNumbers, unwrappedOctets } from "./signature-encodings.ts";

/** Bytes of R and of S, numbers modulo the order of the curve. */
const scalarSizes: Partial<Record<Curve, number>> = { "P-256": 32, secp256k1: 32, "P-384": 48, "P-521": 66 };

/**
 * Whether a signature is one of some data by a key.
 *
 * @param key one that is of the algorithm's kind
 * @param strict whether DER has to be DER: there are authenticators that write numbers without the zero that keeps
 *   them from being negative
 */
export function verifies(
  algorithm: Algorithm,
  key: KeyObject,
  data: Buffer,
  signature: Buffer,
  strict: boolean,
): boolean {
  try {
    if (algorithm.key === "RSA") return verifiesRsa(algorithm, key, data, signature);
    if (algorithm.key === "Ed25519") return verify(null, data, key, signature);
    return verifiesEcdsa(algorithm, key, data, signature, strict);
  } catch {
    // What cannot be taken for a signature is none.
    return false;
  }
}

function verifiesRsa(
  { hash, padding, encoding }: Algorithm,
  key: KeyObject,
  data: Buffer,
  signature: Buffer,
): boolean {
  const raw = encoding === "der" ? unwrappedOctets(signature) : signature;
  if (padding === "pkcs1") return verify(hash, data, { key, padding: constants.RSA_PKCS1_PADDING }, raw);
  const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST };
  return verify(hash, data, { key, ...pss }, raw);
}

function verifiesEcdsa(
  { key: curve, hash, encoding }: Algorithm,
  key: KeyObject,
  data: Buffer,
  signature: Buffer,
  strict: boolean,
): boolean {
  const verifiesRaw = (raw: Buffer) => verify(hash, data, { key, dsaEncoding: "ieee-p1363" }, raw);
  if (encoding === "raw") return verifiesRaw(signature);
  if (verify(hash, data, { key, dsaEncoding: "der" }, signature)) return true;
  return !strict && verifiesRaw(unsignedNumbers(signature, scalarSizes[curve as Curve] ?? 0));
}
