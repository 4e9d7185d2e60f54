import { and, eq } from "drizzle-orm";
import { schema } from "#db/client";
import { ConflictError } from "#db/errors";
import type { Write } from "#db/write";
import type { RequestContext } from "../runtime.ts";
import { addEmail } from "./users.ts";

const { emails } = schema;

/**
 * Gives an account a further address, which is its primary one when it is the first.
 *
 * @param email `address` in canonical form; `verified`: a code sent to it has just come back
 * @returns a write that violates `emails_address_unique` when any account has the address meanwhile
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
 * Takes an address from its account.
 *
 * @throws TakenError("email") when the account no longer has it
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
 * Makes one address of an account its primary one.
 *
 * @throws TakenError("email") when the account no longer has it
 */
export function setPrimaryEmail({ tenant, now }: RequestContext, userId: string, id: string): Write {
  return async (tx) => {
    // At no moment may there be two.
    await tx
      .update(emails)
      .set({ isPrimary: false, updatedAt: now })
      .where(and(eq(emails.tenantId, tenant.id), eq(emails.userId, userId), eq(emails.isPrimary, true)));
    const raised = await tx
      .update(emails)
      .set({ isPrimary: true, updatedAt: now })
      .where(own(tenant.id, userId, id))
      .returning({ id: emails.id });
    if (raised.length === 0) throw new ConflictError("email");
  };
}

const own = (tenantId: string, userId: string, id: string) =>
  and(eq(emails.tenantId, tenantId), eq(emails.userId, userId), eq(emails.id, id));
