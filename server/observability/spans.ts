import {
  type Attributes,
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";
import type { AccessFields } from "./access-fields.ts";

/**
 * Spans of OpenTelemetry. They are made where a process was started with an address to send them to
 * (`server/start/telemetry.ts`); elsewhere each of them costs a comparison. Their attributes are names of the protocol and
 * ids: nothing that a client has sent, and no address.
 */

/** The same in every copy of this module: Next bundles copies of it. */
const slot = Symbol.for("stile.tracer");

const holder = globalThis as { [slot]?: Tracer | undefined };

/** Has spans made from now on; by none, no longer. Next makes spans of its own with the global tracer, which is not set. */
export function traceBy(tracer: Tracer | undefined): void {
  holder[slot] = tracer;
}

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

/** Runs work that is no part of the work in progress. */
export function untraced<Result>(work: () => Result): Result {
  return holder[slot] ? context.with(ROOT_CONTEXT, work) : work();
}

/** The span of a request. */
export interface RequestSpan {
  /** 32 hexadecimal digits (W3C Trace Context, 3.2.2.3): that of the caller, if it has sent one. */
  traceId: string;
  run<Result>(work: () => Result): Result;
  /** @param status null if the client was gone before it was sent @param fields complete by now */
  end(status: number | null, fields: AccessFields): void;
}

/** The methods of HTTP that are told apart (OpenTelemetry, semantic conventions for HTTP spans). */
const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Begins the span of a request, in the trace of its caller; null where requests are not traced. */
export function beginRequest(
  sent: string | undefined,
  header: (name: string) => string | undefined,
): RequestSpan | null {
  const tracer = holder[slot];
  if (!tracer) return null;
  const method = sent !== undefined && methods.has(sent) ? sent : "_OTHER";
  // `tracestate` would be sent with each span as the client has written it.
  const traceparent = header("traceparent");
  const caller = propagation.extract(ROOT_CONTEXT, null, {
    keys: () => [],
    get: (_, name) => (name === "traceparent" ? traceparent : undefined),
  });
  const options = { kind: SpanKind.SERVER, attributes: { "http.request.method": method } };
  const span = tracer.startSpan(method, options, caller);
  const own = trace.setSpan(caller, span);
  return {
    traceId: span.spanContext().traceId,
    run: (work) => context.with(own, work),
    end(status, { route, tenant, flow, flow_type, action, state, error }) {
      if (route !== undefined) span.updateName(`${method} ${route}`);
      span.setAttributes({
        ...defined({ "http.response.status_code": status, "http.route": route }),
        ...defined({ "stile.tenant.id": tenant, "stile.flow.id": flow }),
        ...defined({ "stile.flow.type": flow_type, "stile.action": action, "stile.state": state }),
        ...defined({ "stile.error": error }),
      });
      if (status === null || status >= 500) {
        span.setAttribute("error.type", status === null ? "aborted" : String(status));
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
      span.end();
    },
  };
}

/** The members that have a value. */
export function defined(values: Record<string, string | number | null | undefined>): Attributes {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== null && value !== undefined),
  ) as Attributes;
}
