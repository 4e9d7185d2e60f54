import { and, eq, sql } from "drizzle-orm";
import { type ReadOnly, schema, type Transaction } from "#db/client";
import { ConflictError } from "#db/errors";
import { prepared } from "#db/prepared";
import type { Write } from "#db/write";
import type { RequestContext } from "../runtime.ts";
import { type CredentialId, newCredential, type StoredCredential } from "../webauthn/credential-record.ts";

const { webauthnCredentials: table } = schema;

const selectById = prepared("webauthn_credential", (db) =>
  db
    .select({
      id: table.id,
      userId: table.userId,
      publicKey: table.publicKey,
      signCount: table.signCount,
      backupEligible: table.backupEligible,
      mfaOnly: table.mfaOnly,
      transports: table.transports,
    })
    .from(table)
    .where(and(eq(table.tenantId, sql.placeholder("tenantId")), eq(table.id, sql.placeholder("id")))),
);

/** The credential with this id, of any account. */
export async function findCredential(
  db: ReadOnly,
  tenantId: string,
  id: string,
): Promise<StoredCredential | null> {
  const [row] = await selectById(db).execute({ tenantId, id });
  return row ?? null;
}

/** The ids of all credentials of an account, with what helps a browser to find them. */
export function credentialIds(db: ReadOnly, tenantId: string, userId: string): Promise<CredentialId[]> {
  return db
    .select({ id: table.id, transports: table.transports, mfaOnly: table.mfaOnly })
    .from(table)
    .where(and(eq(table.tenantId, tenantId), eq(table.userId, userId)))
    .orderBy(table.createdAt, table.id);
}

/**
 * Writes a new credential of an account. What is written violates `webauthn_credentials_pkey` when the id is taken, by
 * whomever (section 7.1 step 26).
 *
 * @param credential a `NewCredential`, or what a flow has kept of one
 */
export function insertCredential(
  { tenant, now }: RequestContext,
  userId: string,
  credential: { id: string },
): Write {
  const { publicKey, ...rest } = newCredential.parse(credential);
  const row = { ...rest, tenantId: tenant.id, userId, publicKey: Buffer.from(publicKey, "base64url") };
  return async (tx) => {
    await tx.insert(table).values({ ...row, createdAt: now, updatedAt: now });
  };
}

/**
 * Writes what an assertion told (section 7.2 step 24).
 *
 * @param update `userVerified`: that its user was verified, and had shown another factor besides; else it stays as it
 *   was. `strict`: refuse a signature counter that another assertion has outrun meanwhile
 * @throws ConflictError "passkey" when it has, or when the credential is gone
 */
export async function updateCredential(
  tx: Transaction,
  { tenant, now }: RequestContext,
  update: { id: string; signCount: number; backupState: boolean; userVerified: boolean; strict: boolean },
): Promise<void> {
  const grows = sql`(${table.signCount} < ${update.signCount} or (${table.signCount} = 0 and ${update.signCount} = 0))`;
  const updated = await tx
    .update(table)
    .set({
      signCount: sql`greatest(${table.signCount}, ${update.signCount})`,
      backupState: update.backupState,
      ...(update.userVerified ? { userVerified: true } : {}),
      lastUsedAt: now,
      updatedAt: now,
    })
    .where(and(eq(table.tenantId, tenant.id), eq(table.id, update.id), update.strict ? grows : undefined))
    .returning({ id: table.id });
  if (updated.length === 0) throw new ConflictError("passkey");
}
