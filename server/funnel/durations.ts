/** The longest duration of the first bucket, in milliseconds. */
const FIRST_MS = 250;

/** By which the longest duration of a bucket is that of the one before it. */
const GROWTH = 1.6;

/** The last bucket has everything that is longer: its shortest duration is some 20 hours. */
export const BUCKETS = 28;

/** The bucket of a duration, counted from 0. Buckets grow as powers: what is read from them is within a fifth of the truth. */
export function bucketOf(durationMs: number): number {
  const bucket = Math.ceil(Math.log(Math.max(durationMs, 1) / FIRST_MS) / Math.log(GROWTH));
  return Math.min(Math.max(bucket, 0), BUCKETS - 1);
}

const longestOf = (bucket: number) => FIRST_MS * GROWTH ** bucket;

/**
 * Returns a duration in milliseconds that a share of the counted ones do not exceed, as far as buckets tell: within one,
 * they are taken to be spread evenly on a logarithmic scale.
 *
 * @param counts of the buckets
 * @param share between 0 and 1
 * @returns null if nothing was counted
 */
export function quantile(counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let before = 0;
  for (const [bucket, count] of counts.entries()) {
    if (count > 0 && before + count >= share * total) {
      const within = (share * total - before) / count;
      return Math.round(longestOf(bucket - 1) * GROWTH ** within);
    }
    before += count;
  }
  return null;
}
