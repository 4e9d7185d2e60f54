import { logOutInBrowser } from "../../openid/applications-logout.ts";
import { judgeLogout, type LogoutParameters } from "../../openid/logout-request.ts";
import { openidPaths } from "../../openid/paths.ts";
import { providerLogoutUrl } from "../../sessions/provider-sessions.ts";
import { messagePage } from "../answer/message-page.ts";
import { signedOut, signOutPage } from "../answer/messages.ts";
import { type Reply, redirect } from "../answer/reply.ts";
import { expiredPageCookies } from "../page/page-cookie.ts";
import { signedOutNextPage } from "../providers/sign-out.ts";
import { readText } from "../request/body.ts";
import { isSameOrigin } from "../request/origin.ts";
import { withinTenant } from "../request/tenant-path.ts";
import { everyPresentedSession } from "../session/presented-session.ts";
import { expiredSessionCookies } from "../session/session-cookie.ts";
import type { Handler, HandlerContext } from "../table/handler-context.ts";
import { applicationsLogoutTarget } from "./applications-logout.ts";
import { OFF, oauthError } from "./error.ts";

const parameterNames = ["id_token_hint", "client_id", "post_logout_redirect_uri", "state"] as const;

/** A field of the form of our own page: the user has pressed its button. */
const PRESSED = "pressed";

/**
 * `GET /oauth/logout`: an application has its user sign out (OpenID Connect RP-Initiated Logout 1.0). An ID token of the user who
 * is signed in is proof that the application asks; without one the page asks the user, because any site can send a browser here.
 */
export const logoutHandler: Handler = (context) => answer(context, context.url.searchParams);

/** `POST /oauth/logout`: the same by a form, and the press of the page's button. */
export const postedLogoutHandler: Handler = async (context) => {
  const text = await readText(context.request, "application/x-www-form-urlencoded");
  if (!text.ok) return invalid("The form cannot be read.");
  return answer(context, new URLSearchParams(text.value));
};

async function answer(context: HandlerContext, form: URLSearchParams): Promise<Reply> {
  const { runtime, tenant, request } = context;
  if (!tenant.config.openid.enabled) return oauthError(404, OFF);
  if (parameterNames.some((name) => form.getAll(name).length > 1))
    return invalid("A parameter occurs twice.");
  const given = parameterNames.flatMap((name) => {
    const value = form.get(name);
    return value === null ? [] : [[name, value]];
  });
  const parameters: LogoutParameters = Object.fromEntries(given);
  const judged = await judgeLogout({ runtime, tenant }, parameters);
  if (!judged.ok) return invalid(judged.message);
  const { isOf, returnTo } = judged.request;

  const sessions = await everyPresentedSession(context);
  const isOfUser = sessions.length > 0 && sessions.every(({ session }) => isOf(session.userId));
  const isPressed = form.get(PRESSED) === "true" && isSameOrigin(request.headers, tenant.config);
  if (sessions.length > 0 && !isOfUser && !isPressed) {
    const action = withinTenant(tenant.config, openidPaths.end_session);
    const fields = { ...Object.fromEntries(given), [PRESSED]: "true" };
    return page(context, signOutPage(action, fields));
  }
  const next = returnTo?.href ?? null;
  const { applicationsState, providerState } = await logOutInBrowser(context, sessions, next);
  // Another site that has a form sent here shows no session: it may not sign the browser out by the answer either.
  const mayForget = sessions.length > 0 || isSameOrigin(request.headers, tenant.config);
  const cookies = mayForget ? [...expiredSessionCookies(tenant.config), ...expiredPageCookies(tenant)] : [];
  if (applicationsState !== null)
    return redirect(303, applicationsLogoutTarget(tenant.config, applicationsState), { cookies });
  if (providerState !== null && isPressed) return { ...signedOutNextPage(context, providerState), cookies };
  if (providerState !== null)
    return redirect(303, providerLogoutUrl(tenant.config, providerState), { cookies });
  // A form of our page may not lead to another origin (`form-action`), so a press is answered with a link.
  const on = isPressed ? null : next;
  if (on !== null) return redirect(303, on, { cookies });
  return { ...page(context, signedOut(returnTo ?? undefined)), cookies };
}

const page = ({ request, tenant }: HandlerContext, message: Parameters<typeof messagePage>[3]) =>
  messagePage(200, request.headers, tenant.config, message, { "Referrer-Policy": "strict-origin" });

const invalid = (description: string) => oauthError(400, description);
