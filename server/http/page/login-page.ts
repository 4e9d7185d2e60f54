import type { Config } from "../../config/schema.ts";
import type { Tenant } from "../../config/tenant.ts";
import { type FlowType, flowTypes, isOfSession } from "../../flow/names.ts";
import { parseRedirectTarget } from "../../redirects/redirect-target.ts";
import type { Runtime } from "../../runtime.ts";
import { messagePage } from "../answer/message-page.ts";
import { refusedDestination } from "../answer/messages.ts";
import { plainError, type Reply, redirect } from "../answer/reply.ts";
import { wantsPage } from "../request/accepts.ts";
import type { RequestHeaders } from "../request/api-request.ts";
import { languageInQuery } from "../request/language.ts";
import { withinTenant } from "../request/tenant-path.ts";
import type { Handler, HandlerContext } from "../table/handler-context.ts";
import { askedAt, type Destination, destinationUrl, parseDestination } from "./destination.ts";
import { expiredPageCookie, fitsBrowsers, openPageCookie, pageCookie } from "./page-cookie.ts";

/** Maximum size of `state`. */
const MAX_STATE_BYTES = 512;

/** Characters of a refused address in the log. */
const MAX_LOGGED_ADDRESS = 255;

/**
 * `GET /login`: redirects to the hosted page. An application that wants the user back sends
 * `?redirect_to=<allowed address>`, with `code_challenge` (S256, RFC 7636) unless it sees the session cookie, and
 * `state`, which is returned unchanged. They are stored in a sealed cookie, so the page's address stays short.
 */
export const loginPageHandler: Handler = async (context) => {
  const { runtime, tenant, cookies, url } = context;
  const query = url.searchParams;
  const language = languageInQuery(query);
  const shown = new URLSearchParams({
    ...(query.get("flow") === "registration" ? { flow: "registration" } : {}),
    ...(language === null ? {} : { lang: language }),
  });
  const page = shown.size > 0 ? `/?${shown}` : "/";
  if (!query.has("redirect_to")) return redirect(303, page);
  const reject = (message: string) => rejectDestination(message, context);
  const parsed = parseDestination(query, tenant.config);
  if (!parsed.ok) return reject(parsed.message);
  const destination = askedAt(parsed.destination, Date.now() + runtime.platform.clockShift());
  if (Buffer.byteLength(destination.state ?? "") > MAX_STATE_BYTES)
    return reject(`\`state\` must not be longer than ${MAX_STATE_BYTES} bytes.`);
  const cookie = await pageCookie(runtime, tenant, "destination", destination, tenant.config.flow.lifetime);
  if (!fitsBrowsers(cookie) || !fitsBrowsers(await longestFinishedCookie(runtime, tenant, destination)))
    return reject("`redirect_to` and `state` together are too long for a cookie.");

  // A finished flow is removed, so that the user signs in again; also one that began before more was asked of the sign-in.
  const flows = await Promise.all(flowTypes.map((type) => openPageCookie(runtime, tenant, type, cookies)));
  const asksMore = destination.classes !== undefined || destination.choosing !== undefined;
  const isOver = (type: FlowType, index: number) =>
    flows[index]?.finished !== undefined || (flows[index] != null && asksMore && !isOfSession(type));
  const over = flowTypes.filter(isOver);
  return redirect(303, page, {
    cookies: [cookie, ...over.map((type) => expiredPageCookie(tenant, type))],
  });
};

/** Tells the visitor that there is no way back, and the operator which address was refused. */
function rejectDestination(message: string, { runtime, tenant, request, url }: HandlerContext): Reply {
  const { config } = tenant;
  const { headers } = request;
  const target = parseRedirectTarget(url.searchParams.get("redirect_to") ?? "");
  // Without the query, which may hold a secret of the application.
  const address = target && (target.origin + target.pathname).slice(0, MAX_LOGGED_ADDRESS);
  runtime.log.warn({ tenant: tenant.id, redirect_to: address }, message);
  if (!wantsPage(headers)) return plainError(400, message);
  const from = referringPage(headers, config);
  return messagePage(400, headers, config, refusedDestination(message, withinTenant(config, "/"), from));
}

/** The page of another origin that led here, as far as the browser names it (RFC 9110, 10.1.3). */
function referringPage(headers: RequestHeaders, config: Config): URL | undefined {
  const page = parseRedirectTarget(headers.get("referer") ?? "");
  return page && page.origin !== new URL(config.base_url).origin ? page : undefined;
}

/** The largest cookie of a finished flow. Percent-encoding makes `state` up to three times as long. */
function longestFinishedCookie(runtime: Runtime, tenant: Tenant, destination: Destination): Promise<string> {
  const secret = "x".repeat(43);
  return pageCookie(runtime, tenant, "registration", {
    flowId: "x".repeat(36),
    token: "",
    resume: secret,
    codeVerifier: secret,
    finished: 999_999,
    redirectTo: destinationUrl(destination, secret),
  });
}
