import type { Write } from "#db/write";
import { type AttemptCause, type AuditDetails, auditAttempt } from "../audit/audit.ts";
import type { Context } from "./define.ts";

type FailureContext = Pick<Context, "request" | "type" | "data">;

/**
 * Returns the write of an audit log entry for a wrong factor.
 *
 * @param userId the account that the factor was meant for, if it is known
 */
export function loginFailure(
  context: FailureContext,
  details: AuditDetails,
  userId: string | null = context.data.userId ?? null,
): Write {
  return auditAttempt(context.request, "login_failure", details, { userId, cause: causeOf(context) });
}

/**
 * Whose attempt it is: the account's, if the client has a session of it; after a first factor, one of the account at the
 * source, so that the holder of a password leaves out no entry of the owner; before that, the source's.
 */
function causeOf({ request, type, data: { userId, factors } }: FailureContext): AttemptCause {
  const { source } = request.client;
  if (!userId || (type !== "profile" && factors.length === 0)) return { source };
  return type === "profile" ? { account: userId } : { account: userId, source };
}
