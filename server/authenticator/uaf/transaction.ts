import { sha256 } from "../../lib/sha256.ts";
import type { AuthenticatorMetadata } from "./metadata.ts";
import type { KeyName } from "./policy.ts";

/** Control characters, separators of lines, and characters that change the direction of their neighbours. */
const misleading = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

/**
 * Finds the authenticator model that cannot show a text: the one with the lowest limit of those that may respond.
 *
 * @param accepted models
 * @param keys of the authenticators that may respond; if there is none, every accepted model counts
 * @returns null if each can show it
 */
export function modelThatCannotShow(
  text: string,
  accepted: readonly AuthenticatorMetadata[],
  keys: readonly Pick<KeyName, "aaid">[],
): AuthenticatorMetadata | null {
  const models = accepted.filter(({ revoked }) => !revoked);
  const asked = models.filter(({ aaid }) => keys.some((key) => key.aaid === aaid));
  const [lowest] = (asked.length > 0 ? asked : models).toSorted(
    (one, other) => one.maxTransactionBytes - other.maxTransactionBytes,
  );
  return lowest && Buffer.byteLength(text) > lowest.maxTransactionBytes ? lowest : null;
}

/** Whether a text reads differently from what it consists of: the user would confirm something else. */
export function isMisleading(text: string): boolean {
  return misleading.test(text);
}

/** Dictionary Transaction of an authentication request (UAF Protocol Specification 1.1). */
export interface Transaction {
  contentType: "text/plain";
  /** base64url */
  content: string;
}

export function transactionOf(text: string): Transaction {
  return { contentType: "text/plain", content: Buffer.from(text).toString("base64url") };
}

/** The hash that an authenticator signs for a confirmed text: SHA-256 of its bytes, not of their base64url. */
export function transactionContentHash(text: string): Buffer {
  return sha256(text);
}
