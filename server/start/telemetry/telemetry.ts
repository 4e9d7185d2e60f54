import { DiagLogLevel, diag } from "@opentelemetry/api";
import type { Resource } from "@opentelemetry/resources";
import type { Logger } from "pino";
import type { AuditOutput } from "../../audit/audit-output.ts";
import { measureBy } from "../../observability/metrics.ts";
import { traceBy } from "../../observability/spans.ts";
import type { Collected } from "./collected.ts";
import type { Provider } from "./provider.ts";
import { protocolOf, variablesOf } from "./variables.ts";

/** OpenTelemetry as its standard variables and `metrics.port` ask for it. Its SDK is loaded only if one of them does. */

/** Time for what waits to be sent, when the process ends or may be suspended. */
const SEND_MS = 2_000;

/** Time between two flushes, and between two that send metrics. */
const FLUSH_INTERVAL_MS = 1_000;
const METRICS_INTERVAL_MS = 60_000;

/** Time between two lines about trouble with a receiver. */
const TELL_AGAIN_MS = 60_000;

/** Characters of such a line. */
const MAX_TROUBLE_LENGTH = 500;

/** Sends what a process tells of itself until it is stopped. */
export interface Telemetry {
  /** The metrics of this process; null where they are not measured. */
  collect: (() => Promise<Collected[]>) | null;
  /** Sends an entry of the audit log; null where they are not sent. */
  auditOutput: AuditOutput | null;
  /** Sends what waits, for two seconds at most; once a second, and metrics once a minute. */
  flush(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Starts to trace and to measure, if the environment or the configuration asks for it.
 *
 * @param release the version of Stile
 * @param isScraped whether something asks this process for its metrics
 * @returns null if nothing asks for either
 * @throws StartError if a variable has a value that is not supported
 */
export async function startTelemetry(
  environment: NodeJS.ProcessEnv,
  {
    release,
    instanceId,
    isScraped,
    log,
  }: { release: string; instanceId: string; isScraped: boolean; log: Logger },
): Promise<Telemetry | null> {
  const variables = variablesOf(environment);
  const traced = protocolOf("TRACES", variables);
  const pushed = protocolOf("METRICS", variables);
  const audited = protocolOf("LOGS", variables);
  if (traced === null && pushed === null && audited === null && !isScraped) return null;
  tellTroubles(log);
  const resource = await resourceOf(release, instanceId);
  const metrics =
    pushed || isScraped
      ? await (await import("./metrics.ts")).metricProvider(pushed, variables, resource, release)
      : null;
  const common = [variables, resource, release, metrics?.provider] as const;
  const traces = traced && (await (await import("./traces.ts")).traceProvider(traced, ...common));
  const entries = audited && (await (await import("./audit-logs.ts")).auditLogProvider(audited, ...common));
  traceBy(traces?.tracer);
  // What is pushed has none: the SDK has no place for them.
  if (metrics) measureBy(metrics.meter, isScraped ? metrics.exemplars : undefined);
  const providers: Provider[] = [traces, entries, metrics].filter((provider) => provider !== null);
  let flushedAt = Number.NEGATIVE_INFINITY;
  let measuredAt = performance.now();
  const sending = (send: (provider: Provider) => Promise<void>) =>
    withinTime(Promise.all(providers.map((provider) => send(provider).catch(() => {}))));
  return {
    collect: metrics?.collect ?? null,
    auditOutput: entries?.output ?? null,
    async flush() {
      const now = performance.now();
      if (now - flushedAt < FLUSH_INTERVAL_MS) return;
      flushedAt = now;
      const isMeasuring = now - measuredAt >= METRICS_INTERVAL_MS;
      if (isMeasuring) measuredAt = now;
      await sending(async (provider) => {
        if (provider !== metrics || isMeasuring) await provider.flush();
      });
    },
    async stop() {
      traceBy(undefined);
      measureBy(undefined);
      await sending((provider) => provider.shutdown());
      diag.disable();
    },
  };
}

async function resourceOf(release: string, instanceId: string): Promise<Resource> {
  const { defaultResource, detectResources, envDetector, hostDetector, resourceFromAttributes } =
    await import("@opentelemetry/resources");
  const named = resourceFromAttributes({
    "service.name": "stile",
    "service.version": release,
    "service.instance.id": instanceId,
  });
  // The environment may give all processes of a server one instance.
  const own = resourceFromAttributes({ "process.pid": process.pid });
  return defaultResource()
    .merge(named)
    .merge(detectResources({ detectors: [hostDetector, envDetector] }))
    .merge(own);
}

async function withinTime(work: Promise<unknown>): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, SEND_MS);
  await Promise.race([work, late.promise]);
  clearTimeout(timer);
}

/** What a complaint says. The SDK writes errors as JSON, with their stack. */
function readable(part: unknown): string {
  if (typeof part !== "string" || !part.startsWith("{")) return String(part);
  try {
    return String((JSON.parse(part) as { message?: unknown }).message ?? part);
  } catch {
    return part;
  }
}

/** Logs what the SDK complains of: a receiver that refuses, a queue that is full. */
function tellTroubles(log: Logger): void {
  let toldAt = Number.NEGATIVE_INFINITY;
  const tell = (...complaint: unknown[]) => {
    if (performance.now() - toldAt < TELL_AGAIN_MS) return;
    toldAt = performance.now();
    const trouble = complaint.map(readable).join(" ").slice(0, MAX_TROUBLE_LENGTH);
    log.warn({ trouble }, "sending traces or metrics failed");
  };
  const nothing = () => {};
  const logger = { error: tell, warn: tell, info: nothing, debug: nothing, verbose: nothing };
  diag.setLogger(logger, { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
}
