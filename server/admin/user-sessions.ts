import { audit } from "../audit/audit.ts";
import { isUser } from "../identity/users.ts";
import type { ClientContext } from "../runtime.ts";
import type { Session } from "../sessions/session.ts";
import { liveSessions } from "../sessions/session-list.ts";
import { endSessionOfUser } from "../sessions/sessions.ts";
import { changeUser } from "./change-user.ts";
import { type AdminRejection, notFound } from "./rejections.ts";

/** Lists the live sessions of a user, newest first. */
export async function listUserSessions(
  { runtime, tenant, now }: ClientContext,
  userId: string,
): Promise<{ ok: true; sessions: Session[] } | AdminRejection> {
  const { read } = runtime.database;
  if (!(await isUser(read, tenant.id, userId))) return notFound;
  return { ok: true, sessions: await liveSessions(read, tenant, userId, now) };
}

/** Ends a session of a user: its token is invalid from the commit on. */
export function endUserSession(
  context: ClientContext,
  userId: string,
  sessionId: string,
): Promise<{ ok: true } | AdminRejection> {
  return changeUser(context, userId, async (tx) => {
    const ended = await endSessionOfUser(tx, context, userId, sessionId, "session.delete.admin.revoke");
    if (!ended) return notFound;
    await audit(context, "session_revoked", { by: "admin" }, userId)(tx);
    return { ok: true };
  });
}
