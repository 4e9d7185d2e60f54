import { and, asc, eq, isNotNull, isNull, sql } from "drizzle-orm";
import { type ReadOnly, schema, type Transaction } from "#db/client";
import { ConflictError } from "#db/errors";
import { executePart, type Part } from "#db/part";
import { prepared } from "#db/prepared";
import { type Write, writeOf } from "#db/write";
import type { RequestContext } from "../../context/context.ts";
import type { OnPlatform } from "../../lib/platform.ts";
import type { IfTaken } from "../identifier.ts";
import { lockUser } from "../lock-user.ts";

/** What this module takes of the process. */
type Process = OnPlatform;

const { emails } = schema;

/** An address to add to an account. */
export interface NewEmail {
  userId: string;
  address: string;
  isPrimary: boolean;
  verifiedAt: Date | null;
  id: string;
  now: Date;
}

const emailText = `new_email as (
  insert into emails (tenant_id, id, user_id, address, is_primary, verified_at, created_at, updated_at)
  values ($1, $2, $3, $4, $5, $6, $7, $7)`;

/**
 * The part that adds an address to an account: the one place that inserts rows of `emails`. It violates
 * `emails_address_unique` if an account of the tenant has the address, and `emails_primary_unique` if `isPrimary` is set
 * and the account has a primary address.
 */
export function emailPart(tenantId: string, email: NewEmail, ifTaken: IfTaken = "violation"): Part {
  const { id, userId, address, isPrimary, verifiedAt, now } = email;
  const values = [tenantId, id, userId, address, isPrimary, verifiedAt, now];
  if (ifTaken === "violation") return { name: "email", text: `${emailText})`, values, ofAccount: true };
  return {
    name: "email_free",
    text: `${emailText} on conflict (tenant_id, address) do nothing returning 1)`,
    values,
    refuses: "case when not exists (select 1 from new_email) then 'address' end",
    ofAccount: true,
  };
}

/** Adds an address to an account, as `emailPart` does. */
export async function addEmail(tx: Transaction, tenantId: string, email: NewEmail): Promise<void> {
  await executePart(tx, emailPart(tenantId, email));
}

const verification = prepared("email_proof", (db) =>
  db
    .select({ verifiedAt: emails.verifiedAt })
    .from(emails)
    .where(
      and(
        eq(emails.tenantId, sql.placeholder("tenantId")),
        eq(emails.userId, sql.placeholder("userId")),
        eq(emails.address, sql.placeholder("address")),
      ),
    ),
);

/** Whether an account has verified an address. False if it does not have the address. */
export async function isEmailVerified(
  db: ReadOnly,
  tenantId: string,
  { userId, address }: { userId: string; address: string },
): Promise<boolean> {
  const [email] = await verification(db).execute({ tenantId, userId, address });
  return email?.verifiedAt != null;
}

/**
 * Marks an address of an account as verified. The time of an earlier verification stays.
 *
 * @throws ConflictError("email") if the account does not have the address
 */
export async function setEmailVerified(
  tx: Transaction,
  tenantId: string,
  { userId, address, now }: { userId: string; address: string; now: Date },
): Promise<void> {
  const marked = await tx
    .update(emails)
    .set({
      verifiedAt: sql`coalesce(${emails.verifiedAt}, ${now.toISOString()}::timestamptz)`,
      updatedAt: now,
    })
    .where(and(eq(emails.tenantId, tenantId), eq(emails.userId, userId), eq(emails.address, address)))
    .returning({ id: emails.id });
  if (marked.length === 0) throw new ConflictError("email");
}

/**
 * Adds an address to an account.
 *
 * @param email `address` in canonical form; `verified`: whether a code that was sent to it was entered
 * @returns a write that violates `emails_address_unique` if an account of the tenant has the address
 */
export function createEmail(
  { tenant, runtime, now }: RequestContext<Process>,
  userId: string,
  email: { address: string; isPrimary: boolean; verified: boolean },
): Write {
  const { address, isPrimary, verified } = email;
  const id = runtime.platform.uuid();
  const verifiedAt = verified ? now : null;
  return writeOf(emailPart(tenant.id, { userId, address, isPrimary, verifiedAt, id, now }));
}

/**
 * Removes an address from its account.
 *
 * @throws ConflictError("email") if the account does not have it
 */
export function removeEmail({ tenant }: RequestContext<Process>, userId: string, id: string): Write {
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
export function setPrimaryEmail({ tenant, now }: RequestContext<Process>, userId: string, id: string): Write {
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

/**
 * Whether an account has a verified address. If so, a visitor who verifies another address of it without a session may
 * be a different person, whose address the account owner added by mistake or on purpose.
 */
export async function hasVerifiedEmail(db: ReadOnly, tenantId: string, userId: string): Promise<boolean> {
  const [verified] = await db
    .select({ id: emails.id })
    .from(emails)
    .where(verifiedOf(tenantId, userId))
    .limit(1);
  return verified !== undefined;
}

/**
 * Releases an unverified address so that its verified owner can register it. If it was the primary address, the oldest
 * verified one becomes primary.
 *
 * @throws ConflictError("user") if the account does not exist
 */
export async function releaseAddress(
  tx: Transaction,
  tenantId: string,
  { userId, address, now }: { userId: string; address: string; now: Date },
): Promise<void> {
  await lockUser(tx, tenantId, userId);
  const unverified = and(
    eq(emails.tenantId, tenantId),
    eq(emails.userId, userId),
    eq(emails.address, address),
    isNull(emails.verifiedAt),
  );
  const [released] = await tx.delete(emails).where(unverified).returning({ isPrimary: emails.isPrimary });
  if (!released?.isPrimary) return;
  const [oldest] = await tx
    .select({ id: emails.id })
    .from(emails)
    .where(verifiedOf(tenantId, userId))
    .orderBy(asc(emails.createdAt), asc(emails.id))
    .limit(1);
  if (!oldest) return;
  await tx
    .update(emails)
    .set({ isPrimary: true, updatedAt: now })
    .where(and(eq(emails.tenantId, tenantId), eq(emails.id, oldest.id)));
}

const own = (tenantId: string, userId: string, id: string) =>
  and(eq(emails.tenantId, tenantId), eq(emails.userId, userId), eq(emails.id, id));

const verifiedOf = (tenantId: string, userId: string) =>
  and(eq(emails.tenantId, tenantId), eq(emails.userId, userId), isNotNull(emails.verifiedAt));
