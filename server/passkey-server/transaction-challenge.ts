import { decodeBase64url } from "../lib/base64url.ts";
import { sha256 } from "../lib/sha256.ts";

/** The challenge of a transaction. It contains a hash of the data, so the authenticator's signature covers the data. */

const HALF_BYTES = 32;

/**
 * Returns SHA-256( transaction id ‖ canonical data ), both in UTF-8. No separator is needed: no object's text ends in
 * the text of another whole object, so the concatenation can be split in one place only.
 *
 * @param data an object in the canonical form of RFC 8785
 */
function transactionHash(transactionId: string, data: string): Buffer {
  return sha256(transactionId + data);
}

/**
 * Returns 64 bytes in base64url, 86 characters: 32 random bytes, then the hash.
 *
 * @param random 32 bytes, new for each challenge
 */
export function transactionChallenge(random: Uint8Array, transactionId: string, data: string): string {
  if (random.length !== HALF_BYTES) throw new RangeError("the random half of a challenge must have 32 bytes");
  return Buffer.concat([random, transactionHash(transactionId, data)]).toString("base64url");
}

/**
 * Whether a challenge commits to this transaction.
 *
 * @param challenge base64url, unvalidated
 */
export function isChallengeOf(challenge: string, transactionId: string, data: string): boolean {
  const bytes = decodeBase64url(challenge);
  return (
    bytes?.length === 2 * HALF_BYTES &&
    bytes.subarray(HALF_BYTES).equals(transactionHash(transactionId, data))
  );
}
