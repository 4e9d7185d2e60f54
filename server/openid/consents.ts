import { and, eq, sql } from "drizzle-orm";
import { type Databases, schema } from "#db/client";
import { queryPrepared } from "#db/prepared";
import type { Write } from "#db/write";
import type { TenantContext } from "../context/context.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { identifierHash } from "./identifier-hash.ts";
import { DOCUMENT_KEPT_SECONDS, originOf } from "./unlisted-clients.ts";
import {
  type Permissions,
  permissions,
  together,
  type WaitingAuthorization,
} from "./waiting-authorization.ts";

const { openidArtifacts, openidConsents } = schema;

/** What a user has allowed an application, until when, and by which answer. */
export interface Consent {
  allowed: Permissions;
  /** When it has to be asked for again; null for an application that the operator has listed. */
  endsAt: Date | null;
  /** The hash of the request that was answered last. */
  requestHash: string;
}

/** Reads what a user has allowed an application; null: nothing yet, or not any more. */
export async function findConsent(
  { runtime, tenant }: TenantContext<Databases & OnPlatform>,
  userId: string,
  clientId: string,
): Promise<Consent | null> {
  const [row] = await queryPrepared<ConsentRow, "read">(runtime.database, "read", {
    name: "openid_consent",
    text: findText,
    values: [tenant.id, userId, clientId],
  });
  if (!row) return null;
  const { unlisted_consent_lifetime: lifetime } = tenant.config.openid;
  const isListed = originOf(tenant.config, clientId) === "listed";
  const endsAt = isListed ? null : new Date(row.updated_at.getTime() + lifetime * 1000);
  if (endsAt && endsAt.getTime() <= Date.now() + runtime.platform.clockShift()) return null;
  return {
    allowed: permissions.parse(row.allowed),
    endsAt,
    requestHash: row.request_hash,
  };
}

interface ConsentRow {
  allowed: unknown;
  request_hash: string;
  updated_at: Date;
}

const findText = `
  select allowed, request_hash, updated_at from openid_consents
  where tenant_id = $1 and user_id = $2 and client_id = $3`;

/** Returns the write that allows what a request asks, beside what was allowed before. */
export function allow(
  tenantId: string,
  userId: string,
  { request, clientId, application, asked, allowed: before, lifetime }: WaitingAuthorization,
  now: Date,
): Write {
  const allowed = before ? together(before, asked) : asked;
  const requestHash = identifierHash(request);
  const described = { application: application ?? null };
  return async (tx) => {
    await tx
      .insert(openidConsents)
      .values({
        tenantId,
        userId,
        clientId,
        ...described,
        allowed,
        requestHash,
        createdAt: now,
        updatedAt: now,
      })
      .onConflictDoUpdate({
        target: [openidConsents.tenantId, openidConsents.userId, openidConsents.clientId],
        set: { ...described, allowed, requestHash, updatedAt: now },
      });
    if (!application || application.origin === "listed" || lifetime === undefined) return;
    // One that has registered is known for as long as what it was allowed is valid; a document is read again.
    const { kind, seconds } =
      application.origin === "registration"
        ? { kind: "Client", seconds: lifetime }
        : { kind: "MetadataDocument", seconds: DOCUMENT_KEPT_SECONDS };
    const until = new Date(now.getTime() + seconds * 1000).toISOString();
    await tx
      .update(openidArtifacts)
      .set({ expiresAt: sql`greatest(${openidArtifacts.expiresAt}, ${until}::timestamptz)` })
      .where(isArtifact(tenantId, kind, clientId));
  };
}

/** Returns the write by which a request is denied: it is used, so that it leads to no code. */
export function deny(tenantId: string, { request }: Pick<WaitingAuthorization, "request">, now: Date): Write {
  return async (tx) => {
    await tx
      .update(openidArtifacts)
      .set({ consumedAt: now })
      .where(isArtifact(tenantId, "Interaction", request));
  };
}

const isArtifact = (tenantId: string, kind: string, id: string) =>
  and(
    eq(openidArtifacts.tenantId, tenantId),
    eq(openidArtifacts.kind, kind),
    eq(openidArtifacts.idHash, identifierHash(id)),
  );

/**
 * Returns the write that ends the access of an application to an account: what was allowed, and every code and token. Its
 * next request is as its first.
 */
export function endAccess(tenantId: string, userId: string, clientId: string): Write {
  return async (tx) => {
    for (const table of [openidConsents, openidArtifacts])
      await tx
        .delete(table)
        .where(and(eq(table.tenantId, tenantId), eq(table.userId, userId), eq(table.clientId, clientId)));
  };
}
