import { type VerifiedSession, verifySession } from "../sessions/verify-session.ts";
import { cookieValues } from "./cookies.ts";
import type { Exchange } from "./exchange.ts";

/**
 * The session that a request brings along, in `Authorization: Bearer` (RFC 6750, 2.1) or in the session cookie.
 *
 * @param touch whether this counts as use of the session
 */
export function presentedSession(
  exchange: Exchange,
  { touch }: { touch: boolean },
): Promise<VerifiedSession> {
  const { runtime, tenant, request, cookies } = exchange;
  const [, bearer] = /^Bearer +([^ ]+)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
  const tokens = { bearer, cookies: cookieValues(cookies, tenant.config.session.cookie.name) };
  return verifySession(runtime, tenant, tokens, { touch });
}
