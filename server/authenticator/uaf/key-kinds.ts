import type { KeyObject } from "node:crypto";

/** Kinds of keys, by the names that JSON Web Keys have for their curves. */
export type KeyKind = Curve | "RSA";

export type Curve = "P-256" | "secp256k1" | "P-384" | "P-521" | "Ed25519";

/** Names that OpenSSL has for curves, where it has one for their keys in common. */
const namedCurves: Partial<Record<Curve, string>> = {
  "P-256": "prime256v1",
  secp256k1: "secp256k1",
  "P-384": "secp384r1",
  "P-521": "secp521r1",
};

/** Whether a public key is of a kind; of RSA, whether it is strong enough as well. */
export function isOfKind({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject, kind: KeyKind): boolean {
  if (kind === "RSA") return asymmetricKeyType === "rsa" && isStrong(asymmetricKeyDetails);
  if (kind === "Ed25519") return asymmetricKeyType === "ed25519";
  return asymmetricKeyType === "ec" && asymmetricKeyDetails?.namedCurve === namedCurves[kind];
}

/**
 * 2048 bits at least (NIST SP 800-131A), and so many at most that verifying stays cheap; an odd exponent from 3 on (RFC
 * 8017 section 3.1).
 */
function isStrong({
  modulusLength = 0,
  publicExponent = 0n,
}: KeyObject["asymmetricKeyDetails"] = {}): boolean {
  const exponent = publicExponent >= 3n && publicExponent < 2n ** 32n && publicExponent % 2n === 1n;
  return modulusLength >= 2048 && modulusLength <= 8192 && exponent;
}
