import type { Attributes, Meter, ObservableGauge } from "@opentelemetry/api";
import { Exemplars } from "./exemplars.ts";
import { defined } from "./spans.ts";

/**
 * The metrics of a process. They are measured where a process was started with a receiver for them
 * (`server/start/telemetry`); elsewhere each call costs a comparison. What tells them apart is names of the protocol and of
 * Stile: no tenant, user, address or id, so that their number is bounded by the code.
 */

interface Declaration {
  /** The name in OpenTelemetry: that of the semantic conventions where they have one. */
  name: string;
  /** `asked`: a gauge that is asked for its values when the metrics are collected. */
  kind: "counter" | "histogram" | "asked" | "asked_sum";
  /** A unit of UCUM; text in braces counts things. */
  unit: string;
  description: string;
  attributes: readonly string[];
  /** Upper bounds of a histogram's buckets, in its unit. */
  bounds?: readonly number[];
  /** Its buckets name the newest trace that was recorded of one of their values. */
  hasExemplars?: true;
}

/** Those of the semantic conventions for durations of HTTP requests, in seconds. */
const ofWaits = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

/** For what a person does, in seconds. */
const ofPersons = [1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600];

const declarations = {
  requests: {
    name: "http.server.request.duration",
    kind: "histogram",
    unit: "s",
    description: "Requests, by how long they took to be answered.",
    attributes: ["http.request.method", "http.route", "http.response.status_code", "error.type"],
    bounds: ofWaits,
    hasExemplars: true,
  },
  steps: {
    name: "stile.step.duration",
    kind: "histogram",
    unit: "s",
    description: "Steps of flows, by the state that they were performed in and what became of them.",
    attributes: ["stile.flow.type", "stile.state", "stile.verdict"],
    bounds: ofWaits,
    hasExemplars: true,
  },
  signIns: {
    name: "stile.sign_in.duration",
    kind: "histogram",
    unit: "s",
    description:
      "Accounts that signed in or signed up, by the time from the start of the flow to its session.",
    attributes: ["stile.sign_in.kind", "stile.method", "stile.second_method"],
    bounds: ofPersons,
    hasExemplars: true,
  },
  failures: {
    name: "stile.failures",
    kind: "counter",
    unit: "{failure}",
    description: "Steps that failed, by their error and its cause.",
    attributes: ["stile.flow.type", "stile.state", "stile.method", "stile.error", "stile.cause"],
  },
  exceeded: {
    name: "stile.limits.exceeded",
    kind: "counter",
    unit: "{request}",
    description: "Requests that exceeded a limit.",
    attributes: ["stile.limit"],
  },
  endedConnections: {
    name: "stile.connections.ended",
    kind: "counter",
    unit: "{connection}",
    description:
      "Connections that the server has ended: their request arrived too slowly, had too large headers or was no HTTP, or their answer was not read.",
    attributes: ["stile.reason"],
  },
  messages: {
    name: "stile.messages",
    kind: "counter",
    unit: "{message}",
    description: "Mails and SMS that were sent, or are given up.",
    attributes: ["stile.channel", "stile.outcome"],
  },
  deliveries: {
    name: "stile.delivery.duration",
    kind: "histogram",
    unit: "s",
    description: "Attempts to deliver an event to a webhook, by the time until the answer.",
    attributes: ["stile.outcome"],
    bounds: ofWaits,
  },
  jobs: {
    name: "stile.job.duration",
    kind: "histogram",
    unit: "s",
    description: "Attempts at jobs.",
    attributes: ["stile.job", "stile.outcome"],
    bounds: ofWaits,
  },
  purged: {
    name: "stile.purge.rows",
    kind: "counter",
    unit: "{row}",
    description: "Expired rows that were deleted.",
    attributes: [],
  },
  purges: {
    name: "stile.purge.duration",
    kind: "histogram",
    unit: "s",
    description: "Purges of expired rows.",
    attributes: ["stile.outcome"],
    bounds: [0.1, 1, 10, 60, 300, 600],
  },
  databaseWaits: {
    name: "db.client.operation.duration",
    kind: "histogram",
    unit: "s",
    description: "Round trips to the database, with the wait for a connection.",
    attributes: ["db.system.name"],
    bounds: [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10],
  },
  hashWaits: {
    name: "stile.hash.duration",
    kind: "histogram",
    unit: "s",
    description: "Hashes of passwords and codes, with the wait for their turn.",
    attributes: [],
    bounds: ofWaits,
  },
  providerWaits: {
    name: "stile.provider.duration",
    kind: "histogram",
    unit: "s",
    description: "Requests to identity providers.",
    attributes: [],
    bounds: ofWaits,
  },
  unrecorded: {
    name: "stile.recorder.dropped",
    kind: "counter",
    unit: "{step}",
    description: "Steps that the recorder could not keep.",
    attributes: [],
  },
  hashesWaiting: {
    name: "stile.hash.waiting",
    kind: "asked",
    unit: "{hash}",
    description: "Hashes that wait for their turn.",
    attributes: [],
  },
  connections: {
    name: "db.client.connection.count",
    kind: "asked",
    unit: "{connection}",
    description: "Open connections to the database.",
    attributes: ["db.client.connection.pool.name", "db.client.connection.state"],
  },
  maxConnections: {
    name: "db.client.connection.max",
    kind: "asked",
    unit: "{connection}",
    description: "Connections that a pool may have.",
    attributes: ["db.client.connection.pool.name"],
  },
  waitingForConnection: {
    name: "db.client.connection.pending_requests",
    kind: "asked",
    unit: "{request}",
    description: "Statements that wait for a connection.",
    attributes: ["db.client.connection.pool.name"],
  },
  replicaReads: {
    name: "stile.database.replica.reads",
    kind: "counter",
    unit: "{read}",
    description:
      "Requests that may read at a replica, by whether one was read (`replica`), none was used (`none`) or had replayed the log (`behind`), or it failed (`failed`): then the primary was.",
    attributes: ["stile.outcome"],
  },
  replicaLag: {
    name: "stile.database.replica.lag",
    kind: "asked",
    unit: "s",
    description:
      "How long ago the primary had what a replica lacks, by its place in database.replicas. Of one that does not answer there is none.",
    attributes: ["stile.replica"],
  },
  replicaUsed: {
    name: "stile.database.replica.used",
    kind: "asked",
    unit: "1",
    description: "1 if a replica is read at; 0 if not.",
    attributes: ["stile.replica"],
  },
  ready: {
    name: "stile.ready",
    kind: "asked",
    unit: "1",
    description: "1 if a write succeeds, as /health/ready says; 0 if not.",
    attributes: [],
  },
  clockDifference: {
    name: "stile.clock.difference",
    kind: "asked",
    unit: "s",
    description: "By how much the clock of the database is ahead of that of the process.",
    attributes: [],
  },
  jobsWaiting: {
    name: "stile.jobs.waiting",
    kind: "asked",
    unit: "{job}",
    description: "Jobs that are not done, at most 10000 of all kinds.",
    attributes: ["stile.job"],
  },
  oldestJob: {
    name: "stile.jobs.oldest",
    kind: "asked",
    unit: "s",
    description: "For how long the oldest of them has been due.",
    attributes: ["stile.job"],
  },
  deliveriesWaiting: {
    name: "stile.deliveries.waiting",
    kind: "asked",
    unit: "{delivery}",
    description: "Deliveries to webhooks that are not made, at most 10000.",
    attributes: [],
  },
  oldestDelivery: {
    name: "stile.deliveries.oldest",
    kind: "asked",
    unit: "s",
    description: "For how long the oldest of them has been due.",
    attributes: [],
  },
  rows: {
    name: "stile.table.rows",
    kind: "asked",
    unit: "{row}",
    description: "Rows of a table, users and sessions among them, as PostgreSQL estimates them.",
    attributes: ["db.collection.name"],
  },
  eventLoopDelay: {
    name: "nodejs.eventloop.delay.p99",
    kind: "asked",
    unit: "s",
    description:
      "By how much turns of the event loop were late in the last ten seconds, the worst hundredth.",
    attributes: [],
  },
  eventLoopUse: {
    name: "nodejs.eventloop.utilization",
    kind: "asked",
    unit: "1",
    description: "The part of the last ten seconds in which the event loop was busy.",
    attributes: [],
  },
  memory: {
    name: "process.memory.usage",
    kind: "asked",
    unit: "By",
    description: "Resident memory of the process.",
    attributes: [],
  },
  heap: {
    name: "v8js.memory.heap.used",
    kind: "asked",
    unit: "By",
    description:
      "Memory that the objects of the process take, those included that nothing refers to any more.",
    attributes: ["v8js.heap.space.name"],
  },
  processorTime: {
    name: "process.cpu.time",
    kind: "asked_sum",
    unit: "s",
    description: "Processor time of the process.",
    attributes: ["cpu.mode"],
  },
  openFiles: {
    name: "process.unix.file_descriptor.count",
    kind: "asked",
    unit: "{file_descriptor}",
    description: "Open files and sockets of the process. On Linux alone.",
    attributes: [],
  },
} as const satisfies Record<string, Declaration>;

type Declarations = typeof declarations;

/** The metrics, by the names that the code has for them. */
export const metrics: Readonly<Record<keyof Declarations, Declaration>> = declarations;

type NamesOf<Kinds extends Declaration["kind"]> = {
  [Name in keyof Declarations]: Declarations[Name]["kind"] extends Kinds ? Name : never;
}[keyof Declarations];

/** Those that are measured when something happens. */
export type MeasuredMetric = NamesOf<"counter" | "histogram">;

/** Those that are asked for. */
export type AskedMetric = NamesOf<"asked" | "asked_sum">;

type AttributesOf<Name extends keyof Declarations> = {
  [Attribute in Declarations[Name]["attributes"][number]]: string | number | null | undefined;
};

/** A value of a metric, and what tells it apart from others. */
export type Value<Name extends keyof Declarations> = [value: number, of: AttributesOf<Name>];

interface Instruments {
  meter: Meter;
  record: Partial<Record<string, (value: number, attributes: Attributes, traceId: string | null) => void>>;
}

/** The same in every copy of this module: Next bundles copies of it. */
const slot = Symbol.for("stile.metrics");

const holder = globalThis as { [slot]?: Instruments | undefined };

/** The exemplars of metrics, by their names in OpenTelemetry. */
export type ExemplarsByMetric = ReadonlyMap<string, Exemplars>;

/** Returns a place for the exemplars of each metric that has some. */
export const exemplarsByMetric = (): ExemplarsByMetric =>
  new Map(
    Object.values(metrics)
      .filter(({ hasExemplars }) => hasExemplars)
      .map(({ name, attributes, bounds = [] }) => [name, new Exemplars(attributes, bounds)]),
  );

/**
 * Has metrics measured from now on; by none, no longer.
 *
 * @param exemplars where exemplars are kept; undefined where none are asked for
 */
export function measureBy(meter: Meter | undefined, exemplars?: ExemplarsByMetric): void {
  if (!meter) {
    holder[slot] = undefined;
    return;
  }
  const record: Instruments["record"] = {};
  for (const [key, { name, kind, unit, description, bounds }] of Object.entries<Declaration>(declarations)) {
    if (kind === "counter") {
      const counter = meter.createCounter(name, { unit, description });
      record[key] = (value, attributes) => counter.add(value, attributes);
    } else if (kind === "histogram") {
      const advice = { explicitBucketBoundaries: [...(bounds ?? [])] };
      const histogram = meter.createHistogram(name, { unit, description, advice });
      const kept = exemplars?.get(name);
      record[key] = (value, attributes, traceId) => {
        histogram.record(value, attributes);
        if (traceId !== null) kept?.keep(attributes, value, traceId);
      };
    }
  }
  holder[slot] = { meter, record };
}

/**
 * Measures something: of a counter what is added to it, of a histogram one in its unit. Attributes without a value are left out.
 *
 * @param traceId the trace of what is measured, for an exemplar; null if it is not recorded
 */
export function measure<Name extends MeasuredMetric>(
  name: Name,
  value: number,
  attributes: AttributesOf<Name>,
  traceId: string | null = null,
): void {
  holder[slot]?.record[name]?.(value, defined(attributes), traceId);
}

/** Whether metrics are measured, for what costs something to be known. */
export const isMeasured = () => holder[slot] !== undefined;

/**
 * Says what a metric is asked by, from now on until the returned function is called.
 *
 * @param values of this moment. A metric whose values cannot be read has none
 */
export function answerFor<Name extends AskedMetric>(
  name: Name,
  values: () => Promise<readonly Value<Name>[]> | readonly Value<Name>[],
): () => void {
  const meter = holder[slot]?.meter;
  if (!meter) return () => {};
  const { name: full, kind, unit, description } = declarations[name] as Declaration;
  const gauge: ObservableGauge =
    kind === "asked_sum"
      ? meter.createObservableCounter(full, { unit, description })
      : meter.createObservableGauge(full, { unit, description });
  const answer: Parameters<ObservableGauge["addCallback"]>[0] = async (result) => {
    for (const [value, of] of await values()) result.observe(value, defined(of));
  };
  gauge.addCallback(answer);
  return () => gauge.removeCallback(answer);
}
