import type { FoundSession } from "../../sessions/sessions.ts";
import {
  findLiveSessions,
  type PresentedTokens,
  type VerifiedSession,
  verifySession,
} from "../../sessions/verify-session.ts";
import { cookieValues } from "../request/cookies.ts";
import type { HandlerContext } from "../table/handler-context.ts";

/**
 * The session of a request, from `Authorization: Bearer` (RFC 6750, 2.1) or the session cookie.
 *
 * @param touch whether this counts as use of the session, for its idle timeout
 */
export function presentedSession(
  context: HandlerContext,
  { touch }: { touch: boolean },
): Promise<VerifiedSession> {
  return verifySession(context.runtime, context.tenant, presentedTokens(context), { touch });
}

/** Every live session that a request names, in the header or in a cookie. A logout ends them all. */
export function everyPresentedSession(context: HandlerContext): Promise<FoundSession[]> {
  return findLiveSessions(context.runtime, context.tenant, presentedTokens(context));
}

function presentedTokens({ tenant, request, cookies }: HandlerContext): PresentedTokens {
  const [, bearer] = /^Bearer +([^ ]+)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
  return { bearer, cookies: cookieValues(cookies, tenant.config.session.cookie.name) };
}
