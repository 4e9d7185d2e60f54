import { z } from "zod";
import { readFunnel, readFunnelSeries } from "../../admin/funnel.ts";
import type { AdminRejection } from "../../admin/rejections.ts";
import { heavyRead } from "../../database/heavy-reads.ts";
import { type FlowType, flowTypes, type StateName, stateNames } from "../../flow/names.ts";
import { states } from "../../flow/states/index.ts";
import { browsers, countedEmbeddings, dimensions, OTHER, platforms } from "../../funnel/measures.ts";
import { firstOpenHour, type SeriesStep, seriesSteps } from "../../funnel/read-counts.ts";
import { methodNames } from "../../methods/index.ts";
import type { RequestContext } from "../../runtime.ts";
import { changeOperation } from "./admin-operation.ts";
import { countedRange, rangeQuery } from "./counted-range.ts";

/** Hours of one answer. */
const MAX_HOURS = 31 * 24;

/** Steps of one series. */
const MAX_POINTS: Record<SeriesStep, number> = { hour: MAX_HOURS, day: 400 };

/** The states that end a flow. */
const ends: ReadonlySet<string> = new Set(
  stateNames.filter((name) => Object.keys(states[name].actions).length === 0),
);

const count = z.int().min(0);
const milliseconds = z.int().min(0).nullable();

const selection = {
  ...rangeQuery,
  type: z.enum(flowTypes).default("login").describe("The type of flow."),
  platform: z.enum(platforms).optional().describe("Only users of this system."),
  browser: z.enum(browsers).optional().describe("Only users of this browser."),
  embedding: z
    .enum(countedEmbeddings)
    .optional()
    .describe(
      "Only where users met the flow: our `page`, a `frame` of it, an `element` in a page of another origin, or a `client` of the REST interface.",
    ),
  method: z
    .enum([...methodNames, OTHER])
    .optional()
    .describe("Only states that ask for this method, and actions that try it."),
};

const range = {
  from: z.iso.datetime({ precision: 3 }),
  to: z.iso.datetime({ precision: 3 }),
  type: z.enum(flowTypes),
  complete_until: z.iso
    .datetime({ precision: 3 })
    .describe("What was entered before is complete: no flow of then goes on. Later, `open` is not 0."),
};

/** What became of those who entered a state: `entered` is the sum of the others. */
const became = {
  entered: count,
  left: count.describe("By an action, whenever that was."),
  given_up: count.describe("Their flow ended in the state. Always 0 in states that end a flow."),
  open: count.describe("Their flow goes on, or may."),
};

const funnel = z.strictObject({
  ...range,
  states: z
    .array(
      z.strictObject({
        state: z.string(),
        ...became,
        median_ms: milliseconds.describe("The median time in the state of those who left it."),
        p95_ms: milliseconds.describe("95 % of them were in it for no longer."),
        errors: z.array(
          z.strictObject({
            error: z.string(),
            reason: z.string().describe("The reason of the entry in the audit log, else the error."),
            count,
          }),
        ),
      }),
    )
    .describe("States that nothing was counted of are absent."),
  edges: z.array(z.strictObject({ from: z.string(), action: z.string(), to: z.string(), count })),
  full_hours: count.describe(
    "Hours in which so much happened that platform, browser, embedding and method of some of it are `other`.",
  ),
});

const series = z.strictObject({
  ...range,
  state: z.enum(stateNames),
  step: z.enum(seriesSteps),
  by: z.enum(dimensions),
  points: z
    .array(
      z.strictObject({
        at: z.iso.datetime({ precision: 3 }).describe("The start of the step."),
        value: z.string().describe("`none`: it does not apply."),
        ...became,
        failed: count.describe("Steps that failed."),
      }),
    )
    .describe("Steps and values that nothing was counted of are absent."),
});

const description =
  "Users who entered a state are counted in the hour in which they entered it, whatever they did later. Nothing is counted of a page that is opened and left. Hours are those of UTC.";

/** Where users give up. */
export const funnelAddresses = [
  changeOperation("GET /admin/funnel", {
    id: "getFunnel",
    fromReplica: true,
    summary: "Count how flows pass through their states, and where users give up",
    description: `${description} A range has at most ${MAX_HOURS} hours.`,
    query: z.object(selection),
    answers: { 200: { schema: funnel } },
    async perform(context, { query }) {
      const read = readingOf(context, query, stateNames, "hour", MAX_HOURS);
      if (!read.ok) return read;
      const { database } = context.runtime;
      const found = await heavyRead(database.read, () => readFunnel(context.runtime, read));
      return { ...shownRange(query.type, read), ...found };
    },
  }),
  changeOperation("GET /admin/funnel/series", {
    id: "getFunnelSeries",
    fromReplica: true,
    summary: "Count what became of users in one state, over time",
    description: `${description} A series has at most ${MAX_POINTS.hour} hours or ${MAX_POINTS.day} days.`,
    query: z.object({
      ...selection,
      state: z.enum(stateNames),
      step: z.enum(seriesSteps).default("hour"),
      by: z.enum(dimensions).default("platform").describe("What the counts are told apart by."),
    }),
    answers: { 200: { schema: series } },
    async perform(context, { query }) {
      const { type, state, step, by } = query;
      const read = readingOf(context, query, [state], step, MAX_POINTS[step]);
      if (!read.ok) return read;
      const { database } = context.runtime;
      const points = await heavyRead(database.read, () =>
        readFunnelSeries(context.runtime, read, { step, by }),
      );
      return { ...shownRange(type, read), state, step, by, points };
    },
  }),
];

type Selected = z.output<z.ZodObject<typeof selection>>;

/** What the counts of a query are read by. */
function readingOf(
  { tenant, now }: RequestContext,
  { type, platform, browser, embedding, method, ...query }: Selected,
  names: readonly StateName[],
  step: SeriesStep,
  max: number,
) {
  const range: ReturnType<typeof countedRange> | AdminRejection = countedRange(query, now, step, max);
  if (!range.ok) return range;
  return {
    ...range,
    tenantId: tenant.id,
    flowType: type,
    states: names,
    filter: { platform, browser, embedding, method },
    openFrom: firstOpenHour(now, tenant.config.flow.lifetime),
    ends,
  };
}

const shownRange = (type: FlowType, { from, to, openFrom }: { from: Date; to: Date; openFrom: Date }) => ({
  from: from.toISOString(),
  to: to.toISOString(),
  type,
  complete_until: openFrom.toISOString(),
});
