import { and, desc, eq, gt, inArray } from "drizzle-orm";
import type { AdapterPayload } from "oidc-provider";
import { type Databases, schema } from "#db/client";
import type { TenantContext } from "../context/context.ts";
import type { Sealing } from "../keys/vault.ts";
import { artifactSeals } from "./artifact-storage.ts";
import { storedDocument } from "./metadata-documents.ts";
import { storedRegistration } from "./registered-clients.ts";
import type { ClientDescription, ClientOrigin } from "./unlisted-clients.ts";

const { openidArtifacts: artifacts } = schema;

/** A client that is not listed, with what it says of itself. */
export interface UnlistedClient {
  /** Null for one that a former version has stored, which knows it by the hash of its id alone. */
  id: string | null;
  origin: Exclude<ClientOrigin, "listed">;
  description: ClientDescription;
  createdAt: Date;
  /** When it is forgotten. */
  expiresAt: Date;
}

const kinds = { document: "MetadataDocument", registration: "Client" } as const;

const descriptions: Record<string, (payload: AdapterPayload) => ClientDescription> = {
  [kinds.document]: ({ document }) => storedDocument.parse(document).description,
  [kinds.registration]: ({ registration }) => storedRegistration.parse(registration).description,
};

/** Lists what is known of the clients of a tenant that describe themselves, the newest first. */
export async function listUnlistedClients(
  context: TenantContext<Databases & Sealing>,
  now: Date,
  page: { number: number; size: number },
): Promise<{ clients: UnlistedClient[]; total: number }> {
  const { read } = context.runtime.database;
  const known = and(
    eq(artifacts.tenantId, context.tenant.id),
    inArray(artifacts.kind, Object.values(kinds)),
    gt(artifacts.expiresAt, now),
  );
  const rows = await read
    .select()
    .from(artifacts)
    .where(known)
    .orderBy(desc(artifacts.createdAt), artifacts.idHash)
    .limit(page.size)
    .offset((page.number - 1) * page.size);
  const clients = rows.flatMap(
    ({ kind, idHash, clientId, payload, createdAt, expiresAt }): UnlistedClient[] => {
      const description = descriptions[kind]?.(artifactSeals(context, kind).read(payload, idHash));
      const origin = kind === kinds.document ? "document" : "registration";
      return description ? [{ id: clientId, origin, description, createdAt, expiresAt }] : [];
    },
  );
  return { clients, total: await read.$count(artifacts, known) };
}
