import { constants, type KeyObject, sign, verify } from "node:crypto";
import type { Config } from "../config/schema.ts";
import { decodeBase64url } from "../lib/base64url.ts";
import type { VerifiedSignatures } from "./verified-signatures.ts";

/**
 * JSON Web Tokens (RFC 7519) in the compact serialization of RFC 7515, following RFC 8725. All functions are
 * synchronous: the thread pool hashes passwords, and tokens must not wait for it.
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
  /** Distinguishes tokens of different purposes (RFC 8725, 3.11); null: it has none, as ID tokens. */
  typ: string | null;
  /** One of these must be in `aud`. */
  audience: readonly string[];
  issuer?: string;
  /** `"unchecked"`: the caller checks the times with `isWithinValidity` by the database's clock. */
  now: Date | "unchecked";
}

export type Claims = Record<string, unknown>;

const CLOCK_SKEW_SECONDS = 60;

/** A session token has about 700 characters. */
const MAX_TOKEN_LENGTH = 4096;

const schemes = {
  RS256: { digest: "sha256", options: { padding: constants.RSA_PKCS1_PADDING } },
  ES256: { digest: "sha256", options: { dsaEncoding: "ieee-p1363" } },
  EdDSA: { digest: null, options: {} },
} as const satisfies Record<Algorithm, unknown>;

/**
 * Signs a token.
 *
 * @param parameters further ones of the header, of no registered name (RFC 7515, 4.3)
 */
export function signJwt(key: SigningKey, typ: string, claims: object, parameters: object = {}): string {
  const signed = `${encode({ ...parameters, alg: key.algorithm, typ, kid: key.id })}.${encode(claims)}`;
  return `${signed}.${signBytes(key, Buffer.from(signed)).toString("base64url")}`;
}

/** Signs bytes by the algorithm of a key: the signature of a JWS (RFC 7518, 3). */
export function signBytes({ algorithm, privateKey }: SigningKey, data: Uint8Array): Buffer {
  const { digest, options } = schemes[algorithm];
  return sign(digest, data, { key: privateKey, ...options });
}

/** The `kid` of a token; null if the header is malformed. */
export function keyIdOf(token: string): string | null {
  if (token.length > MAX_TOKEN_LENGTH) return null;
  const kid = decode(token.split(".", 1)[0] ?? "")?.kid;
  return typeof kid === "string" ? kid : null;
}

/** Reads a parameter of the header of a token that was verified. */
export function headerParameter(token: string, name: string): unknown {
  return decode(token.split(".", 1)[0] ?? "")?.[name];
}

/**
 * Verifies a token.
 *
 * @param key the key of our own set that `kid` names; other header parameters that name keys are ignored
 * @param seen signatures that need no second verification; a valid one is added
 * @returns the claims, or null if anything is wrong
 */
export function verifyJwt(
  token: string,
  key: VerifyingKey,
  expected: ExpectedToken,
  seen?: VerifiedSignatures,
): Claims | null {
  if (token.length > MAX_TOKEN_LENGTH) return null;
  const [head = "", body = "", signature = "", ...rest] = token.split(".");
  if (rest.length > 0) return null;

  // The key determines the algorithm; the header must agree.
  const header = decode(head);
  if (!header || header.alg !== key.algorithm || header.kid !== key.id) return null;
  if ((header.typ ?? null) !== expected.typ) return null;
  // RFC 7515, 4.1.11: critical extensions that are not understood must be rejected; none is supported.
  if ("crit" in header) return null;

  const isSeen = seen?.has(token, key.publicKey) ?? false;
  if (!isSeen && !isSigned(`${head}.${body}`, signature, key)) return null;

  const claims = decode(body);
  if (!claims) return null;
  if (!isSeen && typeof claims.exp === "number") seen?.add(token, key.publicKey, claims.exp);
  const audience: unknown[] = Array.isArray(claims.aud) ? claims.aud : [claims.aud];
  if (!expected.audience.some((name) => audience.includes(name))) return null;
  if (expected.issuer !== undefined && claims.iss !== expected.issuer) return null;
  if (expected.now !== "unchecked" && !isWithinValidity(claims, expected.now)) return null;
  return claims;
}

function isSigned(text: string, signature: string, { algorithm, publicKey }: VerifyingKey): boolean {
  // A second encoding of the same signature would be a second token.
  const bytes = decodeBase64url(signature);
  if (!bytes) return false;
  const { digest, options } = schemes[algorithm];
  return verify(digest, Buffer.from(text), { key: publicKey, ...options }, bytes);
}

/** Checks `exp`, `nbf` and `iat` (RFC 7519, 4.1.4 to 4.1.6). A token without `exp` is rejected. */
export function isWithinValidity(claims: Claims, now: Date): boolean {
  const seconds = now.getTime() / 1000;
  const isPast = (time: unknown) =>
    time === undefined || (typeof time === "number" && time <= seconds + CLOCK_SKEW_SECONDS);
  return (
    typeof claims.exp === "number" &&
    claims.exp > seconds - CLOCK_SKEW_SECONDS &&
    isPast(claims.nbf) &&
    isPast(claims.iat)
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
