import { flowTypes } from "../../flow/names.ts";
import { logOut } from "../../sessions/log-out.ts";
import { expiredSessionCookie } from "../cookies.ts";
import type { Handler } from "../handler-context.ts";
import { isForeign, provenanceOf } from "../origin.ts";
import { expiredPageCookie } from "../page/page-cookie.ts";
import { plainError, redirect } from "../reply.ts";
import { withinTenant } from "../tenant-path.ts";
import { everyPresentedSession } from "./presented-session.ts";

/**
 * `POST /logout`: ends every session that the request names at once, a planted one too, and takes back the session
 * cookie and what the hosted page remembers. 401 when none was live; the cookies go all the same.
 */
export const logoutHandler: Handler = async (context) => {
  const { tenant, request } = context;
  if (isForeign(provenanceOf(request.headers), tenant.config))
    return plainError(403, "Other sites cannot sign people out.");
  const presented = await everyPresentedSession(context);
  await logOut(context, presented);
  const cookies = [
    expiredSessionCookie(tenant.config),
    ...flowTypes.map((type) => expiredPageCookie(tenant, type)),
  ];
  // The form of the account page, where no script runs.
  if (request.headers.get("content-type")?.startsWith("application/x-www-form-urlencoded"))
    return redirect(303, withinTenant(tenant.config, "/"), { cookies });
  return presented.length > 0
    ? { status: 204, cookies }
    : { ...plainError(401, "There is no valid session."), cookies };
};
