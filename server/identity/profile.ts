import { and, asc, desc, eq } from "drizzle-orm";
import { type ReadOnly, schema } from "#db/client";
import type { Tenant } from "../runtime.ts";

const { emails, usernames, users, webauthnCredentials } = schema;

/** A passkey or a security key, as its owner sees it. Times are RFC 3339. */
export interface CredentialProfile {
  /** base64url */
  id: string;
  name?: string;
  /** COSE_Key in base64url */
  public_key: string;
  attestation_type: string;
  aaguid: string;
  last_used_at?: string;
  created_at: string;
  transports: string[];
  backup_eligible: boolean;
  backup_state: boolean;
  mfa_only: boolean;
}

/** An account as its owner sees it: `payload.user` at `success`, and the body of `GET /me`. Times are RFC 3339. */
export interface Profile {
  id: string;
  user_id: string;
  passkeys?: CredentialProfile[];
  security_keys?: CredentialProfile[];
  mfa_config: { auth_app_set_up: boolean; totp_enabled: boolean; security_keys_enabled: boolean };
  /** Primary address first. */
  emails?: { id: string; address: string; is_verified: boolean; is_primary: boolean }[];
  username?: { id: string; username: string; created_at: string; updated_at: string };
  created_at: string;
  updated_at: string;
}

/**
 * Reads an account in two round trips. What is empty, or switched off by the configuration, is left out.
 *
 * @param db a pool, or the transaction that has just written the account
 * @returns null when there is no such account
 */
export async function profileOf(db: ReadOnly, tenant: Tenant, userId: string): Promise<Profile | null> {
  const { config } = tenant;
  const rows = await db
    .select({ user: users, email: emails, username: usernames })
    .from(users)
    .leftJoin(emails, and(eq(emails.tenantId, users.tenantId), eq(emails.userId, users.id)))
    .leftJoin(usernames, and(eq(usernames.tenantId, users.tenantId), eq(usernames.userId, users.id)))
    .where(and(eq(users.tenantId, tenant.id), eq(users.id, userId)))
    .orderBy(desc(emails.isPrimary), asc(emails.createdAt), asc(emails.id));
  const [first] = rows;
  if (!first) return null;
  const credentials = await db
    .select()
    .from(webauthnCredentials)
    .where(and(eq(webauthnCredentials.tenantId, tenant.id), eq(webauthnCredentials.userId, userId)))
    .orderBy(asc(webauthnCredentials.createdAt), asc(webauthnCredentials.id));

  const addresses = rows.flatMap(({ email }) => (email ? [describeEmail(email)] : []));
  const passkeys = credentials.filter((credential) => !credential.mfaOnly).map(describeCredential);
  const securityKeys = credentials.filter((credential) => credential.mfaOnly).map(describeCredential);
  const { user, username } = first;
  return {
    id: user.id,
    user_id: user.id,
    ...(config.passkey.enabled && passkeys.length > 0 ? { passkeys } : {}),
    ...(config.mfa.enabled && securityKeys.length > 0 ? { security_keys: securityKeys } : {}),
    mfa_config: {
      // Accounts have no place for an authenticator app's secret as yet, so none has one.
      auth_app_set_up: false,
      totp_enabled: config.mfa.enabled,
      security_keys_enabled: config.mfa.enabled,
    },
    ...(config.email.enabled && addresses.length > 0 ? { emails: addresses } : {}),
    ...(config.username.enabled && username ? { username: describeUsername(username) } : {}),
    created_at: user.createdAt.toISOString(),
    updated_at: user.updatedAt.toISOString(),
  };
}

function describeEmail({ id, address, verifiedAt, isPrimary }: typeof emails.$inferSelect) {
  return { id, address, is_verified: verifiedAt !== null, is_primary: isPrimary };
}

function describeUsername({ id, username, createdAt, updatedAt }: typeof usernames.$inferSelect) {
  return { id, username, created_at: createdAt.toISOString(), updated_at: updatedAt.toISOString() };
}

function describeCredential(row: typeof webauthnCredentials.$inferSelect): CredentialProfile {
  return {
    id: row.id,
    ...(row.name === null ? {} : { name: row.name }),
    public_key: row.publicKey.toString("base64url"),
    attestation_type: row.attestationType,
    aaguid: row.aaguid,
    ...(row.lastUsedAt === null ? {} : { last_used_at: row.lastUsedAt.toISOString() }),
    created_at: row.createdAt.toISOString(),
    transports: row.transports,
    backup_eligible: row.backupEligible,
    backup_state: row.backupState,
    mfa_only: row.mfaOnly,
  };
}
