import { z } from "zod";
import { MAX_COUNTED_SESSIONS, MAX_COUNTED_WAITING, readOverview } from "../../admin/overview.ts";
import { heavyRead } from "../../database/heavy-reads.ts";
import { flowTypes, stateNames } from "../../flow/names.ts";
import { type SeriesStep, seriesSteps } from "../../funnel/read-counts.ts";
import { channelNames } from "../../messages/channels.ts";
import { changeOperation } from "./admin-operation.ts";
import { countedRange, rangeQuery } from "./counted-range.ts";

/** Steps of one answer. */
const MAX_STEPS: Record<SeriesStep, number> = { hour: 14 * 24, day: 92 };

const count = z.int().min(0);
const milliseconds = z.int().min(0).nullable();
const at = () => z.iso.datetime({ precision: 3 });

const tally = () => z.record(z.string(), count);

const signing = { sign_ins: count, sign_ups: count, failures: count };

const ofChannels = <Schema extends z.ZodType>(schema: Schema) =>
  z.strictObject(
    Object.fromEntries(channelNames.map((channel) => [channel, schema])) as Record<
      (typeof channelNames)[number],
      Schema
    >,
  );

const numbers = z.strictObject({
  from: at(),
  to: at(),
  ...signing,
  time_to_sign_in: z
    .strictObject({ median_ms: milliseconds, p95_ms: milliseconds })
    .describe("From the start of a flow to the sign-in. Null without sign-ins."),
  steps: z
    .array(
      z.strictObject({
        at: at().describe("The start of the hour or day."),
        ...signing,
        methods: z
          .record(z.string(), z.strictObject(signing))
          .describe("A sign-in with two factors counts for both."),
      }),
    )
    .describe("Hours and days in which nothing was counted are absent."),
  failures_by_cause: tally().describe("Reasons as entries of the audit log name them, and errors of flows."),
  messages: ofChannels(z.strictObject({ sent: count, failed: count })),
  deliveries: z.strictObject({ delivered: count, retried: count, failed: count }),
  limits: tally().describe("How often each rate limit was exceeded. Only limits that were are present."),
});

const bounded = z.strictObject({ count, more: z.boolean().describe("There are more than are counted.") });

const overview = z.strictObject({
  step: z.enum(seriesSteps),
  current: numbers,
  previous: numbers.describe("The same of the time before, which is as long."),
  active_sessions: bounded.describe(`At most ${MAX_COUNTED_SESSIONS} are counted.`),
  messages: ofChannels(
    z.strictObject({
      waiting: bounded,
      failing_since: at().nullable().describe("Since when the server takes none; null if it does."),
      set_up: z
        .boolean()
        .describe(
          "Whether there is a server or service that sends them, or an application that is told of them.",
        ),
    }),
  ),
  deliveries: z
    .strictObject({ waiting: bounded, failing: count.describe("Those among them that have failed before.") })
    .describe(`At most ${MAX_COUNTED_WAITING} are counted.`),
  version: z.strictObject({
    service: z.string(),
    schema: count.describe("Number of migrations that the database has."),
  }),
});

/** The numbers that tell how the service is. */
export const overviewAddresses = [
  changeOperation("GET /admin/overview", {
    id: "getOverview",
    fromReplica: true,
    summary: "Count sign-ins, failures, messages and deliveries, and compare them with the time before",
    description: `A range has at most ${MAX_STEPS.hour} hours or ${MAX_STEPS.day} days, of UTC. Counts are kept for \`funnel.retention\`.`,
    query: z.object({ ...rangeQuery, step: z.enum(seriesSteps).default("hour") }),
    answers: { 200: { schema: overview } },
    async perform(context, { query }) {
      const { step } = query;
      const range = countedRange(query, context.now, step, MAX_STEPS[step]);
      if (!range.ok) return range;
      const found = await heavyRead(context.runtime.database.read, () =>
        readOverview(context, { ...range, step, flowTypes, states: stateNames }),
      );
      return { step, ...found };
    },
  }),
];
