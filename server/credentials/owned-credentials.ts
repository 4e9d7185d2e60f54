import { and, eq } from "drizzle-orm";
import { schema } from "#db/client";
import { ConflictError } from "#db/errors";
import type { Write } from "#db/write";
import type { RequestContext } from "../runtime.ts";

const { webauthnCredentials: table } = schema;

/**
 * Gives a passkey or a security key the name that its owner knows it by.
 *
 * @throws ConflictError("passkey") when the account no longer has it
 */
export function renameCredential(
  { tenant, now }: RequestContext,
  userId: string,
  { id, name }: { id: string; name: string },
): Write {
  return async (tx) => {
    const renamed = await tx
      .update(table)
      .set({ name, updatedAt: now })
      .where(and(eq(table.tenantId, tenant.id), eq(table.userId, userId), eq(table.id, id)))
      .returning({ id: table.id });
    if (renamed.length === 0) throw new ConflictError("passkey");
  };
}

/**
 * Takes a credential from its account.
 *
 * @param credential `mfaOnly`: whether it is to be a security key or a passkey; the other kind is not taken
 * @throws ConflictError("passkey") when the account no longer has it
 */
export function deleteCredential(
  { tenant }: RequestContext,
  userId: string,
  { id, mfaOnly }: { id: string; mfaOnly: boolean },
): Write {
  const own = and(eq(table.tenantId, tenant.id), eq(table.userId, userId), eq(table.id, id));
  return async (tx) => {
    const removed = await tx
      .delete(table)
      .where(and(own, eq(table.mfaOnly, mfaOnly)))
      .returning({ id: table.id });
    if (removed.length === 0) throw new ConflictError("passkey");
  };
}
