import { and, eq } from "drizzle-orm";
import { schema } from "#db/client";
import { ConflictError } from "#db/errors";
import type { Write } from "#db/write";
import type { RequestContext } from "../runtime.ts";
import { setUsername } from "./users.ts";

const { usernames } = schema;

/**
 * Gives an account its first username.
 *
 * @param username in canonical form
 * @returns a write that violates `usernames_username_unique` when another account has it meanwhile, or
 *   `usernames_user_unique` when this one has got one meanwhile
 */
export function createUsername(
  { tenant, runtime, now }: RequestContext,
  userId: string,
  username: string,
): Write {
  const id = runtime.platform.uuid();
  return (tx) => setUsername(tx, tenant.id, { userId, username, id, now });
}

/**
 * Gives an account another username in place of the one it has.
 *
 * @param username in canonical form
 * @returns a write that violates `usernames_username_unique` when another account has it meanwhile, and throws
 *   TakenError("username") when this one has none any more
 */
export function replaceUsername({ tenant, now }: RequestContext, userId: string, username: string): Write {
  return async (tx) => {
    const replaced = await tx
      .update(usernames)
      .set({ username, updatedAt: now })
      .where(own(tenant.id, userId))
      .returning({ id: usernames.id });
    if (replaced.length === 0) throw new ConflictError("username");
  };
}

/** Takes an account's username from it, and lets others have it. */
export function removeUsername({ tenant }: RequestContext, userId: string): Write {
  return async (tx) => {
    await tx.delete(usernames).where(own(tenant.id, userId));
  };
}

const own = (tenantId: string, userId: string) =>
  and(eq(usernames.tenantId, tenantId), eq(usernames.userId, userId));
