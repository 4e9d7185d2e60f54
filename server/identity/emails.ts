import { and, eq } from "drizzle-orm";
import { schema } from "#db/client";
import { ConflictError } from "#db/errors";
import type { Write } from "#db/write";
import type { RequestContext } from "../runtime.ts";
import { addEmail } from "./users.ts";

const { emails } = schema;

/**
 * Adds an address to an account.
 *
 * @param email `address` in canonical form; `verified`: whether a code that was sent to it was entered
 * @returns a write that violates `emails_address_unique` if an account of the tenant has the address
 */
export function createEmail(
  { tenant, runtime, now }: RequestContext,
  userId: string,
  email: { address: string; isPrimary: boolean; verified: boolean },
): Write {
  const { address, isPrimary, verified } = email;
  const id = runtime.platform.uuid();
  return (tx) =>
    addEmail(tx, tenant.id, { userId, address, isPrimary, verifiedAt: verified ? now : null, id, now });
}

/**
 * Removes an address from its account.
 *
 * @throws ConflictError("email") if the account does not have it
 */
export function removeEmail({ tenant }: RequestContext, userId: string, id: string): Write {
  return async (tx) => {
    const removed = await tx
      .delete(emails)
      .where(own(tenant.id, userId, id))
      .returning({ id: emails.id });
    if (removed.length === 0) throw new ConflictError("email");
  };
}

/**
 * Makes an address the primary one of its account.
 *
 * @throws ConflictError("email") if the account does not have it
 */
export function setPrimaryEmail({ tenant, now }: RequestContext, userId: string, id: string): Write {
  return async (tx) => {
    // First, because of `emails_primary_unique`.
    await tx
      .update(emails)
      .set({ isPrimary: false, updatedAt: now })
      .where(and(eq(emails.tenantId, tenant.id), eq(emails.userId, userId), eq(emails.isPrimary, true)));
    const promoted = await tx
      .update(emails)
      .set({ isPrimary: true, updatedAt: now })
      .where(own(tenant.id, userId, id))
      .returning({ id: emails.id });
    if (promoted.length === 0) throw new ConflictError("email");
  };
}

const own = (tenantId: string, userId: string, id: string) =>
  and(eq(emails.tenantId, tenantId), eq(emails.userId, userId), eq(emails.id, id));
