import type { Attempt } from "../jobs/job-kind.ts";

/** An attempt at a job that a test runs itself. */
export function testAttempt(given: Pick<Attempt, "id"> & Partial<Attempt>): Attempt {
  const { isFirst = true } = given;
  return {
    isFirst,
    number: isFirst ? 1 : 2,
    cause: {},
    now: () => new Date(),
    signal: AbortSignal.timeout(60_000),
    ...given,
  };
}
