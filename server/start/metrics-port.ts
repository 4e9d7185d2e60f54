import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { Logger } from "pino";
import { StartError } from "../config/errors.ts";
import type { Config } from "../config/schema.ts";
import { constantTimeEqual } from "../lib/constant-time-equal.ts";
import { type CollectedByProcess, OPEN_METRICS, openMetrics } from "./telemetry/open-metrics.ts";

/** The port of `metrics.port`, and where it is open. */
export interface MetricsPort {
  close(): Promise<void>;
}

/** What a scraper sends fits into this. */
const MAX_HEADER_BYTES = 8 * 1024;

const REQUEST_TIMEOUT_MS = 5_000;

/** Where the port is open by default: for this machine alone. */
export const METRICS_HOST = "127.0.0.1";

/** More scrapers than a service has. */
const MAX_CONNECTIONS = 32;

/**
 * Opens the port on which `GET /metrics` answers. Requests that overlap share one answer.
 *
 * @param collect asks each process of the server
 * @returns null without `metrics.port`
 * @throws StartError if the port cannot be opened
 */
export async function openMetricsPort(
  { metrics: { port, host = METRICS_HOST, key } }: Pick<Config, "metrics">,
  collect: () => Promise<CollectedByProcess[]>,
  log: Logger,
): Promise<MetricsPort | null> {
  if (port === undefined) return null;
  let running: Promise<string> | undefined;
  const text = () => {
    running ??= collect()
      .then(openMetrics)
      .finally(() => {
        running = undefined;
      });
    return running;
  };
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: REQUEST_TIMEOUT_MS,
      requestTimeout: REQUEST_TIMEOUT_MS,
      connectionsCheckingInterval: 1_000,
    },
    ({ method, url, headers }, response) => {
      if (url?.split("?", 1)[0] !== "/metrics") return answer(response, 404, "The address is /metrics.");
      if (method !== "GET" && method !== "HEAD") return answer(response, 405, "Only GET is served.");
      if (key !== undefined && !constantTimeEqual(headers.authorization ?? "", `Bearer ${key}`)) {
        response.setHeader("WWW-Authenticate", "Bearer");
        return answer(response, 401, "A bearer token is needed (metrics.key).");
      }
      text().then(
        (body) => answer(response, 200, body, OPEN_METRICS),
        (error: unknown) => {
          log.error({ err: error }, "collecting the metrics failed");
          answer(response, 500, "The metrics could not be collected.");
        },
      );
    },
  );
  server.maxConnections = MAX_CONNECTIONS;
  server.listen({ port, host });
  try {
    await once(server, "listening");
  } catch (error) {
    throw new StartError(
      `the port of the metrics (${host}:${port}) cannot be opened: ${(error as Error).message}`,
    );
  }
  log.info({ host, port }, "metrics are served");
  return {
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

function answer(
  response: ServerResponse,
  status: number,
  body: string,
  type = "text/plain; charset=utf-8",
): void {
  response.writeHead(status, {
    "Content-Type": type,
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
  });
  response.end(body);
}
