import { type LookupAddress, lookup as systemLookup } from "node:dns";
import { Resolver } from "node:dns/promises";
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest, type RequestOptions } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import type { Duplex } from "node:stream";
import { judgeCallback } from "../lib/callback-address.ts";
import { isPublicAddress } from "../lib/public-address.ts";
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

interface ClientOptions {
  /** Accepts http, and every address. */
  allowPrivate: boolean;
  /** Resolves names; default: the servers of the system. */
  resolver?: Pick<Resolver, "resolve4" | "resolve6" | "cancel">;
  /** Which addresses may be connected to; default: those of the public internet. */
  isAllowed?: (address: string) => boolean;
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

const DNS_TIMEOUT_MS = 2_000;

/** Thrown by the resolution of a name. */
class ForbiddenAddressError extends Error {}

/**
 * Creates the HTTP client of deliveries. Every address that a name resolves to is judged, and the connection is made to
 * one of those: the name is not resolved again, and requests of the same tenant to the same origin reuse the connection.
 * Redirects are not followed, answers are not decompressed.
 */
export function createReceiverClient({
  allowPrivate,
  resolver = new Resolver({ timeout: DNS_TIMEOUT_MS, tries: 2 }),
  isAllowed = isPublicAddress,
  ca,
  timeoutMs = TIMEOUT_MS,
}: ClientOptions) {
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

  /** Judges what a name resolves to. `getaddrinfo` is for development: it would occupy the threads that hash passwords. */
  const lookup: LookupFunction = (name, options, callback) => {
    if (allowPrivate) return systemLookup(name, options, callback);
    resolve(resolver, name).then(
      (addresses) => {
        if (addresses.length === 0) return callback(dnsError("ENOTFOUND"), []);
        if (!addresses.every(({ address }) => isAllowed(address)))
          return callback(new ForbiddenAddressError(), []);
        const [first] = addresses;
        if (options.all || !first) callback(null, addresses);
        else callback(null, first.address, first.family);
      },
      () => callback(dnsError("EAI_AGAIN"), []),
    );
  };

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
    const host = judged.url.hostname.replace(/^\[|\]$/g, "");
    // Node connects to a literal address without a look-up.
    if (!allowPrivate && isIP(host) !== 0 && !isAllowed(host)) return { error: "address" } as const;
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
    /** Posts JSON. Never rejects. */
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
      resolver.cancel();
      for (const agent of Object.values(agents)) agent.destroy();
    },
  };
}

/** The addresses of a name. One of the two kinds suffices. */
async function resolve(
  resolver: Pick<Resolver, "resolve4" | "resolve6">,
  name: string,
): Promise<LookupAddress[]> {
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  if (answers.every(({ status }) => status === "rejected")) throw dnsError("ENOTFOUND");
  return answers.flatMap((answer, index) =>
    answer.status === "rejected"
      ? []
      : answer.value.map((address) => ({ address, family: index === 0 ? 4 : 6 })),
  );
}

const dnsError = (code: string) => Object.assign(new Error(code), { code });

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
  if (error instanceof ForbiddenAddressError) return "address";
  const { code = "", errors } = error as { code?: string; errors?: unknown[] };
  if (errors?.some((each) => each instanceof ForbiddenAddressError)) return "address";
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return "name";
  const certificate = /^(?:CERT_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|ERR_TLS_CERT_|ERR_SSL_|EPROTO)/;
  return certificate.test(code) ? "certificate" : "connection";
}
