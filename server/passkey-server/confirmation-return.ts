import type { RequestContext } from "../runtime.ts";
import { replaceCode } from "./confirmation-code.ts";
import type { ConfirmationRecord } from "./confirmation-records.ts";
import { allowedReturnUrl } from "./confirmation-request.ts";
import { type PasskeyRejection, rejectPasskeyRequest } from "./errors.ts";

/** How our page sends people back to the application, and once more where that was lost on the way. */

/** An answer that counts, and where the user goes now; null when that is not allowed any more. */
export interface ReturnToApplication {
  ok: true;
  answer: "confirmed" | "declined";
  redirectTo: string | null;
}

/** @param code stands for the agreement; null where there is none */
export function returnToApplication(
  { tenant }: Pick<RequestContext, "tenant">,
  found: ConfirmationRecord,
  code: string | null,
): ReturnToApplication {
  const answer = code === null ? "declined" : "confirmed";
  const outcome = code === null ? { error: "access_denied" } : { code };
  // Judged anew: the address may have been taken off the list meanwhile.
  const url = allowedReturnUrl(tenant.config, found.page.redirectTo);
  if (!url) return { ok: true, answer, redirectTo: null };
  // An address that has some of these already would say both yes and no.
  for (const name of ["code", "error"]) url.searchParams.delete(name);
  for (const [name, value] of Object.entries({ ...outcome, transaction_id: found.transaction.identifier }))
    url.searchParams.set(name, value);
  return { ok: true, answer, redirectTo: url.href };
}

/**
 * Sends somebody back once more who shows the token of a page that was answered within the last minute: the way back
 * may have been lost, and the person stranded. Nothing is answered again. The code is a fresh one, and ends the
 * earlier one.
 */
export async function repeatReturn(
  context: RequestContext,
  found: ConfirmationRecord,
): Promise<ReturnToApplication | PasskeyRejection> {
  const { runtime, tenant, client } = context;
  if (!canReturn(found)) return rejectPasskeyRequest("confirmation_answered");
  if (!found.transaction.confirmedAt) return returnToApplication(context, found, null);
  const rate = await runtime.rates.consume("passkey_challenge", `${tenant.id}/${client.source}`);
  if (!rate.ok)
    return rejectPasskeyRequest("too_many_challenges", { retryAfterSeconds: rate.retryAfterSeconds });
  const code = await replaceCode(context, found.transaction.id);
  return code === null
    ? rejectPasskeyRequest("confirmation_answered")
    : returnToApplication(context, found, code);
}

/** Whether a page that was answered can still send somebody back: for a minute, and until the code was redeemed. */
export function canReturn({ recent, page, transaction }: ConfirmationRecord): boolean {
  return recent && (transaction.confirmedAt === null || page.sealedResult !== null);
}
