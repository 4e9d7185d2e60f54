import { trpcHandler } from "../trpc/handler.ts";
import type { Address, Refusals, Route } from "./address.ts";
import { authenticatorAddresses } from "./authenticator/addresses.ts";
import { authenticatorButtonHandler, authenticatorHandler } from "./dev/authenticator.ts";
import { mailboxHandler } from "./dev/mailbox.ts";
import { flowHandler } from "./flow/call-flow.ts";
import { flowGraphHandler } from "./flow/graph.ts";
import { tokenExchangeHandler } from "./flow/token-exchange.ts";
import { aliveHandler, readyHandler } from "./health.ts";
import { jobsHandler } from "./jobs.ts";
import { loginPageHandler } from "./page/login-page.ts";
import { stepHandler } from "./page/step.ts";
import { passkeyAddresses } from "./passkeys/addresses.ts";
import { samlAuthHandler, samlMetadataHandler } from "./providers/saml.ts";
import { samlCallbackHandler } from "./providers/saml-callback.ts";
import { thirdPartyCallbackHandler } from "./providers/third-party-callback.ts";
import { relatedOriginsHandler } from "./related-origins.ts";
import { jwksHandler } from "./session/jwks.ts";
import { logoutHandler } from "./session/logout.ts";
import { meHandler, userHandler } from "./session/me.ts";
import { tokenHandler } from "./session/token.ts";
import { validateHandler, validateTokenHandler } from "./session/validate.ts";

/**
 * Every address of the API. For Next, `app/` has one route file for each first segment, and one for everything below
 * it; a test compares them with this table.
 */
export const addresses: readonly Address[] = [
  { method: "POST", path: "/login", handler: flowHandler("login"), refusals: "flow", from: "anyone" },
  { method: "GET", path: "/login", handler: loginPageHandler, refusals: "flow", from: "anyone" },
  {
    method: "POST",
    path: "/registration",
    handler: flowHandler("registration"),
    refusals: "flow",
    from: "anyone",
  },

  { method: "POST", path: "/profile", handler: flowHandler("profile"), refusals: "flow", from: "anyone" },
  {
    method: "POST",
    path: "/token_exchange",
    handler: tokenExchangeHandler,
    refusals: "flow",
    from: "anyone",
  },

  { method: "GET", path: "/saml/metadata", handler: samlMetadataHandler, refusals: "plain", from: "anyone" },
  { method: "GET", path: "/saml/auth", handler: samlAuthHandler, refusals: "plain", from: "anyone" },
  { method: "POST", path: "/saml/callback", handler: samlCallbackHandler, refusals: "plain", from: "anyone" },

  { method: "GET", path: "/me", handler: meHandler, refusals: "plain", from: "anyone" },
  { method: "GET", path: "/users/{id}", handler: userHandler, refusals: "plain", from: "anyone" },
  { method: "POST", path: "/logout", handler: logoutHandler, refusals: "plain", from: "anyone" },
  { method: "GET", path: "/sessions/validate", handler: validateHandler, refusals: "plain", from: "anyone" },
  {
    method: "POST",
    path: "/sessions/validate",
    handler: validateTokenHandler,
    refusals: "plain",
    from: "anyone",
  },
  { method: "GET", path: "/.well-known/jwks.json", handler: jwksHandler, refusals: "plain", from: "anyone" },
  {
    method: "GET",
    path: "/.well-known/webauthn",
    handler: relatedOriginsHandler,
    refusals: "plain",
    from: "anyone",
  },
  {
    method: "GET",
    path: "/.well-known/flow-graph.json",
    handler: flowGraphHandler,
    refusals: "plain",
    from: "anyone",
  },
  {
    method: "GET",
    path: "/thirdparty/callback",
    handler: thirdPartyCallbackHandler,
    refusals: "plain",
    from: "anyone",
  },
  {
    method: "POST",
    path: "/thirdparty/callback",
    handler: thirdPartyCallbackHandler,
    refusals: "plain",
    from: "anyone",
  },
  { method: "POST", path: "/token", handler: tokenHandler, refusals: "plain", from: "anyone" },

  { method: "POST", path: "/step", handler: stepHandler, refusals: "plain", from: "own page" },
  {
    method: "POST",
    path: "/api/trpc/{procedure}",
    handler: trpcHandler,
    refusals: "plain",
    from: "own page",
  },

  { method: "GET", path: "/api/jobs", handler: jobsHandler, refusals: "plain", from: "anyone" },
  { method: "GET", path: "/health/alive", handler: aliveHandler, refusals: "plain", from: "anyone" },
  { method: "GET", path: "/health/ready", handler: readyHandler, refusals: "plain", from: "anyone" },
  { method: "GET", path: "/dev/mailbox", handler: mailboxHandler, refusals: "plain", from: "this machine" },
  {
    method: "GET",
    path: "/dev/authenticator",
    handler: authenticatorHandler,
    refusals: "plain",
    from: "this machine",
  },
  {
    method: "POST",
    path: "/dev/authenticator",
    handler: authenticatorButtonHandler,
    refusals: "plain",
    from: "this machine",
  },

  ...passkeyAddresses,
  ...authenticatorAddresses,
];

/** A route, and what its braces stand for. */
export interface Found {
  route: Route;
  params: Record<string, string>;
}

const exact = new Map<string, Route>();
/** By the first segment, so that few are tried. */
const patterns = new Map<string, { expression: RegExp; route: Route }[]>();
/** First segments that belong to the API alone: what is unknown under them is nobody else's either. */
const prefixes = new Map<string, Refusals>();

for (const [path, methods] of Map.groupBy(addresses, (address) => address.path)) {
  const [first] = methods;
  if (!first) continue;
  const route: Route = {
    path,
    methods: new Map(methods.map((address) => [address.method, address])),
    refusals: methods.find(({ refusals }) => refusals === "flow")?.refusals ?? first.refusals,
  };
  const prefix = path.split("/")[1] ?? "";
  // Where addresses of one prefix refuse in different shapes, what is unknown has the plainest.
  prefixes.set(prefix, route.refusals === "flow" ? "plain" : route.refusals);
  if (!path.includes("{")) {
    exact.set(path, route);
    continue;
  }
  const expression = new RegExp(`^${path.replaceAll(".", "\\.").replace(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`);
  patterns.set(prefix, [...(patterns.get(prefix) ?? []), { expression, route }]);
}

/**
 * @param method where a path is that of several routes, one that takes it goes before the others
 * @returns the route of a path; for none under a prefix of the API, what its refusals look like; null for what is not
 *   the API's
 */
export function findRoute(path: string, method = "GET"): Found | { unknown: Refusals } | null {
  const route = exact.get(path);
  if (route) return { route, params: {} };
  const prefix = path.split("/", 2)[1] ?? "";
  let first: Found | undefined;
  for (const { expression, route } of patterns.get(prefix) ?? []) {
    const params = paramsOf(expression.exec(path));
    if (!params) continue;
    // A user may be called what another address has for a segment.
    if (route.methods.has(method)) return { route, params };
    first ??= { route, params };
  }
  if (first) return first;
  const unknown = prefixes.get(prefix);
  return unknown ? { unknown } : null;
}

/** What names a person: applications call their users what they like, often by their mail address. */
const personal = "{user_id}";

/** A path as logs may repeat it. */
export function loggablePath(method: string, path: string): string {
  const [, tenant = "", rest = path] = /^(\/t\/[^/]+)?(\/.*)$/.exec(path) ?? [];
  const found = findRoute(rest, method === "HEAD" ? "GET" : method);
  if (!found || "unknown" in found || !found.route.path.includes(personal)) return path;
  const pattern = found.route.path.split("/");
  const segments = rest.split("/").map((segment, at) => (pattern[at] === personal ? personal : segment));
  return tenant + segments.join("/");
}

/** A segment that cannot be decoded names nothing. */
function paramsOf(match: RegExpExecArray | null): Record<string, string> | null {
  if (!match) return null;
  try {
    const found = Object.entries(match.groups ?? {});
    return Object.fromEntries(found.map(([name, segment]) => [name, decodeURIComponent(segment)]));
  } catch {
    return null;
  }
}
