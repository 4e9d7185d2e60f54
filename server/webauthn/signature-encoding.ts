import type { CredentialKey } from "./cose-key.ts";

/** ECDSA algorithms of the IANA COSE registry: ES256, ES384 and ES512. */
const ecdsa: readonly unknown[] = [-7, -35, -36];

/**
 * Whether a signature has the encoding of WebAuthn Level 3 section 6.5.5. ECDSA signatures are an `Ecdsa-Sig-Value` in
 * DER (RFC 3279 section 2.2.3), which has one canonical encoding; decoders accept others, which would make a signature
 * malleable. Signatures of other algorithms are raw bytes.
 *
 * @param algorithm COSE algorithm identifier
 */
export function hasCanonicalEncoding(algorithm: unknown, signature: unknown): boolean {
  if (!(signature instanceof Uint8Array)) return false;
  return !ecdsa.includes(algorithm) || isEcdsaSignature(signature);
}

/**
 * Whether a signature has the encoding of this key's signatures: `hasCanonicalEncoding`, and one of RSA has the length of
 * the modulus (RFC 8017 sections 8.1.2 and 8.2.2, step 1), where OpenSSL also accepts the same number in fewer bytes.
 */
export function hasEncodingOf({ algorithm, key }: CredentialKey, signature: Uint8Array): boolean {
  const { modulusLength } = key.asymmetricKeyDetails ?? {};
  if (modulusLength !== undefined) return signature.length === Math.ceil(modulusLength / 8);
  return hasCanonicalEncoding(algorithm, signature);
}

/** SEQUENCE { r INTEGER, s INTEGER }, short enough for every curve up to P-521. */
function isEcdsaSignature(bytes: Uint8Array): boolean {
  const long = bytes[1] === 0x81;
  const start = long ? 3 : 2;
  const length = bytes[long ? 2 : 1] ?? 0;
  if (bytes[0] !== 0x30 || length >= 0x80 !== long || start + length !== bytes.length) return false;
  const r = positiveEnd(bytes, start);
  return r !== null && positiveEnd(bytes, r) === bytes.length;
}

/** The end of a positive INTEGER of minimal length; null if there is none. */
function positiveEnd(bytes: Uint8Array, at: number): number | null {
  const [tag = 0, length = 0, first = 0x80, second = 0] = bytes.subarray(at, at + 4);
  const end = at + 2 + length;
  if (tag !== 0x02 || length === 0 || length >= 0x80 || end > bytes.length || first >= 0x80) return null;
  return first === 0 && (length === 1 || second < 0x80) ? null : end;
}
