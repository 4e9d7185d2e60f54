import { and, eq, isNotNull, isNull } from "drizzle-orm";
import { schema, type Transaction } from "#db/client";
import type { ClientContext } from "../context/context.ts";
import type { EventContext } from "../events/emit.ts";
import { revokeAccess } from "./access-revocation.ts";

const { users } = schema;

/**
 * Blocks an account: it loses its sessions, trusted devices and unfinished sign-ins, and gets no session. Its
 * credentials stay, for the time after it.
 *
 * @returns false if it was blocked already
 * @throws ConflictError("user") if the account does not exist
 */
export async function blockAccount(
  tx: Transaction,
  context: EventContext & Pick<ClientContext<unknown>, "now">,
  userId: string,
): Promise<boolean> {
  const { tenant, now } = context;
  await revokeAccess(tx, context, userId, null, "session.delete.admin.revoke");
  const blocked = await tx
    .update(users)
    .set({ blockedAt: now, updatedAt: now })
    .where(and(eq(users.tenantId, tenant.id), eq(users.id, userId), isNull(users.blockedAt)))
    .returning({ id: users.id });
  return blocked.length > 0;
}

/** @returns false if the account was not blocked */
export async function unblockAccount(
  tx: Transaction,
  { tenant, now }: EventContext & Pick<ClientContext<unknown>, "now">,
  userId: string,
): Promise<boolean> {
  const unblocked = await tx
    .update(users)
    .set({ blockedAt: null, updatedAt: now })
    .where(and(eq(users.tenantId, tenant.id), eq(users.id, userId), isNotNull(users.blockedAt)))
    .returning({ id: users.id });
  return unblocked.length > 0;
}
