import { context, type MeterProvider, propagation } from "@opentelemetry/api";
import type { Resource } from "@opentelemetry/resources";
import type { Provider } from "./provider.ts";
import { RequestTracer } from "./tracer.ts";
import { defined, type Protocol, recordedPart, type Variables } from "./variables.ts";

/**
 * Makes the provider of traces. It is no global one: Next would send the addresses of requests with their queries.
 *
 * @param measuring counts what was sent and dropped; undefined where nothing is measured
 * @throws StartError if a variable has a value that is not supported
 */
export async function traceProvider(
  protocol: Protocol,
  variables: Variables,
  resource: Resource,
  release: string,
  measuring: MeterProvider | undefined,
): Promise<Provider & { tracer: RequestTracer }> {
  const part = recordedPart(variables);
  const [{ BatchSpanProcessor }, { OTLPTraceExporter }, { AsyncLocalStorageContextManager }, core] =
    await Promise.all([
      import("@opentelemetry/sdk-trace"),
      protocol === "http/json"
        ? import("@opentelemetry/exporter-trace-otlp-http")
        : import("@opentelemetry/exporter-trace-otlp-proto"),
      import("@opentelemetry/context-async-hooks"),
      import("@opentelemetry/core"),
    ]);
  const { count } = variables;
  const observed = measuring ? { selfObsMeterProvider: measuring } : {};
  const processor = new BatchSpanProcessor({
    exporter: new OTLPTraceExporter(observed),
    ...observed,
    ...defined("maxQueueSize", count("OTEL_BSP_MAX_QUEUE_SIZE")),
    ...defined("maxExportBatchSize", count("OTEL_BSP_MAX_EXPORT_BATCH_SIZE")),
    ...defined("scheduledDelayMillis", count("OTEL_BSP_SCHEDULE_DELAY")),
    ...defined("exportTimeoutMillis", count("OTEL_BSP_EXPORT_TIMEOUT")),
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new core.W3CTraceContextPropagator());
  return {
    tracer: new RequestTracer(part, {
      resource,
      scope: { name: "stile", version: release },
      onEnd: (span) => processor.onEnd(span),
    }),
    flush: () => processor.forceFlush(),
    shutdown: () => processor.shutdown(),
  };
}
