import { resolveName } from "../audit/named-user.ts";
import type { AtTenant } from "./at-tenant.ts";
import { missing } from "./command.ts";

/** Describes the argument of commands about one user. */
export const NAMED_BY = "The user is named by id, email address or username, in full.";

/**
 * Finds a user by id, email address or username.
 *
 * @returns the id
 * @throws CommandError if the tenant has no such user
 */
export async function findUser({ runtime, tenant }: AtTenant, name: string): Promise<string> {
  const { userId } = await resolveName(runtime, tenant, name);
  if (userId === null) throw missing("user", name);
  return userId;
}
