import { RateLimiterMemory, RateLimiterPostgres, RateLimiterRes } from "rate-limiter-flexible";
import type { Database } from "#db/client";
import type { Config } from "../config/schema.ts";
import { sha256 } from "../lib/sha256.ts";

/** What is counted; each name has its own numbers in `rate_limiter` of the configuration. */
export type RateName =
  /** Codes mailed to an address, by whoever asked. */
  | "passcode_address"
  /** Codes asked for from a source. */
  | "passcode_source"
  /** Passwords tried for an account from a source. */
  | "password"
  /** Passwords tried from a source, whatever the account. */
  | "password_source"
  /** Flows started from a source. */
  | "flow_start"
  /** Exchange tokens tried from a source. */
  | "exchange_token"
  /** Authenticator requests made for a user. */
  | "authenticator_request"
  /** Challenges that a source opens at the passkey server without a key. */
  | "passkey_challenge";

export type RateVerdict = { ok: true } | { ok: false; retryAfterSeconds: number };

/** How often something may happen; counted for all processes of a deployment together. */
export interface RateLimits {
  /**
   * Takes one token.
   *
   * @param key what the rate is of, the tenant included; of any length
   * @returns `retryAfterSeconds`, a whole number of at least 1, when there was none left
   */
  consume(name: RateName, key: string): Promise<RateVerdict>;
}

/** Something that counts a key; a refusal is thrown as `RateLimiterRes`. */
interface Limiter {
  consume(key: string): Promise<unknown>;
}

const minute = 60;
const hour = 3600;

/**
 * Makes the rate limits of a process: fixed windows, counted in the table `rate_limits`, which a migration makes.
 *
 * A count that is lost with a crashed database is no harm, so commits do not wait for the disk. Windows end by the
 * clocks of the processes: where those differ, so do the ends, and nothing else.
 *
 * @param config `rate_limiter.enabled` false lifts every limit
 */
export function createRateLimits(config: Pick<Config, "rate_limiter">, database: Database): RateLimits {
  const numbers = config.rate_limiter;
  if (!numbers.enabled) return { consume: async () => ({ ok: true }) };

  const shared = (name: string, points: number, duration: number) =>
    new RateLimiterPostgres({
      storeClient: database.prepares ? database.claim.$client : unprepared(database),
      storeType: "pool",
      tableName: "rate_limits",
      tableCreated: true,
      // One of them clears the table for all.
      clearExpiredByTimeout: name === "flow_start",
      keyPrefix: name,
      points,
      duration,
    });

  const limiters: Record<RateName, Limiter[]> = {
    passcode_address: [
      shared("passcode_address_minute", numbers.passcodes_per_minute, minute),
      shared("passcode_address_hour", numbers.passcodes_per_hour, hour),
    ],
    passcode_source: [shared("passcode_source", numbers.passcodes_per_source, hour)],
    password: [shared("password", numbers.passwords_per_minute, minute)],
    password_source: [shared("password_source", numbers.passwords_per_source, minute)],
    exchange_token: [shared("exchange_token", numbers.exchange_tokens_per_minute, minute)],
    authenticator_request: [
      shared("authenticator_request", numbers.authenticator_requests_per_minute, minute),
    ],
    passkey_challenge: [shared("passkey_challenge", numbers.passkey_challenges_per_minute, minute)],
    flow_start: [reportingInBatches(shared("flow_start", numbers.starts_per_minute, minute))],
  };

  return {
    async consume(name, key) {
      // Keys hold addresses, and may be longer than an index takes.
      const digest = sha256(key).toString("base64url");
      try {
        for (const limiter of limiters[name]) await limiter.consume(digest);
        return { ok: true };
      } catch (refusal) {
        if (!(refusal instanceof RateLimiterRes)) throw refusal;
        return { ok: false, retryAfterSeconds: Math.max(1, Math.ceil(refusal.msBeforeNext / 1000)) };
      }
    },
  };
}

/**
 * Counts in this process's memory and tells the shared counter only of every so many: of every sixth where sixty are
 * allowed. A start of a flow is the one step that anybody can ask for without having anything, so it should cost
 * little; and most sources start fewer flows than one batch, and then cost the database nothing.
 *
 * The price: each process may let through one batch less one that the others never hear of. A limit of 60 is exactly
 * 60 on one process, and at most 60 + 5 × n on n of them, however the requests are spread.
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
      } catch (refusal) {
        if (refusal instanceof RateLimiterRes) await own.block(key, Math.ceil(refusal.msBeforeNext / 1000));
        throw refusal;
      }
    },
  };
}

/** The pool, for connections that cannot keep prepared statements: queries lose their names. */
function unprepared({ claim }: Database) {
  return {
    query: ({ text, values }: { text: string; values: unknown[] }) => claim.$client.query({ text, values }),
  };
}
