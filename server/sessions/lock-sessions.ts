import { and, eq, type SQL } from "drizzle-orm";
import { schema, type Transaction } from "#db/client";
import type { Session } from "../objects/session.ts";

const { sessions } = schema;

/**
 * Locks the sessions of a tenant that meet a condition until the transaction ends, which is to end them.
 *
 * @returns them in the order in which every end of several sessions locks them
 */
export function lockSessions(
  tx: Transaction,
  tenantId: string,
  condition: SQL | undefined,
): Promise<Pick<Session, "id" | "userId" | "impersonation">[]> {
  return tx
    .select({ id: sessions.id, userId: sessions.userId, impersonation: sessions.impersonation })
    .from(sessions)
    .where(and(eq(sessions.tenantId, tenantId), condition))
    .orderBy(sessions.id)
    .for("update");
}
