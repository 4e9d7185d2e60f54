import type { Databases } from "#db/client";
import type { Part } from "#db/part";
import type { RequestContext } from "../context/context.ts";
import type { Sealing } from "../keys/vault.ts";
import {
  ALL_SOURCES,
  type CountedMethod,
  countAttempt,
  type FailureVerdict,
  failureSubject,
  MAX_CONSECUTIVE_FAILURES,
  successPart,
  unlimited,
  within,
} from "../limits/failure-counters.ts";
import { type RateLimited, rateLimited } from "../limits/rate-limits.ts";

/** A second factor that the user types in. */
export interface TypedFactor {
  /** Its failures are counted separately. */
  readonly counter: CountedMethod;
  /** Failures of an account within a window, for all sources together; null if it cannot be guessed. */
  readonly cap: { readonly failures: number; readonly windowSeconds: number } | null;
}

export type SecondFactorAttempt =
  /**
   * `success` must be written with the success. `locked`: there were 100 consecutive failures; a code that can be guessed
   * must be rejected then if the account has another second factor.
   */
  { ok: true; locked: boolean; success: Part } | RateLimited;

/**
 * Counts an attempt before it is verified, in statements that commit by themselves: per account and source, limited to
 * `rate_limiter.otp_codes_per_minute` failures a minute, and per account, limited by the cap of the factor.
 *
 * Second factors have their own subject: an attacker who knows only the password cannot reset consecutive failures by
 * signing in again.
 */
export async function countSecondFactorAttempt(
  context: RequestContext<Databases & Sealing>,
  { counter, cap }: TypedFactor,
  userId: string,
): Promise<SecondFactorAttempt> {
  const { runtime, tenant, client, now } = context;
  const { enabled, otp_codes_per_minute } = tenant.config.rate_limiter;
  const subject = failureSubject(runtime.vault, tenant.id, { secondFactorOf: userId });
  const key = { tenantId: tenant.id, method: counter, subject };
  const pace = enabled ? within(60, otp_codes_per_minute) : unlimited;
  const { own, all } = await countAttempt(runtime.database, {
    ...key,
    own: { source: client.source, limits: pace },
    all: {
      source: ALL_SOURCES,
      limits: enabled && cap ? within(cap.windowSeconds, cap.failures) : unlimited,
    },
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
