import type { Platform } from "../lib/platform.ts";

/** `user.id` of an account (WebAuthn Level 3, 5.4.3). */

/** The greatest length, which section 14.6.1 recommends for random handles. */
const USER_HANDLE_BYTES = 64;

/** Makes the handle of an account. It is random, so no identifier that an administrator chooses becomes one. */
export function newUserHandle(platform: Pick<Platform, "randomBytes">): Buffer {
  return Buffer.from(platform.randomBytes(USER_HANDLE_BYTES));
}

/** The handle of accounts whose passkeys a former version created: the sixteen bytes of their UUID. */
export function legacyUserHandle(userId: string): Buffer {
  return Buffer.from(userId.replaceAll("-", ""), "hex");
}

/**
 * The handles that the responses of a stored credential may bear.
 *
 * @param credential `userHandle`: as recorded with the credential; `accountHandle`: the account's random handle, if it
 *   has one
 * @returns base64url. An imported credential bears the one that it was created with; any other, that of the account: the
 *   random one, or the one of former versions, which may have answered a ceremony of this one
 */
export function userHandlesOf({
  userId,
  userHandle = null,
  accountHandle = null,
}: {
  userId: string;
  userHandle?: Buffer | null;
  accountHandle?: Buffer | null;
}): string[] {
  const isOwn = userHandle === null || (accountHandle?.equals(userHandle) ?? false);
  const handles = isOwn ? [accountHandle, legacyUserHandle(userId)] : [userHandle];
  return handles.flatMap((handle) => (handle ? [handle.toString("base64url")] : []));
}
