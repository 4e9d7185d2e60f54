import { clientsToldBy } from "../../config/logout-channels.ts";
import type { Config } from "../../config/schema.ts";
import { endsAnyProviderSession } from "../../sessions/provider-sessions.ts";
import { wordsHeader } from "../../theme/own-words.ts";
import { isPasskeyOrigin } from "../passkeys/origin.ts";
import { isAllowedOrigin } from "../request/origin.ts";
import type { ErrorShape } from "../table/address.ts";

/** Which origins may read the responses of an interface, and which headers. */
interface Policy {
  /** Whether no other origin is allowed, so that responses do not vary by origin. */
  closed(config: Config): boolean;
  allows(origin: string, config: Config): boolean;
  exposes(config: Config): string[];
  methods: string;
}

const flows: Policy = {
  methods: "GET, POST, PUT, PATCH, DELETE, OPTIONS",
  closed: ({ cors }) => cors.allow_origins.length === 0,
  allows: isAllowedOrigin,
  exposes: ({ session, words, ...config }) => [
    "Retry-After",
    "X-RateLimit-Limit",
    "X-RateLimit-Remaining",
    "X-RateLimit-Reset",
    "X-Session-Lifetime",
    "X-Session-Retention",
    ...(session.enable_auth_token_header ? ["X-Auth-Token"] : []),
    ...(endsAnyProviderSession(config) || clientsToldBy(config, "frontchannel_logout_uri").length > 0
      ? ["X-Provider-Logout"]
      : []),
    ...Object.keys(wordsHeader({ words })),
  ],
};

const passkeys: Policy = {
  methods: "GET, HEAD, PUT, PATCH, POST, DELETE",
  closed: () => false,
  allows: isPasskeyOrigin,
  exposes: () => ["Link", "Retry-After", "X-Request-ID", "X-Total-Count"],
};

/** Servers call the administration interface; a page that could use it would have a key that opens every account. */
const none: Policy = { methods: "", closed: () => true, allows: () => false, exposes: () => [] };

/**
 * The OpenID provider decides by the client which origin may read an answer, and takes no cookie from applications. What a
 * browser asks before is answered for each origin, because it does not name the client.
 */
const oauth: Policy = { methods: "GET, POST", closed: () => true, allows: () => true, exposes: () => [] };

const policies: Record<ErrorShape, Policy> = {
  flow: flows,
  plain: flows,
  authenticator: flows,
  passkeys,
  admin: none,
  oauth,
};

/**
 * CORS headers of a response (Fetch standard, 3.3): for a listed origin the origin itself, never a pattern; no allowing
 * header for any other.
 *
 * @param origin the request's `Origin`
 * @param errorShape tells the interface apart
 */
export function corsHeaders(
  origin: string | null,
  config: Config,
  errorShape: ErrorShape = "plain",
): Record<string, string> {
  const { closed, allows, exposes } = policies[errorShape];
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
 * Headers of a preflight response beside `corsHeaders`. None for an origin that is not listed.
 *
 * @param requested the request's `Access-Control-Request-Headers`, which is echoed
 * @param errorShape tells the interface apart
 */
export function preflightHeaders(
  origin: string | null,
  requested: string | null,
  config: Config,
  errorShape: ErrorShape = "plain",
): Record<string, string> {
  const { allows, closed, methods } = policies[errorShape];
  if (origin === null || !allows(origin, config)) return {};
  return {
    // `corsHeaders` names no origin then: the answer itself decides.
    ...(closed(config) ? { "Access-Control-Allow-Origin": origin, Vary: "Origin" } : {}),
    "Access-Control-Allow-Methods": methods,
    ...(requested ? { "Access-Control-Allow-Headers": requested } : {}),
    "Access-Control-Max-Age": "7200",
  };
}
