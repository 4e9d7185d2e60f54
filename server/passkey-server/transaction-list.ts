import { and, asc, eq, or } from "drizzle-orm";
import { type Databases, schema } from "#db/client";
import type { TenantContext } from "../context/context.ts";
import { rejectPasskeyRequest } from "../failures/passkey-server.ts";
import { isUuid } from "../lib/uuid.ts";

const { passkeyTransactions: table, passkeyUsers: users } = schema;

/**
 * Returns the transactions of a user, the oldest first.
 *
 * @param user the internal id of the user, or the application's
 */
export async function listTransactions({ runtime, tenant }: TenantContext<Databases>, user: string) {
  const db = runtime.database.read;
  // PostgreSQL text cannot hold these, so no user has such an id.
  if (user.includes("\0") || !user.isWellFormed()) return rejectPasskeyRequest("invalid_user_id");
  const byExternalId = eq(users.userId, user);
  const candidates = await db
    .select({ id: users.id, userId: users.userId })
    .from(users)
    .where(
      and(eq(users.tenantId, tenant.id), isUuid(user) ? or(eq(users.id, user), byExternalId) : byExternalId),
    );
  // An id may be internal for one user and external for another; the internal one takes precedence.
  const found = candidates.find(({ id }) => id === user.toLowerCase()) ?? candidates[0];
  if (!found) return rejectPasskeyRequest("user_not_found");
  const rows = await db
    .select()
    .from(table)
    .where(and(eq(table.tenantId, tenant.id), eq(table.userId, found.id)))
    .orderBy(asc(table.createdAt), asc(table.id));
  return {
    ok: true as const,
    transactions: rows.map(({ id, identifier, data, createdAt, updatedAt, confirmedAt }) => ({
      id,
      identifier,
      data,
      created_at: createdAt.toISOString(),
      updated_at: updatedAt.toISOString(),
      ...(confirmedAt === null ? {} : { confirmed_at: confirmedAt.toISOString() }),
    })),
  };
}
