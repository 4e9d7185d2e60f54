import { createPublicKey, type JsonWebKey, type KeyObject } from "node:crypto";
import { decodeCredentialPublicKey } from "@simplewebauthn/server/helpers";
import { isSafeEd25519Point } from "../lib/edwards25519.ts";

type Kind = { curve: keyof typeof curveIds; size: number } | "RSA" | "Ed25519";

/** COSE curves by their JSON Web Key names (RFC 9053 section 7.1). */
const curveIds = { "P-256": 1, "P-384": 2, "P-521": 3 } as const;

/**
 * Algorithms that are offered to authenticators, in order of preference, by their identifiers in the IANA COSE registry,
 * with the kind of key that WebAuthn Level 3 section 5.8.5 allows for each.
 */
const keysByAlgorithm = new Map<number, Kind>([
  [-7, { curve: "P-256", size: 32 }],
  [-35, { curve: "P-384", size: 48 }],
  [-36, { curve: "P-521", size: 66 }],
  [-257, "RSA"],
  [-258, "RSA"],
  [-259, "RSA"],
  [-37, "RSA"],
  [-38, "RSA"],
  [-39, "RSA"],
  [-8, "Ed25519"],
]);

export const offeredAlgorithms: readonly number[] = [...keysByAlgorithm.keys()];

/** A credential's public key. */
export interface CredentialKey {
  /** Identifier in the IANA COSE registry. */
  algorithm: number;
  key: KeyObject;
}

/**
 * Imports a credential's public key if it is acceptable: it has an offered algorithm, exactly the parameters of that
 * algorithm (WebAuthn Level 3 section 6.5.1.1), and is a point of its curve, not of small order.
 *
 * @param encoded COSE_Key (RFC 9052 section 7)
 * @returns null if it is not acceptable
 */
export function importCredentialKey(encoded: Uint8Array): CredentialKey | null {
  const key = decode(encoded);
  const algorithm = key?.get(3);
  const kind = typeof algorithm === "number" ? keysByAlgorithm.get(algorithm) : undefined;
  if (!key || typeof algorithm !== "number" || !kind || !hasParametersOf(kind, key)) return null;
  try {
    // Importing checks that the point lies on the curve.
    return { algorithm, key: createPublicKey({ format: "jwk", key: jwkOf(key, kind) }) };
  } catch {
    return null;
  }
}

function decode(encoded: Uint8Array): Map<unknown, unknown> | null {
  try {
    const decoded: unknown = decodeCredentialPublicKey(new Uint8Array(encoded));
    return decoded instanceof Map ? decoded : null;
  } catch {
    return null;
  }
}

function hasParametersOf(kind: Kind, key: Map<unknown, unknown>): boolean {
  if (kind === "RSA") return isRsaKey(key);
  return kind === "Ed25519" ? isEd25519Key(key) : isEcKey(key, kind.curve, kind.size);
}

/** JSON Web Key (RFC 7518 section 6, RFC 8037 section 2). */
function jwkOf(key: Map<unknown, unknown>, kind: Kind): JsonWebKey {
  const part = (label: number) => {
    const bytes = key.get(label);
    if (!(bytes instanceof Uint8Array)) throw new Error(`no parameter ${label}`);
    return Buffer.from(bytes).toString("base64url");
  };
  if (kind === "RSA") return { kty: "RSA", n: part(-1), e: part(-2) };
  if (kind === "Ed25519") return { kty: "OKP", crv: kind, x: part(-2) };
  return { kty: "EC", crv: kind.curve, x: part(-2), y: part(-3) };
}

/** RFC 9053 section 7.1.1; the compressed form, a boolean y, is not allowed in WebAuthn. */
function isEcKey(key: Map<unknown, unknown>, curve: keyof typeof curveIds, size: number): boolean {
  const sized = [-2, -3].every((label) => bytesOf(key.get(label), size) !== null);
  return sized && hasExactly(key, { 1: 2, [-1]: curveIds[curve] }, [-2, -3]);
}

/** RFC 8230 section 4; at least 2048 bits (NIST SP 800-131A), and at most 8192, so that verifying stays cheap. */
function isRsaKey(key: Map<unknown, unknown>): boolean {
  const modulus = key.get(-1);
  const exponent = key.get(-2);
  if (!hasExactly(key, { 1: 3 }, [-1, -2])) return false;
  if (!(modulus instanceof Uint8Array) || !(exponent instanceof Uint8Array)) return false;
  if (modulus.length < 256 || modulus.length > 1024 || exponent.length > 4) return false;
  const bits = modulus.length * 8 - Math.clz32(modulus[0] ?? 0) + 24;
  const odd = ((modulus.at(-1) ?? 0) & (exponent.at(-1) ?? 0) & 1) === 1;
  return bits >= 2048 && odd && Buffer.from(exponent).readUIntBE(0, exponent.length) >= 3;
}

/** RFC 9053 section 7.2. */
function isEd25519Key(key: Map<unknown, unknown>): boolean {
  const point = bytesOf(key.get(-2), 32);
  return hasExactly(key, { 1: 1, [-1]: 6 }, [-2]) && point !== null && isSafeEd25519Point(point);
}

/** Whether the key has exactly these values, these other parameters, and its algorithm. */
function hasExactly(key: Map<unknown, unknown>, values: Record<number, number>, others: number[]): boolean {
  const labels = [3, ...Object.keys(values).map(Number), ...others];
  return (
    key.size === labels.length &&
    labels.every((label) => key.has(label)) &&
    Object.entries(values).every(([label, value]) => key.get(Number(label)) === value)
  );
}

function bytesOf(value: unknown, size: number): Buffer | null {
  return value instanceof Uint8Array && value.length === size ? Buffer.from(value) : null;
}
