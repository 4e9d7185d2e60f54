import type { RequestContext } from "../runtime.ts";
import { replaceCode } from "./confirmation-code.ts";
import { returnAddress } from "./confirmation-request.ts";
import type { Found } from "./confirmation-rows.ts";
import { type Refused, rejectPasskeyRequest } from "./problems.ts";

/** How our page sends people back to the application, and once more where that was lost on the way. */

/** An answer that counts, and where the user goes now; null when that is not allowed any more. */
export interface Returned {
  ok: true;
  answer: "confirmed" | "declined";
  redirectTo: string | null;
}

/** @param code stands for the agreement; null where there is none */
export function sendBack(
  { tenant }: Pick<RequestContext, "tenant">,
  found: Found,
  code: string | null,
): Returned {
  const answer = code === null ? "declined" : "confirmed";
  const outcome = code === null ? { error: "access_denied" } : { code };
  // Judged anew: the address may have been taken off the list meanwhile.
  const url = returnAddress(tenant.config, found.page.redirectTo);
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
export async function sendBackAgain(context: RequestContext, found: Found): Promise<Returned | Refused> {
  const { runtime, tenant, client } = context;
  if (!leadsBack(found)) return rejectPasskeyRequest("confirmation_answered");
  if (!found.transaction.confirmedAt) return sendBack(context, found, null);
  const rate = await runtime.rates.consume("passkey_challenge", `${tenant.id}/${client.source}`);
  if (!rate.ok)
    return rejectPasskeyRequest("too_many_challenges", { retryAfterSeconds: rate.retryAfterSeconds });
  const code = await replaceCode(context, found.transaction.id);
  return code === null ? rejectPasskeyRequest("confirmation_answered") : sendBack(context, found, code);
}

/** Whether a page that was answered can still send somebody back: for a minute, and until the code was redeemed. */
export function leadsBack({ recent, page, transaction }: Found): boolean {
  return recent && (transaction.confirmedAt === null || page.sealedResult !== null);
}
