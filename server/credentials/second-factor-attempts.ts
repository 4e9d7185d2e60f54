import type { Write } from "#db/write";
import {
  countFailure,
  failureSubject,
  MAX_FAILURES_IN_A_ROW,
  refundFailure,
  unlimited,
  within,
} from "../limits/failure-counters.ts";
import type { RequestContext } from "../runtime.ts";

/** Second factors that are typed in; the failures of each are counted by themselves. */
export type TypedFactor = "otp" | "recovery_code";

export type SecondFactorAttempt =
  /**
   * `refund` belongs to writing the success. `barred`: a hundred wrong ones in a row; the code of an authenticator app
   * may no longer be right then.
   */
  | { ok: true; barred: boolean; refund: Write }
  /** Not to be judged: too many. Whole seconds to wait, at least 1. */
  | { ok: false; retryAfterSeconds: number };

/** Wrong codes of one account, wherever they are tried, within so many seconds. */
const wrongCodes = { most: 5, seconds: 300 };

/**
 * Counts a try before it is judged, in statements that commit by themselves: for the account from one source, of which
 * `rate_limiter.otp_codes_per_minute` may be wrong in a minute, and for the account as a whole, of which five codes of
 * an authenticator app may be wrong in five minutes.
 *
 * Second factors have a subject of their own: whoever knows the password, and only that, cannot end a row of wrong
 * codes by signing in once more.
 */
export async function countSecondFactorAttempt(
  context: RequestContext,
  method: TypedFactor,
  userId: string,
): Promise<SecondFactorAttempt> {
  const { runtime, tenant, client, now } = context;
  const { enabled, otp_codes_per_minute } = tenant.config.rate_limiter;
  const subject = failureSubject(runtime.vault, tenant.id, { secondFactorOf: userId });
  const everywhere = { tenantId: tenant.id, method, subject, source: "" };
  const here = { ...everywhere, source: client.source };

  const paced = enabled ? within(60, otp_codes_per_minute) : unlimited;
  const fromHere = await countFailure(runtime.database, here, paced, now);
  if (!fromHere.ok) return refused(fromHere);
  // Nobody guesses a recovery code, so nobody who tries may keep its owner from using one.
  const capped = enabled && method === "otp" ? within(wrongCodes.seconds, wrongCodes.most) : unlimited;
  const admitted = await countFailure(runtime.database, everywhere, capped, now);
  if (!admitted.ok) return refused(admitted);
  return {
    ok: true,
    barred: enabled && admitted.consecutive > MAX_FAILURES_IN_A_ROW,
    refund: (tx) => refundFailure(tx, here),
  };
}

function refused(reservation: { retryAfterSeconds: number } | { barred: true }): SecondFactorAttempt {
  return {
    ok: false,
    retryAfterSeconds: "retryAfterSeconds" in reservation ? reservation.retryAfterSeconds : 1,
  };
}
