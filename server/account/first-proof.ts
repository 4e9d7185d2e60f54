import { and, asc, eq, isNotNull, isNull, ne } from "drizzle-orm";
import { type ReadOnly, schema, type Transaction } from "#db/client";
import { lockUser } from "../identity/users.ts";
import { endOtherSessions } from "../sessions/sessions.ts";

const {
  authenticatorDevices,
  emails,
  exchangeTokens,
  flows,
  identities,
  passwords,
  recoveryCodes,
  thirdPartyRequests,
  totpSecrets,
  trustedDevices,
  webauthnCredentials,
} = schema;

/** Everything that lets somebody into an account, or past its second factor. */
const waysIn = [passwords, webauthnCredentials, totpSecrets, authenticatorDevices, recoveryCodes, identities];

/**
 * What ends when a mailed code proves an address for the first time. Until then anybody may have made the account
 * and waited inside for the owner of the address, so whatever could let them in again goes: password, passkeys,
 * second factors, identities at providers, trusted browsers, sessions, and logins and connections that are under way
 * (Sudhodanan and Paverd, "Pre-hijacked accounts", 2022).
 *
 * Comes before the new session of the same step is written.
 *
 * @param flowId the flow in which the address was proved; it goes on
 */
export async function dropCredentialsSetBeforeVerification(
  tx: Transaction,
  tenantId: string,
  userId: string,
  flowId: string,
): Promise<void> {
  await revokeOpenAccess(tx, tenantId, userId, flowId);
  for (const table of waysIn) {
    await tx.delete(table).where(and(eq(table.tenantId, tenantId), eq(table.userId, userId)));
  }
}

/**
 * Ends an account's sessions, the trust in its browsers, and logins and connections of it that are under way
 * elsewhere: whoever has got half way by an old password gets no further. A step that is just being written is waited
 * for first, so that it leaves nothing behind.
 */
export async function revokeOpenAccess(
  tx: Transaction,
  tenantId: string,
  userId: string,
  flowId: string,
): Promise<void> {
  await lockUser(tx, tenantId, userId);
  await tx
    .delete(flows)
    .where(and(eq(flows.tenantId, tenantId), eq(flows.userId, userId), ne(flows.id, flowId)));
  for (const table of [thirdPartyRequests, exchangeTokens, trustedDevices]) {
    await tx.delete(table).where(and(eq(table.tenantId, tenantId), eq(table.userId, userId)));
  }
  await endOtherSessions(tx, tenantId, userId);
}

/**
 * Ends sign-ins of an account that are under way: whoever has got half way by what is no longer a way in gets no
 * further. What is managed by sessions goes on with them.
 */
export async function endSignIns(tx: Transaction, tenantId: string, userId: string): Promise<void> {
  await lockUser(tx, tenantId, userId);
  const underWay = and(ne(flows.type, "profile"), isNull(flows.finishedAt));
  await tx.delete(flows).where(and(eq(flows.tenantId, tenantId), eq(flows.userId, userId), underWay));
}

/**
 * Whether somebody has proved any address of an account. It is theirs then: who proves another address of it, without
 * being signed in, may be somebody else, whose address was added by mistake or in wait for them.
 */
export async function hasVerifiedEmail(db: ReadOnly, tenantId: string, userId: string): Promise<boolean> {
  const [proved] = await db.select({ id: emails.id }).from(emails).where(provedOf(tenantId, userId)).limit(1);
  return proved !== undefined;
}

/**
 * Takes an address that was never proved from an account, for whoever has proved it to have one of their own. Where it
 * was the primary one, the oldest that is proved takes its place.
 */
export async function releaseAddress(
  tx: Transaction,
  tenantId: string,
  { userId, address, now }: { userId: string; address: string; now: Date },
): Promise<void> {
  await lockUser(tx, tenantId, userId);
  const unproved = and(
    eq(emails.tenantId, tenantId),
    eq(emails.userId, userId),
    eq(emails.address, address),
    isNull(emails.verifiedAt),
  );
  const [released] = await tx.delete(emails).where(unproved).returning({ isPrimary: emails.isPrimary });
  if (!released?.isPrimary) return;
  const [oldest] = await tx
    .select({ id: emails.id })
    .from(emails)
    .where(provedOf(tenantId, userId))
    .orderBy(asc(emails.createdAt), asc(emails.id))
    .limit(1);
  if (!oldest) return;
  await tx
    .update(emails)
    .set({ isPrimary: true, updatedAt: now })
    .where(and(eq(emails.tenantId, tenantId), eq(emails.id, oldest.id)));
}

const provedOf = (tenantId: string, userId: string) =>
  and(eq(emails.tenantId, tenantId), eq(emails.userId, userId), isNotNull(emails.verifiedAt));
