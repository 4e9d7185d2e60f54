import { z } from "zod";
import { audit } from "../../audit/audit.ts";
import { all, circumstance } from "../../conditions/condition.ts";
import { configured } from "../../conditions/leaves.ts";
import { emit } from "../../events/emit.ts";
import { endAccess } from "../../openid/consents.ts";
import { eventGrant } from "../../openid/event-grant.ts";
import { STAY } from "../names.ts";
import { reject, stay } from "../outcome.ts";
import { itemId } from "./choice.ts";
import { type ProfileView, profileAction } from "./profile-action.ts";

/** Profile actions on the applications that the user has signed in to by OpenID Connect. */
export const applicationActions = {
  application_revoke: profileAction({
    description: "End the access of an application to the account.",
    costs: ["write"],
    input: z.strictObject({ application_id: itemId() }),
    when: all(
      configured("openid.enabled"),
      circumstance<ProfileView>("applications", ({ account }) => account.belongings.applications.length > 0, {
        holds: "an application has access to the account",
        fails: "no application has access to the account",
      }),
    ),
    to: [STAY],
    errors: ["not_found"],
    run({ request, account }, { application_id: id }) {
      const ended = account.belongings.applications.find((application) => application.id === id);
      if (!ended) return reject("not_found");
      const { id: userId } = account.profile;
      const { application: described, allowed } = ended;
      const grant = eventGrant(request.tenant.config, { userId, clientId: id, described, allowed });
      return stay({
        writes: [
          endAccess(request.tenant.id, userId, id),
          emit(request, "oauth.grant.revoke", grant),
          audit(request, "consent_withdrawn", { client_id: id }, userId),
        ],
      });
    },
  }),
};
