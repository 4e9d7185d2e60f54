import { and, eq, sql } from "drizzle-orm";
import { z } from "zod";
import { type ReadOnly, schema } from "#db/client";
import { ConflictError } from "#db/errors";
import { bytesOf, type JsonRow, rowOfJson } from "#db/json-row";
import type { Part } from "#db/part";
import { prepared } from "#db/prepared";
import { userFactsText } from "#db/schema/users";
import { type Write, writeOf } from "#db/write";
import type { RequestContext } from "../context/context.ts";
import { factsJson } from "../identity/facts.ts";
import { originOf } from "../sessions/use-origin.ts";
import { type CredentialId, newCredential, type StoredCredential } from "../webauthn/credential-record.ts";

/** What this module takes of the process. */
type Process = object;

const { webauthnCredentials: table } = schema;

const selectById = prepared("webauthn_credential", (db) =>
  db
    .select({ id: table.id })
    .from(table)
    .where(and(eq(table.tenantId, sql.placeholder("tenantId")), eq(table.id, sql.placeholder("id")))),
);

/** Whether any account has a credential with this id. */
export async function isCredentialId(db: ReadOnly, tenantId: string, id: string): Promise<boolean> {
  const [row] = await selectById(db).execute({ tenantId, id });
  return row !== undefined;
}

/** What `credentialPart` returns. */
export interface CredentialRow {
  credential: JsonRow;
  handle: string | null;
}

/** The part of a statement that finds a credential of any account by its id; `storedCredential` converts it. */
export function credentialPart(tenantId: string, id: string): Part {
  return {
    name: "credential",
    text: "",
    values: [tenantId, id],
    returns: credentialText,
  };
}

const credentialText = `(
  select json_build_object('credential', row_to_json(c), 'handle', h.handle) from webauthn_credentials c
  left join user_handles h on h.tenant_id = $1 and h.user_id = c.user_id
  where c.tenant_id = $1 and c.id = $2)`;

/** The part of a statement that reads the facts of the account that has a credential; `factsOfJson` converts them. */
export function credentialOwnerPart(tenantId: string, id: string): Part {
  return {
    name: "owner",
    text: "",
    values: [tenantId, id],
    returns: ownerText,
  };
}

const ownerText = `(
  select ${factsJson("f")} from webauthn_credentials c
  join ${userFactsText("$1")} f on f.user_id = c.user_id
  where c.tenant_id = $1 and c.id = $2)`;

/** Converts a credential that `credentialPart` returns. */
export function storedCredential({ credential, handle }: CredentialRow): StoredCredential {
  return { ...rowOfJson(table, credential), accountHandle: handle === null ? null : bytesOf(handle) };
}

/** Lists the ids of all credentials of an account, oldest first, with their transports. */
export function credentialIds(db: ReadOnly, tenantId: string, userId: string): Promise<CredentialId[]> {
  return db
    .select({ id: table.id, transports: table.transports, mfaOnly: table.mfaOnly })
    .from(table)
    .where(and(eq(table.tenantId, tenantId), eq(table.userId, userId)))
    .orderBy(table.createdAt, table.id);
}

/** Credentials of an account that are told apart by a number. */
const MAX_NUMBER = 1_000;

/** A WebAuthn credential that is not stored in the database yet; buffers as base64url. `insertCredential` parses the rest. */
export const pendingCredential = z.looseObject({
  id: z.string(),
  userVerified: z.boolean().optional(),
  hardwareProtected: z.boolean().optional(),
});

/**
 * Inserts a new credential of an account, with the account's user handle. A name that another one of its credentials has
 * gets a number: `1Password 2`. The write violates `webauthn_credentials_pkey` if any account already has the
 * id (WebAuthn Level 3 section 7.1 step 26).
 *
 * @param credential a `NewCredential`, or its serialized form from a flow
 */
export function insertCredential(
  { tenant, now }: RequestContext<Process>,
  userId: string,
  credential: { id: string },
): Write {
  const row = newCredential.parse(credential);
  return writeOf({
    name: "new_credential",
    text: insertText,
    values: [
      tenant.id,
      row.id,
      userId,
      Buffer.from(row.publicKey, "base64url"),
      row.signCount,
      row.aaguid,
      row.attestationType,
      row.transports,
      row.backupEligible,
      row.backupState,
      row.userVerified,
      row.mfaOnly,
      row.name,
      now,
      row.hardwareProtected,
    ],
    ofAccount: true,
  });
}

const insertText = `new_credential as (
  insert into webauthn_credentials (tenant_id, id, user_id, public_key, sign_count, aaguid, attestation_type,
    transports, backup_eligible, backup_state, user_verified, mfa_only, name, created_at, updated_at, user_handle,
    hardware_protected)
  select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12,
    (select name from generate_series(1, ${MAX_NUMBER}) number,
        concat($13::text, case when number > 1 then ' ' || number end) name
      where $13::text is not null and not exists (select 1 from webauthn_credentials o
        where o.tenant_id = $1::uuid and o.user_id = $3::uuid and o.name = name.name)
      order by number limit 1), $14, $14,
    (select handle from user_handles where tenant_id = $1 and user_id = $3), $15),
borne_handle as (
  update user_handles set expires_at = null where tenant_id = $1 and user_id = $3 and expires_at is not null)`;

// The counter is an unsigned 32-bit number, so it is a `bigint` (WebAuthn Level 3, 6.1.1).
const useText = `credential as (
  update webauthn_credentials set sign_count = greatest(sign_count, $3::bigint), backup_state = $4,
    user_verified = user_verified or $5::boolean, last_used_at = $6, last_used_user_agent = $7,
    last_used_ip_address = $8, updated_at = $6, user_handle = coalesce(user_handle, $10)
  where tenant_id = $1 and id = $2
    and (not $9::boolean or sign_count < $3::bigint or (sign_count = 0 and $3::bigint = 0))
  returning 1)`;

/**
 * Updates a credential after a verified assertion (WebAuthn Level 3 section 7.2 step 24). It refuses with `passkey` if
 * `strict` rejects the counter, or if the credential no longer exists.
 *
 * @param update `userVerified`: true records that user verification succeeded beside another factor; false leaves the
 *   stored value. `strict`: reject a signature counter that a concurrent assertion has reached or passed. `userHandle`: is recorded
 *   if none is
 */
export function usedCredential(
  context: RequestContext<Process>,
  update: {
    id: string;
    signCount: number;
    backupState: boolean;
    userVerified: boolean;
    strict: boolean;
    userHandle: Buffer | null;
  },
): Part {
  const { tenant, now } = context;
  const { userAgent, ipAddress } = originOf(context);
  const { id, signCount, backupState, userVerified, strict, userHandle } = update;
  return {
    name: "used_credential",
    text: useText,
    values: [
      tenant.id,
      id,
      signCount,
      backupState,
      userVerified,
      now,
      userAgent,
      ipAddress,
      strict,
      userHandle,
    ],
    refuses: "case when not exists (select 1 from credential) then 'passkey' end",
    ofAccount: true,
  };
}

/**
 * Renames a passkey or a security key of an account.
 *
 * @throws ConflictError("passkey") if the account no longer has it
 */
export function renameCredential(
  { tenant, now }: RequestContext<Process>,
  userId: string,
  { id, name }: { id: string; name: string },
): Write {
  return async (tx) => {
    const renamed = await tx
      .update(table)
      .set({ name, updatedAt: now })
      .where(and(eq(table.tenantId, tenant.id), eq(table.userId, userId), eq(table.id, id)))
      .returning({ id: table.id });
    if (renamed.length === 0) throw new ConflictError("passkey");
  };
}

/**
 * Deletes a credential of an account.
 *
 * @param credential `mfaOnly`: true deletes security keys only, false passkeys only
 * @throws ConflictError("passkey") if the account has no such credential of that kind
 */
export function deleteCredential(
  { tenant }: RequestContext<Process>,
  userId: string,
  { id, mfaOnly }: { id: string; mfaOnly: boolean },
): Write {
  const own = and(eq(table.tenantId, tenant.id), eq(table.userId, userId), eq(table.id, id));
  return async (tx) => {
    const removed = await tx
      .delete(table)
      .where(and(own, eq(table.mfaOnly, mfaOnly)))
      .returning({ id: table.id });
    if (removed.length === 0) throw new ConflictError("passkey");
  };
}
