import type { Databases } from "#db/client";
import type { Part } from "#db/part";
import type { RequestContext } from "../context/context.ts";
import type { Sealing } from "../keys/vault.ts";
import {
  ALL_SOURCES,
  countAttempt,
  type FailureVerdict,
  failureSubject,
  MAX_CONSECUTIVE_FAILURES,
  successPart,
  unlimited,
  within,
} from "../limits/failure-counters.ts";
import { type RateLimited, rateLimited } from "../limits/rate-limits.ts";

/** Second factors that the user types in; the failures of each are counted separately. */
export type TypedFactor = "otp" | "recovery_code";

export type SecondFactorAttempt =
  /**
   * `success` must be written with the success. `locked`: there were 100 consecutive failures; a TOTP code must
   * be rejected then if the account has another second factor.
   */
  { ok: true; locked: boolean; success: Part } | RateLimited;

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
  context: RequestContext<Databases & Sealing>,
  method: TypedFactor,
  userId: string,
): Promise<SecondFactorAttempt> {
  const { runtime, tenant, client, now } = context;
  const { enabled, otp_codes_per_minute } = tenant.config.rate_limiter;
  const subject = failureSubject(runtime.vault, tenant.id, { secondFactorOf: userId });
  const key = { tenantId: tenant.id, method, subject };
  const pace = enabled ? within(60, otp_codes_per_minute) : unlimited;
  // Recovery codes cannot be guessed, so failed attempts must not keep the owner from using one.
  const cap = enabled && method === "otp" ? within(TOTP_WINDOW_SECONDS, MAX_TOTP_FAILURES) : unlimited;
  const { own, all } = await countAttempt(runtime.database, {
    ...key,
    own: { source: client.source, limits: pace },
    all: { source: ALL_SOURCES, limits: cap },
    now,
  });
  if (!own.ok) return rejected(own);
  if (!all.ok) return rejected(all);
  return {
    ok: true,
    locked: enabled && all.consecutive > MAX_CONSECUTIVE_FAILURES,
    success: successPart({ ...key, source: client.source }),
  };
}

function rejected(verdict: FailureVerdict & { ok: false }): RateLimited {
  return verdict.reason === "rate_limited" ? verdict : rateLimited(1);
}
