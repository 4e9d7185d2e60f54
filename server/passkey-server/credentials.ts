import { and, asc, count, desc, eq, type SQL } from "drizzle-orm";
import { type ReadOnly, schema } from "#db/client";
import type { RequestContext } from "../context/context.ts";
import { type PasskeyRejection, rejectPasskeyRequest } from "../failures/passkey-server.ts";
import type { CredentialObject } from "../objects/credential-object.ts";
import type { AttestationTrust } from "../webauthn/attestation-trust.ts";
import { auditPasskeys } from "./audit.ts";
import type { Process } from "./process.ts";

/** Management of credentials by applications. */

export interface CredentialPage {
  /** The application's id of the owner; undefined for all users. */
  userId?: string | undefined;
  /** By creation time. */
  order: "asc" | "desc";
  offset: number;
  limit: number;
}

const { passkeyCredentials: table, passkeyUsers: users } = schema;

/** Returns one page of a tenant's credentials, and the total count. */
export async function listCredentials(
  db: ReadOnly,
  tenantId: string,
  { userId, order, offset, limit }: CredentialPage,
) {
  // PostgreSQL text cannot hold NUL, so no user has such an id.
  if (userId?.includes("\0")) return { credentials: [], total: 0 };
  const wanted = userId === undefined ? undefined : eq(users.userId, userId);
  const direction = order === "asc" ? asc : desc;
  const rows = await selectRows(db, tenantId, wanted)
    .orderBy(direction(table.createdAt), direction(table.id))
    .offset(offset)
    .limit(limit);
  const [counted] = await db
    .select({ total: count() })
    .from(table)
    .innerJoin(users, and(eq(users.tenantId, table.tenantId), eq(users.id, table.userId)))
    .where(and(eq(table.tenantId, tenantId), wanted));
  return { credentials: rows.map(toJson), total: counted?.total ?? 0 };
}

/** Returns one credential. */
export async function showCredential(db: ReadOnly, tenantId: string, id: string) {
  if (!isCredentialId(id)) return credentialNotFound(id);
  const [row] = await selectRows(db, tenantId, eq(table.id, id));
  return row ? { ok: true as const, credential: toJson(row) } : credentialNotFound(id);
}

/** Renames a credential. */
export async function renameCredential(
  context: RequestContext<Process>,
  id: string,
  name: string,
): Promise<{ ok: true } | PasskeyRejection> {
  const { runtime, tenant, now } = context;
  if (!isCredentialId(id)) return credentialNotFound(id);
  return runtime.database.write.transaction(async (tx) => {
    const [renamed] = await tx
      .update(table)
      .set({ name, updatedAt: now })
      .from(users)
      .where(ofTenantAndOwner(tenant.id, id))
      .returning({ actorUserId: users.userId });
    if (!renamed) return credentialNotFound(id);
    await auditPasskeys(context, "webauthn_credential_updated", { ...renamed, credentialId: id })(tx);
    return { ok: true as const };
  });
}

/** Removes a credential; from the commit on it is not accepted any more. */
export async function removeCredential(
  context: RequestContext<Process>,
  id: string,
): Promise<{ ok: true } | PasskeyRejection> {
  const { runtime, tenant } = context;
  if (!isCredentialId(id)) return credentialNotFound(id);
  return runtime.database.write.transaction(async (tx) => {
    const [removed] = await tx
      .delete(table)
      .where(and(eq(table.tenantId, tenant.id), eq(table.id, id)))
      .returning({ userId: table.userId });
    if (!removed) return credentialNotFound(id);
    const [owner] = await tx
      .select({ actorUserId: users.userId })
      .from(users)
      .where(and(eq(users.tenantId, tenant.id), eq(users.id, removed.userId)));
    await auditPasskeys(context, "webauthn_credential_deleted", { ...owner, credentialId: id })(tx);
    return { ok: true as const };
  });
}

/** 1023 bytes in base64url (WebAuthn Level 3 section 4); a longer unknown id is truncated in the error. */
const MAX_CREDENTIAL_ID_LENGTH = 1364;

const isCredentialId = (id: string) => id.length <= MAX_CREDENTIAL_ID_LENGTH && /^[A-Za-z0-9_-]+$/.test(id);

const credentialNotFound = (id: string) =>
  rejectPasskeyRequest("credential_not_found", { about: id.slice(0, MAX_CREDENTIAL_ID_LENGTH) });

const ofTenantAndOwner = (tenantId: string, id: string) =>
  and(
    eq(table.tenantId, tenantId),
    eq(table.id, id),
    eq(users.tenantId, table.tenantId),
    eq(users.id, table.userId),
  );

function selectRows(db: ReadOnly, tenantId: string, wanted: SQL | undefined) {
  return db
    .select({ credential: table, userId: users.userId })
    .from(table)
    .innerJoin(users, and(eq(users.tenantId, table.tenantId), eq(users.id, table.userId)))
    .where(and(eq(table.tenantId, tenantId), wanted));
}

/** A credential as returned to applications. `user_id`: the application's id of the owner. */
function toJson({ credential, userId }: Awaited<ReturnType<typeof selectRows>>[number]) {
  const { name, lastUsedAt } = credential;
  return {
    id: credential.id,
    ...(name === null ? {} : { name }),
    public_key: credential.publicKey.toString("base64url"),
    attestation_type: credential.attestationType,
    // Whether the registration proved the AAGUID: only `verified` did, under a configured root.
    attestation_trust: credential.attestationTrust as AttestationTrust,
    aaguid: credential.aaguid,
    ...(lastUsedAt === null ? {} : { last_used_at: lastUsedAt.toISOString() }),
    created_at: credential.createdAt.toISOString(),
    transports: credential.transports,
    backup_eligible: credential.backupEligible,
    backup_state: credential.backupState,
    is_mfa: credential.isMfa,
    user_id: userId,
  } satisfies CredentialObject & Record<string, unknown>;
}
