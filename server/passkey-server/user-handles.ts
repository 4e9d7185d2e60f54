/** What authenticators keep of a user, `user.id` of WebAuthn (Level 3, 5.4.3), against what the application calls them. */

/** Our own: the UTF-8 bytes of what the application calls the user, base64url. */
export function userHandleOf(userId: string): string {
  return Buffer.from(userId).toString("base64url");
}

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Handles by which authenticators may know a user: our own, and the sixteen bytes of an id that is a UUID, which
 * credentials carry that were made elsewhere.
 */
export function userHandlesOf(userId: string): string[] {
  const binary = uuid.test(userId)
    ? [Buffer.from(userId.replaceAll("-", ""), "hex").toString("base64url")]
    : [];
  return [userHandleOf(userId), ...binary];
}

/** The other way round: whom a handle may mean, the likeliest first. */
export function userIdsOf(handle: string): string[] {
  const bytes = Buffer.from(handle, "base64url");
  const ids: string[] = [];
  try {
    ids.push(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch {
    // Not a text.
  }
  if (bytes.length === 16) {
    ids.push(bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5"));
  }
  return ids;
}
