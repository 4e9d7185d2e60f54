import { and, asc, eq } from "drizzle-orm";
import { type ReadOnly, schema, type Transaction } from "#db/client";
import { ConflictError } from "#db/errors";
import { advanceSignCount } from "#db/sign-count";
import type { RequestContext } from "../runtime.ts";
import type { AttestationTrust } from "../webauthn/attestation-trust.ts";
import type { NewCredential, StoredCredential } from "../webauthn/credential-record.ts";
import type { CredentialDescriptor, CredentialKind } from "./options.ts";
import type { PasskeyUser } from "./users.ts";

/** Reads and writes of credentials by ceremonies. */

/** A credential with the columns that verification needs, and its owner. */
export interface OwnedCredential extends StoredCredential {
  owner: PasskeyUser;
}

const { passkeyCredentials: table, passkeyUsers: users } = schema;

/** Finds a credential of any user by id. */
export async function findOwnedCredential(
  db: ReadOnly,
  tenantId: string,
  id: string,
): Promise<OwnedCredential | null> {
  const [row] = await db
    .select({
      id: table.id,
      userId: table.userId,
      publicKey: table.publicKey,
      signCount: table.signCount,
      backupEligible: table.backupEligible,
      mfaOnly: table.isMfa,
      transports: table.transports,
      owner: {
        id: users.id,
        userId: users.userId,
        name: users.name,
        displayName: users.displayName,
        icon: users.icon,
      },
    })
    .from(table)
    .innerJoin(users, and(eq(users.tenantId, table.tenantId), eq(users.id, table.userId)))
    .where(and(eq(table.tenantId, tenantId), eq(table.id, id)));
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
  { tenant, now }: Pick<RequestContext, "tenant" | "now">,
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

/**
 * Updates a credential after an assertion (WebAuthn Level 3 section 7.2 step 24).
 *
 * @param update `userVerified`: true if the user was verified beside another factor; false leaves the column unchanged.
 *   `strict`: reject a signature counter that a concurrent assertion has passed
 * @throws ConflictError "passkey" in that case, or if the credential was removed
 */
export async function updateUsedCredential(
  tx: Transaction,
  { tenant, now }: Pick<RequestContext, "tenant" | "now">,
  update: { id: string; signCount: number; backupState: boolean; userVerified: boolean; strict: boolean },
): Promise<void> {
  const { next, grows } = advanceSignCount(table.signCount, update.signCount);
  const updated = await tx
    .update(table)
    .set({
      signCount: next,
      backupState: update.backupState,
      ...(update.userVerified ? { userVerified: true } : {}),
      lastUsedAt: now,
      updatedAt: now,
    })
    .where(and(eq(table.tenantId, tenant.id), eq(table.id, update.id), update.strict ? grows : undefined))
    .returning({ id: table.id });
  if (updated.length === 0) throw new ConflictError("passkey");
}
