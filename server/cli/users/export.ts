import { and, asc, desc, eq, gt, inArray } from "drizzle-orm";
import { schema } from "#db/client";
import type { Tenant } from "../../tenants/tenant.ts";
import type { CliRuntime } from "../cli-runtime.ts";
import type { UserLine } from "./line.ts";

const { emails, identities, passwords, usernames, users, webauthnCredentials } = schema;

const BATCH_ROWS = 200;

/** An exported user: a line for the import with all of its members. */
export type ExportedUser = UserLine & { id: string; created_at: string };

/**
 * Yields a tenant's users in the order of their ids, read in batches.
 *
 * @param withHashes whether to include the hashes of passwords
 */
export async function* exportUsers(
  { database }: Pick<CliRuntime, "database">,
  tenant: Pick<Tenant, "id">,
  { withHashes }: { withHashes: boolean },
): AsyncGenerator<ExportedUser> {
  for (let after: string | null = null; ; ) {
    const rows: (typeof users.$inferSelect)[] = await database.read
      .select()
      .from(users)
      .where(and(eq(users.tenantId, tenant.id), after === null ? undefined : gt(users.id, after)))
      .orderBy(asc(users.id))
      .limit(BATCH_ROWS);
    yield* await asLines(database, tenant.id, rows, withHashes);
    after = rows.at(-1)?.id ?? null;
    if (rows.length < BATCH_ROWS) return;
  }
}

async function asLines(
  { read }: CliRuntime["database"],
  tenantId: string,
  rows: (typeof users.$inferSelect)[],
  withHashes: boolean,
): Promise<ExportedUser[]> {
  const ids = rows.map(({ id }) => id);
  if (ids.length === 0) return [];
  const inBatch = <
    Table extends
      | typeof emails
      | typeof usernames
      | typeof passwords
      | typeof identities
      | typeof webauthnCredentials,
  >(
    table: Table,
  ) => and(eq(table.tenantId, tenantId), inArray(table.userId, ids));
  const [addresses, names, hashes, keys, links] = [
    await read
      .select()
      .from(emails)
      .where(inBatch(emails))
      .orderBy(desc(emails.isPrimary), asc(emails.createdAt), asc(emails.id)),
    await read.select().from(usernames).where(inBatch(usernames)),
    withHashes ? await read.select().from(passwords).where(inBatch(passwords)) : [],
    await read
      .select()
      .from(webauthnCredentials)
      .where(inBatch(webauthnCredentials))
      .orderBy(asc(webauthnCredentials.createdAt), asc(webauthnCredentials.id)),
    await read.select().from(identities).where(inBatch(identities)).orderBy(asc(identities.createdAt)),
  ];
  return rows.map((user) => {
    const ofUser = ({ userId }: { userId: string }) => userId === user.id;
    const hash = hashes.find(ofUser)?.hash;
    return {
      id: user.id,
      name: user.name,
      given_name: user.givenName,
      family_name: user.familyName,
      picture: user.picture,
      emails: addresses.filter(ofUser).map(({ address, isPrimary, verifiedAt }) => ({
        address,
        is_primary: isPrimary,
        is_verified: verifiedAt !== null,
      })),
      username: names.find(ofUser)?.username ?? null,
      ...(hash === undefined ? {} : { password_hash: hash }),
      public_metadata: user.publicMetadata,
      private_metadata: user.privateMetadata,
      unsafe_metadata: user.unsafeMetadata,
      passkeys: keys.filter(ofUser).map(passkeyOf),
      identities: links.filter(ofUser).map(({ provider, subject, email }) => ({ provider, subject, email })),
      created_at: user.createdAt.toISOString(),
    };
  });
}

function passkeyOf(row: typeof webauthnCredentials.$inferSelect): UserLine["passkeys"][number] {
  return {
    id: row.id,
    public_key: row.publicKey.toString("base64url"),
    sign_count: row.signCount,
    aaguid: row.aaguid,
    attestation_type: row.attestationType,
    transports: row.transports,
    backup_eligible: row.backupEligible,
    backup_state: row.backupState,
    user_verified: row.userVerified,
    mfa_only: row.mfaOnly,
    name: row.name,
    created_at: row.createdAt.toISOString(),
  };
}
