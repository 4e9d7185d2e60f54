import { z } from "zod";
import { emit } from "../../events/emit.ts";
import { parseUsername } from "../../identity/username/username.ts";
import { createUsername } from "../../identity/username/usernames.ts";
import { factsByUsername } from "../../identity/users.ts";
import { skip } from "../actions/skip.ts";
import { state } from "../define.ts";
import { byConfig } from "../inputs.ts";
import { NEXT } from "../names.ts";
import { next, reject } from "../outcome.ts";

const input = byConfig(({ username }) =>
  z.strictObject({
    username: z.string().trim().min(username.min_length).max(username.max_length).meta({ preserve: true }),
  }),
);

/** The user of an account without a username is asked for one. */
export const onboardingUsername = state({
  name: "onboarding_username",
  needs: ["userId"],
  actions: (action) => ({
    username_set: action({
      description: "Set the account's username.",
      costs: ["write"],
      input,
      aliases: ["username_create"],
      to: [NEXT],
      errors: [
        "invalid_username_error",
        "value_too_short_error",
        "value_too_long_error",
        "username_already_exists",
      ],
      async run({ request, db, data, facts, config }, { username: typed }) {
        const { tenant } = request;
        // Another flow of the user set one concurrently.
        if (facts.username !== null) return next();
        const parsed = parseUsername(typed, config.username);
        if (!parsed.ok) return reject(parsed.reason, { input: "username" });
        const { username } = parsed;
        if (await factsByUsername(db, tenant.id, username))
          return reject("username_already_exists", { input: "username" });
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
    skip: skip(({ config }) => config.username.optional),
  }),
});
