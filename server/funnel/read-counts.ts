import { type SQL, sql } from "drizzle-orm";
import { type Databases, schema } from "#db/client";
import { BUCKETS } from "./durations.ts";
import { type Dimension, dimensions, hourOf, type Measure, NONE, OTHER } from "./measures.ts";

const { funnelCounts } = schema;

/** Hours of a tenant: from the start of the first one, up to the start of the one after the last. */
export interface Hours {
  tenantId: string;
  from: Date;
  to: Date;
}

/** Which counts are read: of one value of a column. Default: of all. */
export type CountFilter = { [Name in Dimension]?: string | undefined };

/** The steps of a series. */
export const seriesSteps = ["hour", "day"] as const;

export type SeriesStep = (typeof seriesSteps)[number];

/** What is read of a type of flow. */
export interface FlowSelection extends Hours {
  flowType: string;
  states: readonly string[];
  filter: CountFilter;
  /** See `firstOpenHour`. */
  openFrom: Date;
}

/** Processes write what they have counted within this time. */
const WRITE_GRACE_MS = 60_000;

/**
 * Returns the first hour that is not over: a flow that entered a state in it may still leave that. A user who has not left
 * a state of an earlier hour has given up.
 *
 * @param lifetimeSeconds of flows
 */
export function firstOpenHour(now: Date, lifetimeSeconds: number): Date {
  return new Date(hourOf(now.getTime() - lifetimeSeconds * 1000 - WRITE_GRACE_MS));
}

/** The counts of one name in one state. */
export interface StateCounts {
  measure: Measure;
  state: string;
  name: string;
  target: string;
  count: number;
  /** Those among them of hours that are not over. */
  open: number;
  /** By the buckets of `durations.ts`. */
  durations: number[];
}

const sums = Array.from({ length: BUCKETS }, (_, index) => `coalesce(sum(durations[${index + 1}]), 0)`);

/** The durations of several rows by bucket. One sum for each: to unnest the arrays takes several times as long. */
const addedDurations = sql.raw(`array[${sums.join(", ")}]::float8[]`);

const within = ({ tenantId, from, to }: Hours): SQL =>
  sql`${funnelCounts.tenantId} = ${tenantId} and ${funnelCounts.hour} >= ${from} and ${funnelCounts.hour} < ${to}`;

/** Named, so that each measure of each state is a range of the primary key. */
const named = (
  measures: readonly Measure[],
  flowTypes: readonly string[],
  states: readonly string[],
): SQL => sql`${funnelCounts.measure} = any (${sql.param(measures)})
  and ${funnelCounts.flowType} = any (${sql.param(flowTypes)}) and ${funnelCounts.state} = any (${sql.param(states)})`;

const ofFlow = ({ flowType, states, filter, ...hours }: Omit<FlowSelection, "openFrom">): SQL =>
  sql.join(
    [
      within(hours),
      named(["entered", "left", "failed"], [flowType], states),
      ...dimensions.flatMap((name) => {
        const value = filter[name];
        return value === undefined ? [] : [sql`${funnelCounts[name]} = ${value}`];
      }),
    ],
    sql` and `,
  );

/** Reads what happened in the states of a type of flow. */
export async function readStates(
  { database }: Databases,
  { openFrom, ...selection }: FlowSelection,
): Promise<StateCounts[]> {
  const { rows } = await database.read.execute<StateCounts & Record<string, unknown>>(sql`
    select measure, state, name, target, sum(count)::float8 as count,
      coalesce(sum(count) filter (where hour >= ${openFrom}), 0)::float8 as open, ${addedDurations} as durations
    from ${funnelCounts} where ${ofFlow(selection)}
    group by measure, state, name, target order by 5 desc, measure, state, name, target`);
  return rows;
}

/** The counts of one state and one value of a column, in a step of a series. */
export interface PointCounts {
  /** The start of the step, in milliseconds since 1970. */
  at: number;
  value: string;
  entered: number;
  left: number;
  failed: number;
  /** Those who have entered the state in hours that are not over, and have not left it. */
  open: number;
}

/** Reads what happened in one state by steps of time, and by the values of one column. */
export async function readPoints(
  { database }: Databases,
  { openFrom, ...selection }: FlowSelection,
  { step, by }: { step: SeriesStep; by: Dimension },
): Promise<PointCounts[]> {
  const counted = (condition: SQL) => sql`coalesce(sum(count) filter (where ${condition}), 0)::float8`;
  const openOf = (measure: string) => counted(sql`measure = ${measure} and hour >= ${openFrom}`);
  const { rows } = await database.read.execute<PointCounts & Record<string, unknown>>(sql`
    select ${startOf(step)} as at, ${funnelCounts[by]} as value, ${counted(sql`measure = 'entered'`)} as entered,
      ${counted(sql`measure = 'left'`)} as left, ${counted(sql`measure = 'failed'`)} as failed,
      greatest(${openOf("entered")} - ${openOf("left")}, 0) as open
    from ${funnelCounts} where ${ofFlow(selection)} group by 1, 2 order by 1, 2`);
  return rows;
}

/** The start of the step of a row, in milliseconds since 1970. */
const startOf = (step: SeriesStep): SQL =>
  sql`extract(epoch from date_trunc(${sql.raw(`'${step}'`)}, hour, 'UTC'))::float8 * 1000`;

/** Returns the number of hours some of whose counts are not told apart by client and method. */
export async function readFullHours({ database }: Databases, hours: Hours): Promise<number> {
  const { rows } = await database.read.execute<{ hours: number }>(sql`
    select count(distinct hour)::int as hours from ${funnelCounts}
    where ${within(hours)} and ${funnelCounts.embedding} = ${OTHER}`);
  return rows[0]?.hours ?? 0;
}

/** Counts of what the overview shows, in a step of a series. */
export interface OutcomeCounts {
  measure: Measure;
  /** The start of the step, in milliseconds since 1970. */
  at: number;
  name: string;
  target: string;
  method: string;
  count: number;
}

/** The measures of the overview. */
const outcomes = ["signed_in", "signed_up", "failed", "limited", "message", "delivery"] as const;

/** Reads the counts of the overview by steps of time. */
export async function readOutcomes(
  { database }: Databases,
  {
    flowTypes,
    states,
    step,
    ...hours
  }: Hours & { flowTypes: readonly string[]; states: readonly string[]; step: SeriesStep },
): Promise<OutcomeCounts[]> {
  // Added up by hour first: to find the step of each row would take as long as to read it.
  const { rows } = await database.read.execute<OutcomeCounts & Record<string, unknown>>(sql`
    with by_hour as (
      select measure, hour, name, target, method, sum(count) as count
      from ${funnelCounts}
      where ${within(hours)} and ${named(outcomes, [...flowTypes, NONE, OTHER], [...states, NONE, OTHER])}
      group by 1, 2, 3, 4, 5)
    select measure, ${startOf(step)} as at, name, target, method, sum(count)::float8 as count
    from by_hour group by 1, 2, 3, 4, 5 order by 2`);
  return rows;
}

/** Reads how long sign-ins took, by the buckets of `durations.ts`. */
export async function readSignInTimes(
  { database }: Databases,
  { flowTypes, ...hours }: Hours & { flowTypes: readonly string[] },
): Promise<number[]> {
  const { rows } = await database.read.execute<{ durations: number[] }>(sql`
    select ${addedDurations} as durations from ${funnelCounts}
    where ${within(hours)} and ${named(["signed_in"], flowTypes, ["success"])}`);
  return rows[0]?.durations ?? [];
}
