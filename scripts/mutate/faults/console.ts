import type { Fault } from "../fault.ts";

/** Faults of the console. */
export const consoleFaults: readonly Fault[] = [
  {
    name: "a weaker role is enough for every procedure of the console",
    file: "server/identity/console-roles.ts",
    text: "consoleRoles.indexOf(role) >= consoleRoles.indexOf(needed);",
    fault: "consoleRoles.includes(needed);",
    caughtBy: ["server/http/console/roles.test.ts"],
  },
  {
    name: "an account of the console reaches every tenant",
    file: "server/http/console/call.ts",
    text: 'if (asked !== tenantId && role !== "operator") return null;',
    fault: "if (role === undefined) return null;",
    caughtBy: ["server/http/console/roles.test.ts"],
  },
  {
    name: "a role counts in another tenant",
    file: "server/identity/console-roles.ts",
    text: "where g.tenant_id = ",
    fault: "where g.tenant_id <> ",
    caughtBy: ["server/http/console/roles.test.ts"],
  },
  {
    name: "an old sign-in is enough for changes",
    file: "server/http/console/call.ts",
    text: 'if (!isFresh(runtime, visitor)) return { refused: "step_up_required" };',
    fault: "",
    caughtBy: ["server/http/console/entry.test.ts"],
  },
  {
    name: "the answer to a test sign-in makes a sign-in",
    file: "server/http/providers/third-party-callback.ts",
    text: 'if (test) return receiveTestAnswer(context, test, { protocol: "oauth", answer: response, state });',
    fault: "if (test) request = test.request;",
    caughtBy: ["server/http/providers/provider-test.test.ts"],
  },
  {
    name: "a move of secrets that was cancelled goes on",
    file: "server/admin/stored-reseals.ts",
    text: "if (updated.length === 0) throw new Gone();",
    fault: "",
    caughtBy: ["server/http/admin/keys.test.ts"],
  },
  {
    name: "a link makes a second operator",
    file: "server/console/enter.ts",
    text: `if (await hasOperator(tx, runtime)) return "operator_exists";`,
    fault: "",
    caughtBy: ["server/http/console/entry.test.ts"],
  },
  {
    name: "an operator who acts as a user may do what the user may",
    file: "server/flow/define.ts",
    text: "(impersonation === null || impersonated ? when : isUser);",
    fault: "(impersonation === null || impersonated !== null ? when : isUser);",
    caughtBy: ["server/http/console/impersonation.test.ts"],
  },
  {
    name: "acting as a user outlives the session of the console",
    file: "server/sessions/impersonation.ts",
    text: "if (!actor || !config.console.enabled",
    fault: "if (!actor) return true;\n  if (!config.console.enabled",
    caughtBy: ["server/http/console/impersonation.test.ts"],
  },
];
