import { and, eq } from "drizzle-orm";
import { type Queryable, schema } from "#db/client";
import { ConflictError } from "#db/errors";

const { users } = schema;

/**
 * Locks an account until the transaction ends, so that concurrent changes of it run one after the other.
 *
 * @throws ConflictError("user") if the account does not exist
 */
export async function lockUser(tx: Queryable, tenantId: string, userId: string): Promise<void> {
  const [user] = await tx
    .select({ id: users.id })
    .from(users)
    .where(and(eq(users.tenantId, tenantId), eq(users.id, userId)))
    .for("no key update");
  if (!user) throw new ConflictError("user");
}
