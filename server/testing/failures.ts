import type { Database } from "#db/client";
import { runTogether } from "#db/together";
import {
  ALL_SOURCES_OF_UNKNOWN,
  attemptPart,
  type CountedAttempt,
  type FailureKey,
  type FailureLimits,
  type FailureVerdict,
  judgeAttempt,
  unlimited,
} from "../limits/failure-counters.ts";

/** Counts an attempt for one counter alone; beside it, another one counts without a limit. */
export async function countFailure(
  database: Database,
  { source, ...key }: FailureKey,
  limits: FailureLimits,
  now: Date,
): Promise<FailureVerdict> {
  const all = { source: ALL_SOURCES_OF_UNKNOWN, limits: unlimited };
  const attempt = { ...key, own: { source, limits }, all, now };
  const parts = [attemptPart(attempt)];
  const counted = await runTogether<{ attempt: CountedAttempt }>(database, parts, "claim");
  return (await judgeAttempt(database, attempt, counted.attempt ?? { own: null, all: null })).own;
}
