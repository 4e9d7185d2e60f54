import { isDatabaseUnreachable, isLockTimeout, isReadOnly } from "#db/errors";
import { OverloadedError } from "../lib/overloaded-error.ts";

/** Seconds after which a client may try again (`Retry-After`). */
export const RETRY_AFTER_SECONDS = 1;

/**
 * Whether a request failed for a reason that ends by itself: the database cannot be reached, no connection was free in
 * time, another request holds a row for too long, or too much is waiting. The status is then 503.
 */
export function isTemporaryFailure(error: unknown): boolean {
  if (error instanceof OverloadedError) return true;
  return isDatabaseUnreachable(error) || isReadOnly(error) || isLockTimeout(error);
}
