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

const labels: Record<TimeStep, Intl.DateTimeFormat> = {
  hour: new Intl.DateTimeFormat("en", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" }),
  // A day of UTC has another date in half of all zones.
  day: new Intl.DateTimeFormat("en", { day: "numeric", month: "short", timeZone: "UTC" }),
};

/** Writes the start of a step: an hour in the zone of the viewer, a day as that of UTC. */
export const stepLabel = (at: string, step: TimeStep): string => labels[step].format(new Date(at));
