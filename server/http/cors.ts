import type { Config } from "../config/schema.ts";
import type { Refusals } from "./address.ts";
import { isAllowedOrigin } from "./origin.ts";
import { isPasskeyOrigin } from "./passkeys/origin.ts";

/** Whom an interface lets read its answers from other sites, and which headers of them. */
interface Policy {
  /** Nobody from elsewhere is let in at all, so that answers need not differ. */
  closed(config: Config): boolean;
  allows(origin: string, config: Config): boolean;
  exposes(config: Config): string[];
  methods: string;
}

const flows: Policy = {
  methods: "GET, POST, PUT, PATCH, DELETE, OPTIONS",
  closed: ({ cors }) => cors.allow_origins.length === 0,
  allows: isAllowedOrigin,
  exposes: ({ session }) => [
    "Retry-After",
    "X-RateLimit-Limit",
    "X-RateLimit-Remaining",
    "X-RateLimit-Reset",
    "X-Session-Lifetime",
    "X-Session-Retention",
    ...(session.enable_auth_token_header ? ["X-Auth-Token"] : []),
  ],
};

const passkeys: Policy = {
  methods: "GET, HEAD, PUT, PATCH, POST, DELETE",
  closed: () => false,
  allows: isPasskeyOrigin,
  exposes: () => ["Link", "Retry-After", "X-Request-ID", "X-Total-Count"],
};

const policies: Record<Refusals, Policy> = { flow: flows, plain: flows, authenticator: flows, passkeys };

/**
 * The CORS headers of an answer (Fetch standard, 3.3): the origin itself when it is listed, never a pattern, and
 * nothing at all for any other.
 *
 * @param origin the request's `Origin`
 * @param of the interface that answers
 */
export function corsHeaders(
  origin: string | null,
  config: Config,
  of: Refusals = "plain",
): Record<string, string> {
  const { closed, allows, exposes } = policies[of];
  if (closed(config)) return {};
  if (origin === null || !allows(origin, config)) return { Vary: "Origin" };
  return {
    Vary: "Origin",
    "Access-Control-Allow-Origin": origin,
    "Access-Control-Allow-Credentials": "true",
    "Access-Control-Expose-Headers": exposes(config).join(", "),
  };
}

/**
 * What the answer to a preflight carries beside `corsHeaders`; nothing for an origin that is not listed.
 *
 * @param requested the request's `Access-Control-Request-Headers`, which is sent back
 * @param of the interface that answers
 */
export function preflightHeaders(
  origin: string | null,
  requested: string | null,
  config: Config,
  of: Refusals = "plain",
): Record<string, string> {
  const { allows, methods } = policies[of];
  if (origin === null || !allows(origin, config)) return {};
  return {
    "Access-Control-Allow-Methods": methods,
    ...(requested ? { "Access-Control-Allow-Headers": requested } : {}),
    "Access-Control-Max-Age": "7200",
  };
}
