import type { OperatorContext } from "../../admin/change-user.ts";
import type { AdminRejection } from "../../admin/rejections.ts";
import { blockUser, unblockUser } from "../../admin/user-blocking.ts";
import { endUserSessions } from "../../admin/user-sessions.ts";
import { currentTime } from "../../database/current-time.ts";
import type { UserObject } from "../../objects/user-object.ts";
import { CommandError, command } from "../command.ts";
import { findTenant } from "../find-tenant.ts";
import { findUser, NAMED_BY } from "../find-user.ts";
import { asOperator } from "../operator.ts";

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
      tenant: { description: "Id of the tenant; by default the default tenant.", value: "id" },
      json: { description: "The result, as JSON." },
    },
    async run(cli, values, [name = ""]) {
      const { id, user } = await cli.withRuntime(async (runtime) => {
        const tenant = await findTenant(runtime, values.tenant);
        const id = await findUser(runtime, tenant, name);
        const changed = await change(asOperator(runtime, tenant, await currentTime(runtime)), id);
        if (!changed.ok) throw new CommandError(`there is no user ${name}`);
        return { id, user: changed.user };
      });
      const result = { id, result: done, ...(user ? { blocked_at: user.blocked_at ?? null } : {}) };
      await cli.print(values.json ? JSON.stringify(result) : `${done} ${id}`);
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
