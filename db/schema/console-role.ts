/** Roles of the console, the weakest first. Each may do what those before it may. */
export const consoleRoles = ["auditor", "support", "administrator", "operator"] as const;

export type ConsoleRole = (typeof consoleRoles)[number];
