import { blockAccount, unblockAccount } from "../account/blocking.ts";
import { emit } from "../events/emit.ts";
import type { UserObject } from "../objects/user-object.ts";
import { changeUser, type OperatorContext } from "./change-user.ts";
import type { AdminVerdict } from "./rejections.ts";

/** Blocks a user. A user who is blocked already stays so since the first time. */
export function blockUser(context: OperatorContext, userId: string) {
  return setBlocked(context, userId, { write: blockAccount, auditType: "user_blocked" });
}

/** Ends the block of a user; a user without one stays as it is. */
export function unblockUser(context: OperatorContext, userId: string) {
  return setBlocked(context, userId, { write: unblockAccount, auditType: "user_unblocked" });
}

function setBlocked(
  context: OperatorContext,
  userId: string,
  change: { write: typeof blockAccount; auditType: "user_blocked" | "user_unblocked" },
): Promise<AdminVerdict<{ user: UserObject }>> {
  return changeUser(context, userId, async ({ tx, record, shown }) => {
    if (await change.write(tx, context, userId)) {
      await record(change.auditType);
      await emit(context, "user.update", userId)(tx);
    }
    return { ok: true, user: await shown() };
  });
}
