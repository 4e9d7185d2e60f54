import { BrokenSealError, UnknownKeyError } from "../keys/vault.ts";
import { isCanonicalUuid } from "../lib/uuid.ts";
import type { ClientContext, RequestContext } from "../runtime.ts";

/**
 * Account marks: which accounts a browser has signed in to before. A mark gives access to nothing. It lets the owner of
 * an account have a code mailed from a reserve that strangers cannot use up, and counts wrong passwords apart. All marks of a browser are in one sealed
 * cookie of a tenant.
 */

const MARK_SECONDS = 365 * 86_400;

/** Marks in one cookie, newest first, so that it stays well below the 4096 bytes of a cookie (RFC 6265 section 6.1). */
const MAX_MARKS = 8;

/** A longer value is not one of ours and is not decrypted. */
const MAX_COOKIE_LENGTH = 1024;

interface Mark {
  userId: string;
  /** Time of the sign-in, in seconds since 1970. */
  at: number;
}

/** Whether the browser has signed in to the account before, or is signed in to it. */
export function hasSignedInBefore(context: RequestContext, userId: string): boolean {
  return context.session?.userId === userId || marksOf(context).some((mark) => mark.userId === userId);
}

/**
 * Marks an account in the browser that has just signed in to it; marks of other accounts stay.
 *
 * @returns the new value of the cookie, and its lifetime
 */
export function markAccount(context: ClientContext, userId: string): { value: string; seconds: number } {
  const { runtime, tenant, now } = context;
  const others = marksOf(context).filter((mark) => mark.userId !== userId);
  const marks = [{ userId, at: Math.floor(now.getTime() / 1000) }, ...others].slice(0, MAX_MARKS);
  const text = marks.map((mark) => `${mark.userId}:${mark.at}`).join("|");
  const sealed = runtime.vault.seal(Buffer.from(text), sealContext(tenant.id));
  return { value: sealed.toString("base64url"), seconds: MARK_SECONDS };
}

/** The marks of the browser that have not expired; none if the cookie is not one of ours. */
function marksOf({ runtime, tenant, client, now }: ClientContext): Mark[] {
  const cookie = client.markCookie;
  if (cookie === null || cookie.length > MAX_COOKIE_LENGTH) return [];
  let text: string;
  try {
    text = runtime.vault.unseal(Buffer.from(cookie, "base64url"), sealContext(tenant.id)).toString();
  } catch (error) {
    // Any client can send any value; a mark of a removed key is replaced by the next sign-in.
    if (error instanceof BrokenSealError || error instanceof UnknownKeyError) return [];
    throw error;
  }
  const oldest = now.getTime() / 1000 - MARK_SECONDS;
  return text
    .split("|")
    .map((entry) => entry.split(":"))
    .map(([userId = "", at]) => ({ userId, at: Number(at) }))
    .filter(({ userId, at }) => isCanonicalUuid(userId) && at > oldest);
}

const sealContext = (tenantId: string) => `account marks of tenant ${tenantId}`;
