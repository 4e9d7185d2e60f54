import type { HandlerContext } from "../handler-context.ts";
import { isAllowedOrigin } from "../origin.ts";

/**
 * Headers that let pages of any site read what their token shows them. No cookie counts here, so nothing is let out
 * that the token alone does not; pages that are listed anyway have headers of their own (`cors.ts`).
 */
export function pageHeaders({ request, tenant }: HandlerContext): Record<string, string> {
  const origin = request.headers.get("origin");
  if (origin === null || isAllowedOrigin(origin, tenant.config)) return {};
  return { "Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin" };
}
