import { RateLimiterMemory, RateLimiterPostgres, RateLimiterRes } from "rate-limiter-flexible";
import type { Database } from "#db/client";
import type { Config } from "../config/schema.ts";
import { sha256 } from "../lib/sha256.ts";

/** Names of the rate limits; each has its own limit in `rate_limiter` of the configuration. */
export type RateName =
  /** Passcodes mailed to an address, from all sources together. */
  | "passcode_address"
  /** Passcodes requested from a source. */
  | "passcode_source"
  /** Password attempts for an account from a source. */
  | "password"
  /** Password attempts from a source, for all accounts together. */
  | "password_source"
  /** Flows started from a source. */
  | "flow_start"
  /** Exchange tokens presented by a source. */
  | "exchange_token"
  /** Authenticator requests created for a user. */
  | "authenticator_request"
  /** Challenges that a source requests from the passkey server without an API key. */
  | "passkey_challenge";

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

/** The rate limits of a deployment: all its processes share the counters. */
export interface RateLimits {
  /**
   * Consumes one token.
   *
   * @param key the subject of the limit, including the tenant; of any length
   */
  consume(name: RateName, key: string): Promise<RateVerdict>;
}

/** Counts a key; throws `RateLimiterRes` if its limit is exceeded. */
interface Limiter {
  consume(key: string): Promise<unknown>;
}

const MINUTE_SECONDS = 60;
const HOUR_SECONDS = 3600;

/**
 * Creates the rate limits of a process: fixed windows, counted in the table `rate_limits`.
 *
 * Losing counts in a database crash is harmless, so commits do not wait for the disk. Windows end by the clock of each
 * process; clock skew only shifts their ends.
 *
 * @param config `rate_limiter.enabled: false` disables every limit
 */
export function createRateLimits(config: Pick<Config, "rate_limiter">, database: Database): RateLimits {
  const limits = config.rate_limiter;
  if (!limits.enabled) return { consume: async () => ({ ok: true }) };

  const shared = (name: string, points: number, duration: number) =>
    new RateLimiterPostgres({
      storeClient: database.prepares ? database.claim.$client : unprepared(database),
      storeType: "pool",
      tableName: "rate_limits",
      tableCreated: true,
      // One limiter clears expired rows of all limiters.
      clearExpiredByTimeout: name === "flow_start",
      keyPrefix: name,
      points,
      duration,
    });

  const limiters: Record<RateName, Limiter[]> = {
    passcode_address: [
      shared("passcode_address_minute", limits.passcodes_per_minute, MINUTE_SECONDS),
      shared("passcode_address_hour", limits.passcodes_per_hour, HOUR_SECONDS),
    ],
    passcode_source: [shared("passcode_source", limits.passcodes_per_source, HOUR_SECONDS)],
    password: [shared("password", limits.passwords_per_minute, MINUTE_SECONDS)],
    password_source: [shared("password_source", limits.passwords_per_source, MINUTE_SECONDS)],
    exchange_token: [shared("exchange_token", limits.exchange_tokens_per_minute, MINUTE_SECONDS)],
    authenticator_request: [
      shared("authenticator_request", limits.authenticator_requests_per_minute, MINUTE_SECONDS),
    ],
    passkey_challenge: [shared("passkey_challenge", limits.passkey_challenges_per_minute, MINUTE_SECONDS)],
    flow_start: [reportingInBatches(shared("flow_start", limits.starts_per_minute, MINUTE_SECONDS))],
  };

  return {
    async consume(name, key) {
      // Keys contain e-mail addresses and may be longer than an index allows.
      const digest = sha256(key).toString("base64url");
      try {
        for (const limiter of limiters[name]) await limiter.consume(digest);
        return { ok: true };
      } catch (rejection) {
        if (!(rejection instanceof RateLimiterRes)) throw rejection;
        return rateLimited(Math.max(1, Math.ceil(rejection.msBeforeNext / 1000)));
      }
    },
  };
}

/**
 * Counts in this process's memory and reports to the shared counter in batches of a tenth of the limit. Starting a
 * flow requires no credential, so it must be cheap; most sources start fewer flows than one batch and never reach the
 * database.
 *
 * Each process may allow up to one batch minus one that is never reported. A limit of 60 is exact on one process and
 * at most 60 + 5 × n on n processes, however the requests are distributed.
 */
function reportingInBatches(shared: RateLimiterPostgres): Limiter {
  const { points, duration } = shared;
  const own = new RateLimiterMemory({ points, duration });
  const batch = Math.max(1, Math.floor(points / 10));
  return {
    async consume(key) {
      const { consumedPoints } = await own.consume(key);
      if (consumedPoints % batch !== 0) return;
      try {
        await shared.consume(key, batch);
      } catch (rejection) {
        if (rejection instanceof RateLimiterRes)
          await own.block(key, Math.ceil(rejection.msBeforeNext / 1000));
        throw rejection;
      }
    },
  };
}

/** The pool for connections that do not support prepared statements: queries are sent without names. */
function unprepared({ claim }: Database) {
  return {
    query: ({ text, values }: { text: string; values: unknown[] }) => claim.$client.query({ text, values }),
  };
}
