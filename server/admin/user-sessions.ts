import { endSignIns } from "../account/access-revocation.ts";
import { factsById } from "../identity/facts.ts";
import { isUser } from "../identity/users.ts";
import type { Signing } from "../keys/tenant-signing-keys.ts";
import type { Session } from "../objects/session.ts";
import type { Logs } from "../observability/logger.ts";
import { liveSessions } from "../sessions/session-list.ts";
import { endOtherSessions, endSessionOfUser, issueSession } from "../sessions/sessions.ts";
import { type AdminContext, changeUser, type OperatorContext } from "./change-user.ts";
import { type AdminVerdict, notFound, rejectAdmin } from "./rejections.ts";

/** Lists the live sessions of a user, newest first. */
export async function listUserSessions(
  { runtime, tenant, now }: Pick<OperatorContext, "runtime" | "tenant" | "now">,
  userId: string,
): Promise<AdminVerdict<{ sessions: Session[] }>> {
  const { read } = runtime.database;
  if (!(await isUser(read, tenant.id, userId))) return notFound;
  return { ok: true, sessions: await liveSessions(read, tenant, userId, now) };
}

/**
 * Creates a session of a user who has proved nothing: it counts as authenticated long ago, so that a change of the
 * account asks for a proof.
 *
 * @param browser what the session shows of the browser that it is for
 */
export async function createUserSession(
  context: AdminContext<Logs & Signing>,
  userId: string,
  browser: { userAgent: string | null; ipAddress: string | null },
): Promise<AdminVerdict<{ token: string }>> {
  const { runtime, tenant } = context;
  const user = await factsById(runtime.database.read, tenant.id, userId);
  if (!user) return notFound;
  const { email, emailVerified, username } = user;
  const { issued, write } = await issueSession(context, {
    userId,
    factors: [],
    amr: [],
    rememberMe: true,
    email,
    emailVerified,
    username,
    byOperator: browser,
  });
  return changeUser(context, userId, async ({ tx, user, record }) => {
    if (user.blocked) return rejectAdmin("conflict", "The user is blocked.");
    await write(tx);
    await record("session_created");
    return { ok: true, token: issued.token };
  });
}

/** Ends a session of a user: its token is invalid from the commit on. */
export function endUserSession(
  context: OperatorContext,
  userId: string,
  sessionId: string,
): Promise<AdminVerdict> {
  return changeUser(context, userId, async ({ tx, record }) => {
    const ended = await endSessionOfUser(tx, context, userId, sessionId, "session.delete.admin.revoke");
    if (!ended) return notFound;
    await record("session_revoked");
    return { ok: true };
  });
}

/** Ends all sessions of a user, and the unfinished sign-ins. */
export function endUserSessions(context: OperatorContext, userId: string): Promise<AdminVerdict> {
  return changeUser(context, userId, async ({ tx, record }) => {
    await endSignIns(tx, context.tenant.id, userId);
    await endOtherSessions(context, userId, "session.delete.admin.revoke")(tx);
    await record("session_revoked", { all: true });
    return { ok: true };
  });
}
