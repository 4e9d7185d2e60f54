import { and, eq, ne } from "drizzle-orm";
import { schema } from "#db/client";
import type { Write } from "#db/write";
import { lockUser } from "../identity/users.ts";
import type { RequestContext } from "../runtime.ts";

const {
  authenticatorDevices,
  authenticatorRequests,
  exchangeTokens,
  flows,
  thirdPartyRequests,
  users,
  webauthnChallenges,
} = schema;

/** What no foreign key ties to an account. Phones are, where they were registered for its id. */
const besides = [
  thirdPartyRequests,
  exchangeTokens,
  webauthnChallenges,
  authenticatorDevices,
  authenticatorRequests,
];

/**
 * Deletes an account: its row, everything that hangs on it, and whatever is under way in its name. What the audit log
 * says of it stays until its time is over.
 *
 * @param flowId the flow that the owner does this in; it goes on
 * @throws TakenError("user") when it is gone already
 */
export function deleteAccount({ tenant }: RequestContext, userId: string, flowId: string): Write {
  return async (tx) => {
    await lockUser(tx, tenant.id, userId);
    for (const table of besides) {
      await tx.delete(table).where(and(eq(table.tenantId, tenant.id), eq(table.userId, userId)));
    }
    await tx
      .delete(flows)
      .where(and(eq(flows.tenantId, tenant.id), eq(flows.userId, userId), ne(flows.id, flowId)));
    await tx.delete(users).where(and(eq(users.tenantId, tenant.id), eq(users.id, userId)));
  };
}
