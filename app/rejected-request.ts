import { sourceOf } from "#server/http/client-address";
import { locate } from "#server/http/locate";
import { rejectPageRequest } from "#server/http/page/page-requests";
import { recordedPeer } from "#server/http/peer";
import { plainError } from "#server/http/reply";
import { requestAddress } from "#server/http/request-address";
import { toResponse } from "#server/http/to-response";
import { requestIdOf } from "#server/observability/request-id";
import type { Runtime } from "#server/runtime";

/**
 * Answers a request outside the API for which there is no page to display. Under Next alone; under `npm start` the
 * request was checked before Next got it.
 *
 * @returns null if a page is displayed; also if its tenant cannot be found, which the page reports
 */
export async function rejectedRequest(runtime: Runtime, request: Request): Promise<Response | null> {
  const { method, headers } = request;
  const url = new URL(request.url);
  const located = await locate(runtime, headers.get("host"), url.pathname).catch(() => null);
  if (!located) return null;
  const source = sourceOf(requestAddress(runtime, headers, recordedPeer(headers)));
  const isRead = method === "GET" || method === "HEAD";
  const reply =
    (await rejectPageRequest(runtime, { method, url, headers, source, ...located })) ??
    (isRead ? null : plainError(405, "Method not allowed.", { Allow: "GET, HEAD" }));
  if (!reply) return null;
  const response = toResponse(request, reply, {
    config: located.tenant?.config ?? runtime.config,
    requestId: requestIdOf(headers.get("x-request-id")),
    errorShape: "plain",
  });
  // Next accepts absolute addresses only, and sends the path of its own.
  const location = response.headers.get("Location");
  if (location !== null) response.headers.set("Location", new URL(location, request.url).href);
  return response;
}
