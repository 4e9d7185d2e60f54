import { and, asc, eq, sql } from "drizzle-orm";
import { type ReadOnly, schema, type Transaction } from "#db/client";
import type { Part } from "#db/part";
import { prepared } from "#db/prepared";
import type { RequestContext } from "../context/context.ts";
import type { AttestationTrust } from "../webauthn/attestation-trust.ts";
import type { NewCredential, StoredCredential } from "../webauthn/credential-record.ts";
import type { CredentialDescriptor, CredentialKind } from "./options.ts";
import type { PasskeyUser } from "./users.ts";

/** Reads and writes of credentials by ceremonies. */

/** A credential with the columns that verification and receipts need, and its owner. */
export interface OwnedCredential extends StoredCredential {
  aaguid: string;
  attestationType: string;
  attestationTrust: AttestationTrust;
  createdAt: Date;
  owner: PasskeyUser;
}

const { passkeyCredentials: table, passkeyUsers: users } = schema;

const selectById = prepared("passkey_credential", (db) =>
  db
    .select({
      id: table.id,
      userId: table.userId,
      publicKey: table.publicKey,
      signCount: table.signCount,
      backupEligible: table.backupEligible,
      mfaOnly: table.isMfa,
      transports: table.transports,
      aaguid: table.aaguid,
      attestationType: table.attestationType,
      attestationTrust: sql<AttestationTrust>`${table.attestationTrust}`,
      createdAt: table.createdAt,
      owner: {
        id: users.id,
        userId: users.userId,
        name: users.name,
        displayName: users.displayName,
        icon: users.icon,
        userHandle: users.userHandle,
      },
    })
    .from(table)
    .innerJoin(users, and(eq(users.tenantId, table.tenantId), eq(users.id, table.userId)))
    .where(and(eq(table.tenantId, sql.placeholder("tenantId")), eq(table.id, sql.placeholder("id")))),
);

/** Finds a credential of any user by id. */
export async function findOwnedCredential(
  db: ReadOnly,
  tenantId: string,
  id: string,
): Promise<OwnedCredential | null> {
  const [row] = await selectById(db).execute({ tenantId, id });
  return row ?? null;
}

/**
 * Returns the descriptors of a user's credentials, the oldest first.
 *
 * @param userId internal id
 * @param kind null for all kinds
 */
export function findDescriptors(
  db: ReadOnly,
  tenantId: string,
  userId: string,
  kind: CredentialKind | null,
): Promise<CredentialDescriptor[]> {
  const ofKind = kind === null ? undefined : eq(table.isMfa, kind === "mfa");
  return db
    .select({ id: table.id, transports: table.transports })
    .from(table)
    .where(and(eq(table.tenantId, tenantId), eq(table.userId, userId), ofKind))
    .orderBy(asc(table.createdAt), asc(table.id));
}

/**
 * Inserts a new credential of a user.
 *
 * @returns null on success; else the reason: the user was removed, or any user has a credential with this id
 *   (WebAuthn Level 3 section 7.1 step 26)
 */
export async function insertCredential(
  tx: Transaction,
  { tenant, now }: Pick<RequestContext<unknown>, "tenant" | "now">,
  userId: string,
  { publicKey, mfaOnly, ...rest }: NewCredential & { attestationTrust: AttestationTrust },
): Promise<"user_not_found" | "credential_exists" | null> {
  const [user] = await tx
    .select({ id: users.id })
    .from(users)
    .where(and(eq(users.tenantId, tenant.id), eq(users.id, userId)))
    .for("key share");
  if (!user) return "user_not_found";
  const moments = { lastUsedAt: now, createdAt: now, updatedAt: now };
  const written = await tx
    .insert(table)
    .values({
      ...rest,
      ...moments,
      tenantId: tenant.id,
      userId,
      publicKey: Buffer.from(publicKey, "base64url"),
      isMfa: mfaOnly,
    })
    .onConflictDoNothing({ target: [table.tenantId, table.id] })
    .returning({ id: table.id });
  return written.length === 0 ? "credential_exists" : null;
}

// The counter is an unsigned 32-bit number, so it is a `bigint` (WebAuthn Level 3, 6.1.1).
const useText = `credential as (
  update passkey_credentials set sign_count = greatest(sign_count, $3::bigint), backup_state = $4,
    user_verified = user_verified or $5::boolean, last_used_at = $6, updated_at = $6
  where tenant_id = $1 and id = $2
    and (not $7::boolean or sign_count < $3::bigint or (sign_count = 0 and $3::bigint = 0))
  returning 1)`;

/**
 * Updates a credential after an assertion (WebAuthn Level 3 section 7.2 step 24). It refuses with `passkey` if `strict`
 * rejects the counter, or if the credential was removed.
 *
 * @param update `userVerified`: true if the user was verified beside another factor; false leaves the column unchanged.
 *   `strict`: reject a signature counter that a concurrent assertion has passed
 */
export function usedCredential(
  { tenant, now }: Pick<RequestContext<unknown>, "tenant" | "now">,
  update: { id: string; signCount: number; backupState: boolean; userVerified: boolean; strict: boolean },
): Part {
  const { id, signCount, backupState, userVerified, strict } = update;
  return {
    name: "used_passkey",
    text: useText,
    values: [tenant.id, id, signCount, backupState, userVerified, now, strict],
    refuses: "case when not exists (select 1 from credential) then 'passkey' end",
  };
}
