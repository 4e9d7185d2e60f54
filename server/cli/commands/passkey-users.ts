import { audit, commandLine } from "../../audit/audit.ts";
import { currentTime } from "../../database/current-time.ts";
import { deleteUser } from "../../passkey-server/users.ts";
import { CommandError, command } from "../command.ts";
import { findTenant } from "../find-tenant.ts";

export const passkeyUsersDelete = command({
  name: "passkey-users delete",
  summary: "Delete a user of the passkey server with credentials and transactions.",
  details: "The user is named by the application's id. Receipts that were issued stay valid.",
  takes: ["user_id"],
  options: {
    tenant: { description: "Id of the tenant; by default the default tenant.", value: "id" },
  },
  async run(cli, values, [userId = ""]) {
    const deleted = await cli.withRuntime(async (runtime) => {
      const tenant = await findTenant(runtime, values.tenant);
      const now = await currentTime(runtime);
      const context = { runtime, tenant, client: commandLine, now };
      return runtime.database.write.transaction(async (tx) => {
        const deleted = await deleteUser(tx, tenant.id, userId);
        if (deleted) await audit(context, "webauthn_user_deleted", { actor_user_id: userId })(tx);
        return deleted;
      });
    });
    if (!deleted) throw new CommandError(`there is no user ${userId}`);
  },
});
