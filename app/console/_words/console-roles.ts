/** Texts of the roles of the console. */
export const consoleRoles = {
  sentence: "Accounts that may enter the console. Those of the setting `console.roles` are not listed.",
  add: "Give a role",
  account: "Account",
  role: "Role",
  since: "Since",
  given: "The account has the role.",
  takeAway: "Take away",
  takenAway: "The account has no role any more.",
  question: "Take the role away?",
  questionOf: (name: string) => `Take the role away from ${name}?`,
  consequence: "The account is out of the console at once.",
  empty: "No account has a role",
  meanings: {
    auditor: "Reads everything of its tenant.",
    support: "Reads, ends sessions, unblocks users and sends recovery mails.",
    administrator: "Does everything in its tenant.",
    operator: "Does everything in every tenant.",
  },
} as const;
