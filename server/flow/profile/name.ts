import { z } from "zod";
import { audit } from "../../audit/audit.ts";
import { configured } from "../../conditions/leaves.ts";
import { emit } from "../../events/emit.ts";
import { updateUserProfile } from "../../identity/users.ts";
import type { View } from "../define.ts";
import { STAY } from "../names.ts";
import { stay } from "../outcome.ts";
import { profileAction } from "./profile-action.ts";

/** A line of a name. */
const line = z
  .string()
  .trim()
  .max(255)
  .refine((name) => name.isWellFormed() && !/\p{Cc}/u.test(name))
  .optional()
  .meta({ preserve: true });

const whole = z.strictObject({ name: line });
const inParts = whole.extend({ given_name: line, family_name: line });

/** Profile action on the name. */
export const nameActions = {
  name_update: profileAction({
    impersonated: true,
    description: "Change the name; what is left empty is removed.",
    costs: ["write"],
    input: (view) => (hasParts(view) ? inParts : (whole as unknown as typeof inParts)),
    when: configured("account.allow_name_change"),
    to: [STAY],
    run(context, { name, given_name, family_name }) {
      const { request, account } = context;
      const { id: userId } = account.profile;
      const parts = hasParts(context)
        ? { givenName: given_name || null, familyName: family_name || null }
        : { givenName: undefined, familyName: undefined };
      const change = { userId, now: request.now, name: name || null, ...parts, picture: undefined };
      return stay({
        writes: [
          (tx) => updateUserProfile(tx, request.tenant.id, change),
          audit(request, "profile_changed", { by: "profile" }, userId),
          emit(request, "user.update", userId),
        ],
      });
    },
  }),
};

/** Whether the account has a given or a family name beside the whole name; true without an account. */
function hasParts({ account }: Pick<View, "account">): boolean {
  if (account === null) return true;
  const { given_name, family_name } = account.profile;
  return given_name !== undefined || family_name !== undefined;
}
