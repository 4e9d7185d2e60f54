import { isDatabaseUnreachable, isLockTimeout, isReadOnly, isSerializationFailure } from "#db/errors";
import { UnreadableFlowError } from "../../flow/stored-data/unreadable-flow-error.ts";
import { OverloadedError } from "../../lib/overloaded-error.ts";

/** Seconds after which a client may try again (`Retry-After`). */
export const RETRY_AFTER_SECONDS = 1;

/**
 * Whether a request failed for a reason that ends by itself: the database cannot be reached, no connection was free in
 * time, another request holds a row for too long or waits for this one, too much is waiting, or a server of a later version has the flow. The
 * status is then 503.
 */
export function isTemporaryFailure(error: unknown): boolean {
  if (error instanceof OverloadedError) return true;
  if (error instanceof UnreadableFlowError) return error.isNewer;
  return (
    isDatabaseUnreachable(error) || isReadOnly(error) || isLockTimeout(error) || isSerializationFailure(error)
  );
}
