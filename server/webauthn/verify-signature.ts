import { constants, verify } from "node:crypto";
import type { CredentialKey } from "./cose-key.ts";
import { hasEncodingOf } from "./signature-encoding.ts";

const { RSA_PKCS1_PADDING, RSA_PKCS1_PSS_PADDING, RSA_PSS_SALTLEN_DIGEST } = constants;
const pss = { padding: RSA_PKCS1_PSS_PADDING, saltLength: RSA_PSS_SALTLEN_DIGEST };
const pkcs1 = { padding: RSA_PKCS1_PADDING };

/** Signature schemes by algorithm of the IANA COSE registry, with the encodings of WebAuthn (Level 3, 6.5.5). */
const schemes = new Map<number, { digest: string | null; options: object }>([
  [-7, { digest: "sha256", options: { dsaEncoding: "der" } }],
  [-35, { digest: "sha384", options: { dsaEncoding: "der" } }],
  [-36, { digest: "sha512", options: { dsaEncoding: "der" } }],
  [-257, { digest: "sha256", options: pkcs1 }],
  [-258, { digest: "sha384", options: pkcs1 }],
  [-259, { digest: "sha512", options: pkcs1 }],
  [-37, { digest: "sha256", options: pss }],
  [-38, { digest: "sha384", options: pss }],
  [-39, { digest: "sha512", options: pss }],
  [-8, { digest: null, options: {} }],
]);

/**
 * Verifies a signature with a credential's public key, for receipts and statements of Android, which the library does not
 * verify.
 */
export function verifySignature(key: CredentialKey, signed: Uint8Array, signature: Uint8Array): boolean {
  const scheme = schemes.get(key.algorithm);
  if (!scheme || !hasEncodingOf(key, signature)) return false;
  return verify(scheme.digest, signed, { key: key.key, ...scheme.options }, signature);
}
