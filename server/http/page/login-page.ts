import { flowTypes } from "../../flow/names.ts";
import type { Runtime } from "../../runtime.ts";
import type { Tenant } from "../../tenants/tenant.ts";
import type { Handler } from "../handler-context.ts";
import { plainError, redirect } from "../reply.ts";
import { type Destination, destinationUrl, parseDestination } from "./destination.ts";
import { expiredPageCookie, fitsBrowsers, openPageCookie, pageCookie } from "./page-cookie.ts";

/** Most bytes of `state`. */
const STATE_LIMIT = 512;

/**
 * `GET /login`: leads to the hosted page. An application that wants the person back names itself:
 * `?redirect_to=<allowed address>`, with `code_challenge` (S256, RFC 7636) unless it sees the session cookie, and
 * `state`, which comes back as it is. The wish rests in a sealed cookie; the page's address stays clean.
 */
export const loginPageHandler: Handler = async ({ runtime, tenant, cookies, url }) => {
  const query = url.searchParams;
  const page = query.get("flow") === "registration" ? "/?flow=registration" : "/";
  if (!query.has("redirect_to")) return redirect(303, page);
  const asked = parseDestination(query, tenant.config);
  if (!asked.ok) return plainError(400, asked.message);
  const { destination } = asked;
  if (Buffer.byteLength(destination.state ?? "") > STATE_LIMIT)
    return plainError(400, `state is longer than ${STATE_LIMIT} bytes.`);
  const wish = await pageCookie(runtime, tenant, "destination", destination, tenant.config.flow.lifetime);
  if (!fitsBrowsers(wish) || !fitsBrowsers(await longestFarewell(runtime, tenant, destination)))
    return plainError(400, "redirect_to and state are too long together to be kept in a cookie.");

  // Whoever has just signed in and is sent here again is to sign in again.
  const flows = await Promise.all(flowTypes.map((type) => openPageCookie(runtime, tenant, type, cookies)));
  const finished = flowTypes.filter((_, index) => flows[index]?.finished);
  return redirect(303, page, {
    cookies: [wish, ...finished.map((type) => expiredPageCookie(tenant, type))],
  });
};

/** The cookie that remembers at the end where the person was sent; `state` may be thrice as long in an address. */
function longestFarewell(runtime: Runtime, tenant: Tenant, destination: Destination): Promise<string> {
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
