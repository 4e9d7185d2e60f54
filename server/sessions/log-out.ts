import { and, eq } from "drizzle-orm";
import { type Databases, schema, type Transaction } from "#db/client";
import { audit } from "../audit/audit.ts";
import type { AuditOutputs } from "../audit/audit-output.ts";
import type { ClientContext, TenantContext } from "../context/context.ts";
import type { WakesWebhooks } from "../events/emit.ts";
import type { OnPlatform } from "../lib/platform.ts";
import { leaveProviderSession, providerSessionOf } from "./provider-sessions.ts";
import { applicationsOf, endSession, type FoundSession } from "./sessions.ts";

/** What this module takes of the process. */
type Process = OnPlatform & Databases & AuditOutputs & WakesWebhooks;

const { sessions } = schema;

interface SignOut {
  found: readonly { session: Pick<FoundSession["session"], "id" | "userId">; now: Date }[];
  /**
   * The client is a browser that goes on to the provider that a session was signed in at, and from there to this address, already
   * checked; null for a page of this service.
   */
  leaving?: { redirectTo: string | null };
}

/**
 * Ends the sessions that a client logs out of, and records each in the audit log.
 *
 * @returns `state` of the sign-out at the provider; null if there is none
 */
export function logOut(
  context: Omit<ClientContext<Process>, "now">,
  found: SignOut["found"],
  leaving?: { redirectTo: string | null },
): Promise<string | null> {
  const signOut = { found, ...(leaving ? { leaving } : {}) };
  return context.runtime.database.write.transaction((tx) => logOutIn(tx, context, signOut));
}

/** The same within a transaction. */
export async function logOutIn(
  tx: Transaction,
  context: Omit<ClientContext<Process>, "now">,
  { found, leaving }: SignOut,
): Promise<string | null> {
  let state: string | null = null;
  for (const { session, now } of found) {
    // A browser with several sessions, of which all but one were planted or left behind, can go to one provider.
    if (leaving && state === null)
      state = await leaveProviderSession(tx, context, { sessionId: session.id, ...leaving });
    await endSession(context, session.id, "session.delete.explicit.logout")(tx);
    await audit({ ...context, now }, "user_logged_out", {}, session.userId)(tx);
  }
  return state;
}

/** Ends the sessions that a browser had before it was issued another one. */
export async function endReplacedSessions(
  context: TenantContext<Process>,
  found: readonly FoundSession[],
  { id: issuedId }: { id: string },
): Promise<void> {
  const replaced = found.filter(({ session }) => session.id !== issuedId);
  if (replaced.length === 0) return;
  await context.runtime.database.write.transaction(async (tx) => {
    const [issuedTo] = await tx
      .select({ userId: sessions.userId })
      .from(sessions)
      .where(and(eq(sessions.tenantId, context.tenant.id), eq(sessions.id, issuedId)));
    for (const { session } of replaced) {
      const isSame = session.userId === issuedTo?.userId;
      const carry = isSame ? await applicationsOf(tx, context.tenant, session.id) : null;
      const carryProvider = isSame ? await providerSessionOf(tx, context.tenant, session.id) : null;
      await endSession(context, session.id, "session.delete.explicit.logout")(tx);
      await carry?.(issuedId);
      await carryProvider?.(issuedId);
    }
  });
}
