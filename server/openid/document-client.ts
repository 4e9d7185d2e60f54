import type { IncomingMessage } from "node:http";
import { type RequestOptions, request } from "node:https";
import { judgeCallback } from "../lib/callback-address.ts";
import { createPublicLookup, type LookupOptions } from "../lib/public-lookup.ts";

/** What a host answered. */
export interface FetchedDocument {
  status: number;
  /** JSON, for a status 200. */
  text: string;
  /** `max-age` of `Cache-Control` (RFC 9111, 5.2.2.1); null without one. */
  maxAgeSeconds: number | null;
}

/** Reads documents that clients name: what they say of themselves, and their keys. */
export interface DocumentClient {
  /** @throws Error without an answer, or for one that is too large, too slow or no JSON */
  get(tenantId: string, address: string): Promise<FetchedDocument>;
  close(): void;
}

interface DocumentClientOptions extends LookupOptions {
  /** Certificates trusted instead of Node's. */
  ca?: string;
  /** For the whole exchange, in which a browser waits. */
  timeoutMs?: number;
}

const TIMEOUT_MS = 2_500;

const MAX_DOCUMENT_BYTES = 8 * 1024;

/** Documents that a process reads at once for one tenant. Each holds one connection. */
const MAX_AT_ONCE = 16;

/**
 * Creates the HTTPS client for documents. Names are judged as those of webhooks are; redirects are not followed, and each request
 * has a connection of its own, so that no host holds any for longer than its answer takes.
 */
export function createDocumentClient({
  ca,
  timeoutMs = TIMEOUT_MS,
  ...lookupOptions
}: DocumentClientOptions): DocumentClient {
  const { lookup, mayConnectTo, cancel } = createPublicLookup(lookupOptions);
  /** How many are being read, by tenant. */
  const underWay = new Map<string, number>();

  async function read(url: URL): Promise<FetchedDocument> {
    const options: RequestOptions = {
      agent: false,
      lookup,
      signal: AbortSignal.timeout(timeoutMs),
      rejectUnauthorized: true,
      headers: { accept: "application/json", "accept-encoding": "identity", connection: "close" },
      ...(ca === undefined ? {} : { ca }),
    };
    const { promise, resolve, reject } = Promise.withResolvers<FetchedDocument>();
    const outgoing = request(url, options);
    outgoing.on("error", reject);
    outgoing.on("response", (incoming) => readAnswer(incoming).then(resolve, reject));
    outgoing.end();
    return promise.finally(() => outgoing.destroy());
  }

  return {
    async get(tenantId, address) {
      const judged = judgeCallback(address, lookupOptions);
      if (!judged.ok) throw new Error(`its address ${judged.reason}`);
      if (judged.url.protocol !== "https:") throw new Error("its address must begin with https://");
      if (!mayConnectTo(judged.url)) throw new Error("its address leads to one that is not public");
      const others = underWay.get(tenantId) ?? 0;
      if (others >= MAX_AT_ONCE) throw new Error("too many documents are being read");
      underWay.set(tenantId, others + 1);
      try {
        return await read(judged.url);
      } finally {
        const left = (underWay.get(tenantId) ?? 1) - 1;
        if (left === 0) underWay.delete(tenantId);
        else underWay.set(tenantId, left);
      }
    },
    close: cancel,
  };
}

async function readAnswer(incoming: IncomingMessage): Promise<FetchedDocument> {
  const { statusCode: status = 0, headers } = incoming;
  const [, maxAge] = /(?:^|[\s,])max-age=(\d{1,9})/i.exec(headers["cache-control"] ?? "") ?? [];
  const maxAgeSeconds = maxAge === undefined ? null : Number(maxAge);
  if (status !== 200) return { status, text: "", maxAgeSeconds };
  if (!/^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(headers["content-type"] ?? ""))
    throw new Error("it is not JSON");
  if ((headers["content-encoding"] ?? "identity") !== "identity") throw new Error("it is compressed");
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_DOCUMENT_BYTES) throw new Error("it is too large");
    chunks.push(chunk);
  }
  return { status, text: Buffer.concat(chunks).toString("utf8"), maxAgeSeconds };
}
