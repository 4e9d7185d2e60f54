/** Seconds between the attempts of a delivery: eleven attempts within a day. */
const PAUSES_SECONDS = [5, 30, 120, 600, 1_800, 3_600, 10_800, 21_600, 21_600, 25_200];

/** Part of a pause that is random, so that deliveries which failed together are not repeated together. */
const JITTER = 0.1;

/** The longest `Retry-After` that is honoured. With it, eleven attempts take less than two days. */
const MAX_RETRY_AFTER_SECONDS = 3 * 3_600;

/**
 * Returns the pause in seconds before the next attempt.
 *
 * @param attempts failed so far
 * @param retryAfterSeconds what the receiver asked for: the pause is no shorter than that, up to the limit
 * @param random between 0 and 1
 * @returns null if no further attempt is made
 */
export function pauseAfter(attempts: number, retryAfterSeconds = 0, random = Math.random()): number | null {
  const pause = PAUSES_SECONDS[attempts - 1];
  if (pause === undefined) return null;
  return Math.max(pause * (1 - JITTER * random), Math.min(retryAfterSeconds, MAX_RETRY_AFTER_SECONDS));
}
