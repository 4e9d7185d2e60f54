import { verify } from "node:crypto";
import { algorithms } from "./algorithms.ts";
import type { CredentialKey } from "./cose-key.ts";
import { hasEncodingOf } from "./signature-encoding.ts";

/**
 * Verifies a signature with a credential's public key, for receipts and statements of Android, which the library does not
 * verify.
 */
export function verifySignature(key: CredentialKey, signed: Uint8Array, signature: Uint8Array): boolean {
  const algorithm = algorithms.get(key.algorithm);
  if (!algorithm || !hasEncodingOf(key, signature)) return false;
  return verify(algorithm.digest, signed, { key: key.key, ...algorithm.options }, signature);
}
