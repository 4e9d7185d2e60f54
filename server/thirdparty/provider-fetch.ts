import type { CustomFetch, ExportedJWKSCache } from "openid-client";
import type { Runtime } from "../runtime.ts";
import { ThirdPartyError } from "./third-party-error.ts";

/** How a runtime reaches identity providers, and what it remembers of them. */
export interface ProviderNetwork {
  /** Tests put a provider of their own behind the addresses of the real ones. No request reaches this. */
  fetch: typeof fetch;
  /** Discovery documents by tenant and address. */
  documents: Map<string, { text: string; until: number }>;
  /** Public keys by tenant and provider. */
  keys: Map<string, ExportedJWKSCache>;
}

const networks = new WeakMap<Runtime, ProviderNetwork>();

/** Longest answer of a provider that is read, in bytes after decompression. */
const MAX_RESPONSE_BYTES = 512 * 1024;

/** How long a discovery document is used, in milliseconds. */
const DOCUMENT_LIFETIME_MS = 60 * 60_000;

/** Most documents that are remembered; the oldest give way. */
const MAX_DOCUMENTS = 1000;

/** The network of a runtime; one for all that use it. */
export function providerNetwork(runtime: Runtime): ProviderNetwork {
  const network = networks.get(runtime) ?? { fetch: globalThis.fetch, documents: new Map(), keys: new Map() };
  networks.set(runtime, network);
  return network;
}

/**
 * A `fetch` that a provider cannot wear out: it ends with the signal, reads only so much, and follows no redirect, so
 * that nothing is told to anybody but who was asked.
 *
 * @throws ThirdPartyError for an answer that is too long; whatever `fetch` throws
 */
export function boundedFetch(network: ProviderNetwork, signal: AbortSignal): CustomFetch {
  return async (url, options) => {
    const both = options.signal ? AbortSignal.any([signal, options.signal]) : signal;
    const response = await network.fetch(url, {
      ...(options as RequestInit),
      redirect: "manual",
      signal: both,
    });
    const body = await readBounded(response);
    const { status, statusText, headers } = response;
    return new Response(nullBodyStatuses.has(status) ? null : body, { status, statusText, headers });
  };
}

/** Statuses whose answers have no body (Fetch standard, 2.2.3). */
const nullBodyStatuses = new Set([204, 205, 304]);

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
 * The same for discovery documents, which are asked for once an hour.
 *
 * @param tenantId what one tenant's provider says is not told to another
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

/** Forgets the documents of a tenant's issuer, for one that turned out to be of no use. */
export function forgetDocuments(network: ProviderNetwork, tenantId: string, issuer: string): void {
  const { origin } = new URL(issuer);
  for (const key of network.documents.keys())
    if (key.startsWith(`${tenantId} ${origin}/`)) network.documents.delete(key);
}
