import { flowTypes } from "../flow/names.ts";
import type { Handler } from "./exchange.ts";
import { expiredPageCookie, openPageCookie, pageCookie } from "./page-cookie.ts";
import { parseDestination } from "./redirect.ts";
import { plainError, redirect } from "./reply.ts";

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

  // Whoever has just signed in and is sent here again is to sign in again.
  const flows = await Promise.all(flowTypes.map((type) => openPageCookie(runtime, tenant, type, cookies)));
  const finished = flowTypes.filter((_, index) => flows[index]?.finished);
  return redirect(303, page, {
    cookies: [
      await pageCookie(runtime, tenant, "destination", asked.destination, tenant.config.flow.lifetime),
      ...finished.map((type) => expiredPageCookie(tenant, type)),
    ],
  });
};
