import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import type { Socket } from "node:net";
import { getRequestListener, RequestError } from "@hono/node-server";
import type { Logger } from "pino";
import { plainError, type Reply } from "../http/answer/reply.ts";
import { sendReply } from "../http/answer/send-reply.ts";
import type { ConnectionInfo } from "../http/dispatch.ts";
import type { ApiRequest } from "../http/request/api-request.ts";
import { clientAddress, sourceOf, trustedProxies } from "../http/request/client-address.ts";
import { NodeRequest } from "../http/request/node-request.ts";
import { type AccessFields, levelOf, loggedFields } from "../observability/access-fields.ts";
import { requestIdOf } from "../observability/request-id.ts";
import { beginRequest } from "../observability/requests.ts";
import { beginCounts, closeUnread, countEnded, MIN_READ_RATE, oneAtATime } from "./connections.ts";
import type { ConsolePages } from "./console-pages.ts";

/** Handlers of requests. */
export interface Destinations {
  /** Answers a request to the API, with a complete reply or a response; returns null for any other path. */
  api(request: ApiRequest, info: ConnectionInfo): Promise<Reply | Response | null>;
  /** Returns the path as the log may contain it. */
  loggable(method: string, path: string): string;
  /** Returns what answers a request of the console's pages; null for any other request. Absent where there is no console. */
  console?: ConsolePages;
  /** Answers any other request. */
  pages(request: Request, info: { address: string; requestId: string }): Promise<Response>;
}

export interface ListenerOptions {
  log: Logger;
  trustedProxies: readonly string[];
  /** Headers of responses to requests that the listener rejects itself. */
  errorHeaders: Record<string, string>;
  /** Time after which a connection is closed if its client reads nothing of an answer. */
  sendTimeoutMs: number;
  /** Bytes a second. A connection is closed, too, if its client reads fewer for that time. Default: `MIN_READ_RATE` */
  minReadRate?: number;
  /** Resolves when the server is ready. Earlier requests wait for it. */
  destinations: Promise<Destinations>;
}

/** The HTTP server of this process. */
export interface Listener {
  /**
   * Accepts connections.
   *
   * @param port 0 for any free port
   * @param host the address to accept them on; default: every address of this machine
   * @returns the port in use
   * @throws the error of the operating system, for instance with the code EADDRINUSE
   */
  listen(port: number, host?: string): Promise<number>;
  /** Accepts no more connections, waits up to `milliseconds` for running requests, then closes the remaining ones. */
  close(milliseconds: number): Promise<void>;
}

/** Larger header blocks are answered with 431. */
const MAX_HEADER_BYTES = 16 * 1024;

/** Requests that take longer to arrive are answered with 408. */
const RECEIVE_TIMEOUT_MS = 10_000;

/**
 * Idle connections are closed after this time. Proxies close theirs after a minute or less and must be first: a
 * request sent on a connection that is being closed here would be lost.
 */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;

/** Characters of a path in a log line. */
const MAX_LOGGED_PATH_LENGTH = 200;

/** Creates the HTTP server, which dispatches each request, assigns its identifier and logs it. */
export function createListener({
  log,
  trustedProxies: ranges,
  errorHeaders,
  sendTimeoutMs,
  minReadRate = MIN_READ_RATE,
  destinations,
}: ListenerOptions): Listener {
  const proxies = trustedProxies(ranges);
  const running = new Set<ServerResponse>();
  let closing = false;
  let loggable: Destinations["loggable"] = (_, path) => path;
  destinations.then(
    (resolved) => {
      loggable = resolved.loggable;
      beginCounts();
    },
    () => {},
  );

  /** Answers with a web-standard response, of the API or of a page. */
  const respond = (answered: Response | null, info: ConnectionInfo) =>
    getRequestListener(async (request) => answered ?? (await destinations).pages(request, info), {
      // Libraries use the Request and Response of Node.
      overrideGlobalObjects: false,
      errorHandler(error) {
        if (error instanceof RequestError) return errorResponse(rejected(400, errorHeaders));
        log.error({ err: error }, "dispatching a request failed");
        return errorResponse(rejected(500, errorHeaders));
      },
    });
  const ownHeaders = ({ requestId }: ConnectionInfo) => ({ ...errorHeaders, "X-Request-ID": requestId });

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse, info: ConnectionInfo) {
    let answered: Reply | Response | null;
    try {
      const { api, console } = await destinations;
      const answerOfConsole = console?.(incoming, sourceOf(info.address));
      if (answerOfConsole) {
        outgoing.setHeader("X-Request-ID", info.requestId);
        return await answerOfConsole(incoming, outgoing);
      }
      answered = await api(new NodeRequest(incoming, outgoing), info);
      // A client that has gone needs no answer, and Node would queue it.
      if (outgoing.destroyed) return;
      if (answered !== null && !(answered instanceof Response)) return sendReply(outgoing, answered);
    } catch (error) {
      log.error({ err: error }, "dispatching a request failed");
      if (outgoing.headersSent) outgoing.end();
      else sendReply(outgoing, rejected(500, ownHeaders(info)));
      return;
    }
    outgoing.setHeader("X-Request-ID", info.requestId);
    await respond(answered, info)(incoming, outgoing);
  }

  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: RECEIVE_TIMEOUT_MS,
      requestTimeout: RECEIVE_TIMEOUT_MS,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      connectionsCheckingInterval: 1_000,
    },
    oneAtATime((incoming, outgoing) => {
      const startedAt = performance.now();
      const request = beginRequest(incoming.method, (name) => headerOf(incoming, name));
      const requestId = requestIdOf(incoming.headers["x-request-id"], request.traceId);
      const peer = incoming.socket.remoteAddress ?? "";
      const address = clientAddress(peer, headerOf(incoming, "x-forwarded-for") ?? null, proxies);
      const accessFields: AccessFields = {};
      if (closing) outgoing.shouldKeepAlive = false;
      running.add(outgoing);
      outgoing.once("close", () => {
        running.delete(outgoing);
        log[levelOf(accessFields)]({
          request_id: requestId,
          method: incoming.method,
          path: loggable(incoming.method ?? "", incoming.url?.split("?", 1)[0] ?? "").slice(
            0,
            MAX_LOGGED_PATH_LENGTH,
          ),
          status: outgoing.statusCode,
          duration_ms: Math.round((performance.now() - startedAt) * 10) / 10,
          source: sourceOf(address),
          ...loggedFields(accessFields),
          // Node 22 calls an answer finished whose rest went with its socket.
          ...(outgoing.writableFinished && !incoming.socket.errored ? {} : { aborted: true }),
        });
        request.end(outgoing.headersSent ? outgoing.statusCode : null, accessFields);
      });
      // A target in absolute form contains a host that may differ from `Host` (RFC 9112, section 3.2.2).
      // A backslash would become a slash when it is parsed (URL standard, 4.4).
      const info = { peer, address, requestId, accessFields };
      if (incoming.url?.startsWith("/") && !/^[^?]*\\/.test(incoming.url))
        void request.run(() => answer(incoming, outgoing, info));
      else sendReply(outgoing, rejected(400, ownHeaders(info)));
    }),
  );
  closeUnread(server, sendTimeoutMs, minReadRate, running);
  server.on("clientError", (error, socket: Socket) => {
    // What is written now would be read as the answer in progress, or as a part of it.
    const answering = [...running].find((outgoing) => outgoing.socket === socket);
    if (answering && (answering.headersSent || answering.req.complete)) socket.destroy();
    else rejectMalformed(error, socket);
  });

  return {
    async listen(port, host) {
      await once(server.listen({ port, host }), "listening");
      server.on("error", (error) => log.error({ err: error }, "the HTTP server failed"));
      const address = server.address();
      return typeof address === "object" && address ? address.port : port;
    },
    async close(milliseconds) {
      closing = true;
      for (const outgoing of running) if (!outgoing.headersSent) outgoing.shouldKeepAlive = false;
      await closeServer(server, milliseconds);
    },
  };
}

function headerOf({ headers }: IncomingMessage, name: string): string | undefined {
  const header = headers[name];
  return header === undefined ? undefined : String(header);
}

async function closeServer(server: Server, milliseconds: number): Promise<void> {
  const done = new Promise<void>((resolve) => server.close(() => resolve()));
  // Node keeps a connection that was busy when the server closed open until its keep-alive timeout.
  const idle = setInterval(() => server.closeIdleConnections(), 20);
  const forced = setTimeout(() => server.closeAllConnections(), milliseconds);
  await done;
  clearInterval(idle);
  clearTimeout(forced);
}

/** Answers input that is not valid HTTP, too large or too slow. */
function rejectMalformed(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const statuses = { HPE_HEADER_OVERFLOW: 431, ERR_HTTP_REQUEST_TIMEOUT: 408 } as const;
  const status = statuses[error.code as keyof typeof statuses] ?? 400;
  const reasons = { 400: "malformed", 408: "slow", 431: "large_headers" } as const;
  countEnded(reasons[status]);
  const { body = "", headers = {} } = rejected(status, {
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
  });
  const fields = Object.entries({ ...headers, "Content-Length": String(Buffer.byteLength(body)) });
  const head = fields.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${head}\r\n${body}`);
}

function errorResponse({ status, headers = {}, body = "" }: Reply): Response {
  return new Response(body, { status, headers });
}

const rejectedMessages = {
  400: "The request is not valid HTTP.",
  408: "The request took too long to arrive.",
  431: `The header fields are larger than ${MAX_HEADER_BYTES / 1024} KiB.`,
  500: "Internal server error.",
};

/** An error that is sent before or beside the interfaces, in the plain shape. The connection ends with it. */
function rejected(status: keyof typeof rejectedMessages, headers: Record<string, string> = {}): Reply {
  return plainError(status, rejectedMessages[status], { ...headers, Connection: "close" });
}
