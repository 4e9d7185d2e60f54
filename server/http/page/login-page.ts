import { flowTypes } from "../../flow/names.ts";
import type { Runtime } from "../../runtime.ts";
import type { Tenant } from "../../tenants/tenant.ts";
import { wantsPage } from "../accepts.ts";
import type { RequestHeaders } from "../api-request.ts";
import type { Handler } from "../handler-context.ts";
import { messagePage } from "../message-page.ts";
import { refusedDestination } from "../messages.ts";
import { plainError, type Reply, redirect } from "../reply.ts";
import { withinTenant } from "../tenant-path.ts";
import { type Destination, destinationUrl, parseDestination } from "./destination.ts";
import { expiredPageCookie, fitsBrowsers, openPageCookie, pageCookie } from "./page-cookie.ts";

/** Maximum size of `state`. */
const MAX_STATE_BYTES = 512;

/**
 * `GET /login`: redirects to the hosted page. An application that wants the user back sends
 * `?redirect_to=<allowed address>`, with `code_challenge` (S256, RFC 7636) unless it sees the session cookie, and
 * `state`, which is returned unchanged. They are stored in a sealed cookie, so the page's address stays short.
 */
export const loginPageHandler: Handler = async ({ runtime, tenant, cookies, url, request }) => {
  const query = url.searchParams;
  const page = query.get("flow") === "registration" ? "/?flow=registration" : "/";
  if (!query.has("redirect_to")) return redirect(303, page);
  const reject = (message: string) => rejectDestination(message, request.headers, tenant);
  const parsed = parseDestination(query, tenant.config);
  if (!parsed.ok) return reject(parsed.message);
  const { destination } = parsed;
  if (Buffer.byteLength(destination.state ?? "") > MAX_STATE_BYTES)
    return reject(`\`state\` must not be longer than ${MAX_STATE_BYTES} bytes.`);
  const cookie = await pageCookie(runtime, tenant, "destination", destination, tenant.config.flow.lifetime);
  if (!fitsBrowsers(cookie) || !fitsBrowsers(await longestFinishedCookie(runtime, tenant, destination)))
    return reject("`redirect_to` and `state` together are too long for a cookie.");

  // A finished flow is removed, so that the user signs in again.
  const flows = await Promise.all(flowTypes.map((type) => openPageCookie(runtime, tenant, type, cookies)));
  const finished = flowTypes.filter((_, index) => flows[index]?.finished);
  return redirect(303, page, {
    cookies: [cookie, ...finished.map((type) => expiredPageCookie(tenant, type))],
  });
};

function rejectDestination(message: string, headers: RequestHeaders, { config }: Tenant): Reply {
  if (!wantsPage(headers)) return plainError(400, message);
  return messagePage(400, headers, config, refusedDestination(message, withinTenant(config, "/")));
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
