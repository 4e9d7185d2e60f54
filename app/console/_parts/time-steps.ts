import { writtenTime, writtenUtcDay } from "./written-time.ts";

/** Steps of time that the service counts by: hours and days of UTC. */

export type TimeStep = "hour" | "day";

export const HOUR_MS = 3_600_000;

const stepMs: Record<TimeStep, number> = { hour: HOUR_MS, day: 24 * HOUR_MS };

/** Lists the starts of the steps of a range, of which the service leaves out those without a count. */
export function timeSteps({ from, to }: { from: string; to: string }, step: TimeStep): string[] {
  const [first, end] = [Date.parse(from), Date.parse(to)];
  const count = Math.ceil((end - first) / stepMs[step]);
  return Array.from({ length: count }, (_, index) => new Date(first + index * stepMs[step]).toISOString());
}

const labels: Record<TimeStep, (at: Date) => string> = { hour: writtenTime, day: writtenUtcDay };

/** Writes the start of a step: an hour in the zone of the viewer, a day as that of UTC. */
export const stepLabel = (at: string, step: TimeStep): string => labels[step](new Date(at));
