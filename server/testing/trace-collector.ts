import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A receiver of OpenTelemetry's protocol by HTTP (OTLP 1.10, "OTLP/HTTP"), as JSON. It shares no code with the sender. */
export interface TraceCollector {
  /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  url: string;
  /** The spans that have arrived, in the order of their arrival. */
  spans: CollectedSpan[];
  /** The bodies of all requests, as they came. */
  bodies: string[];
  /** Media types and paths of the requests. */
  received: { type: string; path: string }[];
  /** From now on, how requests are answered; default: `accept`. */
  behave: "accept" | "refuse" | "hang";
  close(): Promise<void>;
}

export interface CollectedSpan {
  traceId: string;
  id: string;
  /** Empty for a span without one. */
  parent: string;
  name: string;
  /** 1: internal, 2: server, 3: client. */
  kind: number;
  attributes: Record<string, unknown>;
  /** Attributes of the process that has sent it. */
  resource: Record<string, unknown>;
  /** In milliseconds since 1970. */
  startedAt: number;
  milliseconds: number;
}

interface Attribute {
  key: string;
  value: Record<string, unknown>;
}

interface Message {
  resourceSpans?: {
    resource: { attributes: Attribute[] };
    scopeSpans: {
      spans: {
        traceId: string;
        spanId: string;
        parentSpanId?: string;
        name: string;
        kind: number;
        startTimeUnixNano: string;
        endTimeUnixNano: string;
        attributes?: Attribute[];
      }[];
    }[];
  }[];
}

const valuesOf = (attributes: Attribute[] = []) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

const millisecondsOf = (nanoseconds: string) => Number(BigInt(nanoseconds) / 1_000n) / 1_000;

export async function startTraceCollector(): Promise<TraceCollector> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    const type = request.headers["content-type"] ?? "";
    collector.received.push({ type, path: request.url ?? "" });
    if (collector.behave === "hang") return;
    if (collector.behave === "refuse") return void response.writeHead(403).end();
    collector.bodies.push(body);
    if (type === "application/json") collector.spans.push(...spansOf(JSON.parse(body)));
    response.writeHead(200, { "content-type": type }).end(type === "application/json" ? "{}" : "");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const collector: TraceCollector = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: [],
    bodies: [],
    received: [],
    behave: "accept",
    async close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return collector;
}

function spansOf({ resourceSpans = [] }: Message): CollectedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((span) => ({
        traceId: span.traceId,
        id: span.spanId,
        parent: span.parentSpanId ?? "",
        name: span.name,
        kind: span.kind,
        attributes: valuesOf(span.attributes),
        resource: valuesOf(resource.attributes),
        startedAt: millisecondsOf(span.startTimeUnixNano),
        milliseconds: millisecondsOf(span.endTimeUnixNano) - millisecondsOf(span.startTimeUnixNano),
      })),
    ),
  );
}
