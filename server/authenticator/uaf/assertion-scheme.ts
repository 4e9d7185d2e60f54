import { decodeBase64url, decodePaddedBase64url } from "../../lib/base64url.ts";
import { TlvError } from "./tlv.ts";

/** The one assertion scheme there is: UAF Authenticator Commands 1.1. */
export const assertionScheme = "UAFV1TLV";

/** Most bytes of an assertion. */
export const longestAssertion = 4096;

/** Vendor and model, in capitals here: hex digits are alike in any case (UAF Protocol Specification 1.1, typedef AAID). */
export const aaidOf = (value: Buffer): string => value.toString("latin1").toUpperCase();

/** Lengths of members that both kinds of assertions have, in bytes. */
export const lengths = {
  aaid: 9,
  hash: 32,
  counter: 4,
  keyId: [1, 2048],
  signature: [1, longestAssertion],
  object: [0, longestAssertion],
} as const;

/**
 * Reads an assertion from the text that it is sent as.
 *
 * @param strict whether padding, which some clients add, is refused
 * @returns null when it is no base64url, too long, or not of the form that it has to have
 */
export function readAssertion<Assertion>(
  text: string,
  read: (bytes: Buffer) => Assertion,
  strict: boolean,
): Assertion | null {
  const bytes = strict ? decodeBase64url(text) : decodePaddedBase64url(text);
  if (bytes === null || bytes.length > longestAssertion) return null;
  try {
    return read(bytes);
  } catch (error) {
    if (error instanceof TlvError) return null;
    throw error;
  }
}
