import { isUuid } from "../lib/uuid.ts";

/**
 * Conversions between the application's user id and the user handle, `user.id` of WebAuthn (Level 3, 5.4.3), of former
 * versions. New users get a random one (`newUserHandle`).
 */

/** Returns the handle that former versions gave: the UTF-8 bytes of the user id, base64url. */
export function userHandleOf(userId: string): string {
  return Buffer.from(userId).toString("base64url");
}

/**
 * Returns the derived handles that a user's credentials may carry: that of former versions, and for a UUID its sixteen
 * bytes, which credentials imported from other servers carry.
 */
export function userHandlesOf(userId: string): string[] {
  const binary = isUuid(userId) ? [Buffer.from(userId.replaceAll("-", ""), "hex").toString("base64url")] : [];
  return [userHandleOf(userId), ...binary];
}

/** Returns the user ids that a handle may stand for, the most likely first. */
export function userIdsOf(handle: string): string[] {
  const bytes = Buffer.from(handle, "base64url");
  const ids: string[] = [];
  try {
    ids.push(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    // Not UTF-8.
  }
  if (bytes.length === 16) {
    ids.push(bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5"));
  }
  return ids;
}
