import type { Config } from "../../config/schema.ts";
import type { SessionClaims } from "../../sessions/session-claims.ts";
import { plainError, type Reply } from "../answer/reply.ts";
import { parseDestination } from "../page/destination.ts";
import type { HandlerContext } from "../table/handler-context.ts";
import { originalAddress } from "./original-address.ts";
import { presentedSession } from "./presented-session.ts";

/**
 * `GET /forward-auth`: tells a reverse proxy whether the request that it holds has a session, and whose. Counts as use of
 * the session. docs/reverse-proxies.md has configurations of proxies.
 *
 * @param asRedirect answers 302 in place of 401 where a browser can follow
 */
export async function forwardAuth(context: HandlerContext, asRedirect: boolean): Promise<Reply> {
  const { tenant, request } = context;
  const original = originalAddress(context);
  const verified = await presentedSession(context, { touch: true });
  if (!verified.ok) return signIn(tenant.config, original, isNavigation(request.headers), asRedirect);
  const { claims, token } = verified;
  return {
    status: 204,
    headers: { ...identityHeaders(claims), "X-Stile-Token": mayReadToken(context, original) ? token : "" },
  };
}

/**
 * Who is signed in. Each header is there, empty where there is nothing to tell, because a proxy that copies it then replaces
 * what the client sent. An email address that the account owner has not verified is not told: applications take it for a
 * proof.
 */
function identityHeaders({
  subject,
  session_id,
  email,
  username,
  act,
}: SessionClaims): Record<string, string> {
  return {
    "X-Stile-User-Id": subject,
    "X-Stile-Session-Id": session_id,
    "X-Stile-Acting-User-Id": act?.sub ?? "",
    "X-Stile-Email": email?.is_verified ? headerText(email.address) : "",
    "X-Stile-Username": headerText(username ?? ""),
  };
}

/** Percent-encodes, as UTF-8, `%` and every character that is not visible ASCII. */
function headerText(text: string): string {
  return text.toWellFormed().replace(/[^!-$&-~]+/gu, encodeURIComponent);
}

/**
 * Whether the answer reaches a proxy, and not a script of our own pages, which must not read the token of a cookie that is
 * HttpOnly. Browsers name each request of a script by `Sec-Fetch-Site` (Fetch Metadata, 2.4).
 */
function mayReadToken({ request, tenant }: HandlerContext, original: URL | null): boolean {
  if (!request.headers.has("sec-fetch-site")) return true;
  return original !== null && original.origin !== new URL(tenant.config.base_url).origin;
}

/** Whether the browser shows the answer as a page. A script could not follow a redirect to another origin. */
function isNavigation(headers: HandlerContext["request"]["headers"]): boolean {
  return (headers.get("sec-fetch-mode") ?? "navigate") === "navigate";
}

/** Without a session: 401 or 302, with the address of the sign-in in `Location` for a navigation. */
function signIn(config: Config, original: URL | null, navigation: boolean, asRedirect: boolean): Reply {
  if (!navigation) return plainError(401, "No valid session.");
  const query = new URLSearchParams(original ? { redirect_to: original.href } : {});
  const wayBack = original && parseDestination(query, config);
  const Location = `${config.base_url}/login${wayBack?.ok ? `?${query}` : ""}`;
  const reason =
    wayBack?.ok === false ? `No valid session, and no way back: ${wayBack.message}` : "No valid session.";
  return asRedirect ? { status: 302, headers: { Location } } : plainError(401, reason, { Location });
}
