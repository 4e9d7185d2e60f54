import { DerError, derItem, derItems } from "../lib/der.ts";
import { sequence, unsigned } from "../lib/der-encoding.ts";
import { algorithms } from "./algorithms.ts";
import type { CredentialKey } from "./cose-key.ts";

/**
 * Whether a signature has the encoding of WebAuthn Level 3 section 6.5.5. ECDSA signatures are an `Ecdsa-Sig-Value` in
 * DER (RFC 3279 section 2.2.3), which has one canonical encoding; decoders accept others, which would make a signature
 * malleable. Signatures of other algorithms are raw bytes.
 *
 * @param algorithm COSE algorithm identifier
 */
export function hasCanonicalEncoding(algorithm: unknown, signature: unknown): boolean {
  if (!(signature instanceof Uint8Array)) return false;
  const isEcdsa = typeof algorithm === "number" && algorithms.get(algorithm)?.options.dsaEncoding === "der";
  return !isEcdsa || isEcdsaSignature(signature);
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

/** SEQUENCE { r INTEGER, s INTEGER } of numbers beyond 0, in the one encoding of DER. */
function isEcdsaSignature(bytes: Uint8Array): boolean {
  try {
    const [r, s, ...others] = derItems(derItem(bytes).content).map(({ content }) => content);
    if (!r?.some(Boolean) || !s?.some(Boolean) || others.length > 0) return false;
    return sequence(unsigned(r), unsigned(s)).equals(bytes);
  } catch (error) {
    if (error instanceof DerError) return false;
    throw error;
  }
}
