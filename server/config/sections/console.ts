import { z } from "zod";
import { choice, flag, hostName, key, map, seconds, section } from "./leaves.ts";

/** The most accounts that the configuration gives a role. */
const MAX_ROLES = 100;

/** The console of operators, under `/console`. */
export const operatorConsole = section({
  enabled: flag(true).describe("Whether the console is served, under /console."),
  host: hostName()
    .optional()
    .describe("Host name that alone serves the console. Default: those of the default tenant."),
  require: choice(["phishing_resistant", "multi_factor", "any"], "multi_factor").describe(
    "What a sign-in to the console takes: a passkey or security key (phishing_resistant), two factors or a passkey that verifies its user (multi_factor), or any sign-in.",
  ),
  session_lifetime: seconds(8 * 3600, { min: 300, max: 7 * 86_400 }).describe(
    "How long an operator stays signed in to the console.",
  ),
  idle_timeout: seconds(1800, { min: 60, max: 86_400 }).describe(
    "An operator who does nothing in the console for so long signs in again.",
  ),
  step_up_after: seconds(900, { min: 60, max: 86_400 }).describe(
    "Age of the sign-in from which on the console asks for another one before a change.",
  ),
  impersonation: section({
    enabled: flag(true).describe(
      "Whether administrators and operators may sign in as a user, to see what the user sees.",
    ),
    lifetime: seconds(900, { min: 60, max: 3600 }).describe(
      "How long an operator acts as a user who asks for no other time. An hour is the most.",
    ),
    notify: flag(true).describe("Mail the owner when an operator signs in to the account."),
  }),
  roles: map(key(254), z.enum(["auditor", "support", "administrator", "operator"]), MAX_ROLES)
    .default({})
    .describe(
      'Roles of accounts of the default tenant by their verified email address, as in {"ada@example.com":"operator"}, beside those that were given by `stile console grant` and in the console.',
    ),
});
