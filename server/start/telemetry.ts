import { context, propagation } from "@opentelemetry/api";
import type { Sampler } from "@opentelemetry/sdk-trace";
import { StartError } from "../config/errors.ts";
import { traceBy } from "../observability/spans.ts";

/**
 * OpenTelemetry as its standard variables ask for it. Its SDK is loaded only if they name an address to send to, and is no
 * global one: Next would send the addresses of requests with their queries.
 */

/** Time for what waits to be sent when the process ends. */
const STOP_MS = 2_000;

/** Samplers of `OTEL_TRACES_SAMPLER`. What a caller has decided counts for none: any client can send a trace. */
const samplers = ["always_on", "always_off", "traceidratio"] as const;

/** Sends traces until it is stopped. */
export interface Telemetry {
  /** Sends what waits, for two seconds at most. */
  stop(): Promise<void>;
}

/**
 * Starts to trace, if the environment asks for it.
 *
 * @param release the version of Stile
 * @returns null if it does not
 * @throws StartError if a variable has a value that is not supported
 */
export async function startTelemetry(
  environment: NodeJS.ProcessEnv,
  release: string,
): Promise<Telemetry | null> {
  const protocol = protocolOfTraces(environment);
  if (protocol === null) return null;
  const [{ TracerProvider, BatchSpanProcessor }, resources, { AsyncLocalStorageContextManager }, core] =
    await Promise.all([
      import("@opentelemetry/sdk-trace"),
      import("@opentelemetry/resources"),
      import("@opentelemetry/context-async-hooks"),
      import("@opentelemetry/core"),
    ]);
  const { OTLPTraceExporter } =
    protocol === "http/json"
      ? await import("@opentelemetry/exporter-trace-otlp-http")
      : await import("@opentelemetry/exporter-trace-otlp-proto");
  const { defaultResource, detectResources, envDetector, hostDetector, resourceFromAttributes } = resources;
  const named = resourceFromAttributes({ "service.name": "stile", "service.version": release });
  const detected = detectResources({ detectors: [hostDetector, envDetector] });
  const provider = new TracerProvider({
    resource: defaultResource().merge(named).merge(detected),
    sampler: await samplerOf(environment),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter(),
        ...optional("maxQueueSize", environment.OTEL_BSP_MAX_QUEUE_SIZE),
        ...optional("maxExportBatchSize", environment.OTEL_BSP_MAX_EXPORT_BATCH_SIZE),
        ...optional("scheduledDelayMillis", environment.OTEL_BSP_SCHEDULE_DELAY),
        ...optional("exportTimeoutMillis", environment.OTEL_BSP_EXPORT_TIMEOUT),
      }),
    ],
  });
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new core.W3CTraceContextPropagator());
  traceBy(provider.getTracer("stile", release));
  return {
    async stop() {
      traceBy(undefined);
      const late = Promise.withResolvers<void>();
      const timer = setTimeout(late.resolve, STOP_MS);
      // An exporter that refuses has told so in its own way.
      await Promise.race([provider.shutdown().catch(() => {}), late.promise]);
      clearTimeout(timer);
    },
  };
}

const protocols = ["http/protobuf", "http/json"] as const;

/** The protocol that traces are sent by; null if they are not. */
function protocolOfTraces(environment: NodeJS.ProcessEnv): (typeof protocols)[number] | null {
  const {
    OTEL_SDK_DISABLED: disabled,
    OTEL_TRACES_EXPORTER: exporter = "otlp",
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: tracesEndpoint,
    OTEL_EXPORTER_OTLP_PROTOCOL: protocol = "http/protobuf",
    OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: tracesProtocol = protocol,
  } = environment;
  if (disabled?.toLowerCase() === "true" || exporter === "none") return null;
  if (!endpoint && !tracesEndpoint) return null;
  if (exporter !== "otlp")
    throw new StartError(`OTEL_TRACES_EXPORTER is ${exporter}: otlp and none are supported`);
  return oneOf("OTEL_EXPORTER_OTLP_PROTOCOL", tracesProtocol, protocols);
}

async function samplerOf({
  OTEL_TRACES_SAMPLER: name = "always_on",
  OTEL_TRACES_SAMPLER_ARG: argument = "1",
}: NodeJS.ProcessEnv): Promise<Sampler> {
  const { AlwaysOffSampler, AlwaysOnSampler, ParentBasedSampler, TraceIdRatioBasedSampler } = await import(
    "@opentelemetry/sdk-trace"
  );
  const kind = oneOf("OTEL_TRACES_SAMPLER", name.replace(/^parentbased_/, ""), samplers);
  const ratio = Number(argument);
  if (!(ratio >= 0 && ratio <= 1))
    throw new StartError(`OTEL_TRACES_SAMPLER_ARG is ${argument}: it has to be from 0 to 1`);
  const root = {
    always_on: () => new AlwaysOnSampler(),
    always_off: () => new AlwaysOffSampler(),
    traceidratio: () => new TraceIdRatioBasedSampler(ratio),
  }[kind]();
  return new ParentBasedSampler({ root, remoteParentSampled: root, remoteParentNotSampled: root });
}

function oneOf<const Value extends string>(variable: string, value: string, values: readonly Value[]): Value {
  const found = values.find((one) => one === value);
  if (found === undefined)
    throw new StartError(`${variable} is ${value}: ${values.join(", ")} are supported`);
  return found;
}

/** A number of the environment, if it is one. */
function optional<Name extends string>(name: Name, value: string | undefined): { [Key in Name]?: number } {
  const number = Number(value);
  return value && Number.isInteger(number) && number > 0
    ? ({ [name]: number } as { [Key in Name]: number })
    : {};
}
