import type { Database, Transaction } from "#db/client";
import { executePart, type Part } from "#db/part";
import type { Vault } from "../keys/vault.ts";
import { type RateLimited, rateLimited } from "./rate-limits.ts";

/** Methods of signing in whose failed attempts are counted, each separately. */
export type CountedMethod = "password" | "passcode" | "otp" | "recovery_code";

/** The names of a subject, of which one is stored: that of the first key for a new counter. */
export type FailureSubject = readonly Buffer[];

/**
 * The subject of a failure counter: an account, an unknown identifier, a mailbox whose ownership is being proved
 * (separate, so that it reveals nothing about accounts), or the second factors of an account (separate, so that a
 * correct first factor does not reset them). An HMAC for all kinds, so that neither stored data nor timing reveals
 * which kind it is; under every key, so that servers whose keys are in another order share the counters.
 */
export function failureSubject(
  vault: Vault,
  tenantId: string,
  of: { userId: string } | { identifier: string } | { mailbox: string } | { secondFactorOf: string },
): FailureSubject {
  const [[kind, value] = []] = Object.entries(of);
  return vault.macs("failures", tenantId, kind ?? "", value ?? "");
}

export interface FailureLimits {
  /** Seconds to wait after the n-th consecutive failure; the last entry applies to all later failures. */
  delays: readonly number[];
  /** Maximum number of failures within a window, and its length; a counter has one window. */
  maxInWindow: number;
  windowSeconds: number;
  /** Maximum number of consecutive failures (NIST SP 800-63B-4 section 3.2.2). */
  maxConsecutive: number;
}

const NO_LIMIT = 2_147_483_647;

const HOUR_SECONDS = 3600;

/** No limit; failures are still counted. */
export const unlimited: FailureLimits = {
  delays: [0],
  maxInWindow: NO_LIMIT,
  windowSeconds: HOUR_SECONDS,
  maxConsecutive: NO_LIMIT,
};

/** After this many consecutive failures a method is locked until another method succeeds. */
export const MAX_CONSECUTIVE_FAILURES = 100;

/** A growing delay from the fifth failure on. Per account and source, so that an attacker does not delay the owner. */
export const growingDelay: FailureLimits = { ...unlimited, delays: [0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60] };

/** Limits consecutive failures. Per account, for all sources together. */
export const consecutiveLimit: FailureLimits = { ...unlimited, maxConsecutive: MAX_CONSECUTIVE_FAILURES };

/** Limits failures in an hour. Per account, for all sources together. */
export function hourly(maxInHour: number): FailureLimits {
  return within(HOUR_SECONDS, maxInHour);
}

/** Limits failures within a window. */
export function within(windowSeconds: number, maxInWindow: number): FailureLimits {
  return { ...unlimited, maxInWindow, windowSeconds };
}

/** Seconds to wait after this many consecutive failures. */
export function delayFor(consecutive: number, { delays }: FailureLimits): number {
  return consecutive < 1 ? 0 : (delays[Math.min(consecutive, delays.length) - 1] ?? 0);
}

/** The columns of a counter. */
export interface FailureCounts {
  consecutive: number;
  windowStartedAt: Date;
  windowCount: number;
  lastAt: Date;
}

export type FailureVerdict =
  /** `consecutive`: consecutive failures, including this attempt. */
  | { ok: true; consecutive: number }
  | RateLimited
  /** Too many consecutive failures: only success with another method unlocks this one. */
  | { ok: false; reason: "locked" };

/** `source` of the counter for all sources of an account together; its consecutive failures are kept for a year. */
export const ALL_SOURCES = "";

/** The same for the browsers that have signed in to the account before, so that strangers do not lock them out. */
export const KNOWN_BROWSERS = "known";

/** The same for a subject that is no account. Any client can make such counters, so they are deleted after days. */
export const ALL_SOURCES_OF_UNKNOWN = "*";

export interface FailureKey {
  tenantId: string;
  method: CountedMethod;
  /** See `failureSubject`. */
  subject: FailureSubject;
  /** A source, `ALL_SOURCES`, `KNOWN_BROWSERS` or `ALL_SOURCES_OF_UNKNOWN`. */
  source: string;
}

/**
 * Counts an attempt as a failure before it is verified; `recordSuccess` subtracts it again if it succeeds. Wrong
 * passwords, passcodes, TOTP codes and recovery codes are all counted here.
 *
 * The statement commits by itself: concurrent attempts cannot exceed the limits, and a rollback does not undo the
 * count. An attempt that the limits reject is not counted.
 */
export async function countFailure(
  database: Database,
  key: FailureKey,
  limits: FailureLimits,
  now: Date,
): Promise<FailureVerdict> {
  const values = [key.tenantId, key.method, key.subject, key.source];
  const [counted] = await run(database, "failure_count", countText, [
    ...values,
    now,
    limits.maxConsecutive,
    limits.maxInWindow,
    limits.delays,
    limits.windowSeconds,
  ]);
  if (counted) return { ok: true, consecutive: (counted as FailureCounts).consecutive };
  const [counts] = await run(database, "failure_read", readText, values);
  // The counter was purged or reset between the two statements, so a retry will be admitted.
  return counts ? rejectionOf(counts as FailureCounts, limits, now) : rateLimited(1);
}

/**
 * Counts an attempt that is verified in any case, as `countFailure` does: for its source and for all sources of the
 * account, in one statement, which locks its rows in one order, so that concurrent attempts do not deadlock.
 *
 * @param all the counter for all sources
 */
export async function countFailureOfSource(
  database: Database,
  key: FailureKey,
  all: typeof ALL_SOURCES | typeof ALL_SOURCES_OF_UNKNOWN,
  now: Date,
): Promise<void> {
  const values = [key.tenantId, key.method, key.subject, [...new Set([all, key.source])], now];
  await run(database, "failure_count_source", countSourceText, [...values, HOUR_SECONDS]);
}

/** Subtracts attempts that were counted but not verified, because too much was waiting. */
export async function withdrawFailures(
  database: Database,
  key: Omit<FailureKey, "source">,
  sources: readonly string[],
): Promise<void> {
  await run(database, "failure_withdraw", withdrawText, [key.tenantId, key.method, key.subject, sources]);
}

/** Reads the counters of an account: `fromSource` for the source of the key, `total` for all sources together. */
export async function readFailures(
  database: Database,
  key: FailureKey,
): Promise<{ fromSource: FailureCounts | null; total: FailureCounts | null }> {
  const values = [key.tenantId, key.method, key.subject, ["", key.source]];
  const rows = (await run(database, "failure_read_source", readSourceText, values)) as (FailureCounts & {
    source: string;
  })[];
  const of = (source: string) => rows.find((row) => row.source === source) ?? null;
  return { fromSource: of(key.source), total: of("") };
}

/** Seconds until the limits admit another attempt; 0 if they do now. */
export function secondsToWait(counts: FailureCounts, limits: FailureLimits, now: Date): number {
  const delayEnds = counts.lastAt.getTime() + delayFor(counts.consecutive, limits) * 1000;
  const isFull = counts.windowCount >= limits.maxInWindow;
  const windowEnds = isFull ? counts.windowStartedAt.getTime() + limits.windowSeconds * 1000 : 0;
  return Math.max(0, Math.ceil((Math.max(delayEnds, windowEnds) - now.getTime()) / 1000));
}

/** Why the limits reject another attempt now. */
export function rejectionOf(
  counts: FailureCounts,
  limits: FailureLimits,
  now: Date,
): FailureVerdict & { ok: false } {
  if (counts.consecutive >= limits.maxConsecutive) return { ok: false, reason: "locked" };
  return rateLimited(Math.max(1, secondsToWait(counts, limits, now)));
}

const resetText = `failures_locked as (
    select method, subject, source from failures
    where tenant_id = $1 and subject = any ($2::bytea[])
      and ((method = $3 and source = any ($4::text[]))
        or (source = any ($5::text[]) and consecutive >= ${MAX_CONSECUTIVE_FAILURES}))
    order by method, subject, source for update),
  failures_reset as (
    update failures counter
    set consecutive = 0, window_count = greatest(counter.window_count - (counter.method = $3)::int, 0)
    from failures_locked locked
    where counter.tenant_id = $1 and counter.subject = locked.subject
      and counter.method = locked.method and counter.source = locked.source)`;

/**
 * Records a successful attempt: subtracts its own count, resets the consecutive failures of its method, and unlocks the
 * other methods of the same subject. Earlier failures in the window stay counted. The rows are locked in one order, so
 * that concurrent successes do not deadlock.
 *
 * @param key `method`: the method that succeeded; `passkey` is not counted and only unlocks others. `subject`: names of
 *   one subject or of several. `source`: the one it was counted for
 */
export function successPart(key: Omit<FailureKey, "method"> & { method: CountedMethod | "passkey" }): Part {
  const together = [ALL_SOURCES, KNOWN_BROWSERS, ALL_SOURCES_OF_UNKNOWN];
  return {
    name: "success",
    text: resetText,
    values: [key.tenantId, key.subject, key.method, [key.source, ...together], [ALL_SOURCES, KNOWN_BROWSERS]],
    ofAccount: true,
  };
}

/** Records a successful attempt in its transaction, as `successPart` does. */
export async function recordSuccess(tx: Transaction, key: Parameters<typeof successPart>[0]): Promise<void> {
  await executePart(tx, successPart(key));
}

const delay = "($8::int[])[least(counter.consecutive, cardinality($8::int[]))] * interval '1 second'";

// Concurrent attempts may arrive in another order than they read the clock, so only a delay rejects an earlier time.
const delayIsOver = `(${delay} is null or ${delay} = interval '0' or excluded.last_at >= counter.last_at + ${delay})`;

/** @param seconds the parameter of the window's length */
const windowIsOver = (seconds: string) =>
  `counter.window_started_at <= excluded.last_at - ${seconds}::int * interval '1 second'`;

/**
 * The name under which a subject is counted: that of its counter, or the first key's if there is none. Of two counters,
 * which two servers may start in the same moment, every server takes the same.
 *
 * @param source the parameter or column of the source
 */
const storedSubject = (source: string) => `coalesce(
  (select known.subject from failures known
    where known.tenant_id = $1::uuid and known.method = $2 and known.subject = any ($3::bytea[]) and known.source = ${source}
    order by known.subject limit 1),
  ($3::bytea[])[1])`;

const countText = `
  insert into failures as counter
    (tenant_id, method, subject, source, consecutive, window_started_at, window_count, last_at)
  values ($1, $2, ${storedSubject("$4")}, $4, 1, $5, 1, $5)
  on conflict (tenant_id, method, subject, source) do update set
    consecutive = counter.consecutive + 1,
    window_started_at = case when ${windowIsOver("$9")} then excluded.last_at else counter.window_started_at end,
    window_count = case when ${windowIsOver("$9")} then 1 else counter.window_count + 1 end,
    last_at = greatest(counter.last_at, excluded.last_at)
  where counter.consecutive < $6
    and (${windowIsOver("$9")} or counter.window_count < $7)
    and ${delayIsOver}
  returning consecutive`;

const countSourceText = `
  insert into failures as counter
    (tenant_id, method, subject, source, consecutive, window_started_at, window_count, last_at)
  select $1::uuid, $2, ${storedSubject("of.source")}, of.source, 1, $5::timestamptz, 1, $5::timestamptz
  from unnest($4::text[]) of(source) order by of.source
  on conflict (tenant_id, method, subject, source) do update set
    consecutive = counter.consecutive + 1,
    window_started_at = case when ${windowIsOver("$6")} then excluded.last_at else counter.window_started_at end,
    window_count = case when ${windowIsOver("$6")} then 1 else counter.window_count + 1 end,
    last_at = greatest(counter.last_at, excluded.last_at)`;

// Rows are locked in the order of `recordSuccess`.
const withdrawText = `
  update failures counter
  set consecutive = greatest(counter.consecutive - 1, 0), window_count = greatest(counter.window_count - 1, 0)
  from (select subject, source from failures
    where tenant_id = $1 and method = $2 and subject = any ($3::bytea[]) and source = any ($4::text[])
    order by subject, source for update) locked
  where counter.tenant_id = $1 and counter.method = $2
    and counter.subject = locked.subject and counter.source = locked.source`;

const readText = `
  select consecutive, window_started_at as "windowStartedAt", window_count as "windowCount", last_at as "lastAt"
  from failures where tenant_id = $1 and method = $2 and subject = any ($3::bytea[]) and source = $4 order by subject limit 1`;

const readSourceText = `
  select source, consecutive, window_started_at as "windowStartedAt", window_count as "windowCount",
    last_at as "lastAt"
  from failures
  where tenant_id = $1 and method = $2 and subject = any ($3::bytea[]) and source = any ($4::text[]) order by subject`;

async function run(database: Database, name: string, text: string, values: unknown[]): Promise<unknown[]> {
  const result = await database.claim.$client.query(
    database.prepares ? { name, text, values } : { text, values },
  );
  return result.rows;
}
