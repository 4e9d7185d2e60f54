import { and, eq, sql } from "drizzle-orm";
import { type Databases, schema, type Transaction } from "#db/client";
import { databaseNow } from "#db/clock";
import type { TenantContext } from "../context/context.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { sha256 } from "../lib/sha256.ts";

/** Database access for confirmation pages. */

const {
  passkeyChallenges: challenges,
  passkeyTransactions: transactions,
  passkeyUsers: users,
  transactionConfirmations: table,
} = schema;

/** A page with its transaction and user. */
export interface ConfirmationRecord {
  transaction: typeof transactions.$inferSelect;
  user: typeof users.$inferSelect;
  page: typeof table.$inferSelect;
  /** Whole seconds left to answer. */
  seconds: number;
  /** Whether it was answered within the last minute. */
  recent: boolean;
}

/** How long the redirect can be repeated after an answer, and the lifetime of a code. */
export const RETURN_SECONDS = 60;

/** @param token from the page's URL, unvalidated */
export async function findConfirmation(
  { runtime, tenant }: TenantContext<OnPlatform & Databases>,
  token: string,
): Promise<ConfirmationRecord | null> {
  const now = databaseNow(runtime.platform.clockShift());
  const [found] = await runtime.database.read
    .select({
      transaction: transactions,
      user: users,
      page: table,
      seconds: sql<number>`floor(extract(epoch from ${table.expiresAt} - ${now}))::int`,
      recent: sql<boolean>`coalesce(${table.answeredAt} > ${now} - ${RETURN_SECONDS}::int * interval '1 second', false)`,
    })
    .from(table)
    .innerJoin(
      transactions,
      and(eq(transactions.tenantId, table.tenantId), eq(transactions.id, table.transactionId)),
    )
    .innerJoin(users, and(eq(users.tenantId, transactions.tenantId), eq(users.id, transactions.userId)))
    .where(and(eq(table.tenantId, tenant.id), eq(table.pageTokenHash, sha256(token))));
  return found ?? null;
}

export const ofTransaction = (tenantId: string, id: string) =>
  and(eq(table.tenantId, tenantId), eq(table.transactionId, id));

/** Deletes the open challenges of a transaction. */
export async function closeChallenges(
  tx: Transaction,
  tenantId: string,
  transactionId: string,
): Promise<void> {
  await tx
    .delete(challenges)
    .where(and(eq(challenges.tenantId, tenantId), eq(challenges.transactionId, transactionId)));
}
