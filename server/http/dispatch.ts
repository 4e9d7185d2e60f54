import type { BlockList } from "node:net";
import { isDatabaseUnreachable } from "#db/errors";
import type { Client } from "../client.ts";
import type { Config } from "../config/schema.ts";
import type { Runtime } from "../runtime.ts";
import { currentRuntime } from "../runtime-slot.ts";
import type { Address, Refusals, Route } from "./address.ts";
import { findRoute } from "./addresses.ts";
import { authenticatorError } from "./authenticator/error.ts";
import { clientAddress, sourceOf, trustedProxies } from "./client-address.ts";
import { cookieValues, thirdPartyStateName } from "./cookies.ts";
import { corsHeaders, preflightHeaders } from "./cors.ts";
import { refuseFlow } from "./flow/call-flow.ts";
import type { HandlerContext } from "./handler-context.ts";
import { isOwnMachine } from "./host.ts";
import { acceptedLanguage, LANGUAGE_COOKIE, languageOf } from "./language.ts";
import { type Located, locate } from "./locate.ts";
import { isSameOrigin, provenanceOf } from "./origin.ts";
import { errorReply } from "./passkeys/error-reply.ts";
import { passkeyTenant } from "./passkeys/tenant.ts";
import { plainError, type Reply } from "./reply.ts";
import { securityHeaders } from "./security-headers.ts";
import { withinTenant } from "./tenant-path.ts";

/** What whoever took a request in knows of it beside the request. */
export interface ConnectionInfo {
  /** Address of the other end of the connection. */
  peer: string;
  /** Names the request in logs and in `X-Request-ID`. */
  requestId: string;
}

/**
 * Answers a request to an address of the API.
 *
 * @returns null when the address is not one of the API's
 */
export async function handle(
  request: Request,
  { peer, requestId }: ConnectionInfo,
  runtime: Runtime = currentRuntime(),
): Promise<Response | null> {
  const url = new URL(request.url);
  const common =
    (config: Config, of: Refusals = "plain") =>
    (answer: Reply | Response) =>
      toResponse(request, answer, { config, requestId, of });
  const unfound = (error: unknown, of: Refusals) => {
    runtime.log.error({ err: error, request_id: requestId }, "a tenant could not be found");
    return common(runtime.config)(refuse(of, 503));
  };
  let located: Located | null;
  try {
    located = await locate(runtime, request.headers.get("host"), url.pathname);
  } catch (error) {
    return unfound(error, "plain");
  }
  if (located === null) {
    return common(runtime.config)(
      plainError(421, "This service does not answer to that host name (BASE_URL, STILE_SERVER_HOSTS)."),
    );
  }
  const { path } = located;
  const method = request.method === "HEAD" ? "GET" : request.method;
  const found = findRoute(path, method);
  if (found === null) return null;
  const of = "unknown" in found ? found.unknown : found.route.refusals;
  let { tenant } = located;
  if (!tenant) return common(runtime.config)(plainError(404, "There is no such tenant."));
  if ("unknown" in found) return common(tenant.config, of)(refuse(of, 404));
  const { route, params } = found;
  if (of === "passkeys") {
    try {
      const named = await passkeyTenant(runtime, located, params.tenant_id ?? "");
      if ("refusal" in named) return common(runtime.config)(named.refusal);
      tenant = named.tenant;
    } catch (error) {
      return unfound(error, of);
    }
  }
  const { config } = tenant;
  const finish = common(config, of);
  url.pathname = path;

  if (method === "OPTIONS") return finish(options(request, route, config));
  const address = route.methods.get(method);
  if (!address) return finish(refuse(of, 405, { Allow: allowed(route) }));

  const client = clientOf(request, { peer, requestId }, address, trusted(runtime), config);
  const context: HandlerContext = {
    runtime,
    tenant,
    client,
    request,
    url,
    params,
    peer,
    cookies: request.headers.get("cookie"),
  };
  if (!mayCall(address, context)) return finish(refuse(of, address.from === "own page" ? 403 : 404));
  try {
    return finish(await address.handler(context));
  } catch (error) {
    runtime.log.error({ err: error, request_id: requestId, path: address.path }, "a request failed");
    return finish(refuse(of, isDatabaseUnreachable(error) ? 503 : 500));
  }
}

const proxies = new WeakMap<Runtime, BlockList>();

function trusted(runtime: Runtime): BlockList {
  const made = proxies.get(runtime) ?? trustedProxies(runtime.config.server.trusted_proxies);
  proxies.set(runtime, made);
  return made;
}

function clientOf(
  { headers }: Request,
  { peer, requestId }: ConnectionInfo,
  { from }: Address,
  proxies: BlockList,
  { mfa }: Config,
): Client {
  const ip = clientAddress(peer, headers.get("x-forwarded-for"), proxies);
  const named = headers.get("x-language");
  // A form cannot name a language, so what was chosen on the page speaks for it, or the browser's own setting.
  const language =
    named === null && from === "own page"
      ? acceptedLanguage(chosenLanguage(headers) ?? headers.get("accept-language"))
      : languageOf(named);
  return {
    ip,
    source: sourceOf(ip),
    userAgent: (headers.get("user-agent") ?? "").slice(0, 512),
    language,
    requestId,
    origin: headers.get("origin"),
    thirdPartyStates: cookieValues(headers.get("cookie"), thirdPartyStateName),
    deviceCookie: cookieValues(headers.get("cookie"), mfa.device_trust_cookie_name).join("|") || null,
  };
}

function chosenLanguage(headers: Headers): string | undefined {
  return cookieValues(headers.get("cookie"), LANGUAGE_COOKIE)[0];
}

function mayCall({ from }: Address, { request, runtime, tenant, peer }: HandlerContext): boolean {
  const { headers } = request;
  if (from === "own page") return isSameOrigin(provenanceOf(headers), tenant.config);
  if (from === "anyone") return true;
  // What is for this machine alone is the server's, and no tenant's.
  return (
    tenant.id === runtime.tenant.id && tenant.config.mode === "development" && isOwnMachine(headers, peer)
  );
}

function allowed({ methods }: Route): string {
  return [...methods.keys(), ...(methods.has("GET") ? ["HEAD"] : []), "OPTIONS"].join(", ");
}

function options({ headers }: Request, route: Route, config: Config): Reply {
  const preflight = headers.has("access-control-request-method")
    ? preflightHeaders(
        headers.get("origin"),
        headers.get("access-control-request-headers"),
        config,
        route.refusals,
      )
    : {};
  return { status: 204, headers: { Allow: allowed(route), ...preflight } };
}

const messages: Record<number, string> = {
  403: "Only pages of this service may call this address.",
  404: "There is nothing at this address.",
  405: "This address does not take that method.",
  500: "Something went wrong on our side.",
  503: "The service cannot answer right now. Try again in a moment.",
};

/** A refusal by the dispatcher, in the shape that clients of the address know. */
function refuse(of: Refusals, status: RefusedStatus, headers: Record<string, string> = {}): Reply {
  const retry: Record<string, string> = status === 503 ? { "Retry-After": "1" } : {};
  return shapes[of](status, { ...headers, ...retry });
}

type RefusedStatus = 403 | 404 | 405 | 500 | 503;

const shapes: Record<Refusals, (status: RefusedStatus, headers: Record<string, string>) => Reply> = {
  plain: (status, headers) => plainError(status, messages[status] ?? "", headers),
  authenticator: (status, headers) => authenticatorError(status, messages[status] ?? "", headers),
  passkeys: (status, headers) => errorReply(status, undefined, "", headers),
  flow(status, headers) {
    const reply =
      status >= 500 ? refuseFlow("technical_error") : refuseFlow("operation_not_permitted_error", { status });
    return { ...reply, headers: { ...reply.headers, ...headers } };
  },
};

/** Makes the response. Every answer of the API passes here, so none lacks what all of them carry. */
function toResponse(
  request: Request,
  answer: Reply | Response,
  { config, requestId, of }: { config: Config; requestId: string; of: Refusals },
): Response {
  const common: Record<string, string> = {
    ...securityHeaders(config),
    ...corsHeaders(request.headers.get("origin"), config, of),
    "X-Request-ID": requestId,
  };
  const bodiless = request.method === "HEAD";
  if (answer instanceof Response) {
    for (const [name, value] of Object.entries(common)) {
      if (!answer.headers.has(name)) answer.headers.set(name, value);
    }
    return bodiless ? new Response(null, { status: answer.status, headers: answer.headers }) : answer;
  }
  const { status, body = null, cookies = [] } = answer;
  const plain: Record<string, string> = { ...common, ...answer.headers };
  // Handlers know addresses as the table has them.
  const { Location } = plain;
  if (Location?.startsWith("/")) plain.Location = withinTenant(config, Location);
  const headers =
    cookies.length === 0
      ? plain
      : [...Object.entries(plain), ...cookies.map((cookie): [string, string] => ["Set-Cookie", cookie])];
  return new Response(bodiless ? null : body, { status, headers });
}
