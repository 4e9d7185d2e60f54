import { audit, commandLine } from "../../audit/audit.ts";
import { deleteUser, recordDeregistrations } from "../../authenticator/delete-user.ts";
import type { Tenant } from "../../config/tenant.ts";
import { currentTime } from "../../database/current-time.ts";
import { deleteUser as deletePasskeyUser } from "../../passkey-server/users.ts";
import type { CliRuntime } from "../cli-runtime.ts";
import { CommandError, command } from "../command.ts";
import { findTenant } from "../find-tenant.ts";

/** Users of applications, who have no account here: their ids are the applications'. */

type Deletion = (
  tx: Parameters<Parameters<CliRuntime["database"]["write"]["transaction"]>[0]>[0],
  context: { runtime: CliRuntime; tenant: Tenant; client: typeof commandLine; now: Date },
  userId: string,
) => Promise<boolean>;

/** @param remove deletes the user within a transaction, and writes to the audit log; false if there is none */
const deletion = (name: string, description: { summary: string; details: string }, remove: Deletion) =>
  command({
    name,
    ...description,
    takes: ["user_id"],
    options: {
      tenant: { description: "Id of the tenant; by default the default tenant.", value: "id" },
    },
    async run(cli, values, [userId = ""]) {
      const isDeleted = await cli.withRuntime(async (runtime) => {
        const tenant = await findTenant(runtime, values.tenant);
        const context = { runtime, tenant, client: commandLine, now: await currentTime(runtime) };
        return runtime.database.write.transaction((tx) => remove(tx, context, userId));
      });
      if (!isDeleted) throw new CommandError(`there is no user ${userId}`);
    },
  });

export const authenticatorUsersDelete = deletion(
  "authenticator-users delete",
  {
    summary: "Delete a user of the authenticator interface with devices and requests.",
    details: [
      "The user is named by the application's id. The authenticators keep their keys, which are accepted nowhere. If the",
      "devices were the second factor of an account, its trusted devices end, and its owner is not notified.",
    ].join("\n"),
  },
  async (tx, context, userId) => {
    const devices = await deleteUser(tx, context.tenant, userId);
    await recordDeregistrations(tx, context, devices ?? []);
    return devices !== null;
  },
);

export const passkeyUsersDelete = deletion(
  "passkey-users delete",
  {
    summary: "Delete a user of the passkey server with credentials and transactions.",
    details: "The user is named by the application's id. Receipts that were issued stay valid.",
  },
  async (tx, context, userId) => {
    const isDeleted = await deletePasskeyUser(tx, context.tenant.id, userId);
    if (isDeleted) await audit(context, "webauthn_user_deleted", { actor_user_id: userId })(tx);
    return isDeleted;
  },
);
