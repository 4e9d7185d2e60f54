import { and, eq } from "drizzle-orm";
import { type Databases, schema } from "#db/client";
import { queryPrepared } from "#db/prepared";
import type { Write } from "#db/write";
import type { TenantContext } from "../context/context.ts";
import { identifierHash } from "./identifier-hash.ts";
import {
  type Permissions,
  permissions,
  together,
  type WaitingAuthorization,
} from "./waiting-authorization.ts";

const { openidArtifacts, openidConsents } = schema;

/** What a user has allowed an application, since when, and by which answer. */
export interface Consent {
  allowed: Permissions;
  since: Date;
  /** The hash of the request that was answered last. */
  requestHash: string;
}

/** Reads what a user has allowed an application; null: nothing yet. */
export async function findConsent(
  { runtime, tenant }: TenantContext<Databases>,
  userId: string,
  clientId: string,
): Promise<Consent | null> {
  const [row] = await queryPrepared<ConsentRow, "read">(runtime.database, "read", {
    name: "openid_consent",
    text: findText,
    values: [tenant.id, userId, clientId],
  });
  if (!row) return null;
  return {
    allowed: permissions.parse(row.allowed),
    since: row.created_at,
    requestHash: row.request_hash,
  };
}

interface ConsentRow {
  allowed: unknown;
  request_hash: string;
  created_at: Date;
}

const findText = `
  select allowed, request_hash, created_at from openid_consents
  where tenant_id = $1 and user_id = $2 and client_id = $3`;

/** Returns the write that allows what a request asks, beside what was allowed before. */
export function allow(
  tenantId: string,
  userId: string,
  { request, clientId, asked, allowed: before }: WaitingAuthorization,
  now: Date,
): Write {
  const allowed = before ? together(before, asked) : asked;
  const requestHash = identifierHash(request);
  return async (tx) => {
    await tx
      .insert(openidConsents)
      .values({ tenantId, userId, clientId, allowed, requestHash, createdAt: now, updatedAt: now })
      .onConflictDoUpdate({
        target: [openidConsents.tenantId, openidConsents.userId, openidConsents.clientId],
        set: { allowed, requestHash, updatedAt: now },
      });
  };
}

/** Returns the write by which a request is denied: it is used, so that it leads to no code. */
export function deny(tenantId: string, { request }: Pick<WaitingAuthorization, "request">, now: Date): Write {
  return async (tx) => {
    await tx
      .update(openidArtifacts)
      .set({ consumedAt: now })
      .where(
        and(
          eq(openidArtifacts.tenantId, tenantId),
          eq(openidArtifacts.kind, "Interaction"),
          eq(openidArtifacts.idHash, identifierHash(request)),
        ),
      );
  };
}

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
