import { and, eq } from "drizzle-orm";
import { schema } from "#db/client";
import { rulesOf } from "#db/schema/table";
import { deletionWith, tables } from "#db/tables";
import type { Write } from "#db/write";
import { type EventContext, emit } from "../events/emit.ts";
import { lockUser } from "../identity/lock-user.ts";
import { readUserObject } from "../objects/user-object.ts";
import { deleteRows } from "./delete-rows.ts";

const { users } = schema;

/** Tables whose rows no foreign key deletes with the account. */
const tablesWithoutCascade = tables.filter(
  (table) => rulesOf(table).owner === "account" && deletionWith(users, table) === "statement",
);

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
    const user = await readUserObject(tx, tenant, userId);
    await deleteRows(tx, tablesWithoutCascade, { tenantId: tenant.id, userId, flowId });
    await tx.delete(users).where(and(eq(users.tenantId, tenant.id), eq(users.id, userId)));
    if (user) await emit(context, "user.delete", user)(tx);
  };
}
