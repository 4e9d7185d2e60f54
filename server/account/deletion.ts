import { and, eq, ne } from "drizzle-orm";
import { schema } from "#db/client";
import type { Write } from "#db/write";
import { type EventContext, emit } from "../events/emit.ts";
import { lockUser } from "../identity/users.ts";
import { userObject } from "../objects/user-object.ts";

const {
  authenticatorDevices,
  authenticatorRequests,
  exchangeTokens,
  flows,
  thirdPartyRequests,
  userHandles,
  users,
  webauthnChallenges,
} = schema;

/** Tables whose rows are deleted here because no foreign key from them to the account deletes all of them. */
const tablesWithoutCascade = [
  thirdPartyRequests,
  exchangeTokens,
  userHandles,
  webauthnChallenges,
  authenticatorDevices,
  authenticatorRequests,
];

/**
 * Returns the write that deletes an account with its credentials, sessions, open requests and flows. Its lines in the
 * audit log stay until their retention ends.
 *
 * @param flowId the current flow, which is kept; null for a deletion by the operator
 * @throws ConflictError("user") if the account does not exist
 */
export function deleteAccount(context: EventContext, userId: string, flowId: string | null): Write {
  const { tenant } = context;
  return async (tx) => {
    await lockUser(tx, tenant.id, userId);
    for (const table of tablesWithoutCascade) {
      await tx.delete(table).where(and(eq(table.tenantId, tenant.id), eq(table.userId, userId)));
    }
    const others = flowId === null ? undefined : ne(flows.id, flowId);
    await tx.delete(flows).where(and(eq(flows.tenantId, tenant.id), eq(flows.userId, userId), others));
    const [deleted] = await tx
      .delete(users)
      .where(and(eq(users.tenantId, tenant.id), eq(users.id, userId)))
      .returning({ user: userObject(tenant.config) });
    if (deleted) await emit(context, "user.delete", deleted.user)(tx);
  };
}
