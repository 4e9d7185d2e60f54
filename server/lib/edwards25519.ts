import type { KeyObject } from "node:crypto";

/**
 * Checks of Ed25519 public keys. Node 22 verifies signatures under keys of small order; Node 24 does so for certificates
 * only.
 */

const p = 2n ** 255n - 19n;
const d = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;

/**
 * Whether 32 bytes are a point of edwards25519 in its only encoding (RFC 8032 section 5.1.3), and not one of small order.
 *
 * Signatures that verify for any message can be made under a key of small order, without a private key.
 */
export function isSafeEd25519Point(encoded: Uint8Array): boolean {
  if (encoded.length !== 32) return false;
  const bigEndian = Buffer.from(encoded).reverse();
  bigEndian[0] = (bigEndian[0] ?? 0) & 0x7f;
  const y = BigInt(`0x${bigEndian.toString("hex")}`);
  if (y >= p || isOfSmallOrder(y)) return false;
  // x² = u / v has a root if and only if u · v has one, by Euler's criterion.
  const u = mod(y * y - 1n);
  const v = mod(d * y * y + 1n);
  return power(mod(u * v), (p - 1n) / 2n) === 1n;
}

/** Whether a key is none of Ed25519, or one whose point is safe. */
export function hasNoWeakEd25519Point(key: KeyObject): boolean {
  return key.asymmetricKeyType !== "ed25519" || isNoWeakEd25519Jwk(key.export({ format: "jwk" }));
}

/** The same for a JSON Web Key (RFC 8037 section 2), as received. */
export function isNoWeakEd25519Jwk({ crv, x }: { crv?: unknown; x?: unknown }): boolean {
  return crv !== "Ed25519" || (typeof x === "string" && isSafeEd25519Point(Buffer.from(x, "base64url")));
}

/**
 * Whether the points with this y coordinate have an order of 1, 2, 4 or 8: y is 1, −1 or 0, or doubling gives a point
 * whose y is 0, which with the curve's equation is d·y⁴ + 2·y² = 1.
 */
function isOfSmallOrder(y: bigint): boolean {
  const square = mod(y * y);
  return square <= 1n || mod(d * square * square + 2n * square) === 1n;
}

const mod = (value: bigint) => ((value % p) + p) % p;

function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let square = base, rest = exponent; rest > 0n; rest >>= 1n, square = (square * square) % p) {
    if (rest & 1n) result = (result * square) % p;
  }
  return result;
}
