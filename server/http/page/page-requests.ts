import type { Config } from "../../config/schema.ts";
import type { Tenant } from "../../config/tenant.ts";
import type { Runtime } from "../../runtime.ts";
import { messagePage } from "../answer/message-page.ts";
import { missingAddress, tooManyPages } from "../answer/messages.ts";
import { plainError, type Reply } from "../answer/reply.ts";
import { wantsJson, wantsPage } from "../request/accepts.ts";
import type { RequestHeaders } from "../request/api-request.ts";

/** Paths of pages within their tenant. A test compares them with `hosted/answer.ts`. */
export const pagePaths: ReadonlySet<string> = new Set(["/", "/account", "/confirm", "/embed"]);

/** A request for an address outside the API. */
export interface PageRequest {
  method: string;
  url: URL;
  headers: RequestHeaders;
  /** See `sourceOf`. */
  source: string;
  /** Null for an unknown tenant. */
  tenant: Tenant | null;
  /** Path without the tenant's prefix. */
  path: string;
}

/**
 * Answers a request outside the API for which no page is made: an address with surplus slashes is redirected, a
 * program that requests an unknown path gets an error in JSON, and a source that has displayed too many pages has to
 * wait, because displaying one takes much time.
 *
 * @returns null if `hosted/answer.ts` answers
 */
export async function rejectPageRequest(
  runtime: Runtime,
  request: PageRequest,
): Promise<Reply | Response | null> {
  const { method, url, headers, source, tenant, path } = request;
  const isRead = method === "GET" || method === "HEAD";
  const canonical = withoutSurplusSlashes(url.pathname);
  if (isRead && canonical !== url.pathname)
    return new Response(null, { status: 308, headers: { Location: canonical + url.search } });
  const config = tenant?.config ?? runtime.config;
  if (!tenant || !pagePaths.has(path)) {
    if (wantsJson(headers)) return plainError(404, "Not found.");
    if (!isRead) return wantsPage(headers) ? missingPage(headers, config) : plainError(404, "Not found.");
  }
  if (!isRead) return null;
  const wait = await secondsToWait(runtime, source);
  return wait === null ? null : refuseTooManyPages(headers, config, wait);
}

/** Never begins with two slashes, which browsers would read as another host. */
function withoutSurplusSlashes(path: string): string {
  return /\/(?:\/|$)/.test(path) ? `/${path.split("/").filter(Boolean).join("/")}` : path;
}

/**
 * Counts a page. The limit is not per tenant: pages of every tenant take the time of the same processes.
 *
 * @returns null if the source may display it, also if the count fails; then the page displays the error
 */
async function secondsToWait(runtime: Runtime, source: string): Promise<number | null> {
  try {
    const rate = await runtime.rates.consumeShared("page", source);
    return rate.ok ? null : rate.retryAfterSeconds;
  } catch (error) {
    runtime.log.warn({ err: error }, "pages could not be counted");
    return null;
  }
}

function missingPage(headers: RequestHeaders, config: Config): Reply {
  return messagePage(404, headers, config, missingAddress);
}

function refuseTooManyPages(headers: RequestHeaders, config: Config, seconds: number): Reply {
  const retry = { "Retry-After": String(seconds) };
  if (!wantsPage(headers)) return plainError(429, "Too many pages. Retry later.", retry);
  return messagePage(429, headers, config, tooManyPages(seconds), retry);
}
