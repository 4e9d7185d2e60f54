import type { Databases } from "#db/client";
import { quantile } from "../funnel/durations.ts";
import type { Dimension } from "../funnel/measures.ts";
import {
  type FlowSelection,
  type PointCounts,
  readFullHours,
  readPoints,
  readStates,
  type SeriesStep,
  type StateCounts,
} from "../funnel/read-counts.ts";

/** What became of the users who entered a state, in a range of time. Those of `entered` left it, gave up, or still may go on. */
export interface FunnelState {
  state: string;
  entered: number;
  left: number;
  /** Those who had not left it when their flow ended. None at the end of a flow. */
  given_up: number;
  /** Those whose flow may go on. */
  open: number;
  /** How long those who left it were there, in milliseconds; null if none left. */
  median_ms: number | null;
  p95_ms: number | null;
  errors: FunnelError[];
}

/** Steps that failed in a state. */
interface FunnelError {
  error: string;
  /** Why, as entries of the audit log name it; the error where they do not tell more. */
  reason: string;
  count: number;
}

/** A way from one state to the next. */
interface FunnelEdge {
  from: string;
  action: string;
  to: string;
  count: number;
}

export interface Funnel {
  states: FunnelState[];
  edges: FunnelEdge[];
  /** Hours some of whose counts are not told apart by client and method: a filter leaves them out. */
  full_hours: number;
}

/** What the funnel of a type of flow is read by. */
export interface FunnelQuery extends FlowSelection {
  /** The states that end a flow. */
  ends: ReadonlySet<string>;
}

/** Reads the funnel of a type of flow. States and edges that nothing was counted of are absent. */
export async function readFunnel(runtime: Databases, { ends, ...selection }: FunnelQuery): Promise<Funnel> {
  const counts = await readStates(runtime, selection);
  const found = new Set(counts.map(({ state }) => state));
  const states = selection.states.filter((state) => found.has(state));
  return {
    states: states.map((state) =>
      stateOf(
        state,
        counts.filter((one) => one.state === state),
        ends.has(state),
      ),
    ),
    edges: counts.flatMap(({ measure, state, name, target, count }) =>
      measure === "left" ? { from: state, action: name, to: target, count } : [],
    ),
    full_hours: await readFullHours(runtime, selection),
  };
}

function stateOf(state: string, counts: readonly StateCounts[], isEnd: boolean): FunnelState {
  const of = (measure: StateCounts["measure"]) => counts.filter((one) => one.measure === measure);
  const sum = (rows: readonly StateCounts[], of: "count" | "open") =>
    rows.reduce((total, row) => total + row[of], 0);
  const [entered, left] = [of("entered"), of("left")];
  const stayed = (of: "count" | "open") => (isEnd ? 0 : Math.max(0, sum(entered, of) - sum(left, of)));
  const open = stayed("open");
  const durations = added(left.map(({ durations }) => durations));
  return {
    state,
    entered: sum(entered, "count"),
    left: sum(left, "count"),
    given_up: Math.max(0, stayed("count") - open),
    open,
    median_ms: quantile(durations, 0.5),
    p95_ms: quantile(durations, 0.95),
    errors: of("failed").map(({ name, target, count }) => ({ error: name, reason: target, count })),
  };
}

/** Adds up counts of buckets. */
function added(all: readonly (readonly number[])[]): number[] {
  const [first = [], ...others] = all;
  return first.map((count, bucket) => others.reduce((sum, one) => sum + (one[bucket] ?? 0), count));
}

/** A step of time in the series of a state, for one value. */
export interface FunnelPoint {
  at: string;
  value: string;
  entered: number;
  left: number;
  given_up: number;
  open: number;
  failed: number;
}

/** Reads what happened in one state over time, by the values of one column. Steps in which nothing happened are absent. */
export async function readFunnelSeries(
  runtime: Databases,
  { ends, ...selection }: FunnelQuery,
  by: { step: SeriesStep; by: Dimension },
): Promise<FunnelPoint[]> {
  const points = await readPoints(runtime, selection, by);
  const isEnd = selection.states.every((state) => ends.has(state));
  return points.map((point) => pointOf(point, isEnd));
}

function pointOf({ at, ...counts }: PointCounts, isEnd: boolean): FunnelPoint {
  const { entered, left } = counts;
  const open = isEnd ? 0 : counts.open;
  const givenUp = isEnd ? 0 : Math.max(0, entered - left - open);
  return { ...counts, at: new Date(at).toISOString(), given_up: givenUp, open };
}
