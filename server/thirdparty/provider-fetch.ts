import type { CustomFetch, ExportedJWKSCache } from "openid-client";
import { ThirdPartyError } from "../failures/third-party.ts";
import { onceFor } from "../lib/once-for.ts";
import { waitingFor } from "../observability/waits.ts";
import type { KeyReading } from "./key-readings.ts";

/** HTTP access to identity providers, with caches. */
export interface ProviderNetwork {
  /** Replaced by tests. Not configurable. */
  fetch: typeof fetch;
  /** Discovery documents by tenant and address. */
  documents: Map<string, { text: string; until: number }>;
  /** Public keys by tenant and provider. */
  keys: Map<string, ExportedJWKSCache>;
  /** Readings of keys or metadata after a failed verification, by tenant and provider. */
  keyReadings: Map<string, KeyReading>;
}

/** After decompression. */
const MAX_RESPONSE_BYTES = 512 * 1024;

const DOCUMENT_LIFETIME_MS = 60 * 60_000;

/** Size of the cache; the oldest documents are evicted. */
const MAX_DOCUMENTS = 1000;

/** Returns the network of a process, shared by all callers. */
export const providerNetwork = onceFor(
  (_runtime: object): ProviderNetwork => ({
    fetch: globalThis.fetch,
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
export function boundedFetch(network: ProviderNetwork, signal: AbortSignal): CustomFetch {
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
