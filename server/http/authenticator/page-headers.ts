import { isAllowedOrigin } from "../request/origin.ts";
import type { HandlerContext } from "../table/handler-context.ts";

/**
 * CORS headers that let pages of any origin read the response. The token in the URL is the only credential, and cookies
 * are not used. Allowed origins get their headers from `cors.ts`.
 */
export function pageHeaders({ request, tenant }: HandlerContext): Record<string, string> {
  const origin = request.headers.get("origin");
  if (origin === null || isAllowedOrigin(origin, tenant.config)) return {};
  return { "Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin" };
}
