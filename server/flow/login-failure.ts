import type { Write } from "#db/write";
import { type AttemptCause, auditAttempt } from "../audit/audit.ts";
import type { FailureReason } from "../audit/failure-reasons.ts";
import { maskedIdentifier } from "../audit/identifier.ts";
import type { Context } from "./define.ts";

type FailureContext = Pick<Context, "request" | "type" | "data">;

/** What failed, and why. */
interface Failure {
  /** The factor; null if none was completed. */
  method: string | null;
  reason: FailureReason<"login_failure">;
}

/**
 * Returns the write of an audit log entry for a wrong factor. If no account is known, the entry holds the identifier
 * that the visitor entered, masked and as a keyed digest.
 *
 * @param userId the account that the factor was meant for, if it is known
 */
export function loginFailure(
  context: FailureContext,
  failure: Failure,
  userId: string | null = context.data.userId ?? null,
): Write {
  const { request, data } = context;
  const { runtime, tenant } = request;
  // Computed for a known account too, so that the time does not tell one.
  const entered = data.identifier
    ? maskedIdentifier(runtime.vault, tenant.id, data.identifier.value)
    : undefined;
  const details = { ...failure, ...(userId === null ? entered : {}) };
  return auditAttempt(request, "login_failure", details, { userId, cause: causeOf(context) });
}

/**
 * Whose attempt it is: the account's, if the client has a session of it; after a first factor, one of the account at the
 * source, so that the holder of a password leaves out no entry of the owner; before that, the source's.
 */
export function causeOf({ request, type, data: { userId, factors } }: FailureContext): AttemptCause {
  const { source } = request.client;
  if (!userId || (type !== "profile" && factors.length === 0)) return { source };
  return type === "profile" ? { account: userId } : { account: userId, source };
}
