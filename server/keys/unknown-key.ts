import type { Logger } from "pino";
import { UnknownKeyError } from "./vault.ts";

/** At most one line in this time, because every request may need the same key. */
const LOG_INTERVAL_MS = 60_000;

type Origin = UnknownKeyError["presentedBy"];

const slot = Symbol.for("stile.unknown-key");
const holder = globalThis as { [slot]?: Record<Origin, WeakMap<Logger, number>> };

/** When each log was last written to; shared with the copies of this module that Next bundles. */
holder[slot] ??= { database: new WeakMap(), client: new WeakMap() };
const loggedAt = holder[slot];

/** A client can name any key, so its value proves nothing. */
const lines: Record<Origin, [level: "error" | "warn", text: string]> = {
  database: [
    "error",
    "SECRET_KEYS lacks a key that stored values are under; requests that need them are answered with 503 (see `stile secrets status`)",
  ],
  client: [
    "warn",
    "a cookie or a mailed link names a key that SECRET_KEYS lacks; its request was answered with 503. If another server has the key, add it here; a client can also have made it up",
  ],
};

/** Returns the error of the missing key if that is what a failure comes down to, else null. */
export function unknownKeyOf(error: unknown): UnknownKeyError | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof UnknownKeyError) return cause;
  }
  return null;
}

/**
 * Whether a failure comes down to a value of a key that is not configured, as on a server that has not got a new key yet.
 * Such a request is to be answered with 503: it succeeds on another server, or later. Logs the first one in a minute.
 */
export function isUnknownKey(error: unknown, log: Logger): boolean {
  const unknown = unknownKeyOf(error);
  if (!unknown) return false;
  const { keyId, presentedBy } = unknown;
  const now = performance.now();
  if (now - (loggedAt[presentedBy].get(log) ?? Number.NEGATIVE_INFINITY) >= LOG_INTERVAL_MS) {
    loggedAt[presentedBy].set(log, now);
    const [level, text] = lines[presentedBy];
    log[level]({ key: keyId }, text);
  }
  return true;
}
