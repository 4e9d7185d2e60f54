import { expect, test } from "vitest";
import { BUCKETS, bucketOf, quantile } from "./durations.ts";

const counted = (...durations: number[]) => {
  const counts = Array.from({ length: BUCKETS }, () => 0);
  for (const duration of durations) counts[bucketOf(duration)] = (counts[bucketOf(duration)] ?? 0) + 1;
  return counts;
};

test.each([0, 1, 249, 250, 251, 60_000, 86_400_000, 1e12])("has a bucket for %d ms", (duration) => {
  expect(bucketOf(duration)).toBeGreaterThanOrEqual(0);
  expect(bucketOf(duration)).toBeLessThan(BUCKETS);
});

test("reads the median and the 95th percentile within a bucket", () => {
  const durations = Array.from({ length: 1_000 }, (_, index) => (index + 1) * 100);
  for (const share of [0.5, 0.95]) {
    const read = quantile(counted(...durations), share) ?? 0;
    expect(read / (share * 100_000)).toBeGreaterThan(0.8);
    expect(read / (share * 100_000)).toBeLessThan(1.25);
  }
});

test("has no median of nothing", () => {
  expect(quantile(counted(), 0.5)).toBeNull();
});
