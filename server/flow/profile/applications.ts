import { z } from "zod";
import { audit } from "../../audit/audit.ts";
import { endAccess } from "../../openid/consents.ts";
import { STAY } from "../names.ts";
import { reject, stay } from "../outcome.ts";
import { itemId } from "./choice.ts";
import { profileAction } from "./profile-action.ts";

/** Profile actions on the applications that the user has signed in to by OpenID Connect. */
export const applicationActions = {
  application_revoke: profileAction({
    description: "End the access of an application to the account.",
    costs: ["write"],
    input: z.strictObject({ application_id: itemId() }),
    when: ({ account, config }) => config.openid.enabled && account.belongings.applications.length > 0,
    to: [STAY],
    errors: ["not_found"],
    run({ request, account }, { application_id: id }) {
      if (!account.belongings.applications.some((application) => application.id === id))
        return reject("not_found");
      const { id: userId } = account.profile;
      return stay({
        writes: [
          endAccess(request.tenant.id, userId, id),
          audit(request, "consent_withdrawn", { client_id: id }, userId),
        ],
      });
    },
  }),
};
