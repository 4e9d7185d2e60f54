import type { Config } from "../config.ts";
import { isAllowedOrigin } from "./origin.ts";

const methods = "GET, POST, PUT, PATCH, DELETE, OPTIONS";

const exposed = [
  "Retry-After",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
  "X-Session-Lifetime",
  "X-Session-Retention",
];

/**
 * The CORS headers of an answer (Fetch standard, 3.3): the origin itself when it is listed, never a pattern, and
 * nothing at all for any other.
 *
 * @param origin the request's `Origin`
 */
export function corsHeaders(origin: string | null, config: Config): Record<string, string> {
  if (config.cors.allow_origins.length === 0) return {};
  if (origin === null || !isAllowedOrigin(origin, config)) return { Vary: "Origin" };
  return {
    Vary: "Origin",
    "Access-Control-Allow-Origin": origin,
    "Access-Control-Allow-Credentials": "true",
    "Access-Control-Expose-Headers": [
      ...exposed,
      ...(config.session.enable_auth_token_header ? ["X-Auth-Token"] : []),
    ].join(", "),
  };
}

/**
 * What the answer to a preflight carries beside `corsHeaders`; nothing for an origin that is not listed.
 *
 * @param requested the request's `Access-Control-Request-Headers`, which is sent back
 */
export function preflightHeaders(
  origin: string | null,
  requested: string | null,
  config: Config,
): Record<string, string> {
  if (origin === null || !isAllowedOrigin(origin, config)) return {};
  return {
    "Access-Control-Allow-Methods": methods,
    ...(requested ? { "Access-Control-Allow-Headers": requested } : {}),
    "Access-Control-Max-Age": "7200",
  };
}
