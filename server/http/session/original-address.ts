import { parseRedirectTarget } from "../../redirects/redirect-target.ts";
import { isTrustedProxy } from "../request/request-address.ts";
import type { HandlerContext } from "../table/handler-context.ts";

/**
 * The address that a browser has requested of a proxy, which asks this service about it: by `X-Forwarded-Proto`, `-Host`
 * and `-Uri` or, without `-Uri`, by `X-Original-URL`.
 *
 * @returns null if the headers name no http(s) URL, or the peer is not one of `server.trusted_proxies`
 */
export function originalAddress({ runtime, request, peer }: HandlerContext): URL | null {
  if (!isTrustedProxy(runtime, peer)) return null;
  const { headers } = request;
  const path = headers.get("x-forwarded-uri");
  if (path === null) return parseRedirectTarget(headers.get("x-original-url") ?? "");
  // Anything else would continue the host name.
  if (!path.startsWith("/")) return null;
  return parseRedirectTarget(
    `${headers.get("x-forwarded-proto") ?? ""}://${headers.get("x-forwarded-host") ?? ""}${path}`,
  );
}
