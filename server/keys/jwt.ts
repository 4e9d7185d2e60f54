import { constants, type KeyObject, sign, verify } from "node:crypto";
import type { Config } from "../config/schema.ts";
import { decodeBase64url } from "../lib/base64url.ts";

/**
 * Signed tokens, RFC 7519 in the compact form of RFC 7515, under the advice of RFC 8725. All of it is synchronous:
 * the thread pool belongs to password hashes, and a token must never wait behind one.
 */

export type Algorithm = Config["session"]["algorithm"];

/** A key signs and verifies by exactly one algorithm (RFC 8725, 3.1). */
export interface VerifyingKey {
  id: string;
  algorithm: Algorithm;
  publicKey: KeyObject;
}

export interface SigningKey extends VerifyingKey {
  privateKey: KeyObject;
}

export interface ExpectedToken {
  /** Tells tokens of different purpose apart (RFC 8725, 3.11). */
  typ: string;
  /** One of these must be in `aud`. */
  audience: readonly string[];
  issuer?: string;
  /** `"unchecked"` leaves the times to the caller, who asks `isTimely` when it knows the database's clock. */
  now: Date | "unchecked";
}

export type Claims = Record<string, unknown>;

/** How far clocks may be apart, in seconds. */
const skew = 60;

/** Longer than any token of ours; a session's has about 700 characters. */
const longest = 4096;

const schemes = {
  RS256: { digest: "sha256", options: { padding: constants.RSA_PKCS1_PADDING } },
  ES256: { digest: "sha256", options: { dsaEncoding: "ieee-p1363" } },
  EdDSA: { digest: null, options: {} },
} as const satisfies Record<Algorithm, unknown>;

/** Makes a token. */
export function signJwt(key: SigningKey, typ: string, claims: object): string {
  const signed = `${encode({ alg: key.algorithm, typ, kid: key.id })}.${encode(claims)}`;
  const { digest, options } = schemes[key.algorithm];
  const signature = sign(digest, Buffer.from(signed), { key: key.privateKey, ...options });
  return `${signed}.${signature.toString("base64url")}`;
}

/** The name of the key that a token says it was signed by; null when it is not the header of a token of ours. */
export function keyIdOf(token: string): string | null {
  if (token.length > longest) return null;
  const kid = decode(token.split(".", 1)[0] ?? "")?.kid;
  return typeof kid === "string" ? kid : null;
}

/**
 * Judges a token.
 *
 * @param key the key of our own set that the token names; nothing else in its header is followed
 * @returns the claims, or null whatever is wrong with it
 */
export function verifyJwt(token: string, key: VerifyingKey, expected: ExpectedToken): Claims | null {
  if (token.length > longest) return null;
  const [head = "", body = "", signature = "", ...rest] = token.split(".");
  if (rest.length > 0) return null;

  // The key says which algorithm is right; the header may only agree.
  const header = decode(head);
  if (!header || header.alg !== key.algorithm || header.kid !== key.id) return null;
  if (header.typ !== expected.typ) return null;
  // RFC 7515, 4.1.11: extensions that must be understood are refused by whoever understands none.
  if ("crit" in header) return null;

  // A second spelling of the same signature would be a second token.
  const bytes = decodeBase64url(signature);
  if (!bytes) return null;
  const { digest, options } = schemes[key.algorithm];
  if (!verify(digest, Buffer.from(`${head}.${body}`), { key: key.publicKey, ...options }, bytes)) return null;

  const claims = decode(body);
  if (!claims) return null;
  const audience: unknown[] = Array.isArray(claims.aud) ? claims.aud : [claims.aud];
  if (!expected.audience.some((name) => audience.includes(name))) return null;
  if (expected.issuer !== undefined && claims.iss !== expected.issuer) return null;
  if (expected.now !== "unchecked" && !isTimely(claims, expected.now)) return null;
  return claims;
}

/** RFC 7519, 4.1.4 to 4.1.6: not yet expired, already valid, not from the future. A token without `exp` never is. */
export function isTimely(claims: Claims, now: Date): boolean {
  const seconds = now.getTime() / 1000;
  const begun = (time: unknown) => time === undefined || (typeof time === "number" && time <= seconds + skew);
  return (
    typeof claims.exp === "number" && claims.exp > seconds - skew && begun(claims.nbf) && begun(claims.iat)
  );
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

function decode(part: string): Claims | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString());
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Claims) : null;
  } catch {
    return null;
  }
}
