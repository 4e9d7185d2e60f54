import type { RequestContext } from "../context/context.ts";
import { type PasskeyRejection, rejectPasskeyRequest } from "../failures/passkey-server.ts";
import { rejectTooManyChallenges } from "./challenges.ts";
import { replaceCode } from "./confirmation-code.ts";
import type { ConfirmationRecord } from "./confirmation-records.ts";
import { allowedReturnUrl } from "./confirmation-request.ts";
import type { Process } from "./process.ts";

/** The redirect from the confirmation page back to the application, and its repetition if the first one was lost. */

/** The recorded answer, and the redirect URL; null if that URL is not allowed any more. */
export interface ReturnToApplication {
  ok: true;
  answer: "confirmed" | "declined";
  redirectTo: string | null;
}

/** @param code one-time code for the result; null if the user declined */
export function returnToApplication(
  { tenant }: Pick<RequestContext<unknown>, "tenant">,
  record: ConfirmationRecord,
  code: string | null,
): ReturnToApplication {
  const answer = code === null ? "declined" : "confirmed";
  const outcome = code === null ? { error: "access_denied" } : { code };
  // Checked again, because the list of allowed URLs may have changed.
  const url = allowedReturnUrl(tenant.config, record.page.redirectTo);
  if (!url) return { ok: true, answer, redirectTo: null };
  // Removed first, because the URL may already carry either.
  for (const name of ["code", "error"]) url.searchParams.delete(name);
  for (const [name, value] of Object.entries({ ...outcome, transaction_id: record.transaction.identifier }))
    url.searchParams.set(name, value);
  return { ok: true, answer, redirectTo: url.href };
}

/**
 * Repeats the redirect for the token of a page that was answered within the last minute, in case the response was lost.
 * The answer does not change. A new code replaces the earlier one.
 */
export async function repeatReturn(
  context: RequestContext<Process>,
  record: ConfirmationRecord,
): Promise<ReturnToApplication | PasskeyRejection> {
  if (!canReturn(record)) return rejectPasskeyRequest("confirmation_answered");
  if (!record.transaction.confirmedAt) return returnToApplication(context, record, null);
  const tooMany = await rejectTooManyChallenges(context);
  if (tooMany) return tooMany;
  const code = await replaceCode(context, record.transaction.id);
  return code === null
    ? rejectPasskeyRequest("confirmation_answered")
    : returnToApplication(context, record, code);
}

/** Whether an answered page can repeat its redirect: for a minute, and until the code is redeemed. */
export function canReturn({ recent, page, transaction }: ConfirmationRecord): boolean {
  return recent && (transaction.confirmedAt === null || page.sealedResult !== null);
}
