import { logOut } from "../../sessions/log-out.ts";
import { providerLogoutUrl } from "../../sessions/provider-sessions.ts";
import { plainError, redirect } from "../answer/reply.ts";
import { expiredPageCookies } from "../page/page-cookie.ts";
import { returnAfterSignOut, signedOutNextPage } from "../providers/sign-out.ts";
import { isDisallowedOrigin } from "../request/origin.ts";
import { withinTenant } from "../request/tenant-path.ts";
import type { Handler } from "../table/handler-context.ts";
import { everyPresentedSession } from "./presented-session.ts";
import { expiredSessionCookies } from "./session-cookie.ts";

/**
 * `POST /logout`: ends every session that the request names, including planted ones, and removes the session cookie and
 * the cookies of the hosted page. 401 if no session was live; the cookies are removed in any case.
 *
 * Where the session at the provider is to end too, the answer names the address that the browser goes on to. The sign-out is
 * complete without it.
 */
export const logoutHandler: Handler = async (context) => {
  const { tenant, request, url } = context;
  if (isDisallowedOrigin(request.headers, tenant.config))
    return plainError(403, "Cross-site requests are not allowed.");
  const presented = await everyPresentedSession(context);
  const state = await logOut(context, presented, {
    redirectTo: returnAfterSignOut(url.searchParams, tenant.config),
  });
  const cookies = [...expiredSessionCookies(tenant.config), ...expiredPageCookies(tenant)];
  // The form of the account page in a browser without scripts.
  if (request.headers.get("content-type")?.startsWith("application/x-www-form-urlencoded"))
    return state === null
      ? redirect(303, withinTenant(tenant.config, "/"), { cookies })
      : { ...signedOutNextPage(context, state), cookies };
  const next = state === null ? {} : { "X-Provider-Logout": providerLogoutUrl(tenant.config, state) };
  return presented.length > 0
    ? { status: 204, headers: next, cookies }
    : { ...plainError(401, "No valid session."), cookies };
};
