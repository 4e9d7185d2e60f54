import { StartError } from "../../config/errors.ts";

/** What OpenTelemetry's standard variables ask for ("OpenTelemetry Environment Variable Specification" 1.50). */

const signals = ["TRACES", "METRICS", "LOGS"] as const;

export type Signal = (typeof signals)[number];

const protocols = ["http/protobuf", "http/json"] as const;

export type Protocol = (typeof protocols)[number];

/** Samplers of `OTEL_TRACES_SAMPLER`. What a caller has decided counts for none: any client can send a trace. */
const samplers = ["always_on", "always_off", "traceidratio"] as const;

/** The variables that have a value: an empty one counts as absent. */
export type Variables = ReturnType<typeof variablesOf>;

/** @param environment of the process */
export function variablesOf(environment: NodeJS.ProcessEnv) {
  const text = (name: string) => environment[name] || undefined;
  return {
    text,
    oneOf<const Value extends string>(
      name: string,
      values: readonly Value[],
      fallback: Value,
      value = text(name),
    ) {
      const found = values.find((one) => one === (value ?? fallback));
      if (found === undefined)
        throw new StartError(`${name} is ${value}: ${values.join(", ")} are supported`);
      return found;
    },
    /** A positive whole number; undefined for anything else, as the specification wants it. */
    count(name: string) {
      const number = Number(text(name));
      return Number.isInteger(number) && number > 0 ? number : undefined;
    },
  };
}

/**
 * The protocol by which a signal is sent; null if it is not.
 *
 * @throws StartError if a variable has a value that is not supported
 */
export function protocolOf(signal: Signal, { text, oneOf }: Variables): Protocol | null {
  if (text("OTEL_SDK_DISABLED")?.toLowerCase() === "true") return null;
  const name = `OTEL_${signal}_EXPORTER`;
  // Entries of the audit log are about persons: an address alone does not ask for them.
  if (oneOf(name, ["otlp", "none"], signal === "LOGS" ? "none" : "otlp") === "none") return null;
  const common = "OTEL_EXPORTER_OTLP_ENDPOINT";
  const own = `OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`;
  const [variable, address] = text(own) ? [own, text(own)] : [common, text(common)];
  if (address === undefined) return null;
  if (!isHttpAddress(address))
    throw new StartError(`${variable} is ${address}: it has to be an address with http or https`);
  const protocol = "OTEL_EXPORTER_OTLP_PROTOCOL";
  const ofSignal = text(`OTEL_EXPORTER_OTLP_${signal}_PROTOCOL`);
  return oneOf(protocol, protocols, "http/protobuf", ofSignal ?? text(protocol));
}

// The exporter would send to this machine instead.
const isHttpAddress = (text: string) => /^https?:\/\//i.test(text) && URL.canParse(text);

/**
 * The part of the requests whose traces are recorded, from 0 to 1.
 *
 * @throws StartError if a variable has a value that is not supported
 */
export function recordedPart({ text, oneOf }: Variables): number {
  const name = "OTEL_TRACES_SAMPLER";
  const sampler = oneOf(name, samplers, "always_on", text(name)?.replace(/^parentbased_/, ""));
  const argument = text("OTEL_TRACES_SAMPLER_ARG") ?? "1";
  const part = Number(argument);
  if (!(part >= 0 && part <= 1))
    throw new StartError(`OTEL_TRACES_SAMPLER_ARG is ${argument}: it has to be from 0 to 1`);
  return { always_on: 1, always_off: 0, traceidratio: part }[sampler];
}

/** A member with a value, or none: the SDK takes no undefined ones. */
export const defined = <Name extends string>(
  name: Name,
  value: number | undefined,
): { [Key in Name]?: number } =>
  value === undefined ? {} : ({ [name]: value } as { [Key in Name]: number });
