import { compactVerify, decodeJwt, decodeProtectedHeader, importJWK, type JWK } from "jose";
import type { BoundKey } from "#db/schema/sessions";

/**
 * The proof of a browser (DBSC, 9.10): a JWT, signed by the private key of the session.
 */

/** The algorithms that keys are asked for. `none` (DBSC, 9.10) proves nothing. */
export const algorithms = ["ES256", "RS256"] as const;

/** With a key of 4096 bits in its header and in its challenge, a proof has some 4200 characters. */
const MAX_PROOF_CHARACTERS = 6144;

/** RSA keys of 2048 bits at least (RFC 7518, 3.3; the library rejects shorter ones), and 4096 at most. */
const MAX_MODULUS_CHARACTERS = 683;

/** Reads the challenge that a proof answers, its `jti`, unverified; null if it is no such proof. */
export function challengeOf(proof: string): string | null {
  if (proof.length > MAX_PROOF_CHARACTERS) return null;
  try {
    const { jti } = decodeJwt(proof);
    return typeof jti === "string" ? jti : null;
  } catch {
    return null;
  }
}

/** Reads the public key that the proof of a registration brings; null if there is none of an accepted kind. */
export function keyOf(proof: string): BoundKey | null {
  try {
    const { jwk } = decodeProtectedHeader(proof);
    return jwk ? boundKey(jwk) : null;
  } catch {
    return null;
  }
}

/** Whether a proof is signed by a key. Its challenge is for the caller to judge. */
export async function isProof(proof: string, key: BoundKey): Promise<boolean> {
  const algorithm = key.kty === "EC" ? "ES256" : "RS256";
  try {
    const { protectedHeader } = await compactVerify(proof, await importJWK(key, algorithm), {
      algorithms: [algorithm],
    });
    return protectedHeader.typ === "dbsc+jwt";
  } catch {
    return false;
  }
}

/** The members of a key that is accepted, without others that a client may have added. */
function boundKey({ kty, crv, x, y, n, e }: JWK): BoundKey | null {
  if (kty === "EC" && crv === "P-256" && typeof x === "string" && typeof y === "string")
    return x.length <= 43 && y.length <= 43 ? { kty: "EC", crv, x, y } : null;
  if (kty === "RSA" && typeof n === "string" && typeof e === "string")
    return n.length <= MAX_MODULUS_CHARACTERS && e.length <= 8 ? { kty: "RSA", n, e } : null;
  return null;
}
