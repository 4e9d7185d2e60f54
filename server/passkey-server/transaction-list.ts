import { and, asc, eq, or } from "drizzle-orm";
import { schema } from "#db/client";
import type { RequestContext } from "../runtime.ts";
import { type PasskeyRejection, rejectPasskeyRequest } from "./errors.ts";

/** A transaction as it is listed. */
export interface TransactionJson {
  id: string;
  identifier: string;
  /** The canonical form, a text. */
  data: string;
  created_at: string;
  updated_at: string;
  /** When the user agreed. */
  confirmed_at?: string;
}

const { passkeyTransactions: table, passkeyUsers: users } = schema;

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Everything a user was asked to agree to, the oldest first.
 *
 * @param user our own id of the user, or what the application calls them
 */
export async function listTransactions(
  { runtime, tenant }: Pick<RequestContext, "runtime" | "tenant">,
  user: string,
): Promise<{ ok: true; transactions: TransactionJson[] } | PasskeyRejection> {
  const db = runtime.database.read;
  // PostgreSQL takes no such text, so nobody is called so.
  if (user.includes("\0") || !user.isWellFormed()) return rejectPasskeyRequest("invalid_user_id");
  const byName = eq(users.userId, user);
  const candidates = await db
    .select({ id: users.id, userId: users.userId })
    .from(users)
    .where(and(eq(users.tenantId, tenant.id), uuid.test(user) ? or(eq(users.id, user), byName) : byName));
  // Of an id that is one user's own and another's name here, the internal one counts.
  const found = candidates.find(({ id }) => id === user.toLowerCase()) ?? candidates[0];
  if (!found) return rejectPasskeyRequest("user_not_found");
  const rows = await db
    .select()
    .from(table)
    .where(and(eq(table.tenantId, tenant.id), eq(table.userId, found.id)))
    .orderBy(asc(table.createdAt), asc(table.id));
  return {
    ok: true,
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
