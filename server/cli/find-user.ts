import type { AuditFilter } from "../audit/audit-log.ts";
import { identifierDigests } from "../audit/identifier.ts";
import { parseEmailAddress } from "../identity/email-address.ts";
import { parseUsername } from "../identity/username.ts";
import { factsByEmail, factsByUsername, isUser } from "../identity/users.ts";
import { isUuid } from "../lib/uuid.ts";
import type { Tenant } from "../tenants/tenant.ts";
import type { CliRuntime } from "./cli-runtime.ts";
import { CommandError } from "./command.ts";

/** Describes the argument of commands about one user. */
export const NAMED_BY = "The user is named by id, email address or username, in full.";

/** What an operator names a user by. */
interface Name {
  /** The account that has it, if one has. */
  userId: string | null;
  /** In canonical form. */
  name: string;
}

async function resolve({ database }: CliRuntime, { id, config }: Tenant, given: string): Promise<Name> {
  const { read } = database;
  if (isUuid(given)) {
    const name = given.toLowerCase();
    return { userId: (await isUser(read, id, name)) ? name : null, name };
  }
  if (given.includes("@")) {
    const name = parseEmailAddress(given, config.email.max_length) ?? given.toLowerCase();
    return { userId: (await factsByEmail(read, id, name))?.userId ?? null, name };
  }
  // Whatever the present limits are, an account may have been created under others.
  const parsed = parseUsername(given, { min_length: 1, max_length: Number.MAX_SAFE_INTEGER });
  const name = parsed.ok ? parsed.username : given.toLowerCase();
  return { userId: (await factsByUsername(read, id, name))?.userId ?? null, name };
}

/**
 * Finds a user by id, email address or username.
 *
 * @returns the id
 * @throws CommandError if the tenant has no such user
 */
export async function findUser(runtime: CliRuntime, tenant: Tenant, given: string): Promise<string> {
  const { userId } = await resolve(runtime, tenant, given);
  if (userId === null) throw new CommandError(`there is no user ${given}`);
  return userId;
}

/**
 * Returns the filter of the audit log for all entries about a user, an email address or a username. One that belongs to
 * no account is found by its digest.
 */
export async function entriesAbout(
  runtime: CliRuntime,
  tenant: Tenant,
  given: string,
): Promise<NonNullable<AuditFilter["about"]>> {
  const { userId, name } = await resolve(runtime, tenant, given);
  return {
    userId: isUuid(given) ? name : userId,
    digests: isUuid(given) ? [] : identifierDigests(runtime.vault, tenant.id, name),
  };
}
