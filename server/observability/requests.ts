import { context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api";
import type { AccessFields } from "./access-fields.ts";
import { measure } from "./metrics.ts";
import { defined, recordedTrace, tracer } from "./spans.ts";

/** A request as traces and metrics have it. */
export interface ObservedRequest {
  /**
   * 32 hexadecimal digits (W3C Trace Context, 3.2.2.3): those of the caller, if it has sent some. Undefined where requests
   * are not traced.
   */
  traceId: string | undefined;
  /** Runs what answers it. */
  run<Result>(work: () => Result): Result;
  /** @param status null if the client was gone before it was sent @param fields complete by now */
  end(status: number | null, fields: AccessFields): void;
}

/** The methods of HTTP that are told apart (OpenTelemetry, semantic conventions for HTTP spans). */
const methods = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Begins to observe a request, in the trace of its caller. */
export function beginRequest(
  sent: string | undefined,
  header: (name: string) => string | undefined,
): ObservedRequest {
  const method = sent !== undefined && methods.has(sent) ? sent : "_OTHER";
  const startedAt = performance.now();
  const traced = tracedRequest(method, header);
  return {
    traceId: traced?.span.spanContext().traceId,
    run: (work) => (traced ? traced.run(work) : work()),
    end(status, fields) {
      const failed = status === null ? "aborted" : status >= 500 ? String(status) : null;
      const attributes = {
        "http.request.method": method,
        "http.route": fields.route,
        "http.response.status_code": status,
        "error.type": failed,
      };
      const seconds = (performance.now() - startedAt) / 1_000;
      measure("requests", seconds, attributes, recordedTrace(traced?.span ?? null));
      traced?.end(status, fields, failed);
    },
  };
}

function tracedRequest(method: string, header: (name: string) => string | undefined) {
  const tracing = tracer();
  if (!tracing) return null;
  // `tracestate` would be sent with each span as the client has written it.
  const traceparent = header("traceparent");
  const caller =
    traceparent === undefined ? ROOT_CONTEXT : propagation.extract(ROOT_CONTEXT, { traceparent });
  const options = { kind: SpanKind.SERVER, attributes: { "http.request.method": method } };
  const span = tracing.startSpan(method, options, caller);
  const own = trace.setSpan(caller, span);
  return {
    span,
    run: <Result>(work: () => Result) => context.with(own, work),
    end(
      status: number | null,
      { route, tenant, flow, flow_type, action, state, error }: AccessFields,
      failed: string | null,
    ) {
      if (route !== undefined) span.updateName(`${method} ${route}`);
      span.setAttributes(
        defined({
          "http.response.status_code": status,
          "http.route": route,
          "error.type": failed,
          "stile.tenant.id": tenant,
          "stile.flow.id": flow,
          "stile.flow.type": flow_type,
          "stile.action": action,
          "stile.state": state,
          "stile.error": error,
        }),
      );
      if (failed !== null) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}
