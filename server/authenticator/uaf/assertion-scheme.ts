import { decodeBase64url, decodePaddedBase64url } from "../../lib/base64url.ts";
import { TlvError } from "./tlv.ts";

/** The only assertion scheme of UAF Authenticator Commands 1.1. */
export const ASSERTION_SCHEME = "UAFV1TLV";

const MAX_ASSERTION_BYTES = 4096;

/** Reads an AAID, upper-case: its hex digits are case-insensitive (UAF Protocol Specification 1.1, typedef AAID). */
export const parseAaid = (value: Buffer): string => value.toString("latin1").toUpperCase();

/** Lengths in bytes, or their range, of fields that both kinds of assertions share. */
export const fieldLengths = {
  aaid: 9,
  hash: 32,
  counter: 4,
  keyId: [1, 2048],
  signature: [1, MAX_ASSERTION_BYTES],
  object: [0, MAX_ASSERTION_BYTES],
} as const;

/**
 * Decodes an assertion from base64url and parses it.
 *
 * @param parse throws `TlvError` for a malformed assertion
 * @param strict whether to reject padding, which some clients add
 * @returns null if the assertion is not base64url, too long or malformed
 */
export function decodeAssertion<Assertion>(
  text: string,
  parse: (bytes: Buffer) => Assertion,
  strict: boolean,
): Assertion | null {
  const bytes = strict ? decodeBase64url(text) : decodePaddedBase64url(text);
  if (bytes === null || bytes.length > MAX_ASSERTION_BYTES) return null;
  try {
    return parse(bytes);
  } catch (error) {
    if (error instanceof TlvError) return null;
    throw error;
  }
}
