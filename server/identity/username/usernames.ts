import { and, eq } from "drizzle-orm";
import { schema } from "#db/client";
import { ConflictError } from "#db/errors";
import type { Part } from "#db/part";
import { type Write, writeOf } from "#db/write";
import type { RequestContext } from "../../context/context.ts";
import type { OnPlatform } from "../../lib/platform.ts";

/** What this module takes of the process. */
type Process = OnPlatform;

const { usernames } = schema;

/** A username to set. */
export interface NewUsername {
  userId: string;
  username: string;
  id: string;
  now: Date;
}

const usernameText = `new_username as (
  insert into usernames (tenant_id, id, user_id, username, created_at, updated_at) values ($1, $2, $3, $4, $5, $5))`;

/**
 * The part that sets the username of an account that has none. It violates `usernames_username_unique` if another account
 * of the tenant has the name, and `usernames_user_unique` if this account has a username.
 */
export function usernamePart(tenantId: string, { userId, username, id, now }: NewUsername): Part {
  return {
    name: "username",
    text: usernameText,
    values: [tenantId, id, userId, username, now],
    ofAccount: true,
  };
}

/**
 * Sets the first username of an account.
 *
 * @param username in canonical form
 * @returns a write that violates `usernames_username_unique` if another account has the name, or `usernames_user_unique`
 *   if this account has a username
 */
export function createUsername(
  { tenant, runtime, now }: RequestContext<Process>,
  userId: string,
  username: string,
): Write {
  return writeOf(usernamePart(tenant.id, { userId, username, id: runtime.platform.uuid(), now }));
}

/**
 * Replaces the username of an account.
 *
 * @param username in canonical form
 * @returns a write that violates `usernames_username_unique` if another account has the name, and throws
 *   ConflictError("username") if this account has no username
 */
export function replaceUsername(
  { tenant, now }: RequestContext<Process>,
  userId: string,
  username: string,
): Write {
  return async (tx) => {
    const replaced = await tx
      .update(usernames)
      .set({ username, updatedAt: now })
      .where(own(tenant.id, userId))
      .returning({ id: usernames.id });
    if (replaced.length === 0) throw new ConflictError("username");
  };
}

/** Removes the username of an account, which other accounts can choose then. */
export function removeUsername({ tenant }: RequestContext<Process>, userId: string): Write {
  return async (tx) => {
    await tx.delete(usernames).where(own(tenant.id, userId));
  };
}

const own = (tenantId: string, userId: string) =>
  and(eq(usernames.tenantId, tenantId), eq(usernames.userId, userId));
