import { createPublicKey, type JsonWebKey, type KeyObject } from "node:crypto";
import { isSafeEd25519Point } from "../lib/edwards25519.ts";
import { algorithms, curveIds, type KeyKind } from "./algorithms.ts";
import { readIntegerMap } from "./cbor.ts";

type Members = ReadonlyMap<number, number | Buffer>;

/** Whether a key is new, by registration or import, or stored already. */
export type KeyOrigin = "registration" | "storage";

/** New keys have an RSA exponent beyond 2^16 (FIPS 186-5 section A.1.1); former versions accepted any from 3 on. */
const leastExponents: Record<KeyOrigin, number> = { registration: 0x1_0001, storage: 3 };

/** A credential's public key. */
export interface CredentialKey {
  /** Identifier in the IANA COSE registry. */
  algorithm: number;
  key: KeyObject;
}

/**
 * Imports a credential's public key if it is acceptable: it has one reading, has an offered algorithm, exactly the
 * parameters of that algorithm (WebAuthn Level 3 section 6.5.1.1), and is a point of its curve, not of small order. Flows,
 * the passkey server, receipts and imports all read keys here.
 *
 * @param encoded COSE_Key (RFC 9052 section 7)
 * @param origin `storage` admits smaller RSA exponents, which former versions accepted
 * @returns null if it is not acceptable
 */
export function importCredentialKey(
  encoded: Uint8Array,
  origin: KeyOrigin = "registration",
): CredentialKey | null {
  const key = readIntegerMap(encoded);
  const algorithm = key?.get(3);
  const kind = typeof algorithm === "number" ? algorithms.get(algorithm)?.kind : undefined;
  if (!key || typeof algorithm !== "number" || !kind || !hasParametersOf(kind, key, origin)) return null;
  try {
    // Importing checks that the point lies on the curve.
    return { algorithm, key: createPublicKey({ format: "jwk", key: jwkOf(key, kind) }) };
  } catch {
    return null;
  }
}

function hasParametersOf(kind: KeyKind, key: Members, origin: KeyOrigin): boolean {
  if (kind === "RSA") return isRsaKey(key, leastExponents[origin]);
  return kind === "Ed25519" ? isEd25519Key(key) : isEcKey(key, kind.curve, kind.size);
}

/** JSON Web Key (RFC 7518 section 6, RFC 8037 section 2). */
function jwkOf(key: Members, kind: KeyKind): JsonWebKey {
  const part = (label: number) => {
    const bytes = key.get(label);
    if (!Buffer.isBuffer(bytes)) throw new Error(`no parameter ${label}`);
    return bytes.toString("base64url");
  };
  if (kind === "RSA") return { kty: "RSA", n: part(-1), e: part(-2) };
  if (kind === "Ed25519") return { kty: "OKP", crv: kind, x: part(-2) };
  return { kty: "EC", crv: kind.curve, x: part(-2), y: part(-3) };
}

/** RFC 9053 section 7.1.1; the compressed form, a boolean y, is not allowed in WebAuthn. */
function isEcKey(key: Members, curve: keyof typeof curveIds, size: number): boolean {
  const sized = [-2, -3].every((label) => bytesOf(key.get(label), size) !== null);
  return sized && hasExactly(key, { 1: 2, [-1]: curveIds[curve] }, [-2, -3]);
}

/**
 * RFC 8230 section 4: numbers in as few octets as possible. At least 2048 bits (NIST SP 800-131A), and at most 8192, so that
 * verifying stays cheap; an odd exponent of at most 32 bits.
 */
function isRsaKey(key: Members, leastExponent: number): boolean {
  const modulus = key.get(-1);
  const exponent = key.get(-2);
  if (!hasExactly(key, { 1: 3 }, [-1, -2])) return false;
  if (!Buffer.isBuffer(modulus) || !Buffer.isBuffer(exponent)) return false;
  if (modulus.length > 1024 || exponent.length < 1 || exponent.length > 4) return false;
  if (modulus[0] === 0 || exponent[0] === 0) return false;
  const bits = modulus.length * 8 - Math.clz32(modulus[0] ?? 0) + 24;
  const odd = ((modulus.at(-1) ?? 0) & (exponent.at(-1) ?? 0) & 1) === 1;
  return bits >= 2048 && odd && exponent.readUIntBE(0, exponent.length) >= leastExponent;
}

/** RFC 9053 section 7.2. */
function isEd25519Key(key: Members): boolean {
  const point = bytesOf(key.get(-2), 32);
  return hasExactly(key, { 1: 1, [-1]: 6 }, [-2]) && point !== null && isSafeEd25519Point(point);
}

/** Whether the key has exactly these values, these other parameters, and its algorithm. */
function hasExactly(key: Members, values: Record<number, number>, others: number[]): boolean {
  const labels = [3, ...Object.keys(values).map(Number), ...others];
  return (
    key.size === labels.length &&
    labels.every((label) => key.has(label)) &&
    Object.entries(values).every(([label, value]) => key.get(Number(label)) === value)
  );
}

function bytesOf(value: unknown, size: number): Buffer | null {
  return Buffer.isBuffer(value) && value.length === size ? value : null;
}
