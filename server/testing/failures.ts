import type { Database } from "#db/client";
import {
  ALL_SOURCES_OF_UNKNOWN,
  countAttempt,
  type FailureKey,
  type FailureLimits,
  type FailureVerdict,
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
  return (await countAttempt(database, { ...key, own: { source, limits }, all, now })).own;
}
