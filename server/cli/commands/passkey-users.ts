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
      const { id } = await findTenant(runtime, values.tenant);
      return runtime.database.write.transaction((tx) => deleteUser(tx, id, userId));
    });
    if (!deleted) throw new CommandError(`there is no user ${userId}`);
  },
});
