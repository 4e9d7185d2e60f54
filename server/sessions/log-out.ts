import { audit } from "../audit/audit.ts";
import type { ClientContext, TenantContext } from "../runtime.ts";
import { endSession, type FoundSession } from "./sessions.ts";

/** Ends the sessions that a client logs out of, and records each in the audit log. */
export async function logOut(
  context: Omit<ClientContext, "now">,
  found: readonly FoundSession[],
): Promise<void> {
  const { runtime, tenant } = context;
  await runtime.database.write.transaction(async (tx) => {
    for (const { session, now } of found) {
      await endSession(tx, tenant.id, session.id);
      await audit({ ...context, now }, "user_logged_out", {}, session.userId)(tx);
    }
  });
}

/** Ends the sessions that a browser had before it was issued another one. */
export async function endReplacedSessions(
  { runtime, tenant }: TenantContext,
  found: readonly FoundSession[],
  { id: issuedId }: { id: string },
): Promise<void> {
  for (const { session } of found)
    if (session.id !== issuedId) await endSession(runtime.database.write, tenant.id, session.id);
}
