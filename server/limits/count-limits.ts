import type { Counters } from "../funnel/counters.ts";
import type { Platform } from "../lib/platform.ts";
import type { ExceededLimit } from "./rate-limits.ts";

/** Counts the limits that are exceeded. */
export const countLimits =
  (counters: Pick<Counters, "count">, { clockShift }: Pick<Platform, "clockShift">): ExceededLimit =>
  (tenantId, name) =>
    counters.count(tenantId, { measure: "limited", name, at: Date.now() + clockShift() });
