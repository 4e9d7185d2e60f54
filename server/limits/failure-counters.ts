import type { Database, Transaction } from "#db/client";
import { addedText, type CountedRows, type CountingText, countedText, emptyCounter } from "#db/counters";
import { executePart, type Part, type Statement } from "#db/part";
import { queryPrepared } from "#db/prepared";
import type { Vault } from "../keys/vault.ts";
import { type Condition, type RateLimited, rateLimited } from "./rate-limits.ts";

/** Methods of signing in whose failed attempts are counted, each separately. */
export type CountedMethod = (typeof countedMethods)[number];

const countedMethods = ["password", "passcode", "sms", "otp", "recovery_code"] as const;

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

/** SQL of whether a row is a counter of several sources: such rows are locked last. */
const isShared = (source: string) =>
  `${source} in ('${ALL_SOURCES}', '${KNOWN_BROWSERS}', '${ALL_SOURCES_OF_UNKNOWN}')`;

export interface FailureKey {
  tenantId: string;
  method: CountedMethod;
  /** See `failureSubject`. */
  subject: FailureSubject;
  /** A source, `ALL_SOURCES`, `KNOWN_BROWSERS` or `ALL_SOURCES_OF_UNKNOWN`. */
  source: string;
}

/** An attempt, counted for its source and for all sources of the account together. */
export interface Attempt extends Omit<FailureKey, "source"> {
  own: { source: string; limits: FailureLimits };
  all: { source: string; limits: FailureLimits };
  now: Date;
}

/** What `attemptPart` returns: the consecutive failures, this attempt included; null if it was not counted. */
export interface CountedAttempt {
  own: number | null;
  all: number | null;
}

/**
 * The part of a statement that counts an attempt as a failure before it is verified; `recordSuccess` subtracts it again
 * if it succeeds. Wrong passwords and typed second factors are counted here. An attempt that the limits of its
 * source reject is not counted for all sources.
 *
 * The statement commits by itself: concurrent attempts cannot exceed the limits, and a rollback does not undo the count.
 *
 * @param condition of whether to count it. Default: always
 */
export function attemptPart(
  { tenantId, method, subject, own, all, now }: Attempt,
  condition: Condition | null = null,
): Part {
  const limitsOf = ({ source, limits }: Attempt["own"]) => [
    source,
    limits.maxConsecutive,
    limits.maxInWindow,
    limits.delays,
    limits.windowSeconds,
  ];
  return {
    name: condition ? `attempt_${condition.name}` : "attempt",
    text: attemptText(condition?.sql ?? "true", countedText),
    values: [tenantId, method, subject, now, ...limitsOf(own), ...limitsOf(all)],
    distributed: {
      text: attemptText(condition?.sql ?? "true", addedText),
      before: emptyFailures({ tenantId, method, subject }, [own.source, all.source]),
    },
    returns: `json_build_object(
      'own', (select consecutive from attempt_own), 'all', (select consecutive from attempt_all))`,
  };
}

/** Judges what `attemptPart` has counted: `own` by the limits of the source, `all` by those of all sources. */
export async function judgeAttempt(
  database: Database,
  { own, all, now, ...key }: Attempt,
  counted: CountedAttempt,
): Promise<{ own: FailureVerdict; all: FailureVerdict }> {
  const verdictOf = async (
    { source, limits }: Attempt["own"],
    consecutive: number | null,
  ): Promise<FailureVerdict> => {
    if (consecutive !== null) return { ok: true, consecutive };
    const values = [key.tenantId, key.method, key.subject, source];
    const query = { name: "failure_read", text: readText, values };
    const [counts] = await queryPrepared<FailureCounts, "claim">(database, "claim", query);
    // The counter was purged or reset between the two statements, so a retry will be admitted.
    return counts ? rejectionOf(counts, limits, now) : rateLimited(1);
  };
  const ownVerdict = await verdictOf(own, counted.own);
  return { own: ownVerdict, all: ownVerdict.ok ? await verdictOf(all, counted.all) : ownVerdict };
}

/**
 * The part of a statement that counts an attempt that is verified in any case: for its source and for all sources of the
 * account, whose rows it locks in one order, so that concurrent attempts do not deadlock.
 *
 * @param all the counter for all sources
 * @param condition SQL of whether to count it
 */
export function verifiedAttemptPart(
  key: FailureKey,
  all: typeof ALL_SOURCES | typeof ALL_SOURCES_OF_UNKNOWN,
  now: Date,
  condition: Condition,
): Part {
  const sources = [...new Set([all, key.source])];
  return {
    name: `attempt_${condition.name}`,
    text: verifiedAttemptText(condition.sql, countedText),
    values: [key.tenantId, key.method, key.subject, sources, now],
    distributed: {
      text: verifiedAttemptText(condition.sql, addedText),
      before: emptyFailures(key, sources),
    },
  };
}

/** Subtracts attempts that were counted but not verified, because too much was waiting. */
export async function withdrawFailures(
  database: Database,
  key: Omit<FailureKey, "source">,
  sources: readonly string[],
): Promise<void> {
  const values = [key.tenantId, key.method, key.subject, sources];
  await queryPrepared(database, "claim", { name: "failure_withdraw", text: withdrawText, values });
}

/**
 * The part of a statement that reads the counters of an account; `readCounts` converts what it returns.
 *
 * @param limits of the failures of the source within a window; `sourceWaits` is their condition
 */
export function countsPart(
  { tenantId, method, subject, source }: FailureKey,
  { maxInWindow, windowSeconds }: Pick<FailureLimits, "maxInWindow" | "windowSeconds">,
  now: Date,
): Part {
  return {
    name: "counts",
    text: `counts as (
      select source, consecutive, window_started_at, window_count, last_at,
        source = $4::text and window_count >= $5::int
          and window_started_at + $6::int * interval '1 second' > $7::timestamptz as waits
      from failures
      where tenant_id = $1 and method = $2 and subject = any ($3::bytea[]) and source in ('${ALL_SOURCES}', $4::text)
      order by subject)`,
    values: [tenantId, method, subject, source, maxInWindow, windowSeconds, now],
    returns: "(select coalesce(json_agg(c), '[]') from counts c)",
  };
}

/** SQL of whether the source has to wait, beside `countsPart`. */
export const sourceWaits = "exists (select 1 from counts where waits)";

export interface CountsRow {
  source: string;
  consecutive: number;
  window_started_at: string;
  window_count: number;
  last_at: string;
}

/** `fromSource`: the counter of the key's source; `total`: that of all sources together. */
export function readCounts(
  { source }: Pick<FailureKey, "source">,
  rows: readonly CountsRow[],
): { fromSource: FailureCounts | null; total: FailureCounts | null } {
  const of = (wanted: string): FailureCounts | null => {
    const row = rows.find((counter) => counter.source === wanted);
    return row
      ? {
          consecutive: row.consecutive,
          windowStartedAt: new Date(row.window_started_at),
          windowCount: row.window_count,
          lastAt: new Date(row.last_at),
        }
      : null;
  };
  return { fromSource: of(source), total: of(ALL_SOURCES) };
}

/** Seconds until the limits admit another attempt; 0 if they do now. */
export function secondsToWait(counts: FailureCounts, limits: FailureLimits, now: Date): number {
  const delayEnds = counts.lastAt.getTime() + delayFor(counts.consecutive, limits) * 1000;
  const isFull = counts.windowCount >= limits.maxInWindow;
  const windowEnds = isFull ? counts.windowStartedAt.getTime() + limits.windowSeconds * 1000 : 0;
  return Math.max(0, Math.ceil((Math.max(delayEnds, windowEnds) - now.getTime()) / 1000));
}

/** Why the limits reject another attempt now. */
function rejectionOf(
  counts: FailureCounts,
  limits: FailureLimits,
  now: Date,
): FailureVerdict & { ok: false } {
  if (counts.consecutive >= limits.maxConsecutive) return { ok: false, reason: "locked" };
  return rateLimited(Math.max(1, secondsToWait(counts, limits, now)));
}

/** SQL of the rows of a subject. All methods are named, because a row is found by the beginning of the key. */
const ofSubject = (table: string) => `${table}.tenant_id = $1
      and ${table}.method in ('${countedMethods.join("', '")}') and ${table}.subject = any ($2::bytea[])`;

const resetText = `failures_locked as (
    select method, subject, source from failures
    where ${ofSubject("failures")}
      and ((method = $3 and source = any ($4::text[]))
        or (source = any ($5::text[]) and consecutive >= ${MAX_CONSECUTIVE_FAILURES}))
    order by method, ${isShared("source")}, subject, source for update),
  failures_reset as (
    update failures counter
    set consecutive = 0, window_count = greatest(counter.window_count - (counter.method = $3)::int, 0)
    from failures_locked locked
    where ${ofSubject("counter")} and counter.subject = locked.subject
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

/** SQL of the seconds to wait; `delays`: the parameter of the limits'. */
const delayOf = (delays: string) =>
  `(${delays}::int[])[least(counter.consecutive, cardinality(${delays}::int[]))] * interval '1 second'`;

// Concurrent attempts may arrive in another order than they read the clock, so only a delay rejects an earlier time.
// Times are subtracted from each other, because an interval is added to a time by a time zone, which Citus refuses here.
const delayIsOver = (delay: string) =>
  `(${delay} is null or ${delay} = interval '0' or excluded.last_at - counter.last_at >= ${delay})`;

/** @param seconds SQL of the window's length */
const windowIsOver = (seconds: string) =>
  `excluded.last_at - counter.window_started_at >= ${seconds}::int * interval '1 second'`;

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

const table = "failures";
const key = ["method", "subject", "source"];

/**
 * Counts failures: one more for a row that there is, unless a condition rejects it.
 *
 * @param rows SQL of the counters
 * @param seconds SQL of the window's length
 */
const failuresOf = (rows: string, now: string, seconds: string): CountedRows => ({
  table,
  tenant: "$1",
  key,
  values: ["consecutive", "window_started_at", "window_count", "last_at"],
  rows: `select $2::text as method, ${storedSubject("of.source")} as subject, of.source, 1 as consecutive,
      ${now}::timestamptz as window_started_at, 1 as window_count, ${now}::timestamptz as last_at
    from ${rows}`,
  order: (row) => `${isShared(`${row}.source`)}, ${row}.source`,
  changes: {
    consecutive: "counter.consecutive + 1",
    window_started_at: `case when ${windowIsOver(seconds)} then excluded.last_at else counter.window_started_at end`,
    window_count: `case when ${windowIsOver(seconds)} then 1 else counter.window_count + 1 end`,
    last_at: "greatest(counter.last_at, excluded.last_at)",
  },
});

/** Counts one row, with limits whose parameters begin at `first`: source, three limits, the length of the window. */
const failuresOfSource = (first: number, condition: string): CountedRows => {
  const [source = "", maxConsecutive, maxInWindow, delays = "", seconds = ""] = [0, 1, 2, 3, 4].map(
    (n) => `$${first + n}`,
  );
  return {
    ...failuresOf(`(select ${source}::text as source) of where ${condition}`, "$4", seconds),
    condition: `counter.consecutive < ${maxConsecutive}::int
      and (${windowIsOver(seconds)} or counter.window_count < ${maxInWindow}::int)
      and ${delayIsOver(delayOf(delays))}`,
    returning: ["consecutive"],
  };
};

/** The rows are locked in the order of `successPart`. */
const attemptText = (
  condition: string,
  form: CountingText,
) => `attempt_own as (${form(failuresOfSource(5, condition))}),
  attempt_all as (${form(failuresOfSource(10, "exists (select 1 from attempt_own)"))})`;

// The limit tells PostgreSQL that there are two sources at most. For ten, which it assumes of an array, it would plan
// each attempt anew.
const verifiedAttemptText = (condition: string, form: CountingText) => {
  const rows = `(select source from unnest($4::text[]) source limit 2) of where ${condition}`;
  return `attempt as (${form(failuresOf(rows, "$5", String(HOUR_SECONDS)))})`;
};

/** A counter that has counted nothing. */
const nothing = {
  consecutive: "0",
  window_started_at: "'1970-01-01Z'",
  window_count: "0",
  last_at: "'1970-01-01Z'",
};

/** The same for those sources of which there is no counter under any of several names. */
const emptyOfNamesText = `
  insert into failures (tenant_id, ${key.join(", ")}, ${Object.keys(nothing).join(", ")})
  select $1::uuid, $2::text, ($3::bytea[])[1], of.source, ${Object.values(nothing).join(", ")}
  from unnest($4::text[]) of (source)
  where not exists (select 1 from failures known
    where known.tenant_id = $1::uuid and known.method = $2 and known.subject = any ($3::bytea[]) and known.source = of.source)
  on conflict do nothing`;

/** The counters that a statement in a distributed database adds to. */
function emptyFailures(
  { tenantId, method, subject }: Omit<FailureKey, "source">,
  sources: readonly string[],
): Statement[] {
  const [name, ...others] = subject;
  if (others.length > 0)
    return [
      {
        name: "empty_failures_of_names",
        text: emptyOfNamesText,
        values: [tenantId, method, subject, sources],
      },
    ];
  // In one order: each waits for a row that another transaction makes.
  return sources
    .toSorted()
    .map((source) => emptyCounter({ table, key }, nothing, tenantId, [method, name, source]));
}

// Rows are locked in the order of `successPart`.
const withdrawText = `
  update failures counter
  set consecutive = greatest(counter.consecutive - 1, 0), window_count = greatest(counter.window_count - 1, 0)
  from (select subject, source from failures
    where tenant_id = $1 and method = $2 and subject = any ($3::bytea[]) and source = any ($4::text[])
    order by ${isShared("source")}, subject, source for update) locked
  where counter.tenant_id = $1 and counter.method = $2
    and counter.subject = locked.subject and counter.source = locked.source`;

const readText = `
  select consecutive, window_started_at as "windowStartedAt", window_count as "windowCount", last_at as "lastAt"
  from failures where tenant_id = $1 and method = $2 and subject = any ($3::bytea[]) and source = $4 order by subject limit 1`;
