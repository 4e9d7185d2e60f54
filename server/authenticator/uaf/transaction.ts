import { sha256 } from "../../lib/sha256.ts";

/**
 * In UTF-8. The published Android client accepts 200 characters of base64url.
 */
export const MAX_TRANSACTION_BYTES = 150;

/** Control characters, separators of lines, and characters that change the direction of their neighbours. */
const misleading = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;

/** Whether authenticators can show a text. */
export function isTransactionText(text: string): boolean {
  const { length } = Buffer.from(text);
  return text.isWellFormed() && length >= 1 && length <= MAX_TRANSACTION_BYTES;
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
