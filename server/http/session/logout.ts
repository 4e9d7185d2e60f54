import { logOut } from "../../sessions/log-out.ts";
import { plainError, redirect } from "../answer/reply.ts";
import { expiredPageCookies } from "../page/page-cookie.ts";
import { isDisallowedOrigin } from "../request/origin.ts";
import { withinTenant } from "../request/tenant-path.ts";
import type { Handler } from "../table/handler-context.ts";
import { everyPresentedSession } from "./presented-session.ts";
import { expiredSessionCookies } from "./session-cookie.ts";

/**
 * `POST /logout`: ends every session that the request names, including planted ones, and removes the session cookie and
 * the cookies of the hosted page. 401 if no session was live; the cookies are removed in any case.
 */
export const logoutHandler: Handler = async (context) => {
  const { tenant, request } = context;
  if (isDisallowedOrigin(request.headers, tenant.config))
    return plainError(403, "Cross-site requests are not allowed.");
  const presented = await everyPresentedSession(context);
  await logOut(context, presented);
  const cookies = [...expiredSessionCookies(tenant.config), ...expiredPageCookies(tenant)];
  // The form of the account page in a browser without scripts.
  if (request.headers.get("content-type")?.startsWith("application/x-www-form-urlencoded"))
    return redirect(303, withinTenant(tenant.config, "/"), { cookies });
  return presented.length > 0
    ? { status: 204, cookies }
    : { ...plainError(401, "No valid session."), cookies };
};
