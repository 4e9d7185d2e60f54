import { constants, createPublicKey, type KeyObject, verify } from "node:crypto";
import type { JWK } from "jose";
import type { Algorithm } from "../keys/jwt.ts";
import { decodeBase64url } from "../lib/base64url.ts";
import { hasNoWeakEd25519Point } from "../lib/edwards25519.ts";
import { RECEIPT_TYPE, type ReceiptClaims, receiptClaims } from "./receipt.ts";
import type { ReceiptRejection } from "./receipt-rejections.ts";

/** The issuer's public keys (JWK Set, RFC 7517, 5). */
export interface KeySet {
  keys: readonly JWK[];
}

/** Signature parameters and key type by algorithm (RFC 7518, 3.1; RFC 8037, 3.1). */
const schemes = {
  RS256: { kty: "RSA", crv: undefined, digest: "sha256", options: { padding: constants.RSA_PKCS1_PADDING } },
  ES256: { kty: "EC", crv: "P-256", digest: "sha256", options: { dsaEncoding: "ieee-p1363" } },
  EdDSA: { kty: "OKP", crv: "Ed25519", digest: null, options: {} },
} as const satisfies Record<Algorithm, object>;

/** More than any valid receipt, in characters. */
const MAX_RECEIPT_LENGTH = 128 * 1024;

export type ReceiptSignatureVerdict =
  | { ok: true; claims: ReceiptClaims; keyId: string }
  | { ok: false; reason: ReceiptRejection };

/**
 * Parses a receipt, a JWS in compact form (RFC 7515, 7.1), and verifies the issuer's signature.
 *
 * @param keys null to skip the signature
 */
export function verifyIssuerSignature(receipt: string, keys: KeySet | null): ReceiptSignatureVerdict {
  const reject = (reason: ReceiptRejection): ReceiptSignatureVerdict => ({ ok: false, reason });
  if (receipt.length > MAX_RECEIPT_LENGTH) return reject("malformed");
  const [head = "", body = "", signature = "", ...rest] = receipt.split(".");
  const [headBytes, bodyBytes, signatureBytes] = [head, body, signature].map(decodeBase64url);
  if (rest.length > 0 || !headBytes || !bodyBytes || !signatureBytes) return reject("malformed");

  const header = parse(headBytes);
  if (!header || typeof header.kid !== "string") return reject("malformed");
  // RFC 7515, 4.1.11: no critical extension is supported.
  if (header.typ !== RECEIPT_TYPE || "crit" in header) return reject("not_a_receipt");
  if (typeof header.alg !== "string" || !Object.hasOwn(schemes, header.alg))
    return reject("algorithm_unknown");

  if (keys) {
    const algorithm = header.alg as Algorithm;
    const key = keyOf(keys, header.kid, algorithm);
    if (!key) return reject("key_unknown");
    const { digest, options } = schemes[algorithm];
    if (!verify(digest, Buffer.from(`${head}.${body}`), { key, ...options }, signatureBytes))
      return reject("issuer_signature");
  }

  const claims = receiptClaims.safeParse(parse(bodyBytes));
  return claims.success ? { ok: true, claims: claims.data, keyId: header.kid } : reject("malformed");
}

/** The key determines the algorithm, and the header must match it (RFC 8725, 3.1). */
function keyOf({ keys }: KeySet, kid: string, algorithm: Algorithm): KeyObject | null {
  const { kty, crv } = schemes[algorithm];
  // Keys of different types may share a `kid` (RFC 7517, 4.5).
  const jwk = (Array.isArray(keys) ? keys : []).find(
    (one) =>
      one?.kid === kid &&
      one.kty === kty &&
      one.crv === crv &&
      (one.alg ?? algorithm) === algorithm &&
      (one.use ?? "sig") === "sig",
  );
  if (!jwk) return null;
  try {
    const key = createPublicKey({ key: jwk, format: "jwk" });
    const strong = (key.asymmetricKeyDetails?.modulusLength ?? 2048) >= 2048 && hasNoWeakEd25519Point(key);
    return strong ? key : null;
  } catch {
    return null;
  }
}

function parse(bytes: Buffer): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
