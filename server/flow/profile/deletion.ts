import { deleteAccount } from "../../account/deletion.ts";
import { audit } from "../../audit/audit.ts";
import { configured } from "../../conditions/leaves.ts";
import { securityNotice } from "../../mail/security-notices.ts";
import { go } from "../outcome.ts";
import { primaryAddressOf } from "./emails.ts";
import { sensitiveAction } from "./profile-action.ts";

/** Profile action that deletes the account. */
export const deletionActions = {
  account_delete: sensitiveAction({
    description: "Delete the account and everything in it.",
    costs: ["write", "mail"],
    when: configured("account.allow_deletion"),
    to: ["account_deleted"],
    run({ request, account, flowId }) {
      const { id } = account.profile;
      return go("account_deleted", {
        writes: [deleteAccount(request, id, flowId), audit(request, "user_deleted", {}, id)],
        jobs: securityNotice(request, "account_delete", primaryAddressOf(account)),
        cookieChanges: { session: "ended" },
      });
    },
  }),
};
