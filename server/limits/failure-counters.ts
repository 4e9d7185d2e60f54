import { type SQL, sql } from "drizzle-orm";
import { type Database, schema, type Transaction } from "#db/client";
import type { Vault } from "../keys/vault.ts";

/** Ways to sign in whose failures are counted, each by itself. */
export type CountedMethod = "password" | "passcode" | "otp" | "recovery_code";

/**
 * Whose failures are counted: those of an account, of an identifier that has none, of whoever wants to prove that
 * a mailbox is theirs, which must tell nothing of the other two, or of an account's second factors, which a right
 * first one must not excuse. An HMAC, the same kind of value for all of them, so that what is stored and how long it
 * takes tell nothing.
 */
export function failureSubject(
  vault: Vault,
  tenantId: string,
  of: { userId: string } | { identifier: string } | { mailbox: string } | { secondFactorOf: string },
): Buffer {
  const [[kind, value] = []] = Object.entries(of);
  return vault.mac("failures", tenantId, kind ?? "", value ?? "");
}

export interface FailureLimits {
  /** Seconds to wait after the n-th failure in a row; the last one holds for all that follow. */
  delays: readonly number[];
  /** Most failures within a window, and how many seconds that is; one counter has one window. */
  inWindow: number;
  windowSeconds: number;
  /** Most failures in a row, ever (NIST SP 800-63B-4 section 3.2.2). */
  inARow: number;
}

const none = 2_147_483_647;

/** Limits nothing; failures are counted all the same. */
export const unlimited: FailureLimits = { delays: [0], inWindow: none, windowSeconds: 3600, inARow: none };

/** So many failures in a row bar a method until another one succeeds. */
export const MAX_FAILURES_IN_A_ROW = 100;

/** A growing wait from the fifth failure on: for an account from one source, so that nobody waits for a stranger. */
export const growingDelay: FailureLimits = { ...unlimited, delays: [0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60] };

/** For an account, wherever the tries come from: so many in a row. */
export const inARow: FailureLimits = { ...unlimited, inARow: MAX_FAILURES_IN_A_ROW };

/** For an account, wherever the tries come from: so many in an hour. */
export function hourly(inAnHour: number): FailureLimits {
  return within(3600, inAnHour);
}

/** So many within so many seconds. */
export function within(windowSeconds: number, inWindow: number): FailureLimits {
  return { ...unlimited, inWindow, windowSeconds };
}

/** Seconds to wait after so many failures in a row. */
export function delayFor(consecutive: number, { delays }: FailureLimits): number {
  return consecutive < 1 ? 0 : (delays[Math.min(consecutive, delays.length) - 1] ?? 0);
}

/** What a counter holds. */
export interface FailureCounts {
  consecutive: number;
  windowStartedAt: Date;
  windowCount: number;
  lastAt: Date;
}

export type FailureVerdict =
  /** `consecutive`: failures in a row, this one included if it is one. */
  | { ok: true; consecutive: number }
  /** Too many; in so many whole seconds (at least 1) it may be tried again. */
  | { ok: false; retryAfterSeconds: number }
  /** Too many in a row: no wait helps, another method does. */
  | { ok: false; barred: true };

export interface FailureKey {
  tenantId: string;
  method: CountedMethod;
  /** See `failureSubject`. */
  subject: Buffer;
  /** A source, or empty for the account as a whole. */
  source: string;
}

/**
 * Counts a failure before it is known whether it is one, unless limits forbid the try. One statement that commits by
 * itself: of a thousand tries at once no more are admitted than the limits allow, and no rollback gives one back.
 * What turns out to be right is refunded; a try that is not admitted counts nothing.
 */
export async function countFailure(
  database: Database,
  key: FailureKey,
  limits: FailureLimits,
  now: Date,
): Promise<FailureVerdict> {
  const values = [key.tenantId, key.method, key.subject, key.source];
  const [reserved] = await run(database, "failure_reserve", reserveText, [
    ...values,
    now,
    limits.inARow,
    limits.inWindow,
    limits.delays,
    limits.windowSeconds,
  ]);
  if (reserved) return { ok: true, consecutive: (reserved as FailureCounts).consecutive };
  const [counts] = await run(database, "failure_read", readText, values);
  // It was purged, or refunded, between the two statements: nothing bars the next try.
  return counts ? rejectionOf(counts as FailureCounts, limits, now) : { ok: false, retryAfterSeconds: 1 };
}

/** Why counts forbid another try now. */
export function rejectionOf(
  counts: FailureCounts,
  limits: FailureLimits,
  now: Date,
): FailureVerdict & { ok: false } {
  if (counts.consecutive >= limits.inARow) return { ok: false, barred: true };
  const delayEnds = counts.lastAt.getTime() + delayFor(counts.consecutive, limits) * 1000;
  const full = counts.windowCount >= limits.inWindow;
  const windowEnds = full ? counts.windowStartedAt.getTime() + limits.windowSeconds * 1000 : 0;
  const seconds = Math.ceil((Math.max(delayEnds, windowEnds) - now.getTime()) / 1000);
  return { ok: false, retryAfterSeconds: Math.max(1, seconds) };
}

/**
 * Part of writing a success: gives the reservation back, ends the failures in a row of the method that was used, and
 * lifts the bar from any other one of the same subject. The failures of the window stay counted.
 *
 * @param key `method` is what succeeded; one that is not counted only lifts bars. `source` as it was reserved
 */
export async function refundFailure(
  tx: Transaction,
  key: Omit<FailureKey, "method"> & { method: CountedMethod | "passkey" },
): Promise<void> {
  const { failures } = schema;
  const ofSubject = sql`tenant_id = ${key.tenantId} and subject = ${key.subject}`;
  const own = sql`method = ${key.method} and source in (${key.source}, '')`;
  const barred = sql`source = '' and consecutive >= ${MAX_FAILURES_IN_A_ROW}`;
  // Locked in one order, so that two successes at once do not wait for each other.
  const statement: SQL = sql`update ${failures} counter
    set consecutive = 0, window_count = greatest(counter.window_count - (counter.method = ${key.method})::int, 0)
    from (select method, source from ${failures} where ${ofSubject} and ((${own}) or (${barred}))
      order by method, source for update) locked
    where counter.tenant_id = ${key.tenantId} and counter.subject = ${key.subject}
      and counter.method = locked.method and counter.source = locked.source`;
  await tx.execute(statement);
}

const delay = "($8::int[])[least(counter.consecutive, cardinality($8::int[]))] * interval '1 second'";

// Two steps can get here in another order than they read the clock in: only a delay forbids an earlier moment.
const delayIsOver = `(${delay} is null or ${delay} = interval '0' or excluded.last_at >= counter.last_at + ${delay})`;

const windowIsOver = "counter.window_started_at <= excluded.last_at - $9::int * interval '1 second'";

const reserveText = `
  insert into failures as counter
    (tenant_id, method, subject, source, consecutive, window_started_at, window_count, last_at)
  values ($1, $2, $3, $4, 1, $5, 1, $5)
  on conflict (tenant_id, method, subject, source) do update set
    consecutive = counter.consecutive + 1,
    window_started_at = case when ${windowIsOver} then excluded.last_at else counter.window_started_at end,
    window_count = case when ${windowIsOver} then 1 else counter.window_count + 1 end,
    last_at = greatest(counter.last_at, excluded.last_at)
  where counter.consecutive < $6
    and (${windowIsOver} or counter.window_count < $7)
    and ${delayIsOver}
  returning consecutive`;

const readText = `
  select consecutive, window_started_at as "windowStartedAt", window_count as "windowCount", last_at as "lastAt"
  from failures where tenant_id = $1 and method = $2 and subject = $3 and source = $4`;

async function run(database: Database, name: string, text: string, values: unknown[]): Promise<unknown[]> {
  const result = await database.claim.$client.query(
    database.prepares ? { name, text, values } : { text, values },
  );
  return result.rows;
}
