import { sql } from "drizzle-orm";
import { audit, auditAttempt } from "../audit/audit.ts";
import type { FailureReason } from "../audit/failure-reasons.ts";
import type { Config } from "../config/schema.ts";
import type { ClientContext } from "../context/context.ts";
import type { ConsoleRole } from "../identity/console-roles.ts";
import { lockUser } from "../identity/lock-user.ts";
import { isMadeByOperator, type Session } from "../objects/session.ts";
import { type ContextClass, meetsOne } from "../openid/authentication-context.ts";
import { makeConsoleSession } from "./console-sessions.ts";
import { hasOperator, strongestRole, writeGrant } from "./grants.ts";
import { consumeInvitation, type InvitationRefusal } from "./invitations.ts";

/** What this module takes of the process. */
type Process = Parameters<typeof makeConsoleSession>[0] & Parameters<typeof audit>[0]["runtime"];

/** Classes of authentication that each value of `console.require` accepts. */
const accepted: Record<Config["console"]["require"], readonly ContextClass[]> = {
  phishing_resistant: ["phr"],
  multi_factor: ["urn:stile:mfa"],
  any: ["urn:stile:sign-in"],
};

/** The classes that a sign-in to the console asks for. */
export const requiredClasses = ({ console: { require } }: Pick<Config, "console">) => accepted[require];

/** Why an account may not enter. */
export type EntryRefusal = FailureReason<"console_entry_rejected">;

/**
 * Lets the user of a sign-in enter the console, and makes the first operator by an invitation.
 *
 * @param session that of the sign-in
 * @param invitation the token of a link for the first operator
 * @returns the token of the new session of the console and its role; or why there is none, `session_ended` if the sign-in has
 *   ended meanwhile
 */
export async function enterConsole(
  context: ClientContext<Process>,
  session: Session,
  invitation: string | null,
): Promise<{ token: string; role: ConsoleRole } | { refused: EntryRefusal | "session_ended" }> {
  const { runtime, tenant, now } = context;
  const refuse = async (refused: EntryRefusal) => {
    await runtime.database.write.transaction(
      auditAttempt(context, "console_entry_rejected", { reason: refused }, { userId: session.userId }),
    );
    return { refused };
  };
  if (isMadeByOperator(session) || !meetsOne(session.factors, accepted[runtime.config.console.require]))
    return refuse("weak_sign_in");
  const unmade = invitation === null ? null : await becomeOperator(context, session.userId, invitation);
  if (unmade) return refuse(unmade);
  const role = await strongestRole(runtime.database.write, runtime, tenant, [session.userId]);
  if (role === null) return refuse("no_role");
  const token = await makeConsoleSession(runtime, tenant, { sessionId: session.id, now });
  if (token === null) return { refused: "session_ended" };
  await runtime.database.write.transaction(audit(context, "console_entered", { role }, session.userId));
  return { token, role };
}

/**
 * Two links at once make one operator: the row of the default tenant is locked while it is decided.
 *
 * @returns why the account was not made one; null if it was
 */
async function becomeOperator(
  context: ClientContext<Process>,
  userId: string,
  invitation: string,
): Promise<InvitationRefusal | null> {
  const { runtime, tenant } = context;
  if (tenant.id !== runtime.tenant.id) return "invitation_used";
  return runtime.database.write.transaction(async (tx) => {
    await tx.execute(sql`select 1 from tenants where id = ${tenant.id} for no key update`);
    const isValid = await consumeInvitation(tx, runtime, invitation);
    if (await hasOperator(tx, runtime)) return "operator_exists";
    if (!isValid) return "invitation_used";
    await lockUser(tx, tenant.id, userId);
    return (await writeGrant(tx, context, userId, "operator")) === null ? null : "invitation_used";
  });
}
