import { isRetryable } from "#db/errors";
import type { Logs } from "../observability/logger.ts";
import type { AdminContext } from "./change-user.ts";
import type { AdminVerdict } from "./rejections.ts";
import { blockUser, unblockUser } from "./user-blocking.ts";
import { endUserSessions } from "./user-sessions.ts";
import { deleteAdminUser } from "./users.ts";

type Change = (context: AdminContext, userId: string) => Promise<AdminVerdict>;

/** What is done to several users at once. */
const changes = {
  block: blockUser,
  unblock: unblockUser,
  end_sessions: endUserSessions,
  delete: deleteAdminUser,
} satisfies Record<string, Change>;

export type UserAction = keyof typeof changes;

export const userActions = Object.keys(changes) as [UserAction, ...UserAction[]];

/** What became of one of several users; null if an error kept it from being changed. */
export interface UserResult {
  userId: string;
  verdict: AdminVerdict | null;
}

/**
 * Does the same to several users, one after the other. Each is a change of its own, with its entry of the audit log and
 * its events, so that what one user rejects does not keep the others from it.
 *
 * @param userIds an id that occurs again counts once
 */
export async function changeUsers(
  context: AdminContext<Logs>,
  action: UserAction,
  userIds: readonly string[],
): Promise<UserResult[]> {
  const results: UserResult[] = [];
  for (const userId of new Set(userIds)) {
    try {
      results.push({ userId, verdict: await changes[action](context, userId) });
    } catch (error) {
      // The answer has to tell which of them are done.
      const level = isRetryable(error) ? "warn" : "error";
      context.runtime.log[level]({ err: error }, "one of several users was not changed");
      results.push({ userId, verdict: null });
    }
  }
  return results;
}
