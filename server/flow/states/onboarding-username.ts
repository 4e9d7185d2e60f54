import { configured } from "../../conditions/leaves.ts";
import { emit } from "../../events/emit.ts";
import { createUsername } from "../../identity/username/usernames.ts";
import { skip } from "../actions/skip.ts";
import { state } from "../define.ts";
import { enteredIdentifier, identifierErrors, identifierInputs } from "../entered-identifier.ts";
import { NEXT } from "../names.ts";
import { next } from "../outcome.ts";

/** The user of an account without a username is asked for one. */
export const onboardingUsername = state({
  name: "onboarding_username",
  needs: ["userId"],
  actions: (action) => ({
    username_set: action({
      description: "Set the account's username.",
      costs: ["write"],
      input: identifierInputs.username,
      aliases: ["username_create"],
      to: [NEXT],
      errors: identifierErrors("username"),
      async run({ request, db, data, facts, config }, { username: typed }) {
        // Another flow of the user set one concurrently.
        if (facts.username !== null) return next();
        const entered = await enteredIdentifier({ db, request, data, config }, "username", typed);
        if (!entered.ok) return entered.rejection;
        const { value: username } = entered;
        const { userId } = data;
        return next({
          data: { username },
          facts: { username },
          writes: [
            createUsername(request, userId, username),
            emit(request, "user.update.username.create", userId),
          ],
        });
      },
    }),
    skip: skip(configured("username.optional")),
  }),
});
