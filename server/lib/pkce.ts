import { constantTimeEqual } from "./constant-time-equal.ts";
import { sha256 } from "./sha256.ts";

/** A `code_verifier` (RFC 7636, 4.1). */
export const codeVerifierPattern = /^[A-Za-z0-9._~-]{43,128}$/;

/** An S256 `code_challenge`: 32 bytes in base64url (RFC 7636, 4.2). */
export const codeChallengePattern = /^[A-Za-z0-9_-]{43}$/;

/** The S256 challenge of a verifier: BASE64URL(SHA256(ASCII(code_verifier))) (RFC 7636, 4.2). */
export function codeChallengeOf(verifier: string): string {
  return sha256(verifier).toString("base64url");
}

/** Whether a well-formed verifier belongs to a challenge, by S256 alone (RFC 7636, 4.6). */
export function isVerifierOf(challenge: string, verifier: string): boolean {
  return codeVerifierPattern.test(verifier) && constantTimeEqual(codeChallengeOf(verifier), challenge);
}
