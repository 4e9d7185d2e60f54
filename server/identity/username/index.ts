import type { Identifier } from "../identifier.ts";
import { parseUsername } from "./username.ts";
import { usernamePart } from "./usernames.ts";

/** Usernames: an account has at most one. It is public, so that a taken one is reported. */
export const username = {
  kind: "username",
  table: "usernames",
  column: "username",
  verified: null,
  requiresVerification: () => false,
  field: ({ username }) => ({
    type: "string",
    minLength: username.min_length,
    maxLength: username.max_length,
  }),
  parse: (text, { username }) => parseUsername(text, username),
  isLike: null,
  errors: {
    unknown: "unknown_username_error",
    taken: "username_already_exists",
    invalid: ["value_too_short_error", "value_too_long_error", "invalid_username_error"],
    atLogin: [],
  },
  constraints: {
    taken: "usernames_username_unique",
    second: "usernames_user_unique",
    changed: "username",
  },
  askedIn: "onboarding_username",
  part: (tenantId, { value, ...username }) => usernamePart(tenantId, { ...username, username: value }),
} as const satisfies Identifier;
