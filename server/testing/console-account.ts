import type { Tenant } from "../config/tenant.ts";
import { makeConsoleSession } from "../console/console-sessions.ts";
import { grantRole } from "../console/grants.ts";
import type { ConsoleRole } from "../identity/console-roles.ts";
import { accountOwner } from "./account-owner.ts";
import { requestContext } from "./request-context.ts";
import type { TestRuntime } from "./runtime.ts";
import { type Visitor, visitor } from "./visitor.ts";

/** A browser that is signed in to the console. */
export interface ConsoleAccount {
  userId: string;
  email: string;
  browser: Visitor;
  /** Calls a procedure as a page of the console does. */
  call(procedure: string, input?: object): Promise<ConsoleAnswer>;
}

export interface ConsoleAnswer {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: a client has no types of its own.
  data: any;
  /** Why the call was refused before its operation was asked. */
  reason?: string;
  message?: string;
  /** With the reason `changed_since`. */
  // biome-ignore lint/suspicious/noExplicitAny: a client has no types of its own.
  changes?: any[];
}

/** Calls a procedure of the console. */
export async function callConsole(
  browser: Visitor,
  procedure: string,
  input?: object,
): Promise<ConsoleAnswer> {
  const answer = await browser.post(`/api/console/trpc/${procedure}`, input, {
    "sec-fetch-site": "same-origin",
  });
  const body = await answer.json();
  const { error, result } = body as {
    error?: { message: string; data: { reason?: string; changes?: unknown[] } };
    result?: { data: unknown };
  };
  return {
    status: answer.status,
    data: result?.data,
    ...(error ? { message: error.message } : {}),
    ...(error?.data?.reason ? { reason: error.data.reason } : {}),
    ...(error?.data?.changes ? { changes: error.data.changes } : {}),
  };
}

/**
 * Creates an account with a role directly in the database, signed in to the console.
 *
 * @param role none for an account without one
 */
export async function consoleAccount(
  runtime: TestRuntime,
  role: ConsoleRole | null,
  { tenant = runtime.tenant, secondsAgo = 0 }: { tenant?: Tenant; secondsAgo?: number } = {},
): Promise<ConsoleAccount> {
  const owner = await accountOwner({ ...runtime, tenant }, {}, { secondsAgo });
  const now = new Date(Date.now() + runtime.platform.clockShift());
  const context = { ...requestContext(runtime, { tenant, now }), runtime };
  if (role !== null) await grantRole(context, owner.userId, role);
  const token = await makeConsoleSession(runtime, tenant, { sessionId: owner.sessionId, now });
  const browser = visitor(runtime);
  browser.cookies.set("stile-console", token ?? "");
  const { userId, addresses } = owner;
  return {
    userId,
    email: addresses[0] ?? "",
    browser,
    call: (procedure, input) => callConsole(browser, procedure, input),
  };
}
