import type { OperatorContext } from "../../admin/change-user.ts";
import type { AdminRejection } from "../../admin/rejections.ts";
import { blockUser, unblockUser } from "../../admin/user-blocking.ts";
import { endUserSessions } from "../../admin/user-sessions.ts";
import type { UserObject } from "../../objects/user-object.ts";
import { atTenant } from "../at-tenant.ts";
import { command, missing } from "../command.ts";
import { findUser, NAMED_BY } from "../find-user.ts";
import { tenantOption } from "../options.ts";

type Change = (
  context: OperatorContext,
  userId: string,
) => Promise<{ ok: true; user?: UserObject } | AdminRejection>;

/** Declares a command that changes whether a user can sign in or is signed in. */
function accessCommand(
  name: "block" | "unblock" | "sign-out",
  { summary, details, done, change }: { summary: string; details: string; done: string; change: Change },
) {
  return command({
    name: `users ${name}`,
    summary,
    details: [NAMED_BY, ...(details === "" ? [] : [details])].join("\n"),
    takes: ["user"],
    options: {
      tenant: tenantOption,
      json: { description: "The result, as JSON." },
    },
    async run(cli, values, [name = ""]) {
      await atTenant(cli, values.tenant, async (at) => {
        const id = await findUser(at, name);
        const changed = await change(at, id);
        if (!changed.ok) throw missing("user", name);
        const blocking = changed.user ? { blocked_at: changed.user.blocked_at ?? null } : {};
        await cli.print(values.json ? JSON.stringify({ id, result: done, ...blocking }) : `${done} ${id}`);
      });
    },
  });
}

export const usersBlock = accessCommand("block", {
  summary: "Block a user, who is signed out and cannot sign in.",
  details:
    "Sessions, trusted devices and unfinished sign-ins end; credentials stay for the time after the block.",
  done: "blocked",
  change: blockUser,
});

export const usersUnblock = accessCommand("unblock", {
  summary: "End the block of a user.",
  details: "",
  done: "unblocked",
  change: unblockUser,
});

export const usersSignOut = accessCommand("sign-out", {
  summary: "End all sessions of a user, and unfinished sign-ins.",
  details: "The user can sign in again.",
  done: "signed out",
  change: endUserSessions,
});
