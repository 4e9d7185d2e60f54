import { HOUR_MS } from "../../../_parts/time-steps.ts";

/** Hours that are unlike the same hour of the days before. */

/** What is counted of an hour. */
export interface HourCounts {
  at: string;
  sign_ins: number;
  failures: number;
}

export interface OddHour {
  at: string;
  measure: "sign_ins" | "failures";
  count: number;
  /** The median of the same hour of the days before. */
  usual: number;
}

const DAY_MS = 24 * HOUR_MS;

/** Days before that an hour is compared with. */
export const COMPARED_DAYS = 7;

/** With fewer days nothing is usual. */
const MIN_DAYS = 3;

/** Counts differ by chance by about the root of what is usual. So much more is no chance. */
const DEVIATIONS = 4;

/** Fewer are too few to say anything. */
const MIN_DIFFERENCE = 10;

/**
 * Finds hours in which many more or fewer users signed in, or many more failed, than in the same hour of the days before.
 *
 * @param counted of the range, and of the days before it; hours without a count are absent
 * @param range whose hours are judged
 * @param now the hour that it is in is not over, and can only be too high
 */
export function oddHours(
  counted: readonly HourCounts[],
  range: { from: string; to: string },
  now: Date,
): OddHour[] {
  const byHour = new Map(counted.map((hour) => [Date.parse(hour.at), hour]));
  const first = Math.min(...byHour.keys());
  const odd: OddHour[] = [];
  for (let at = Date.parse(range.from); at < Date.parse(range.to) && at <= now.getTime(); at += HOUR_MS) {
    const before = Array.from({ length: COMPARED_DAYS }, (_, day) => at - (day + 1) * DAY_MS).filter(
      (one) => one >= first,
    );
    if (before.length < MIN_DAYS) continue;
    for (const measure of ["sign_ins", "failures"] as const) {
      const usual = median(before.map((one) => byHour.get(one)?.[measure] ?? 0));
      const count = byHour.get(at)?.[measure] ?? 0;
      const bound = Math.max(MIN_DIFFERENCE, DEVIATIONS * Math.sqrt(usual));
      const isLow = measure === "sign_ins" && at + HOUR_MS <= now.getTime() && usual - count >= bound;
      if (count - usual >= bound || isLow)
        odd.push({ at: new Date(at).toISOString(), measure, count, usual });
    }
  }
  return odd;
}

function median(counts: readonly number[]): number {
  const sorted = counts.toSorted((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? 0)) / 2;
}
