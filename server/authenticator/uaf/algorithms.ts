import type { KeyKind } from "./key-kinds.ts";

/** How a signature is made and written down. */
export interface Algorithm {
  key: KeyKind;
  /** Null where the algorithm has its own. */
  hash: "sha1" | "sha256" | "sha384" | "sha512" | null;
  /** RSA only. PSS has a salt as long as its hash, which its mask is made with too. */
  padding?: "pss" | "pkcs1";
  /** Numbers one after the other, each as long as the field or the modulus; or DER around them. */
  encoding: "raw" | "der";
  /** Accepted only for authenticators whose metadata name it. */
  outdated?: true;
}

const p256 = { key: "P-256", hash: "sha256" } as const;
const secp256k1 = { key: "secp256k1", hash: "sha256" } as const;
const pss = { key: "RSA", padding: "pss" } as const;
const pkcs1 = { key: "RSA", padding: "pkcs1" } as const;

/**
 * Signature algorithms that are verified here, by their identifiers in the FIDO Registry of Predefined Values
 * (section 3.6.1).
 *
 * 0x0007, SM2 with SM3, is not among them: the signer's identifier goes into what is signed, the registry does not say
 * which one, and OpenSSL leaves it empty where China's standard does not.
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
  // Collisions of SHA-1 are made at will.
  [0x000f, { ...pkcs1, hash: "sha1", encoding: "raw", outdated: true }],
  [0x0010, { key: "P-384", hash: "sha384", encoding: "raw" }],
  [0x0011, { key: "P-521", hash: "sha512", encoding: "raw" }],
  [0x0012, { key: "Ed25519", hash: null, encoding: "raw" }],
]);

/** Algorithms of authenticators whose metadata do not name any. */
export const usualAlgorithms: readonly number[] = [...algorithms]
  .filter(([, { outdated }]) => !outdated)
  .map(([id]) => id);
