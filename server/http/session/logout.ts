import { ownOrigin } from "../../config/own-hosts.ts";
import { CONSOLE_PATH, consoleOrigin } from "../../console/place.ts";
import { logOutInBrowser } from "../../openid/applications-logout.ts";
import { providerLogoutUrl } from "../../sessions/provider-sessions.ts";
import type { FoundSession } from "../../sessions/sessions.ts";
import { plainError, redirect } from "../answer/reply.ts";
import { applicationsLogoutTarget } from "../openid/applications-logout.ts";
import { expiredPageCookies } from "../page/page-cookie.ts";
import { returnAfterSignOut, signedOutNextPage, signedOutTo } from "../providers/sign-out.ts";
import { isDisallowedOrigin } from "../request/origin.ts";
import { withinTenant } from "../request/tenant-path.ts";
import type { Handler, HandlerContext } from "../table/handler-context.ts";
import { everyPresentedSession } from "./presented-session.ts";
import { expiredSessionCookies } from "./session-cookie.ts";

/**
 * `POST /logout`: ends every session that the request names, including planted ones, and removes the session cookie and
 * the cookies of the hosted page. 401 if no session was live; the cookies are removed in any case.
 *
 * Where sessions at applications or at the provider are to end in the browser too, the answer names the address that it goes on
 * to. The sign-out is complete here without it.
 */
export const logoutHandler: Handler = async (context) => {
  const { tenant, request, url } = context;
  if (isDisallowedOrigin(request.headers, tenant.config))
    return plainError(403, "Cross-site requests are not allowed.");
  const presented = await everyPresentedSession(context);
  const atConsole = pageOfActedUser(context, presented);
  const redirectTo = atConsole ?? returnAfterSignOut(url.searchParams, tenant.config);
  const { applicationsState, providerState } = await logOutInBrowser(context, presented, redirectTo);
  const cookies = [...expiredSessionCookies(tenant.config), ...expiredPageCookies(tenant)];
  const atApplications =
    applicationsState === null ? null : applicationsLogoutTarget(tenant.config, applicationsState);
  // The form of the account page in a browser without scripts.
  if (request.headers.get("content-type")?.startsWith("application/x-www-form-urlencoded")) {
    if (atConsole !== null && atApplications === null)
      return { ...signedOutTo(context, new URL(atConsole)), cookies };
    if (providerState !== null && atApplications === null)
      return { ...signedOutNextPage(context, providerState), cookies };
    return redirect(303, atApplications ?? withinTenant(tenant.config, "/"), { cookies });
  }
  const atProvider = providerState === null ? null : providerLogoutUrl(tenant.config, providerState);
  const next =
    atApplications === null ? (atProvider ?? atConsole) : ownOrigin(tenant.config) + atApplications;
  const headers = next === null ? {} : { "X-Provider-Logout": next };
  return presented.length > 0
    ? { status: 204, headers, cookies }
    : { ...plainError(401, "No valid session."), cookies };
};

/** The page of the user whom an operator acted as in a session that ends; null where none did. */
function pageOfActedUser({ runtime, tenant }: HandlerContext, found: readonly FoundSession[]): string | null {
  const acted = found.find(({ session }) => session.impersonation !== null);
  if (!acted) return null;
  return `${consoleOrigin(runtime.config)}${CONSOLE_PATH}/${tenant.id}/users/${acted.session.userId}`;
}
