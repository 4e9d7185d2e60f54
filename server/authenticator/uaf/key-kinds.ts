import type { KeyObject } from "node:crypto";
import { hasNoWeakEd25519Point } from "../../lib/edwards25519.ts";

/** Kinds of keys, with the JWK names of their curves. */
export type KeyKind = Curve | "RSA";

export type Curve = "P-256" | "secp256k1" | "P-384" | "P-521" | "Ed25519";

/** OpenSSL's names of the curves for ECDSA. */
const namedCurves: Partial<Record<Curve, string>> = {
  "P-256": "prime256v1",
  secp256k1: "secp256k1",
  "P-384": "secp384r1",
  "P-521": "secp521r1",
};

/** Whether a public key is of a kind, and for RSA and Ed25519 also strong enough. */
export function isOfKind(key: KeyObject, kind: KeyKind): boolean {
  const { asymmetricKeyType, asymmetricKeyDetails } = key;
  if (kind === "RSA") return asymmetricKeyType === "rsa" && isStrong(asymmetricKeyDetails);
  if (kind === "Ed25519") return asymmetricKeyType === "ed25519" && hasNoWeakEd25519Point(key);
  return asymmetricKeyType === "ec" && asymmetricKeyDetails?.namedCurve === namedCurves[kind];
}

/**
 * Requires at least 2048 bits (NIST SP 800-131A), at most 8192 so that verification stays cheap, and an odd exponent of
 * at least 3 (RFC 8017 section 3.1).
 */
function isStrong({
  modulusLength = 0,
  publicExponent = 0n,
}: KeyObject["asymmetricKeyDetails"] = {}): boolean {
  const exponent = publicExponent >= 3n && publicExponent < 2n ** 32n && publicExponent % 2n === 1n;
  return modulusLength >= 2048 && modulusLength <= 8192 && exponent;
}
