import { and, eq, ne } from "drizzle-orm";
import { schema, type Transaction } from "#db/client";
import { endOtherSessions } from "../sessions/sessions.ts";

const { flows, passwords, webauthnCredentials } = schema;

/**
 * What ends when a mailed code proves an address for the first time. Until then anybody may have made the account
 * and waited inside for the owner of the address, so whatever could let them in again goes: password, passkeys,
 * sessions, and logins that are under way (Sudhodanan and Paverd, "Pre-hijacked accounts", 2022).
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
  await tx.delete(passwords).where(and(eq(passwords.tenantId, tenantId), eq(passwords.userId, userId)));
  await tx
    .delete(webauthnCredentials)
    .where(and(eq(webauthnCredentials.tenantId, tenantId), eq(webauthnCredentials.userId, userId)));
  await endOtherSessions(tx, tenantId, userId);
  await endOtherFlows(tx, tenantId, userId, flowId);
}

/** Ends what is under way for an account elsewhere: whoever has got half way by an old password gets no further. */
export async function endOtherFlows(
  tx: Transaction,
  tenantId: string,
  userId: string,
  flowId: string,
): Promise<void> {
  await tx
    .delete(flows)
    .where(and(eq(flows.tenantId, tenantId), eq(flows.userId, userId), ne(flows.id, flowId)));
}
