import type { Transaction } from "#db/client";
import { audit } from "../../audit/audit.ts";
import { deleteUser, recordDeregistrations } from "../../authenticator/delete-user.ts";
import { deleteUser as deletePasskeyUser } from "../../passkey-server/users.ts";
import { type AtTenant, atTenant } from "../at-tenant.ts";
import { command, missing } from "../command.ts";
import { tenantOption } from "../options.ts";

/** Users of applications, who have no account here: their ids are the applications'. */

type Deletion = (tx: Transaction, at: AtTenant, userId: string) => Promise<boolean>;

/** @param remove deletes the user within a transaction, and writes to the audit log; false if there is none */
const deletion = (name: string, description: { summary: string; details: string }, remove: Deletion) =>
  command({
    name,
    ...description,
    takes: ["user_id"],
    options: { tenant: tenantOption },
    run: (cli, { tenant }, [userId = ""]) =>
      atTenant(cli, tenant, async (at) => {
        const isDeleted = await at.runtime.database.write.transaction((tx) => remove(tx, at, userId));
        if (!isDeleted) throw missing("user", userId);
      }),
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
  async (tx, at, userId) => {
    const devices = await deleteUser(tx, at.tenant, userId);
    await recordDeregistrations(tx, at, devices ?? []);
    return devices !== null;
  },
);

export const passkeyUsersDelete = deletion(
  "passkey-users delete",
  {
    summary: "Delete a user of the passkey server with credentials and transactions.",
    details: "The user is named by the application's id. Receipts that were issued stay valid.",
  },
  async (tx, at, userId) => {
    const isDeleted = await deletePasskeyUser(tx, at.tenant.id, userId);
    if (isDeleted) await audit(at, "webauthn_user_deleted", { actor_user_id: userId })(tx);
    return isDeleted;
  },
);
