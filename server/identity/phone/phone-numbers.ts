import { and, eq, isNull } from "drizzle-orm";
import { schema } from "#db/client";
import { ConflictError } from "#db/errors";
import { executePart, type Part } from "#db/part";
import type { Write } from "#db/write";
import type { RequestContext } from "../../context/context.ts";
import type { OnPlatform } from "../../lib/platform.ts";
import { lockUser } from "../lock-user.ts";

/** What this module takes of the process. */
type Process = OnPlatform;

const { phoneNumbers } = schema;

/** A phone number to set. */
export interface NewPhone {
  userId: string;
  number: string;
  verifiedAt: Date | null;
  id: string;
  now: Date;
}

const phoneText = `new_phone as (
  insert into phone_numbers (tenant_id, id, user_id, number, verified_at, created_at, updated_at)
  values ($1, $2, $3, $4, $5, $6, $6))`;

/**
 * The part that sets the phone number of an account that has none. It violates `phone_numbers_number_unique` if another
 * account of the tenant has the number, and `phone_numbers_user_unique` if this account has one.
 */
export function phonePart(tenantId: string, { userId, number, verifiedAt, id, now }: NewPhone): Part {
  return {
    name: "phone",
    text: phoneText,
    values: [tenantId, id, userId, number, verifiedAt, now],
    ofAccount: true,
  };
}

/**
 * Sets the phone number of an account in place of the one that it has.
 *
 * @param phone `number` in canonical form; `verified`: whether a code that was sent to it was entered
 * @returns a write that violates `phone_numbers_number_unique` if another account of the tenant has the number
 */
export function setPhone(
  { tenant, runtime, now }: RequestContext<Process>,
  userId: string,
  { number, verified }: { number: string; verified: boolean },
): Write {
  const id = runtime.platform.uuid();
  const verifiedAt = verified ? now : null;
  return async (tx) => {
    await lockUser(tx, tenant.id, userId);
    const replaced = await tx
      .update(phoneNumbers)
      .set({ number, verifiedAt, updatedAt: now })
      .where(own(tenant.id, userId))
      .returning({ id: phoneNumbers.id });
    if (replaced.length > 0) return;
    await executePart(tx, phonePart(tenant.id, { userId, number, verifiedAt, id, now }));
  };
}

/**
 * Marks the number of an account as verified.
 *
 * @returns a write that throws ConflictError("phone") if the account does not have the number, or has verified it
 */
export function setPhoneVerified(
  { tenant, now }: Pick<RequestContext<Process>, "tenant" | "now">,
  userId: string,
  number: string,
): Write {
  return async (tx) => {
    const marked = await tx
      .update(phoneNumbers)
      .set({ verifiedAt: now, updatedAt: now })
      .where(and(unverified(tenant.id, userId), eq(phoneNumbers.number, number)))
      .returning({ id: phoneNumbers.id });
    if (marked.length === 0) throw new ConflictError("phone");
  };
}

/**
 * Removes the number of an account, which other accounts can verify then.
 *
 * @returns a write that throws ConflictError("phone") if the account does not have the number
 */
export function removePhone(
  { tenant }: Pick<RequestContext<Process>, "tenant">,
  userId: string,
  number: string,
): Write {
  return async (tx) => {
    const removed = await tx
      .delete(phoneNumbers)
      .where(and(own(tenant.id, userId), eq(phoneNumbers.number, number)))
      .returning({ id: phoneNumbers.id });
    if (removed.length === 0) throw new ConflictError("phone");
  };
}

/**
 * Releases an unverified number so that its verified owner can register it.
 *
 * @returns a write that throws ConflictError("user") if the account does not exist
 */
export function releasePhone(
  { tenant }: Pick<RequestContext<Process>, "tenant">,
  userId: string,
  number: string,
): Write {
  return async (tx) => {
    await lockUser(tx, tenant.id, userId);
    await tx.delete(phoneNumbers).where(and(unverified(tenant.id, userId), eq(phoneNumbers.number, number)));
  };
}

const own = (tenantId: string, userId: string) =>
  and(eq(phoneNumbers.tenantId, tenantId), eq(phoneNumbers.userId, userId));

const unverified = (tenantId: string, userId: string) =>
  and(own(tenantId, userId), isNull(phoneNumbers.verifiedAt));
