import type { Write } from "#db/write";
import {
  countFailure,
  type FailureVerdict,
  failureSubject,
  MAX_CONSECUTIVE_FAILURES,
  recordSuccess,
  unlimited,
  within,
} from "../limits/failure-counters.ts";
import { type RateLimited, rateLimited } from "../limits/rate-limits.ts";
import type { RequestContext } from "../runtime.ts";

/** Second factors that the user types in; the failures of each are counted separately. */
export type TypedFactor = "otp" | "recovery_code";

export type SecondFactorAttempt =
  /**
   * `recordSuccess` must be written with the success. `locked`: there were 100 consecutive failures; a TOTP code must
   * be rejected then if the account has another second factor.
   */
  { ok: true; locked: boolean; recordSuccess: Write } | RateLimited;

/** TOTP failures of an account within a window, for all sources together. */
const MAX_TOTP_FAILURES = 5;
const TOTP_WINDOW_SECONDS = 300;

/**
 * Counts an attempt before it is verified, in statements that commit by themselves: per account and source, limited to
 * `rate_limiter.otp_codes_per_minute` failures a minute, and per account, limited to five TOTP failures in five minutes.
 *
 * Second factors have their own subject: an attacker who knows only the password cannot reset consecutive failures by
 * signing in again.
 */
export async function countSecondFactorAttempt(
  context: RequestContext,
  method: TypedFactor,
  userId: string,
): Promise<SecondFactorAttempt> {
  const { runtime, tenant, client, now } = context;
  const { enabled, otp_codes_per_minute } = tenant.config.rate_limiter;
  const subject = failureSubject(runtime.vault, tenant.id, { secondFactorOf: userId });
  const anySource = { tenantId: tenant.id, method, subject, source: "" };
  const fromSource = { ...anySource, source: client.source };

  const pace = enabled ? within(60, otp_codes_per_minute) : unlimited;
  const paced = await countFailure(runtime.database, fromSource, pace, now);
  if (!paced.ok) return rejected(paced);
  // Recovery codes cannot be guessed, so failed attempts must not keep the owner from using one.
  const cap = enabled && method === "otp" ? within(TOTP_WINDOW_SECONDS, MAX_TOTP_FAILURES) : unlimited;
  const admitted = await countFailure(runtime.database, anySource, cap, now);
  if (!admitted.ok) return rejected(admitted);
  return {
    ok: true,
    locked: enabled && admitted.consecutive > MAX_CONSECUTIVE_FAILURES,
    recordSuccess: (tx) => recordSuccess(tx, fromSource),
  };
}

function rejected(verdict: FailureVerdict & { ok: false }): RateLimited {
  return verdict.reason === "rate_limited" ? verdict : rateLimited(1);
}
