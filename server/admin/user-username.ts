import type { Config } from "../config/schema.ts";
import { emit } from "../events/emit.ts";
import { parseUsername } from "../identity/username/username.ts";
import { createUsername, removeUsername, replaceUsername } from "../identity/username/usernames.ts";
import type { AdminContext, ChangedUser } from "./change-user.ts";
import { type AdminVerdict, rejectAdmin } from "./rejections.ts";

/** The rejection of a username that another user has. */
export const usernameTaken = rejectAdmin("conflict", "A user of the tenant has this username.");

/** Converts a username to its canonical form. */
export function readUsername({ username: limits }: Config, given: string): AdminVerdict<{ value: string }> {
  const parsed = parseUsername(given, limits);
  if (parsed.ok) return parsed;
  const { min_length, max_length } = limits;
  return rejectAdmin(
    "invalid",
    `A username has ${min_length} to ${max_length} letters a to z, digits and underscores.`,
  );
}

/**
 * Sets the username of a user, or removes it.
 *
 * @param username in canonical form; null removes it
 * @returns false if the user has it already, or has none to remove
 */
export async function writeUsername(
  context: AdminContext,
  { tx, user, record }: ChangedUser,
  username: string | null,
): Promise<boolean> {
  const { userId } = user;
  if (username === user.username) return false;
  if (username === null) {
    await removeUsername(context, userId)(tx);
    await record("username_deleted");
    await emit(context, "user.update.username.delete", userId)(tx);
    return true;
  }
  const isFirst = user.username === null;
  await (isFirst ? createUsername : replaceUsername)(context, userId, username)(tx);
  await record("username_changed");
  const event = isFirst ? "user.update.username.create" : "user.update.username.update";
  await emit(context, event, userId)(tx);
  return true;
}
