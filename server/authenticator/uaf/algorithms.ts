import type { KeyKind } from "./key-kinds.ts";

/** A signature algorithm and the encoding of its signatures. */
export interface Algorithm {
  key: KeyKind;
  /** Null if the algorithm fixes the hash. */
  hash: "sha1" | "sha256" | "sha384" | "sha512" | null;
  /** RSA only. The salt of PSS is as long as the hash, which MGF1 uses too. */
  padding?: "pss" | "pkcs1";
  /** `raw`: numbers of fixed length, concatenated. `der`: wrapped in DER. */
  encoding: "raw" | "der";
  /** Accepted only if the metadata of the model name it. */
  deprecated?: true;
}

const p256 = { key: "P-256", hash: "sha256" } as const;
const secp256k1 = { key: "secp256k1", hash: "sha256" } as const;
const pss = { key: "RSA", padding: "pss" } as const;
const pkcs1 = { key: "RSA", padding: "pkcs1" } as const;

/**
 * Supported signature algorithms by their identifiers (FIDO Registry of Predefined Values, section 3.6.1).
 *
 * 0x0007, SM2 with SM3, is not supported: the signed data include the signer's identifier, the registry does not say
 * which one, and OpenSSL uses an empty one, unlike the Chinese standard.
 */
export const algorithms: ReadonlyMap<number, Algorithm> = new Map<number, Algorithm>([
  [0x0001, { ...p256, encoding: "raw" }],
  [0x0002, { ...p256, encoding: "der" }],
  [0x0003, { ...pss, hash: "sha256", encoding: "raw" }],
  [0x0004, { ...pss, hash: "sha256", encoding: "der" }],
  [0x0005, { ...secp256k1, encoding: "raw" }],
  [0x0006, { ...secp256k1, encoding: "der" }],
  [0x0008, { ...pkcs1, hash: "sha256", encoding: "raw" }],
  [0x0009, { ...pkcs1, hash: "sha256", encoding: "der" }],
  [0x000a, { ...pss, hash: "sha384", encoding: "raw" }],
  [0x000b, { ...pss, hash: "sha512", encoding: "raw" }],
  [0x000c, { ...pkcs1, hash: "sha256", encoding: "raw" }],
  [0x000d, { ...pkcs1, hash: "sha384", encoding: "raw" }],
  [0x000e, { ...pkcs1, hash: "sha512", encoding: "raw" }],
  // SHA-1 is not collision resistant.
  [0x000f, { ...pkcs1, hash: "sha1", encoding: "raw", deprecated: true }],
  [0x0010, { key: "P-384", hash: "sha384", encoding: "raw" }],
  [0x0011, { key: "P-521", hash: "sha512", encoding: "raw" }],
  [0x0012, { key: "Ed25519", hash: null, encoding: "raw" }],
]);

/** Algorithms accepted from models whose metadata name none. */
export const defaultAlgorithms: readonly number[] = [...algorithms]
  .filter(([, { deprecated }]) => !deprecated)
  .map(([id]) => id);
