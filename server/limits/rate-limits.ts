import type { Database } from "#db/client";
import { addedText, type CountingText, countedText, emptyCounter } from "#db/counters";
import type { Part, Statement } from "#db/part";
import { queryPrepared } from "#db/prepared";
import { SHARED_LIMITS } from "#db/schema/limits";
import { runTogether } from "#db/together";
import type { Config } from "../config/schema.ts";
import { sha256 } from "../lib/sha256.ts";
import { createWindowCounts } from "./window-counts.ts";

/** A fixed window: a number of tokens, and its length. It begins with the first token. */
interface Window {
  points: number;
  seconds: number;
}

const perMinute = (points: number): Window => ({ points, seconds: 60 });
const perHour = (points: number): Window => ({ points, seconds: 3600 });
const perDay = (points: number): Window => ({ points, seconds: 86_400 });

/** A code or a mail for which one source may use half of the limit of all sources. */
const half = (points: number) => Math.ceil(points / 2);

const ofSms = (points: number) => [perHour(points), perDay(3 * points)];

/** More mails that a user has not asked for would be spam, even from operators. */
const RECOVERY_OFFERS_PER_HOUR = 3;

type Limits = Config["rate_limiter"];
const codes = (limits: Limits) => [perHour(limits.passcodes_per_hour), perDay(limits.passcodes_per_day)];
const halfOfCodes = (limits: Limits) =>
  codes(limits).map(({ points, seconds }) => ({ points: half(points), seconds }));

/** The rate limits of a tenant, with their windows: all must have a token left. Its counts are not those of any other. */
const tenantWindows = {
  /** Passcodes requested from a source. */
  passcode_source: (limits) => [perHour(limits.passcodes_per_source)],
  /** Passcodes requested for an identifier from a source, in a short time. */
  passcode_pace: (limits) => [perMinute(limits.passcodes_per_minute)],
  /** Passcodes requested for an identifier from a source: half of what the identifier gets. */
  passcode_requester: halfOfCodes,
  /** Passcodes requested for an identifier, from all sources together. */
  passcode_identifier: codes,
  /** Passcodes mailed to an address, whichever identifier was entered. */
  passcode_mailbox: codes,
  /** The same from a source: half of it. */
  passcode_mailbox_requester: halfOfCodes,
  /** Passcodes issued for an account, whichever identifier was entered. */
  passcode_account: (limits) => [perDay(limits.passcodes_per_day)],
  /** The same from a source: half of it. */
  passcode_account_requester: (limits) => [perDay(half(limits.passcodes_per_day))],
  /** Passcodes issued for an account to browsers that signed in to it before, beyond the limits above. */
  passcode_reserve: (limits) => [perDay(limits.reserved_passcodes_per_day)],
  /** SMS asked for from a source. */
  sms_source: (limits) => ofSms(limits.sms_per_source),
  /** SMS to a number. */
  sms_number: (limits) => ofSms(limits.sms_per_number),
  /** SMS to a thousand adjacent numbers. */
  sms_range: (limits) => ofSms(limits.sms_per_range),
  /** SMS to the numbers of a country. */
  sms_country: (limits) => ofSms(limits.sms_per_country),
  /** Notices of changes of an account, mailed to an address. */
  notice: (limits) => [perDay(limits.notices_per_day)],
  /** Mails by which operators offer a user to sign in again. */
  recovery_offer: () => [perHour(RECOVERY_OFFERS_PER_HOUR), perDay(2 * RECOVERY_OFFERS_PER_HOUR)],
  /** Password attempts for an account from a source. */
  password: (limits) => [perMinute(limits.passwords_per_minute)],
  /** Password attempts from a source, for all accounts together. */
  password_source: (limits) => [perMinute(limits.passwords_per_source)],
  /** Flows started from a source. */
  flow_start: (limits) => [perMinute(limits.starts_per_minute)],
  /** Authorization requests of a source, pushed ones included. */
  authorization: (limits) => [perMinute(limits.authorizations_per_minute)],
  /** Requests of clients from a source that fail: the client does not authenticate, or a public one presents no valid grant. */
  client_failure: (limits) => [perMinute(limits.client_failures_per_minute)],
  /** Codes of devices that a user enters. */
  device_code: (limits) => [perHour(limits.device_codes_per_hour)],
  /** Applications that register themselves from a source. */
  client_registration: (limits) => [perHour(limits.registrations_per_hour)],
  /** Documents of applications that are read from a host. */
  client_document_host: (limits) => [perMinute(limits.documents_per_host)],
  /** Documents of applications that are read, from all hosts together. */
  client_document: (limits) => [perMinute(limits.documents_per_minute)],
  /** Exchange tokens presented by a source. */
  exchange_token: (limits) => [perMinute(limits.exchange_tokens_per_minute)],
  /** Authenticator requests created for a user. */
  authenticator_request: (limits) => [perMinute(limits.authenticator_requests_per_minute)],
  /** Challenges that a source requests from the passkey server without an API key. */
  passkey_challenge: (limits) => [perMinute(limits.passkey_challenges_per_minute)],
} as const satisfies Record<string, (limits: Limits) => readonly Window[]>;

export type TenantRate = keyof typeof tenantWindows;

export const tenantRates = Object.keys(tenantWindows) as TenantRate[];

/** The rate limits that all tenants share. */
const sharedWindows = {
  /** Pages displayed to a source. */
  page: (limits: Limits) => [perMinute(limits.pages_per_minute)],
};

export type SharedRate = keyof typeof sharedWindows;

/** Names of the rate limits; each has its own windows, from `rate_limiter` of the configuration. */
type RateName = TenantRate | SharedRate;

const windowsOf = { ...tenantWindows, ...sharedWindows };

/** Limits that are counted in batches. */
const cheapRates = ["flow_start", "authorization", "client_failure"] as const;

type CheapRate = (typeof cheapRates)[number];

const isCheap = (name: TenantRate): name is CheapRate => (cheapRates as readonly string[]).includes(name);

/** A negative verdict that a retry may change. `retryAfterSeconds` is a whole number of at least 1. */
export interface RateLimited {
  ok: false;
  reason: "rate_limited";
  retryAfterSeconds: number;
}

export type RateVerdict = { ok: true } | RateLimited;

export function rateLimited(retryAfterSeconds: number): RateLimited {
  return { ok: false, reason: "rate_limited", retryAfterSeconds };
}

/** One token of a limit. */
export interface Charge {
  name: TenantRate;
  /** The subject of the limit, within the tenant; of any length. */
  subject: string;
  /** Whether the limit, when it is exceeded, is reported in `exceeded` and rejects nothing. */
  quiet?: boolean;
}

/** `exceeded`: the quiet limits of which no token was consumed, because one of them had none left. */
export type ChargeVerdict = { ok: true; exceeded: RateName[] } | RateLimited;

/** The rate limits of a deployment: all its processes share the counters. */
export interface RateLimits {
  /**
   * Consumes one token of a tenant.
   *
   * @param subject the subject of the limit, within the tenant; of any length
   */
  consume(tenantId: string, name: TenantRate, subject: string): Promise<RateVerdict>;
  /**
   * Consumes one token of each limit, in one statement. If a limit that is not quiet has none left, no token of any
   * is consumed, so that a source without tokens does not consume those of its victims; for the same reason, if a quiet
   * one has none left, no token of a quiet one is consumed.
   *
   * @param charges of different names
   */
  consumeAll(tenantId: string, charges: readonly Charge[]): Promise<ChargeVerdict>;
  /**
   * The same as the part of a statement; null if limits are off.
   *
   * @param condition of other parts of the statement: nothing is consumed unless it holds
   */
  charging(tenantId: string, charges: readonly Charge[], condition?: Condition): Charging | null;
  /** Whether a limit has a token left, as far as this process knows. Consumes none, and sends no statement. */
  check(tenantId: string, name: CheapRate, subject: string): RateVerdict;
  /** Whether each limit has a token left. Consumes none. */
  available(tenantId: string, charges: readonly Charge[]): Promise<boolean>;
  /** Consumes one token of a limit that all tenants share. */
  consumeShared(name: SharedRate, subject: string): Promise<RateVerdict>;
}

/** Told of each limit of a tenant that an event exceeds. It must return at once. */
export type ExceededLimit = (tenantId: string, name: RateName) => void;

/**
 * Creates the rate limits of a process: fixed windows, counted in the table `rate_counters`.
 *
 * Losing counts in a database crash is harmless, so commits do not wait for the disk. Windows end by the clock of each
 * process; clock skew only shifts their ends.
 *
 * @param config `rate_limiter.enabled: false` disables every limit
 * @param exceeded default: nothing is told
 */
export function createRateLimits(
  config: Pick<Config, "rate_limiter">,
  database: Database,
  exceeded: ExceededLimit = () => {},
): RateLimits {
  const limits = config.rate_limiter;
  if (!limits.enabled) {
    return {
      consume: async () => ({ ok: true }),
      consumeAll: async () => ({ ok: true, exceeded: [] }),
      charging: () => null,
      check: () => ({ ok: true }),
      available: async () => true,
      consumeShared: async () => ({ ok: true }),
    };
  }
  const batched = (name: RateName) => {
    const [window = perMinute(0)] = windowsOf[name](limits);
    return inBatches(window, (of, batch) =>
      charge(database, of.tenantId, requestsOf(limits, { name, ...of }, batch)),
    );
  };
  /** Those that need no credential, so that they have to be cheap. */
  const cheap = Object.fromEntries(cheapRates.map((name) => [name, batched(name)])) as Record<
    CheapRate,
    Batches
  >;
  const shared = { page: batched("page") };
  const requestsFor = (tenantId: string, charges: readonly Charge[]) =>
    charges.flatMap((charge) => requestsOf(limits, { ...charge, tenantId }));

  const told = (tenantId: string) => (name: RateName) => exceeded(tenantId, name);

  return {
    async consume(tenantId, name, subject) {
      if (isCheap(name)) {
        const verdict = await cheap[name].consume({ tenantId, subject });
        if (!verdict.ok) exceeded(tenantId, name);
        return verdict;
      }
      const requests = requestsOf(limits, { name, tenantId, subject });
      const verdict = await charge(database, tenantId, requests, told(tenantId));
      return verdict.ok ? { ok: true } : verdict;
    },
    consumeAll: async (tenantId, charges) =>
      charge(database, tenantId, requestsFor(tenantId, charges), told(tenantId)),
    charging: (tenantId, charges, condition) =>
      charging(database, tenantId, requestsFor(tenantId, charges), told(tenantId), condition),
    check: (tenantId, name, subject) => cheap[name].check({ tenantId, subject }),
    available: async (tenantId, charges) => isAvailable(database, tenantId, requestsFor(tenantId, charges)),
    consumeShared: (name, subject) => shared[name].consume({ tenantId: SHARED_LIMITS, subject }),
  };
}

/** What a limit counts by. */
interface Counted {
  /** Or `SHARED_LIMITS`. */
  tenantId: string;
  subject: string;
}

/** The subject of a counter, different from that of each other tenant. */
function keyOf({ tenantId, subject }: Counted): string {
  return `${tenantId}/${subject}`;
}

/** One window of one limit, to be charged. */
interface Request extends Window {
  name: RateName;
  /** Key of its row, with that of the tenant. */
  row: string;
  charged: number;
  quiet: boolean;
}

function requestsOf(
  limits: Limits,
  { name, quiet = false, ...counted }: Counted & { name: RateName; quiet?: boolean },
  charged = 1,
): Request[] {
  return windowsOf[name](limits).map((window) => ({
    ...window,
    name,
    row: counterRow(name, window.seconds, keyOf(counted)),
    charged,
    quiet,
  }));
}

/**
 * The key of a counter in `rate_counters`, among those of its tenant.
 *
 * @param key the subject, including the tenant. It may contain an email address and be longer than an index allows, so
 *   its digest is stored.
 */
export function counterRow(name: string, seconds: number, key: string): string {
  return `${name}_${seconds}:${sha256(key).toString("base64url")}`;
}

/**
 * SQL of the counter of a request, to join. The limit keeps it a look-up by the key in each plan: a join may read all
 * counters that have not expired, and while PostgreSQL has no statistics of them that plan looks cheaper.
 */
const counterOf = (tenant: string) => `cross join lateral (
    select points, expire from rate_counters stored
    where stored.tenant_id = ${tenant}::uuid and stored.key = request.key limit 1) counter`;

const availableText = `
  select 1 from unnest($1::text[], $2::int[]) as request (key, points) ${counterOf("$4")}
  where counter.expire > $3::bigint and counter.points >= request.points limit 1`;

async function isAvailable(database: Database, tenantId: string, requests: Request[]): Promise<boolean> {
  const values = [requests.map(({ row }) => row), requests.map(({ points }) => points), Date.now(), tenantId];
  const full = await queryPrepared(database, "read", { name: "rate_available", text: availableText, values });
  return full.length === 0;
}

/** The counters of limits, and of the budgets of steps, as rows. */
export const counters = { table: "rate_counters", key: ["key"], values: ["points", "expire"] } as const;

/** A counter that has counted nothing, as a statement of a distributed database. @param row its key */
export const emptyRateCounter = (tenantId: string, row: string): Statement =>
  emptyCounter(counters, { points: "0", expire: "0" }, tenantId, [row]);

/**
 * Charges several windows, in one statement: none of them unless every window that is not quiet has enough tokens left,
 * and the quiet ones only if all windows have. What has enough is read without locks and decided again for each row when
 * it is charged, in the order of their keys: locks taken before would deadlock over rows that are new.
 */
const chargeText = (condition: string, form: CountingText) => `rate_request as (
    select * from unnest($1::text[], $2::int[], $3::int[], $4::bigint[], $5::boolean[])
      as request (key, charged, points, expire, quiet)),
  rate_exceeded as (
    select key, quiet, counter.expire from rate_request request ${counterOf("$7")}
    where counter.expire > $6::bigint and counter.points + request.charged > request.points),
  rate_charged as (${form({
    ...counters,
    tenant: "$7",
    rows: `select key, charged as points, expire from rate_request request
      where not exists (select 1 from rate_exceeded exceeded where request.quiet or not exceeded.quiet)
        and ${condition}`,
    changes: {
      points:
        "case when counter.expire <= $6::bigint then excluded.points else counter.points + excluded.points end",
      expire: "case when counter.expire <= $6::bigint then excluded.expire else counter.expire end",
    },
    condition: `counter.expire <= $6::bigint
      or counter.points + excluded.points <= (select points from rate_request request where request.key = excluded.key)`,
    returning: ["key"],
  })})`;

const chargedRows = `(
  select json_agg(json_build_object('key', key, 'counted', charged.key is not null, 'expire', exceeded.expire))
  from rate_request left join rate_charged charged using (key) left join rate_exceeded exceeded using (key))`;

/** SQL of whether the limits of the same statement that are not quiet have admitted what it charges. */
export const ratesAdmit: Condition = {
  name: "after_rates",
  sql: "not exists (select 1 from rate_request where not quiet and key not in (select key from rate_charged))",
};

export type ChargedRow = { key: string; counted: boolean; expire: number | null };

/** A charge as the part of a statement. */
export interface Charging {
  part: Part;
  /** Judges what the part has returned, if its condition held. */
  verdict(rows: ChargedRow[]): Promise<ChargeVerdict>;
}

/** SQL of a condition, and a word that names it. */
export interface Condition {
  name: string;
  sql: string;
}

type Told = (name: RateName) => void;

function charging(
  database: Database,
  tenantId: string,
  requests: Request[],
  told: Told,
  condition?: Condition,
): Charging {
  const now = Date.now();
  const values = [
    requests.map(({ row }) => row),
    requests.map(({ charged }) => charged),
    requests.map(({ points }) => points),
    requests.map(({ seconds }) => now + seconds * 1000),
    requests.map(({ quiet }) => quiet),
    now,
    tenantId,
  ];
  return {
    part: {
      name: condition ? `rates_${condition.name}` : "rates",
      text: chargeText(condition?.sql ?? "true", countedText),
      values,
      returns: chargedRows,
      distributed: {
        text: chargeText(condition?.sql ?? "true", addedText),
        // In one order: each waits for a row that another transaction makes.
        before: requests
          .map(({ row }) => row)
          .toSorted()
          .map((row) => emptyRateCounter(tenantId, row)),
      },
    },
    verdict: (rows) => judge(database, tenantId, requests, rows, now, told),
  };
}

async function charge(
  database: Database,
  tenantId: string,
  requests: Request[],
  told: Told = () => {},
): Promise<ChargeVerdict> {
  const { part, verdict } = charging(database, tenantId, requests, told);
  const { rates = [] } = await runTogether<{ rates: ChargedRow[] }>(database, [part], "claim");
  return verdict(rates);
}

async function judge(
  database: Database,
  tenantId: string,
  requests: Request[],
  rows: ChargedRow[],
  now: number,
  told: Told,
): Promise<ChargeVerdict> {
  const found = new Map(rows.map((row) => [row.key, row]));
  const rejected = requests.filter(({ row }) => !found.get(row)?.counted);
  const loud = rejected.filter(({ quiet }) => !quiet);
  // The others of the rejected ones had tokens left. A quiet limit is told too: nothing is mailed beyond it.
  const full = rejected.filter(({ row }) => typeof found.get(row)?.expire === "number");
  for (const name of new Set(full.map(({ name }) => name))) told(name);
  // Concurrent charges have just filled a window, so that others were charged in vain.
  const inVain = requests.filter(
    (request) =>
      found.get(request.row)?.counted && (loud.length > 0 || (request.quiet && rejected.length > 0)),
  );
  if (inVain.length > 0) await refund(database, tenantId, inVain);
  if (loud.length === 0) return { ok: true, exceeded: [...new Set(rejected.map(({ name }) => name))] };
  // A window that concurrent charges have just filled has no end here.
  const ends = loud.flatMap(({ row }) => found.get(row)?.expire ?? []);
  return rateLimited(Math.max(1, Math.ceil((Math.max(now, ...ends) - now) / 1000)));
}

const refundText = `
  update rate_counters counter set points = greatest(counter.points - charged.points, 0)
  from (select key, request.points from unnest($1::text[], $2::int[]) as request (key, points)
    join rate_counters locked using (key) where locked.tenant_id = $3 order by key for update of locked) charged
  where counter.tenant_id = $3 and counter.key = charged.key`;

async function refund(database: Database, tenantId: string, requests: Request[]): Promise<void> {
  const values = [requests.map(({ row }) => row), requests.map(({ charged }) => charged), tenantId];
  await queryPrepared(database, "claim", { name: "rate_refund", text: refundText, values });
}

/**
 * Counts a key in this process's memory and reports to the shared counter in batches of a tenth of the limit. Starting
 * a flow and displaying a page require no credential, so they must be cheap; most sources do so less often than one
 * batch and never reach the database.
 *
 * Each process may allow up to one batch minus one that is never reported. A limit of 60 is exact on one process and
 * at most 60 + 5 × n on n processes, however the requests are distributed: those that arrive while a batch is being
 * reported wait for its verdict, or a burst would pass before the first one is known.
 */
function inBatches(
  { points, seconds }: Window,
  report: (of: Counted, points: number) => Promise<RateVerdict>,
): Batches {
  const own = createWindowCounts(seconds);
  const batch = Math.max(1, Math.floor(points / 10));
  /** The last report of each key that is not answered yet. */
  const pending = new Map<string, Promise<RateVerdict>>();
  return {
    async consume(of) {
      const key = keyOf(of);
      const { count, endsInMs } = own.count(key);
      if (count > points) return rateLimited(Math.ceil(endsInMs / 1000));
      if (count % batch !== 0) return (await pending.get(key)) ?? { ok: true };
      const reporting = report(of, batch).finally(() => {
        if (pending.get(key) === reporting) pending.delete(key);
      });
      pending.set(key, reporting);
      const reported = await reporting;
      if (!reported.ok) own.set(key, points + 1, reported.retryAfterSeconds);
      return reported;
    },
    check(of) {
      const { count, endsInMs } = own.present(keyOf(of));
      return count < points ? { ok: true } : rateLimited(Math.ceil(endsInMs / 1000));
    },
  };
}

/** A limit that is counted in batches, by keys. */
interface Batches {
  consume(of: Counted): Promise<RateVerdict>;
  /** What this process knows. */
  check(of: Counted): RateVerdict;
}

/** What charges rates. */
export interface Rates {
  rates: RateLimits;
}
