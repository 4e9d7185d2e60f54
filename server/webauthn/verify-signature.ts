import { constants, verify } from "node:crypto";
import type { CredentialKey } from "./cose-key.ts";

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
 * Verifies a signature with a credential's public key. An ECDSA signature has one encoding: OpenSSL rejects any other than
 * its DER.
 */
export function verifySignature(
  { algorithm, key }: CredentialKey,
  signed: Uint8Array,
  signature: Uint8Array,
): boolean {
  const scheme = schemes.get(algorithm);
  if (!scheme) return false;
  // RFC 8017, 8.1.2 and 8.2.2, step 1: Node also accepts the same number in fewer bytes.
  const { modulusLength } = key.asymmetricKeyDetails ?? {};
  if (modulusLength !== undefined && signature.length !== Math.ceil(modulusLength / 8)) return false;
  return verify(scheme.digest, signed, { key, ...scheme.options }, signature);
}
