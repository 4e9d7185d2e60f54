import { requireAccount } from "../../account/account.ts";
import { audit } from "../../audit/audit.ts";
import { all, circumstance, holds, not } from "../../conditions/condition.ts";
import { configured } from "../../conditions/leaves.ts";
import { emit } from "../../events/emit.ts";
import { createUsername, removeUsername, replaceUsername } from "../../identity/username/usernames.ts";
import { findOwner, identifierErrors, identifierInputs, readIdentifier } from "../entered-identifier.ts";
import { STAY } from "../names.ts";
import { stay } from "../outcome.ts";
import {
  canDoWithout,
  type Owned,
  type ProfileContext,
  profileAction,
  sensitiveAction,
} from "./profile-action.ts";

const hasUsername = circumstance<Owned>("username", ({ account }) => !!account.profile.username, {
  holds: "the account has a username",
  fails: "the account has no username",
});

const mayRemove = all(
  configured("username.enabled"),
  configured("username.optional"),
  hasUsername,
  canDoWithout({ username: true }, "the username"),
);

/** Profile actions on the username. */
export const usernameActions = {
  username_create: profileAction({
    description: "Choose a username.",
    costs: ["write"],
    input: identifierInputs.username,
    when: all(configured("username.enabled"), not(hasUsername)),
    to: [STAY],
    errors: identifierErrors("username"),
    run: (context, { username }) => setName(context, username, createUsername, "user.update.username.create"),
  }),
  // Sensitive: a changed username locks out a user who signs in with it.
  username_update: sensitiveAction({
    description: "Choose another username.",
    costs: ["write"],
    input: identifierInputs.username,
    when: all(configured("username.enabled"), hasUsername),
    to: [STAY],
    errors: identifierErrors("username"),
    run: (context, { username }) =>
      setName(context, username, replaceUsername, "user.update.username.update"),
  }),
  username_delete: sensitiveAction({
    description: "Remove the username.",
    costs: ["write"],
    when: mayRemove,
    to: [STAY],
    run(context) {
      const { request, account } = context;
      const { id } = account.profile;
      return stay({
        facts: { username: null },
        writes: [
          requireAccount(request, id, (current) => holds(mayRemove, { ...context, account: current })),
          removeUsername(request, id),
          audit(request, "username_deleted", previousName(account), id),
          emit(request, "user.update.username.delete", id),
        ],
      });
    },
  }),
};

/** The present username, for the audit log. */
function previousName({ profile }: ProfileContext["account"]) {
  return profile.username ? { previous_username: profile.username.username } : {};
}

async function setName(
  context: ProfileContext,
  given: string,
  writeUsername: typeof createUsername,
  event: "user.update.username.create" | "user.update.username.update",
) {
  const { request, account, config } = context;
  const read = readIdentifier("username", given, config);
  if (!read.ok) return read.rejection;
  const { value: username } = read;
  if (username === account.profile.username?.username) return stay();
  const owned = await findOwner(context, "username", username);
  if (!owned.ok) return owned.rejection;
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
