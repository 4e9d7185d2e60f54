import { constants, type SigningOptions } from "node:crypto";

/** COSE curves by their JSON Web Key names (RFC 9053 section 7.1). */
export const curveIds = { "P-256": 1, "P-384": 2, "P-521": 3 } as const;

/** The kind of a key; `size`: bytes of a coordinate. */
export type KeyKind = { curve: keyof typeof curveIds; size: number } | "RSA" | "Ed25519";

/** A signature algorithm, with the encoding of its signatures (WebAuthn Level 3 section 6.5.5). */
interface Algorithm {
  /** The kind of key that section 5.8.5 allows for it. */
  kind: KeyKind;
  /** Null if the algorithm fixes the hash. */
  digest: "sha256" | "sha384" | "sha512" | null;
  options: SigningOptions & { dsaEncoding?: "der" };
}

const { RSA_PKCS1_PADDING, RSA_PKCS1_PSS_PADDING, RSA_PSS_SALTLEN_DIGEST } = constants;
const der = { dsaEncoding: "der" } as const;
const pkcs1 = { padding: RSA_PKCS1_PADDING };
const pss = { padding: RSA_PKCS1_PSS_PADDING, saltLength: RSA_PSS_SALTLEN_DIGEST };

/** Algorithms by their identifiers in the IANA COSE registry, in order of preference. */
export const algorithms: ReadonlyMap<number, Algorithm> = new Map<number, Algorithm>([
  [-7, { kind: { curve: "P-256", size: 32 }, digest: "sha256", options: der }],
  [-35, { kind: { curve: "P-384", size: 48 }, digest: "sha384", options: der }],
  [-36, { kind: { curve: "P-521", size: 66 }, digest: "sha512", options: der }],
  [-257, { kind: "RSA", digest: "sha256", options: pkcs1 }],
  [-258, { kind: "RSA", digest: "sha384", options: pkcs1 }],
  [-259, { kind: "RSA", digest: "sha512", options: pkcs1 }],
  [-37, { kind: "RSA", digest: "sha256", options: pss }],
  [-38, { kind: "RSA", digest: "sha384", options: pss }],
  [-39, { kind: "RSA", digest: "sha512", options: pss }],
  [-8, { kind: "Ed25519", digest: null, options: {} }],
]);

/** Algorithms that are offered to authenticators. */
export const offeredAlgorithms: readonly number[] = [...algorithms.keys()];
