import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { getRequestListener, RequestError } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Logger } from "pino";
import { clientAddress, sourceOf, trustedProxies } from "../http/client-address.ts";
import { requestIdOf } from "../observability/request-id.ts";

/** Where requests go. */
export interface Destinations {
  /** Answers the addresses of the API; null for any other. */
  api(request: Request, info: { peer: string; requestId: string }): Promise<Response | null>;
  /** A path as the log may repeat it. */
  loggable(method: string, path: string): string;
  /** Answers everything else that asks for GET or HEAD. */
  pages(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void>;
}

export interface ListenerOptions {
  log: Logger;
  trustedProxies: readonly string[];
  /** Headers of responses to requests that the listener rejects itself. */
  refusalHeaders: Record<string, string>;
  /** Requests that come before the server is ready wait for it. */
  destinations: Promise<Destinations>;
}

/** The HTTP server of this process. */
export interface Listener {
  /**
   * Starts to accept connections on every address of this machine.
   *
   * @returns the port, which is a free one for 0
   * @throws the system's error, for instance with the code EADDRINUSE
   */
  listen(port: number): Promise<number>;
  /** Accepts nothing more and waits for running requests, at most so many milliseconds; then cuts what is left. */
  close(milliseconds: number): Promise<void>;
}

/** A header block larger than this is answered 431, and a request that takes longer to arrive 408. */
const HEADER_BYTES = 16 * 1024;
const RECEIVE_MS = 10_000;

/**
 * An idle connection is kept for as long. Proxies close theirs after a minute or less, and have to be first: a
 * request on a connection that is being closed here would be lost.
 */
const KEEP_ALIVE_MS = 75_000;

/** Longest path that a log line repeats. */
const LOGGED_PATH = 200;

/** Makes the HTTP server: gives each request its identifier and its log line, and dispatches it. */
export function createListener({
  log,
  trustedProxies: ranges,
  refusalHeaders,
  destinations,
}: ListenerOptions): Listener {
  const proxies = trustedProxies(ranges);
  const running = new Set<ServerResponse>();
  let closing = false;
  let loggable: Destinations["loggable"] = (_, path) => path;
  destinations.then(
    (known) => {
      loggable = known.loggable;
    },
    () => {},
  );

  const answer = getRequestListener(
    async (request, { incoming, outgoing }) => {
      const { api, pages } = await destinations;
      const [message, response] = [incoming as IncomingMessage, outgoing as ServerResponse];
      const info = {
        peer: message.socket.remoteAddress ?? "",
        requestId: String(response.getHeader("X-Request-ID")),
      };
      const answered = await api(request, info);
      if (answered) return answered;
      // Next would buffer the body of any other method in memory.
      if (message.method !== "GET" && message.method !== "HEAD") return wrongMethod(refusalHeaders);
      await pages(message, response);
      return RESPONSE_ALREADY_SENT;
    },
    {
      // Pages use the platform's own Request and Response.
      overrideGlobalObjects: false,
      errorHandler(error) {
        if (error instanceof RequestError) return refusal(400, refusalHeaders);
        log.error({ err: error }, "a request could not be dispatched");
        return refusal(500, refusalHeaders);
      },
    },
  );

  const server = createServer(
    {
      maxHeaderSize: HEADER_BYTES,
      headersTimeout: RECEIVE_MS,
      requestTimeout: RECEIVE_MS,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: 1_000,
    },
    (incoming, outgoing) => {
      const startedAt = performance.now();
      const requestId = requestIdOf(incoming.headers["x-request-id"]);
      outgoing.setHeader("X-Request-ID", requestId);
      if (closing) outgoing.shouldKeepAlive = false;
      running.add(outgoing);
      outgoing.once("close", () => {
        running.delete(outgoing);
        log.info({
          request_id: requestId,
          method: incoming.method,
          path: loggable(incoming.method ?? "", incoming.url?.split("?", 1)[0] ?? "").slice(0, LOGGED_PATH),
          status: outgoing.statusCode,
          duration_ms: Math.round((performance.now() - startedAt) * 10) / 10,
          source: sourceOf(
            clientAddress(incoming.socket.remoteAddress ?? "", forwardedFor(incoming), proxies),
          ),
          ...(outgoing.writableFinished ? {} : { aborted: true }),
        });
      });
      // A target in absolute form names a host of its own, which `Host` need not agree with (RFC 9112, 3.2.2).
      if (incoming.url?.startsWith("/")) void answer(incoming, outgoing);
      else outgoing.writeHead(400, closeHeaders(refusalHeaders)).end();
    },
  );
  server.on("clientError", refuseMalformed);

  return {
    listen: (port) =>
      new Promise((resolve, reject) => {
        server.once("error", reject);
        server.listen(port, () => {
          server.removeListener("error", reject);
          server.on("error", (error) => log.error({ err: error }, "the HTTP server failed"));
          const address = server.address();
          resolve(typeof address === "object" && address ? address.port : port);
        });
      }),
    async close(milliseconds) {
      closing = true;
      for (const outgoing of running) if (!outgoing.headersSent) outgoing.shouldKeepAlive = false;
      await closed(server, milliseconds);
    },
  };
}

function forwardedFor(incoming: IncomingMessage): string | null {
  const header = incoming.headers["x-forwarded-for"];
  return header === undefined ? null : String(header);
}

async function closed(server: Server, milliseconds: number): Promise<void> {
  const done = new Promise<void>((resolve) => server.close(() => resolve()));
  // A connection that was busy when the server closed is kept open by Node until it has been idle for a while.
  const idle = setInterval(() => server.closeIdleConnections(), 20);
  const cut = setTimeout(() => server.closeAllConnections(), milliseconds);
  await done;
  clearInterval(idle);
  clearTimeout(cut);
}

/** Answers input that is not valid HTTP. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const status = {
    HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
    ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
  };
  const line = status[error.code as keyof typeof status] ?? "400 Bad Request";
  socket.end(
    `HTTP/1.1 ${line}\r\nX-Content-Type-Options: nosniff\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
  );
}

function refusal(status: number, headers: Record<string, string>): Response {
  return new Response(null, { status, headers: closeHeaders(headers) });
}

function closeHeaders(headers: Record<string, string>): Record<string, string> {
  return { ...headers, "Content-Length": "0", Connection: "close" };
}

function wrongMethod(headers: Record<string, string>): Response {
  const body = { code: 405, message: "Method not allowed." };
  return Response.json(body, {
    status: 405,
    headers: {
      ...headers,
      "Content-Type": "application/json; charset=utf-8",
      Allow: "GET, HEAD",
      Connection: "close",
    },
  });
}
