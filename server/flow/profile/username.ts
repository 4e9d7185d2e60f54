import { z } from "zod";
import { requireAccount } from "../../account/account.ts";
import { canStillSignIn } from "../../account/reachability.ts";
import { audit } from "../../audit/audit.ts";
import { emit } from "../../events/emit.ts";
import { parseUsername } from "../../identity/username/username.ts";
import { createUsername, removeUsername, replaceUsername } from "../../identity/username/usernames.ts";
import { factsByUsername } from "../../identity/users.ts";
import { byConfig } from "../inputs.ts";
import { STAY } from "../names.ts";
import { reject, stay } from "../outcome.ts";
import { type ProfileContext, type ProfileView, profileAction, sensitiveAction } from "./profile-action.ts";

const input = byConfig(({ username }) =>
  z.strictObject({
    username: z.string().trim().min(username.min_length).max(username.max_length).meta({ preserve: true }),
  }),
);

const errors = [
  "value_too_short_error",
  "value_too_long_error",
  "invalid_username_error",
  "username_already_exists",
] as const;

/** Profile actions on the username. */
export const usernameActions = {
  username_create: profileAction({
    description: "Choose a username.",
    costs: ["write"],
    input,
    when: ({ account, config }) => config.username.enabled && !account.profile.username,
    to: [STAY],
    errors,
    run: (context, { username }) => setName(context, username, createUsername, "user.update.username.create"),
  }),
  // Sensitive: a changed username locks out a user who signs in with it.
  username_update: sensitiveAction({
    description: "Choose another username.",
    costs: ["write"],
    input,
    when: ({ account, config }) => config.username.enabled && !!account.profile.username,
    to: [STAY],
    errors,
    run: (context, { username }) =>
      setName(context, username, replaceUsername, "user.update.username.update"),
  }),
  username_delete: sensitiveAction({
    description: "Remove the username.",
    costs: ["write"],
    when: mayDelete,
    to: [STAY],
    run(context) {
      const { request, account } = context;
      const { id } = account.profile;
      return stay({
        facts: { username: null },
        writes: [
          requireAccount(request, id, (current) => mayDelete({ ...context, account: current })),
          removeUsername(request, id),
          audit(request, "username_deleted", previousName(account), id),
          emit(request, "user.update.username.delete", id),
        ],
      });
    },
  }),
};

function mayDelete({ account, config }: Pick<ProfileView, "account" | "config">): boolean {
  const { enabled, optional } = config.username;
  return (
    enabled && optional && !!account.profile.username && canStillSignIn(account, config, { username: true })
  );
}

/** The present username, for the audit log. */
function previousName({ profile }: ProfileContext["account"]) {
  return profile.username ? { previous_username: profile.username.username } : {};
}

async function setName(
  { request, db, account, config }: ProfileContext,
  given: string,
  writeUsername: typeof createUsername,
  event: "user.update.username.create" | "user.update.username.update",
) {
  const parsed = parseUsername(given, config.username);
  if (!parsed.ok) return reject(parsed.reason, { input: "username" });
  const { username } = parsed;
  if (username === account.profile.username?.username) return stay();
  // Usernames are public, so a taken one is reported.
  if (await factsByUsername(db, request.tenant.id, username)) {
    return reject("username_already_exists", { input: "username" });
  }
  const { id } = account.profile;
  return stay({
    facts: { username },
    writes: [
      writeUsername(request, id, username),
      audit(request, "username_changed", { username, ...previousName(account) }, id),
      emit(request, event, id),
    ],
  });
}
