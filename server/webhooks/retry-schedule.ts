/** Seconds between the attempts of a delivery: eleven attempts within a day. */
const PAUSES_SECONDS = [5, 30, 120, 600, 1_800, 3_600, 10_800, 21_600, 21_600, 25_200];

/** Part of a pause that is random, so that deliveries which failed together are not repeated together. */
const JITTER = 0.1;

/**
 * Returns the pause in seconds before the next attempt.
 *
 * @param attempts failed so far
 * @param random between 0 and 1
 * @returns null if no further attempt is made
 */
export function pauseAfter(attempts: number, random = Math.random()): number | null {
  const pause = PAUSES_SECONDS[attempts - 1];
  return pause === undefined ? null : pause * (1 - JITTER * random);
}
