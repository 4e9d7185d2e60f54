import type { IssuedSession } from "../../objects/session.ts";
import { issueAuthorizationCode, revokeAuthorizationCode } from "../../sessions/authorization-codes.ts";
import type { HandlerContext } from "../table/handler-context.ts";
import { destinationUrl, mayReturnTo } from "./destination.ts";
import { openPageCookie } from "./page-cookie.ts";

/**
 * Returns the address of the application that a signed-in user goes back to, or null if no application asked for it.
 * The address carries an authorization code if the application sent a code challenge; without one, the application
 * sees the session cookie itself. The address is checked again, because it may have been removed from the list since
 * the cookie was sealed.
 *
 * @param again whether this session was issued before. Its code is then replaced by a new one; if the code was already
 *   redeemed, there is no new one: each sign-in yields one redeemed code.
 */
export async function applicationRedirect(
  context: HandlerContext,
  session: IssuedSession,
  { again }: { again: boolean },
): Promise<string | null> {
  const { runtime, tenant, cookies } = context;
  const destination = await openPageCookie(runtime, tenant, "destination", cookies);
  if (!destination) return null;
  const { to, codeChallenge } = destination;
  if (!mayReturnTo(new URL(to), tenant.config)) return null;
  if (codeChallenge === undefined) return destinationUrl(destination, null);
  if (again && !(await revokeAuthorizationCode(runtime, tenant, session.id))) return null;
  const code = await issueAuthorizationCode(runtime, tenant, {
    sessionId: session.id,
    codeChallenge,
    redirectTo: to,
  });
  return code === null ? null : destinationUrl(destination, code);
}
