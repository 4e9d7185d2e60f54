import { type ConsoleRole, consoleRoles } from "#db/schema/console";

/** What an operator may do, by role: each may do what those before it may (`consoleRoles`). */
export { type ConsoleRole, consoleRoles };

/** Whether a role is the needed one, or a stronger one. */
export const mayAs = (role: ConsoleRole, needed: ConsoleRole): boolean =>
  consoleRoles.indexOf(role) >= consoleRoles.indexOf(needed);

/** The stronger of two roles. */
export const stronger = (one: ConsoleRole, other: ConsoleRole): ConsoleRole =>
  mayAs(one, other) ? one : other;

/** What each role may do, in one sentence. */
export const roleMeanings: Record<ConsoleRole, string> = {
  auditor: "Reads everything of its tenant.",
  support: "Reads, ends sessions, unblocks users and sends recovery mails.",
  administrator: "Does everything in its tenant.",
  operator: "Does everything in every tenant.",
};
