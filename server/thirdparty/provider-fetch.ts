import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { Readable } from "node:stream";
import type { CustomFetch, ExportedJWKSCache } from "openid-client";
import { ThirdPartyError } from "../failures/third-party.ts";
import { onceFor } from "../lib/once-for.ts";
import { createPublicLookup, type LookupOptions } from "../lib/public-lookup.ts";
import { waitingFor } from "../observability/waits.ts";
import type { KeyReading } from "./key-readings.ts";

/** HTTP access to identity providers, with caches. */
export interface ProviderNetwork {
  /** Replaced by tests. Not configurable. */
  fetch: typeof fetch;
  /** The same for addresses that a provider names and no operator has chosen. */
  publicFetch: typeof fetch;
  /** Discovery documents by tenant and address. */
  documents: Map<string, { text: string; until: number }>;
  /** Public keys by tenant and provider. */
  keys: Map<string, ExportedJWKSCache>;
  /** Readings of keys or metadata after a failed verification, by tenant and provider. */
  keyReadings: Map<string, KeyReading>;
}

/** After decompression. */
const MAX_RESPONSE_BYTES = 512 * 1024;

/** Keys of a set that is used: each is judged, and an answer of the size above could have thousands. */
export const MAX_PROVIDER_KEYS = 100;

const DOCUMENT_LIFETIME_MS = 60 * 60_000;

/** Size of the cache; the oldest documents are evicted. */
const MAX_DOCUMENTS = 1000;

/** Returns the network of a process, shared by all callers. */
export const providerNetwork = onceFor(
  (_runtime: object): ProviderNetwork => ({
    fetch: globalThis.fetch,
    publicFetch: createPublicFetch({ allowPrivate: false }),
    documents: new Map(),
    keys: new Map(),
    keyReadings: new Map(),
  }),
);

/**
 * Returns a `fetch` with a time limit, a size limit and no redirects, so that secrets reach the configured host only.
 *
 * @throws ThirdPartyError if the response is too large; errors of `fetch`
 */
export function boundedFetch(network: Pick<ProviderNetwork, "fetch">, signal: AbortSignal): CustomFetch {
  return async (url, options) => {
    const both = options.signal ? AbortSignal.any([signal, options.signal]) : signal;
    const [response, body] = await waitingFor("provider", async () => {
      const answered = await network.fetch(url, {
        ...(options as RequestInit),
        redirect: "manual",
        signal: both,
      });
      return [answered, await readBounded(answered)] as const;
    });
    const { status, statusText, headers } = response;
    return new Response(nullBodyStatuses.has(status) ? null : body, { status, statusText, headers });
  };
}

/** Statuses without a body (Fetch standard, 2.2.3). */
const nullBodyStatuses = new Set([204, 205, 304]);

/**
 * Returns a `fetch` that connects to addresses of the public internet alone, also where a name resolves to others. It sends GET by
 * HTTPS, follows no redirect and decompresses nothing.
 */
export function createPublicFetch({
  ca,
  ...lookupOptions
}: LookupOptions & {
  /** Certificates trusted instead of Node's. */
  ca?: string;
}): typeof fetch {
  const { lookup, mayConnectTo } = createPublicLookup(lookupOptions);
  return async (input, { headers, signal } = {}) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.protocol !== "https:" || !mayConnectTo(url)) throw fetchFailed();
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const outgoing = request(url, {
      agent: false,
      lookup,
      // Stated, because NODE_TLS_REJECT_UNAUTHORIZED would turn the default off.
      rejectUnauthorized: true,
      headers: { ...Object.fromEntries(new Headers(headers)), "accept-encoding": "identity" },
      ...(ca === undefined ? {} : { ca }),
      ...(signal ? { signal } : {}),
    });
    outgoing.on("response", resolve);
    outgoing.on("error", (cause) => reject(fetchFailed(cause)));
    outgoing.end();
    const incoming = await promise;
    const { statusCode: status = 0, headers: received } = incoming;
    const { date = "" } = received;
    const hasBody = !nullBodyStatuses.has(status);
    if (!hasBody) incoming.destroy();
    const body = hasBody ? Readable.toWeb(Readable.from(chunksOf(incoming))) : null;
    return new Response(body as BodyInit | null, { status, headers: { date } });
  };
}

/** `fetch` throws a TypeError for a connection that fails (Fetch standard, 5.6). */
const fetchFailed = (cause?: unknown) => new TypeError("fetch failed", { cause });

async function* chunksOf(incoming: IncomingMessage): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  try {
    for await (const chunk of incoming as AsyncIterable<Uint8Array<ArrayBuffer>>) yield chunk;
  } catch (error) {
    throw fetchFailed(error);
  }
}

async function readBounded(response: Response): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop early cancels the stream, and with it the connection.
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength;
    if (size > MAX_RESPONSE_BYTES)
      throw new ThirdPartyError(
        "invalid_request",
        "The provider's answer could not be read.",
        "answer_too_long",
      );
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}

/**
 * Returns a `fetch` that caches discovery documents for an hour.
 *
 * @param tenantId tenants do not share documents
 */
export function cachingFetch(network: ProviderNetwork, tenantId: string, fetch: CustomFetch): CustomFetch {
  return async (url, options) => {
    const key = `${tenantId} ${url}`;
    const known = network.documents.get(key);
    if (known && known.until > Date.now())
      return new Response(known.text, { headers: { "Content-Type": "application/json" } });
    const response = await fetch(url, options);
    if (response.status !== 200) return response;
    const text = await response.text();
    network.documents.delete(key);
    network.documents.set(key, { text, until: Date.now() + DOCUMENT_LIFETIME_MS });
    for (const oldest of [...network.documents.keys()].slice(0, -MAX_DOCUMENTS))
      network.documents.delete(oldest);
    return new Response(text, { headers: response.headers });
  };
}

/** Removes the documents of a tenant's issuer from the cache. */
export function forgetDocuments(network: ProviderNetwork, tenantId: string, issuer: string): void {
  const { origin } = new URL(issuer);
  for (const key of network.documents.keys())
    if (key.startsWith(`${tenantId} ${origin}/`)) network.documents.delete(key);
}
