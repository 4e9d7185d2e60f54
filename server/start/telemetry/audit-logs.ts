import { type AnyValue, type MeterProvider, SeverityNumber } from "@opentelemetry/api";
import type { Resource } from "@opentelemetry/resources";
import { BatchLogRecordProcessor, LoggerProvider } from "@opentelemetry/sdk-logs";
import type { AuditOutput } from "../../audit/audit-output.ts";
import type { Provider } from "./provider.ts";
import { defined, type Protocol, type Variables } from "./variables.ts";

/**
 * Makes the provider that sends entries of the audit log as records of OpenTelemetry, in the trace of the step that made
 * them. They wait in a bounded queue, and are dropped where it is full.
 *
 * @param measuring counts what was sent and dropped; undefined where nothing is measured
 */
export async function auditLogProvider(
  protocol: Protocol,
  { count }: Variables,
  resource: Resource,
  release: string,
  measuring: MeterProvider | undefined,
): Promise<Provider & { output: AuditOutput }> {
  const { OTLPLogExporter } =
    protocol === "http/json"
      ? await import("@opentelemetry/exporter-logs-otlp-http")
      : await import("@opentelemetry/exporter-logs-otlp-proto");
  const observed = measuring ? { selfObsMeterProvider: measuring } : {};
  const processor = new BatchLogRecordProcessor({
    exporter: new OTLPLogExporter(observed),
    ...observed,
    ...defined("maxQueueSize", count("OTEL_BLRP_MAX_QUEUE_SIZE")),
    ...defined("maxExportBatchSize", count("OTEL_BLRP_MAX_EXPORT_BATCH_SIZE")),
    ...defined("scheduledDelayMillis", count("OTEL_BLRP_SCHEDULE_DELAY")),
    ...defined("exportTimeoutMillis", count("OTEL_BLRP_EXPORT_TIMEOUT")),
  });
  const provider = new LoggerProvider({ resource, processors: [processor] });
  const logger = provider.getLogger("stile.audit", release);
  return {
    output(entry) {
      logger.emit({
        eventName: entry.type,
        timestamp: new Date(entry.created_at),
        severityNumber: SeverityNumber.INFO,
        severityText: "INFO",
        body: entry as AnyValue,
        attributes: { "stile.tenant.id": entry.tenant_id },
      });
    },
    flush: () => provider.forceFlush(),
    shutdown: () => provider.shutdown(),
  };
}
