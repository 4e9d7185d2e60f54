import { sha256 } from "../../lib/sha256.ts";

/**
 * In UTF-8. The published Android client accepts 200 characters of base64url.
 */
export const MAX_TRANSACTION_BYTES = 150;

/** Whether authenticators can show a text. */
export function isTransactionText(text: string): boolean {
  const { length } = Buffer.from(text);
  return text.isWellFormed() && length >= 1 && length <= MAX_TRANSACTION_BYTES;
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
