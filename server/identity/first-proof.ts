import { and, eq, ne } from "drizzle-orm";
import { schema, type Transaction } from "#db/client";
import { endOtherSessions } from "../sessions/sessions.ts";
import { lockUser } from "./users.ts";

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
  await endWhatIsOpen(tx, tenantId, userId, flowId);
  await tx.delete(passwords).where(and(eq(passwords.tenantId, tenantId), eq(passwords.userId, userId)));
  await tx
    .delete(webauthnCredentials)
    .where(and(eq(webauthnCredentials.tenantId, tenantId), eq(webauthnCredentials.userId, userId)));
}

/**
 * Ends an account's sessions, and logins of it that are under way elsewhere: whoever has got half way by an old
 * password gets no further. A step that is just being written is waited for first, so that it leaves nothing behind.
 */
export async function endWhatIsOpen(
  tx: Transaction,
  tenantId: string,
  userId: string,
  flowId: string,
): Promise<void> {
  await lockUser(tx, tenantId, userId);
  await tx
    .delete(flows)
    .where(and(eq(flows.tenantId, tenantId), eq(flows.userId, userId), ne(flows.id, flowId)));
  await endOtherSessions(tx, tenantId, userId);
}
