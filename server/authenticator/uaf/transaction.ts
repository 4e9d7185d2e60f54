import { sha256 } from "../../lib/sha256.ts";

/**
 * Most bytes of UTF-8 that a text may have for an authenticator to show it: the published Android client takes 200
 * characters of base64url.
 */
export const longestTransactionText = 150;

/** Whether authenticators can be asked to show a text. */
export function isTransactionText(text: string): boolean {
  const { length } = Buffer.from(text);
  return text.isWellFormed() && length >= 1 && length <= longestTransactionText;
}

/** A transaction as it stands in an authentication request: UAF Protocol Specification 1.1, dictionary Transaction. */
export interface Transaction {
  contentType: "text/plain";
  /** base64url */
  content: string;
}

export function transactionOf(text: string): Transaction {
  return { contentType: "text/plain", content: Buffer.from(text).toString("base64url") };
}

/** What an authenticator signs of a text that was confirmed: SHA-256 of its bytes, not of their base64url. */
export function transactionContentHash(text: string): Buffer {
  return sha256(text);
}
