import { and, asc, desc, eq, sql } from "drizzle-orm";
import { type ReadOnly, schema } from "#db/client";
import type { Identity } from "./linked-identities.ts";

const { emails, usernames, users, webauthnCredentials } = schema;

/** An account as stored, independent of the configuration. */
export interface StoredAccount {
  user: typeof users.$inferSelect;
  username: typeof usernames.$inferSelect | null;
  /** Primary address first. */
  emails: (typeof emails.$inferSelect)[];
  /** Oldest first. */
  credentials: (typeof webauthnCredentials.$inferSelect)[];
  /** Oldest first. */
  identities: Identity[];
  hasPassword: boolean;
  hasTotp: boolean;
}

/**
 * Reads an account in two round trips.
 *
 * @param db a pool, or the transaction that has just written the account
 * @returns null if the account does not exist
 */
export async function readAccount(
  db: ReadOnly,
  tenantId: string,
  userId: string,
): Promise<StoredAccount | null> {
  const rows = await db
    .select({
      user: users,
      email: emails,
      username: usernames,
      hasPassword: owns("passwords"),
      hasTotp: owns("totp_secrets"),
      identities: sql<Identity[]>`(
        select coalesce(
          json_agg(json_build_object('id', i.id, 'provider', i.provider, 'subject', i.subject, 'email', i.email)
            order by i.created_at, i.id), '[]')
        from identities i where i.tenant_id = ${users.tenantId} and i.user_id = ${users.id})`,
    })
    .from(users)
    .leftJoin(emails, and(eq(emails.tenantId, users.tenantId), eq(emails.userId, users.id)))
    .leftJoin(usernames, and(eq(usernames.tenantId, users.tenantId), eq(usernames.userId, users.id)))
    .where(and(eq(users.tenantId, tenantId), eq(users.id, userId)))
    .orderBy(desc(emails.isPrimary), asc(emails.createdAt), asc(emails.id));
  const [first] = rows;
  if (!first) return null;
  const credentials = await db
    .select()
    .from(webauthnCredentials)
    .where(and(eq(webauthnCredentials.tenantId, tenantId), eq(webauthnCredentials.userId, userId)))
    .orderBy(asc(webauthnCredentials.createdAt), asc(webauthnCredentials.id));
  return { ...first, emails: rows.flatMap(({ email }) => email ?? []), credentials };
}

const owns = (table: "passwords" | "totp_secrets") =>
  sql<boolean>`exists(
    select from ${sql.identifier(table)} o where o.tenant_id = ${users.tenantId} and o.user_id = ${users.id})`;
