import { createHash } from "node:crypto";

/**
 * The challenge that binds a transaction: an authenticator that signs it signs what was agreed, since nobody finds
 * other data with the same hash.
 */

const HALF_BYTES = 32;

/**
 * SHA-256( transaction id ‖ canonical data ), both in UTF-8. Nothing has to stand between them: no object's text ends
 * in the text of another whole object, so that what is hashed can be cut in one place only.
 *
 * @param data an object in the canonical form of RFC 8785
 */
export function transactionHash(transactionId: string, data: string): Buffer {
  return createHash("sha256").update(transactionId, "utf8").update(data, "utf8").digest();
}

/**
 * 64 bytes in base64url, 86 characters: 32 random ones, then the hash.
 *
 * @param random 32 bytes, new for each challenge
 */
export function transactionChallenge(random: Uint8Array, transactionId: string, data: string): string {
  if (random.length !== HALF_BYTES) throw new RangeError("the random half of a challenge has 32 bytes");
  return Buffer.concat([random, transactionHash(transactionId, data)]).toString("base64url");
}

/**
 * Whether a challenge is one for this transaction.
 *
 * @param challenge base64url, from anybody
 */
export function isChallengeOf(challenge: string, transactionId: string, data: string): boolean {
  const bytes = Buffer.from(challenge, "base64url");
  // A second spelling of the same bytes is no challenge of ours.
  if (bytes.length !== 2 * HALF_BYTES || bytes.toString("base64url") !== challenge) return false;
  return bytes.subarray(HALF_BYTES).equals(transactionHash(transactionId, data));
}
