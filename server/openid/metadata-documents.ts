import type { AdapterPayload } from "oidc-provider";
import { z } from "zod";
import type { Databases } from "#db/client";
import type { TenantContext } from "../context/context.ts";
import type { Sealing } from "../keys/vault.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { parseJson } from "../lib/strict-json.ts";
import type { RateLimits } from "../limits/rate-limits.ts";
import type { Logs } from "../observability/logger.ts";
import { artifactStorage } from "./artifact-storage.ts";
import { metadataOf } from "./clients.ts";
import type { DocumentClient, FetchedDocument } from "./document-client.ts";
import type { SigningAlgorithm } from "./signing.ts";
import { clientDescription, DOCUMENT_KEPT_SECONDS, originOf, readDescription } from "./unlisted-clients.ts";
import { presentVisitor } from "./visitor.ts";

/** What this module takes of the process. */
export type DocumentProcess = Databases &
  Sealing &
  OnPlatform &
  Logs & {
    documents: DocumentClient;
    rates: Pick<RateLimits, "consumeAll">;
  };

/** How long a document is taken as it was read: as its host says, within these. */
const FRESH_SECONDS = { least: 5 * 60, most: 24 * 3600 };

/** A document that was not known before is forgotten after this time, unless a user has allowed its client anything. */
const NEW_KEPT_SECONDS = 24 * 3600;

/** Documents of a tenant. Those that expire first are forgotten first. */
const MAX_DOCUMENTS = 10_000;

/** Key sets that a process keeps for a tenant, and for how long: the library asks for them with each token. */
const MAX_KEY_SETS = 200;
const KEY_SET_SECONDS = 60;

/** A client that has no secret authenticates by its keys, or not at all (Client ID Metadata Document, 4.1). */
const METHODS = ["none", "private_key_jwt"] as const;

export const storedDocument = z.object({ description: clientDescription, freshUntil: z.number() });

/** What the client of a document says of itself, as it was read last; null if it was not read yet. */
export async function knownDocument(
  context: TenantContext<Databases & Sealing & OnPlatform>,
  address: string,
): Promise<z.output<typeof storedDocument> | null> {
  const payload = await artifactStorage(context, "MetadataDocument").find(address);
  return payload ? storedDocument.parse(payload.document) : null;
}

/** How the library reads documents. */
export interface DocumentReading {
  /** Whether the document of a client may be read; the library asks before it fetches one. */
  allowFetch(ctx: unknown, clientId: string): boolean;
  fetch(address: string | URL | Request): Promise<Response>;
}

/**
 * Reads documents for the library: those that describe clients (OAuth Client ID Metadata Document), and their public keys
 * (`jwks_uri`). The library is handed what is known of a document, so that it sees neither what is too large nor what is unknown.
 *
 * @param algorithm of the key that signs ID tokens
 */
export function documentReading(
  context: TenantContext<DocumentProcess>,
  algorithm: SigningAlgorithm,
): DocumentReading {
  const { runtime, tenant } = context;
  const { config } = tenant;
  const now = () => Math.floor((Date.now() + runtime.platform.clockShift()) / 1000);

  async function read(address: string): Promise<FetchedDocument> {
    const { host } = new URL(address);
    const verdict = await ofService(
      runtime.rates.consumeAll(tenant.id, [
        { name: "client_document_host", subject: host },
        { name: "client_document", subject: "" },
      ]),
    );
    if (!verdict.ok) throw new Error("too many documents were read");
    return runtime.documents.get(tenant.id, address);
  }

  const described = (client_id: string, { description, freshUntil }: z.output<typeof storedDocument>) =>
    Response.json(metadataOf(config, description, { client_id, id_token_signed_response_alg: algorithm }), {
      headers: { "cache-control": `max-age=${Math.max(0, freshUntil - now())}` },
    });

  async function readDocument(address: string): Promise<Response> {
    const known = await ofService(knownDocument(context, address));
    if (known && known.freshUntil > now()) return described(address, known);
    const answer = await read(address).catch((error: unknown) => {
      if (!known) throw error;
      runtime.log.info({ err: error, client_id: address }, "the document of a client cannot be read again");
      return null;
    });
    // A server that fails says nothing of the document.
    if (known && (answer === null || answer.status >= 500)) return described(address, known);
    if (answer?.status !== 200) throw new Error(`its host answers with status ${answer?.status}`);
    const value = parseJson(answer.text);
    const claimed = (value as { client_id?: unknown } | null)?.client_id;
    // So that no host describes the clients of another.
    if (claimed !== address) throw new Error("its client_id is not its address");
    const description = readDescription(value, METHODS);
    if (!description.ok) throw new Error(description.fault.message);
    const { least, most } = FRESH_SECONDS;
    const lifetime = Math.min(most, Math.max(least, answer.maxAgeSeconds ?? least));
    const document = { description: description.description, freshUntil: now() + lifetime };
    const storage = artifactStorage(context, "MetadataDocument");
    const kept = known ? DOCUMENT_KEPT_SECONDS : NEW_KEPT_SECONDS;
    await ofService(
      Promise.resolve(
        storage.upsert(address, { document, clientId: address } as unknown as AdapterPayload, kept),
      ),
    );
    if (!known) await ofService(storage.keepNewest(MAX_DOCUMENTS));
    return described(address, document);
  }

  /** Key sets by address. A failure is kept too, so that no host is asked again with each token. */
  const keySets = new Map<string, { until: number; answer: Promise<FetchedDocument> }>();

  async function readKeys(address: string): Promise<Response> {
    const known = keySets.get(address);
    const isFresh = known !== undefined && known.until > now();
    const answer = isFresh ? known.answer : read(address);
    if (!isFresh) {
      keySets.delete(address);
      const [oldest] = keySets.size >= MAX_KEY_SETS ? keySets.keys() : [];
      if (oldest !== undefined) keySets.delete(oldest);
      keySets.set(address, { until: now() + KEY_SET_SECONDS, answer });
    }
    const { status, text } = await answer;
    return new Response(text, { status });
  }

  return {
    allowFetch(_, clientId) {
      const isAllowed = originOf(config, clientId) === "document";
      // Told from its keys, whose address may be of the same form.
      if (isAllowed) presentVisitor().documentAddress = clientId;
      return isAllowed;
    },
    async fetch(input) {
      const address = String(input);
      try {
        const isDocument = address === presentVisitor().documentAddress;
        return await (isDocument ? readDocument(address) : readKeys(address));
      } catch (error) {
        runtime.log.warn(
          { err: error, address },
          "what a client of the OpenID provider names cannot be read",
        );
        throw error;
      }
    },
  };
}

/** Has the request answered as one that the service could not answer: the library would take it for a fault of the client. */
function ofService<Value>(work: Promise<Value>): Promise<Value> {
  return work.catch((error: unknown) => {
    presentVisitor().failure = error;
    throw error;
  });
}
