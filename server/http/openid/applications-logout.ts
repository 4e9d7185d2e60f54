import type { Config } from "../../config/schema.ts";
import { findApplicationsLogout, logoutAddresses } from "../../openid/applications-logout.ts";
import { applicationsLogoutPath } from "../../openid/paths.ts";
import { basePageUrl } from "../../thirdparty/redirect-urls.ts";
import { messagePage } from "../answer/message-page.ts";
import { signedOut, signedOutOfApplications } from "../answer/messages.ts";
import { redirect } from "../answer/reply.ts";
import { stateOf } from "../providers/sign-out.ts";
import { withinTenant } from "../request/tenant-path.ts";
import type { Handler } from "../table/handler-context.ts";
import { OFF, oauthError } from "./error.ts";

/** Returns the path of the page that goes on with a sign-out of applications. It names no session. */
export const applicationsLogoutTarget = (config: Config, state: string): string =>
  withinTenant(config, `${applicationsLogoutPath}?state=${state}`);

/**
 * `GET /oauth/logout/applications?state=`: loads the pages by which applications sign a browser out, and leads on (OpenID
 * Connect Front-Channel Logout 1.0). The sessions have ended before: what is late or made up leads to the page of this service.
 */
export const applicationsLogoutHandler: Handler = async (context) => {
  const { runtime, tenant, request } = context;
  if (request.method === "HEAD") return { status: 204 };
  if (!tenant.config.openid.enabled) return oauthError(404, OFF);
  const state = stateOf(context);
  const found = state === null ? null : await findApplicationsLogout({ runtime, tenant }, state);
  if (!found) return redirect(303, basePageUrl(tenant.config).href);
  const frames = logoutAddresses(tenant, found.applications);
  // The operator has removed the addresses meanwhile.
  if (frames.length === 0 && found.next !== null) return redirect(303, found.next);
  const message = frames.length > 0 ? signedOutOfApplications(frames, found.next) : signedOut(undefined);
  // The address of this page is not for applications.
  return messagePage(200, request.headers, tenant.config, message, { "Referrer-Policy": "no-referrer" });
};
