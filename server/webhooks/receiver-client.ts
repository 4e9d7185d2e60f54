import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest, type RequestOptions } from "node:https";
import type { Duplex } from "node:stream";
import { judgeCallback } from "../lib/callback-address.ts";
import { createPublicLookup, isForbiddenAddress, type LookupOptions } from "../lib/public-lookup.ts";
import { retryAfterSeconds } from "../lib/retry-after.ts";

/** A request to a receiver. */
export interface ReceiverRequest {
  /** Whose requests share connections; those of other tenants never wait for them. */
  tenantId: string;
  callback: string;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** Ends the attempt early. */
  signal?: AbortSignal;
}

/**
 * Why an attempt failed: `status` is one outside 200 to 299, `redirect` one that is not followed, `address` a callback
 * that is rejected or that leads to an address which is not public.
 */
export type ReceiverError =
  | "status"
  | "redirect"
  | "timeout"
  | "address"
  | "name"
  | "certificate"
  | "connection"
  | "aborted";

/** What a receiver answered. */
export interface ReceiverAnswer {
  /** Absent without an answer. */
  status?: number;
  /** Absent if the event was accepted. */
  error?: ReceiverError;
  /** The first KiB of the body, without control characters; absent for a compressed one. */
  answer?: string;
  /** `Retry-After` of a status 429 or 503 (RFC 9110, 10.2.3). */
  retryAfterSeconds?: number;
  durationMs: number;
}

export type ReceiverClient = ReturnType<typeof createReceiverClient>;

interface ClientOptions extends LookupOptions {
  /** Certificates trusted instead of Node's. */
  ca?: string;
  /** For the whole exchange, the resolution of the name included. */
  timeoutMs?: number;
}

/** For the whole exchange. */
const TIMEOUT_MS = 5_000;

const MAX_ANSWER_BYTES = 64 * 1024;
const MAX_KEPT_BYTES = 1024;

/** Open connections of one tenant to one origin. */
export const MAX_SOCKETS = 16;

/** Unused connections of all tenants to all origins. */
const MAX_IDLE_SOCKETS = 64;

/** How long an unused connection stays open. */
const IDLE_TIMEOUT_MS = 4_000;

/**
 * Creates the HTTP client of deliveries. Every address that a name resolves to is judged, and the connection is made to
 * one of those: the name is not resolved again, and requests of the same tenant to the same origin reuse the connection.
 * Redirects are not followed, answers are not decompressed.
 */
export function createReceiverClient({ ca, timeoutMs = TIMEOUT_MS, ...lookupOptions }: ClientOptions) {
  const { allowPrivate } = lookupOptions;
  const { lookup, mayConnectTo, cancel } = createPublicLookup(lookupOptions);
  const pool = {
    keepAlive: true,
    maxSockets: MAX_SOCKETS,
    maxFreeSockets: MAX_SOCKETS,
    timeout: IDLE_TIMEOUT_MS,
  };
  const agents = {
    "http:": new HttpAgent(pool),
    // Stated, because NODE_TLS_REJECT_UNAUTHORIZED would turn the default off.
    "https:": new HttpsAgent({ ...pool, rejectUnauthorized: true, ...(ca === undefined ? {} : { ca }) }),
  };

  /** Unused connections, longest unused first. Those that were closed stay until the next one is added. */
  const idle = new Set<Duplex>();
  for (const agent of Object.values(agents)) {
    const [keepSocketAlive, reuseSocket, getName] = [
      agent.keepSocketAlive.bind(agent),
      agent.reuseSocket.bind(agent),
      agent.getName.bind(agent),
    ];
    agent.getName = (options?: RequestOptions & { tenantId?: string }) =>
      `${options?.tenantId} ${getName(options)}`;
    // `maxTotalSockets` would count the unused ones, and requests to other origins would wait for their end.
    agent.keepSocketAlive = (socket) => {
      const isKept: unknown = keepSocketAlive(socket);
      if (!isKept) return false;
      idle.add(socket);
      for (const each of idle) {
        if (!each.destroyed && idle.size <= MAX_IDLE_SOCKETS) continue;
        idle.delete(each);
        each.destroy();
      }
      return true;
    };
    agent.reuseSocket = (socket, request) => {
      idle.delete(socket);
      reuseSocket(socket, request);
    };
  }

  /** One exchange; rejects with the error of the connection. */
  function exchange(
    url: URL,
    { tenantId, headers, body }: ReceiverRequest,
    signal: AbortSignal,
  ): Promise<Omit<ReceiverAnswer, "durationMs">> {
    const { promise, resolve: settle, reject } = Promise.withResolvers<Omit<ReceiverAnswer, "durationMs">>();
    const secure = url.protocol === "https:";
    const options = {
      method: "POST",
      agent: agents[secure ? "https:" : "http:"],
      tenantId,
      lookup,
      signal,
      headers: { ...headers, "content-length": Buffer.byteLength(body), "accept-encoding": "identity" },
    };
    const outgoing = (secure ? httpsRequest : httpRequest)(url, options);
    outgoing.on("error", (error) => reject(Object.assign(error, { reused: outgoing.reusedSocket })));
    outgoing.on("upgrade", (_, socket) => {
      socket.destroy();
      settle({ status: 101, error: "status" });
    });
    outgoing.on("response", (incoming) => {
      readAnswer(incoming).then((answer) => settle(judgeAnswer(incoming, answer)), reject);
    });
    outgoing.end(body);
    return promise;
  }

  async function attempt(request: ReceiverRequest, signal: AbortSignal) {
    const judged = judgeCallback(request.callback, { allowPrivate });
    if (!judged.ok) return { error: "address" } as const;
    if (!mayConnectTo(judged.url)) return { error: "address" } as const;
    for (let resets = 0; ; resets += 1) {
      try {
        return await exchange(judged.url, request, signal);
      } catch (error) {
        // The receiver closed an idle connection just now, and maybe the others.
        const { reused, code } = error as { reused?: boolean; code?: string };
        const isClosed = reused && (code === "ECONNRESET" || code === "EPIPE");
        if (!isClosed || resets === MAX_SOCKETS || signal.aborted) throw error;
      }
    }
  }

  return {
    /** Posts a body. Never rejects. */
    async post(request: ReceiverRequest): Promise<ReceiverAnswer> {
      const startedAt = performance.now();
      const durationMs = () => Math.round(performance.now() - startedAt);
      const timeout = AbortSignal.timeout(timeoutMs);
      const signal = request.signal ? AbortSignal.any([timeout, request.signal]) : timeout;
      try {
        return { ...(await attempt(request, signal)), durationMs: durationMs() };
      } catch (error) {
        const reason = timeout.aborted ? "timeout" : signal.aborted ? "aborted" : describeError(error);
        return { error: reason, durationMs: durationMs() };
      }
    },
    close(): void {
      cancel();
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

/** Reads the body up to the limit, then closes the connection. */
async function readAnswer(incoming: IncomingMessage): Promise<Buffer> {
  const kept: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    if (size < MAX_KEPT_BYTES) kept.push(chunk);
    size += chunk.length;
    // Leaving the loop destroys the stream, and with it the connection.
    if (size >= MAX_ANSWER_BYTES) break;
  }
  return Buffer.concat(kept).subarray(0, MAX_KEPT_BYTES);
}

function judgeAnswer({ statusCode: status = 0, headers }: IncomingMessage, body: Buffer) {
  const encoding = headers["content-encoding"] ?? "identity";
  // Control characters would write to the terminal of a reader, and PostgreSQL takes no NUL.
  const text = body.toString("utf8").replace(/(?![\t\n])\p{Cc}/gu, "\u{fffd}");
  const answer = encoding === "identity" && text !== "" ? { answer: text } : {};
  if (status >= 200 && status < 300) return { status, ...answer };
  const error: ReceiverError = status >= 300 && status < 400 ? "redirect" : "status";
  const wait = status === 429 || status === 503 ? retryAfterSeconds(headers["retry-after"]) : null;
  return { status, error, ...answer, ...(wait === null ? {} : { retryAfterSeconds: wait }) };
}

function describeError(error: unknown): ReceiverError {
  if (isForbiddenAddress(error)) return "address";
  const { code = "" } = error as { code?: string };
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return "name";
  const certificate = /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_|ERR_SSL_|EPROTO)/;
  return certificate.test(code) ? "certificate" : "connection";
}
