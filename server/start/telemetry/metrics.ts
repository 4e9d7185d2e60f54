import type { Meter } from "@opentelemetry/api";
import type { Resource } from "@opentelemetry/resources";
import {
  DataPointType,
  type IMetricReader,
  MeterProvider,
  type MetricData,
  MetricReader,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import type { Collected, Histogram, Point } from "./collected.ts";
import type { Provider } from "./provider.ts";
import type { Protocol, Variables } from "./variables.ts";

/** Time between two exports, and for one (`OTEL_METRIC_EXPORT_INTERVAL`, `OTEL_METRIC_EXPORT_TIMEOUT`). */
const EXPORT_INTERVAL_MS = 60_000;
const EXPORT_TIMEOUT_MS = 30_000;

/** Reads metrics when it is asked to. */
class AskedReader extends MetricReader {
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
): Promise<Provider & { meter: Meter; provider: MeterProvider; collect(): Promise<Collected[]> }> {
  const asked = new AskedReader();
  const readers: IMetricReader[] = pushed ? [asked, await pushing(pushed, variables)] : [asked];
  const provider = new MeterProvider({ resource, readers });
  return {
    meter: provider.getMeter("stile", release),
    provider,
    async collect() {
      const { resourceMetrics } = await asked.collect();
      return resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics.flatMap(plain));
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
  return new PeriodicExportingMetricReader({
    exporter: new OTLPMetricExporter(),
    exportIntervalMillis,
    exportTimeoutMillis: Math.min(timeout, exportIntervalMillis),
  });
}

function plain(metric: MetricData): Collected[] {
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
          points: metric.dataPoints.map(({ attributes, value: { sum = 0, count, buckets } }) =>
            point({ attributes, value: { sum, count, bounds: buckets.boundaries, counts: buckets.counts } }),
          ),
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
