import type { Databases } from "#db/client";
import type { Part } from "#db/part";
import { runTogether } from "#db/together";
import type { ClientContext, RequestContext } from "../context/context.ts";
import type { Sealing } from "../keys/vault.ts";
import {
  ALL_SOURCES,
  type Attempt,
  attemptPart,
  type CountedAttempt,
  type CountedMethod,
  type FailureVerdict,
  failureSubject,
  judgeAttempt,
  MAX_CONSECUTIVE_FAILURES,
  successPart,
  unlimited,
  within,
} from "../limits/failure-counters.ts";
import { type Condition, type RateLimited, rateLimited } from "../limits/rate-limits.ts";

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

/** An attempt that was counted, and not judged yet. */
export interface CountedSecondFactor {
  attempt: Attempt;
  counted: CountedAttempt;
}

/**
 * Asks to count an attempt before it is verified: per account and source, limited to
 * `rate_limiter.otp_codes_per_minute` failures a minute, and per account, limited by the cap of the factor.
 *
 * Second factors have their own subject: an attacker who knows only the password cannot reset consecutive failures by
 * signing in again.
 *
 * @param condition of whether to count it. Default: always
 */
export function askToCount(
  { runtime, tenant, client, now }: ClientContext<Sealing>,
  { counter, cap }: TypedFactor,
  userId: string,
  condition: Condition | null = null,
): { part: Part; found(returned: object): CountedSecondFactor } {
  const { enabled, otp_codes_per_minute } = tenant.config.rate_limiter;
  const attempt: Attempt = {
    tenantId: tenant.id,
    method: counter,
    subject: failureSubject(runtime.vault, tenant.id, { secondFactorOf: userId }),
    own: { source: client.source, limits: enabled ? within(60, otp_codes_per_minute) : unlimited },
    all: {
      source: ALL_SOURCES,
      limits: enabled && cap ? within(cap.windowSeconds, cap.failures) : unlimited,
    },
    now,
  };
  const part = attemptPart(attempt, condition);
  return {
    part,
    found: (returned) => ({
      attempt,
      counted: (returned as Record<string, CountedAttempt | undefined>)[part.name] ?? {
        own: null,
        all: null,
      },
    }),
  };
}

/** Judges an attempt that was counted. */
export async function judgeSecondFactorAttempt(
  { runtime, tenant, client }: RequestContext<Databases>,
  { attempt, counted }: CountedSecondFactor,
): Promise<SecondFactorAttempt> {
  const { own, all } = await judgeAttempt(runtime.database, attempt, counted);
  if (!own.ok) return rejected(own);
  if (!all.ok) return rejected(all);
  return {
    ok: true,
    locked: tenant.config.rate_limiter.enabled && all.consecutive > MAX_CONSECUTIVE_FAILURES,
    success: successPart({ ...attempt, source: client.source }),
  };
}

/** Counts an attempt in a statement of its own, which commits, and judges it. */
export async function countSecondFactorAttempt(
  context: RequestContext<Databases & Sealing>,
  factor: TypedFactor,
  userId: string,
): Promise<SecondFactorAttempt> {
  const { part, found } = askToCount(context, factor, userId);
  const counted = found(await runTogether(context.runtime.database, [part], "claim"));
  return judgeSecondFactorAttempt(context, counted);
}

function rejected(verdict: FailureVerdict & { ok: false }): RateLimited {
  return verdict.reason === "rate_limited" ? verdict : rateLimited(1);
}
