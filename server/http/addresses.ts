import { trpcHandler } from "../trpc/handler.ts";
import type { Handler } from "./exchange.ts";
import { flowHandler } from "./flow.ts";
import { flowGraphHandler } from "./flow-graph.ts";
import { aliveHandler, readyHandler } from "./health.ts";
import { jobsHandler } from "./jobs.ts";
import { jwksHandler } from "./jwks.ts";
import { loginPageHandler } from "./login-page.ts";
import { logoutHandler } from "./logout.ts";
import { mailboxHandler } from "./mailbox.ts";
import { meHandler, userHandler } from "./me.ts";
import { relatedOriginsHandler } from "./related-origins.ts";
import { samlAuthHandler, samlMetadataHandler } from "./saml.ts";
import { samlCallbackHandler } from "./saml-callback.ts";
import { validateHandler, validateTokenHandler } from "./sessions.ts";
import { stepHandler } from "./step.ts";
import { thirdPartyCallbackHandler } from "./third-party-callback.ts";
import { tokenHandler } from "./token.ts";
import { tokenExchangeHandler } from "./token-exchange.ts";

/** One method of one address. */
export interface Address {
  method: "GET" | "POST";
  /** A segment in braces stands for any one segment. */
  path: string;
  handler: Handler;
  /** What refusals look like that are given before the handler is asked: a flow state, or `{code, message}`. */
  refusals: "flow" | "plain";
  /**
   * Who may call: anyone; in browsers only pages of our own; or only this machine, and only in development. Other
   * origins are for the handler of what anyone may call to judge.
   */
  from: "anyone" | "own page" | "this machine";
}

/** Every address of the API. `app/` has a route file for each path, which a test compares. */
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
];

/** All methods of one path. */
export interface Route {
  methods: ReadonlyMap<string, Address>;
  refusals: Address["refusals"];
}

const exact = new Map<string, Route>();
const patterns: { expression: RegExp; route: Route }[] = [];

for (const [path, methods] of Map.groupBy(addresses, (address) => address.path)) {
  const route: Route = {
    methods: new Map(methods.map((address) => [address.method, address])),
    refusals: methods.some((address) => address.refusals === "flow") ? "flow" : "plain",
  };
  if (path.includes("{"))
    patterns.push({ expression: new RegExp(`^${path.replace(/\{\w+\}/, "[^/]+")}$`), route });
  else exact.set(path, route);
}

/** First segments that belong to the API alone: what is unknown under them is nobody else's either. */
const prefixes = new Set(addresses.map(({ path }) => path.split("/")[1]));

/** @returns the route of a path; `unknown` for none under a prefix of the API; null for what is not the API's */
export function findRoute(path: string): Route | "unknown" | null {
  const found = exact.get(path) ?? patterns.find(({ expression }) => expression.test(path))?.route;
  if (found) return found;
  return prefixes.has(path.split("/")[1]) ? "unknown" : null;
}
