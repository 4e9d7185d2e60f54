import {
  type Attributes,
  context,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from "@opentelemetry/api";

/**
 * Spans of OpenTelemetry. They are made where a process was started with an address to send them to
 * (`server/start/telemetry.ts`); elsewhere each of them costs a comparison. Their attributes are names of the protocol and
 * ids: nothing that a client has sent, and no address.
 */

/** What makes spans. */
export type SpanMaker = Pick<Tracer, "startSpan">;

/** The same in every copy of this module: Next bundles copies of it. */
const slot = Symbol.for("stile.tracer");

const holder = globalThis as { [slot]?: SpanMaker | undefined };

/** Has spans made from now on; by none, no longer. Next makes spans of its own with the global tracer, which is not set. */
export function traceBy(tracer: SpanMaker | undefined): void {
  holder[slot] = tracer;
}

/** What makes spans; undefined where nothing is traced. */
export const tracer = () => holder[slot];

/** Begins a part of the work in progress; null where that is not traced. */
export function beginSpan(name: string, kind = SpanKind.INTERNAL, attributes: Attributes = {}): Span | null {
  const tracer = holder[slot];
  if (!tracer || !trace.getActiveSpan()) return null;
  return tracer.startSpan(name, { kind, attributes });
}

/** Runs work as a part of a span, as are the spans that it begins. */
export function within<Result>(span: Span | null, work: () => Result): Result {
  return span ? context.with(trace.setSpan(context.active(), span), work) : work();
}

/**
 * Runs a part of the work in progress in a span of its own.
 *
 * @throws what the work throws; the span then shows an error, and nothing of it
 */
export async function spanning<Result>(
  name: string,
  kind: SpanKind,
  attributes: Attributes,
  work: () => Promise<Result>,
): Promise<Result> {
  const span = beginSpan(name, kind, attributes);
  try {
    return await within(span, work);
  } catch (error) {
    span?.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span?.end();
  }
}

/** The work in progress, for what it causes later (W3C Trace Context, 3.2: `traceparent`); undefined where it is not traced. */
export function traceparent(): string | undefined {
  const span = holder[slot] && trace.getActiveSpan();
  return span && written(span);
}

/** The id of the trace of a span that has not ended, if it is recorded; else null. */
export const recordedTrace = (span: Span | null): string | null =>
  span?.isRecording() ? span.spanContext().traceId : null;

/** A span as `traceparent`. */
export function written(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-0${traceFlags & TraceFlags.SAMPLED}`;
}

/**
 * Begins work that earlier work of this service has caused, in the trace of that; null where nothing is traced.
 *
 * @param cause what `traceparent` gave; anything else begins a trace
 */
export function beginCaused(
  name: string,
  kind: SpanKind,
  cause: string | null | undefined,
  attributes: Attributes,
): Span | null {
  const tracing = holder[slot];
  if (!tracing) return null;
  const [, traceId, spanId, traceFlags] = /^00-([\da-f]{32})-([\da-f]{16})-0([01])$/.exec(cause ?? "") ?? [];
  const earlier =
    traceId && spanId
      ? trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: Number(traceFlags) })
      : ROOT_CONTEXT;
  return tracing.startSpan(name, { kind, attributes }, earlier);
}

/** Runs work that is no part of the work in progress. */
export function untraced<Result>(work: () => Result): Result {
  return holder[slot] ? context.with(ROOT_CONTEXT, work) : work();
}

/** The members that have a value. */
export function defined(values: Record<string, string | number | null | undefined>): Attributes {
  const attributes: Attributes = {};
  for (const name in values) {
    const value = values[name];
    if (value !== null && value !== undefined) attributes[name] = value;
  }
  return attributes;
}
