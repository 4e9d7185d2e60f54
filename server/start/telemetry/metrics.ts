import type { Meter } from "@opentelemetry/api";
import type { Resource } from "@opentelemetry/resources";
import {
  AggregationTemporality,
  DataPointType,
  type IMetricReader,
  InstrumentType,
  MeterProvider,
  type MetricData,
  MetricReader,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { type ExemplarsByMetric, exemplarsByMetric } from "../../observability/metrics.ts";
import type { Collected, Histogram, Point } from "./collected.ts";
import type { Provider } from "./provider.ts";
import type { Protocol, Variables } from "./variables.ts";

/** Time between two exports, and for one (`OTEL_METRIC_EXPORT_INTERVAL`, `OTEL_METRIC_EXPORT_TIMEOUT`). */
const EXPORT_INTERVAL_MS = 60_000;
const EXPORT_TIMEOUT_MS = 30_000;

/** Time for what is asked for its values. */
const COLLECT_TIMEOUT_MS = 1_000;

/** A gauge has the values of this moment alone; by default one that is not observed any more would keep its last one. */
const temporalityOf = (type: InstrumentType) =>
  type === InstrumentType.OBSERVABLE_GAUGE ? AggregationTemporality.DELTA : AggregationTemporality.CUMULATIVE;

/** Reads metrics when it is asked to. */
class AskedReader extends MetricReader {
  constructor() {
    super({ aggregationTemporalitySelector: temporalityOf });
  }

  protected async onForceFlush() {}
  protected async onShutdown() {}
}

/**
 * Makes the provider of metrics.
 *
 * @param pushed the protocol by which they are sent; null if they are only asked for
 */
export async function metricProvider(
  pushed: Protocol | null,
  variables: Variables,
  resource: Resource,
  release: string,
): Promise<
  Provider & {
    meter: Meter;
    provider: MeterProvider;
    exemplars: ExemplarsByMetric;
    collect(): Promise<Collected[]>;
  }
> {
  const asked = new AskedReader();
  const readers: IMetricReader[] = pushed ? [asked, await pushing(pushed, variables)] : [asked];
  const provider = new MeterProvider({ resource, readers });
  const exemplars = exemplarsByMetric();
  return {
    meter: provider.getMeter("stile", release),
    provider,
    exemplars,
    async collect() {
      const { resourceMetrics } = await asked.collect({ timeoutMillis: COLLECT_TIMEOUT_MS });
      return resourceMetrics.scopeMetrics.flatMap(({ metrics }) =>
        metrics.flatMap((metric) => plain(metric, exemplars)),
      );
    },
    flush: () => provider.forceFlush(),
    shutdown: () => provider.shutdown(),
  };
}

async function pushing(protocol: Protocol, { count }: Variables): Promise<IMetricReader> {
  const { OTLPMetricExporter } =
    protocol === "http/json"
      ? await import("@opentelemetry/exporter-metrics-otlp-http")
      : await import("@opentelemetry/exporter-metrics-otlp-proto");
  const exportIntervalMillis = count("OTEL_METRIC_EXPORT_INTERVAL") ?? EXPORT_INTERVAL_MS;
  const timeout = count("OTEL_METRIC_EXPORT_TIMEOUT") ?? EXPORT_TIMEOUT_MS;
  const exporter = new OTLPMetricExporter();
  exporter.selectAggregationTemporality = temporalityOf;
  return new PeriodicExportingMetricReader({
    exporter,
    exportIntervalMillis,
    exportTimeoutMillis: Math.min(timeout, exportIntervalMillis),
  });
}

function plain(metric: MetricData, exemplars: ExemplarsByMetric): Collected[] {
  const { name, unit, description } = metric.descriptor;
  const head = { name, unit, description };
  switch (metric.dataPointType) {
    case DataPointType.SUM:
      return [
        { ...head, kind: metric.isMonotonic ? "counter" : "gauge", points: metric.dataPoints.map(point) },
      ];
    case DataPointType.GAUGE:
      return [{ ...head, kind: "gauge", points: metric.dataPoints.map(point) }];
    case DataPointType.HISTOGRAM:
      return [
        {
          ...head,
          kind: "histogram",
          points: metric.dataPoints.map(({ attributes, value: { sum = 0, count, buckets } }) => {
            const { boundaries: bounds, counts } = buckets;
            const ofSeries = exemplars.get(name)?.of(attributes) ?? [];
            return point({ attributes, value: { sum, count, bounds, counts, exemplars: ofSeries } });
          }),
        },
      ];
    default:
      return [];
  }
}

function point({ attributes, value }: { attributes: object; value: number | Histogram }): Point {
  const texts = Object.entries(attributes).map(([name, text]) => [name, String(text)]);
  return { attributes: Object.fromEntries(texts), value };
}
