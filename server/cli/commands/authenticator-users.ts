import { commandLine } from "../../audit/audit.ts";
import { deleteUser, recordDeregistrations } from "../../authenticator/delete-user.ts";
import { currentTime } from "../../database/current-time.ts";
import { CommandError, command } from "../command.ts";
import { findTenant } from "../find-tenant.ts";

export const authenticatorUsersDelete = command({
  name: "authenticator-users delete",
  summary: "Delete a user of the authenticator interface with devices and requests.",
  details: [
    "The user is named by the application's id. The authenticators keep their keys, which are accepted nowhere. If the",
    "devices were the second factor of an account, its trusted devices end, and its owner is not notified.",
  ].join("\n"),
  takes: ["user_id"],
  options: {
    tenant: { description: "Id of the tenant; by default the default tenant.", value: "id" },
  },
  async run(cli, values, [userId = ""]) {
    const deleted = await cli.withRuntime(async (runtime) => {
      const tenant = await findTenant(runtime, values.tenant);
      const context = { runtime, tenant, client: commandLine, now: await currentTime(runtime) };
      return runtime.database.write.transaction(async (tx) => {
        const devices = await deleteUser(tx, tenant, userId);
        await recordDeregistrations(tx, context, devices ?? []);
        return devices;
      });
    });
    if (!deleted) throw new CommandError(`there is no user ${userId}`);
  },
});
