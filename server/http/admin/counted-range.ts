import { rejectAdmin } from "../../admin/rejections.ts";
import { HOUR_MS } from "../../funnel/measures.ts";
import type { SeriesStep } from "../../funnel/read-counts.ts";
import { instant } from "../table/fields.ts";

const lengths: Record<SeriesStep, number> = { hour: HOUR_MS, day: 24 * HOUR_MS };

/** Steps of a range by default: a day of hours, a month of days. */
const defaults: Record<SeriesStep, number> = { hour: 24, day: 30 };

/** A time of which the range before can be shown too. */
const time = () =>
  instant().refine(
    (time) => time.getUTCFullYear() >= 1970 && time.getUTCFullYear() <= 9000,
    "must be between the years 1970 and 9000",
  );

/** The parameters of a range of counts. */
export const rangeQuery = {
  from: time().optional().describe("A time in the first step. Default: 24 hours, or 30 days, before `to`."),
  to: time().optional().describe("The end. The step that it is in belongs to the range. Default: now."),
};

/**
 * Returns the whole steps of a range, in UTC.
 *
 * @param max the most steps
 */
export function countedRange(
  query: { from?: Date | undefined; to?: Date | undefined },
  now: Date,
  step: SeriesStep,
  max: number,
) {
  const length = lengths[step];
  const to = Math.ceil((query.to ?? now).getTime() / length) * length;
  const from = Math.floor((query.from?.getTime() ?? to - defaults[step] * length) / length) * length;
  const steps = (to - from) / length;
  return steps >= 1 && steps <= max
    ? ({ ok: true, from: new Date(from), to: new Date(to) } as const)
    : rejectAdmin("invalid", `The query is invalid: from must be 1 to ${max} ${step}s before to.`);
}
