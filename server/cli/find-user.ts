import { resolveName } from "../audit/named-user.ts";
import type { Tenant } from "../config/tenant.ts";
import type { CliRuntime } from "./cli-runtime.ts";
import { CommandError } from "./command.ts";

/** Describes the argument of commands about one user. */
export const NAMED_BY = "The user is named by id, email address or username, in full.";

/**
 * Finds a user by id, email address or username.
 *
 * @returns the id
 * @throws CommandError if the tenant has no such user
 */
export async function findUser(runtime: CliRuntime, tenant: Tenant, name: string): Promise<string> {
  const { userId } = await resolveName(runtime, tenant, name);
  if (userId === null) throw new CommandError(`there is no user ${name}`);
  return userId;
}
