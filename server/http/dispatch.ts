import type { Config } from "../config/schema.ts";
import type { Tenant } from "../config/tenant.ts";
import type { Client } from "../context/client.ts";
import { isUnknownKey } from "../keys/unknown-key.ts";
import type { AccessFields } from "../observability/access-fields.ts";
import type { Runtime } from "../runtime.ts";
import { currentRuntime } from "../runtime-slot.ts";
import { findRoute } from "./addresses.ts";
import { preflightHeaders } from "./answer/cors.ts";
import { forReader } from "./answer/error-page.ts";
import { plainError, type Reply } from "./answer/reply.ts";
import { isTemporaryFailure, RETRY_AFTER_SECONDS } from "./answer/temporary-failure.ts";
import { complete, toResponse } from "./answer/to-response.ts";
import { authenticatorError } from "./authenticator/error.ts";
import { flowError } from "./flow/call-flow.ts";
import { rejectPageRequest } from "./page/page-requests.ts";
import { errorReply } from "./passkeys/error-reply.ts";
import { passkeyTenant } from "./passkeys/tenant.ts";
import { type ApiRequest, webRequest } from "./request/api-request.ts";
import { sourceOf } from "./request/client-address.ts";
import { cookieValues, markCookieName, THIRD_PARTY_STATE_COOKIE } from "./request/cookies.ts";
import { isLocalRequest } from "./request/host.ts";
import { acceptedLanguage, languageInCookie, requestedLanguage } from "./request/language.ts";
import { type Located, locate } from "./request/locate.ts";
import { isAllowedOrigin, isSameOrigin } from "./request/origin.ts";
import { requestAddress } from "./request/request-address.ts";
import { withinTenant } from "./request/tenant-path.ts";
import type { Address, ErrorShape, Route } from "./table/address.ts";
import type { HandlerContext } from "./table/handler-context.ts";

/** Connection metadata of a request. */
export interface ConnectionInfo {
  /** Address of the other end of the connection. */
  peer: string;
  /** Address of the client, as `clientAddress` returns it. */
  address: string;
  /** Identifies the request in logs and in `X-Request-ID`. */
  requestId: string;
  /** Completed while the request is answered, for its line in the access log. */
  accessFields?: AccessFields;
}

/**
 * Answers a request to the API with a web-standard response.
 *
 * @returns null for an address outside the API
 */
export async function handle(
  request: Request,
  info: Omit<ConnectionInfo, "address">,
  runtime: Runtime = currentRuntime(),
): Promise<Response | null> {
  const address = requestAddress(runtime, request.headers, info.peer);
  const answer = await dispatch(webRequest(request), { ...info, address }, runtime);
  return answer && toResponse(answer);
}

/**
 * Answers a request to the API: with a complete reply, or with a response where the body is a stream or binary.
 *
 * @returns null for an address outside the API
 */
export async function dispatch(
  request: ApiRequest,
  { peer, address, requestId, accessFields = {} }: ConnectionInfo,
  runtime: Runtime = currentRuntime(),
): Promise<Reply | Response | null> {
  const { url } = request;
  // Liveness says nothing of the database, and readiness asks it by itself.
  if (!servesHealth({ path: url.pathname })) await runtime.standing.refresh();
  const isOutgrown = runtime.standing.outgrownBy !== null;
  let located: Located | null = null;
  const respond = (reply: Reply | Response, config: Config, errorShape: ErrorShape = "plain") => {
    const home = located?.tenant ? withinTenant(located.tenant.config, "/") : null;
    const shown =
      reply instanceof Response ? reply : forReader(reply, request.headers, { errorShape, config, home });
    return complete(request, shown, { config, requestId, errorShape });
  };
  const tenantUnavailable = (error: unknown, errorShape: ErrorShape) => {
    if (!isUnknownKey(error, runtime.log))
      runtime.log.error({ err: error, request_id: requestId }, "finding the tenant failed");
    return respond(errorFor({ errorShape, config: runtime.config }, 503), runtime.config);
  };
  try {
    located = await locate(runtime, request.headers.get("host"), url.pathname);
  } catch (error) {
    return tenantUnavailable(error, "plain");
  }
  if (located === null) {
    return respond(plainError(421, "Unknown host name (BASE_URL, STILE_SERVER_HOSTS)."), runtime.config);
  }
  const { path } = located;
  const method = request.method === "HEAD" ? "GET" : request.method;
  const found = findRoute(path, method);
  if (found === null) {
    if (isOutgrown)
      return respond(errorFor({ errorShape: "plain", config: runtime.config }, 503), runtime.config);
    const { headers } = request;
    const source = sourceOf(address);
    const reply = await rejectPageRequest(runtime, {
      method: request.method,
      url,
      headers,
      source,
      ...located,
    });
    return reply && respond(reply, located.tenant?.config ?? runtime.config);
  }
  const errorShape = "unknown" in found ? found.unknown : found.route.errorShape;
  let { tenant } = located;
  if (!tenant) return respond(plainError(404, "Unknown tenant."), runtime.config);
  if ("unknown" in found)
    return respond(errorFor({ errorShape, config: tenant.config }, 404), tenant.config, errorShape);
  const { route, params } = found;
  if (errorShape === "passkeys") {
    try {
      const named = await passkeyTenant(runtime, located, params.tenant_id ?? "");
      if ("error" in named) return respond(named.error, runtime.config);
      tenant = named.tenant;
    } catch (error) {
      return tenantUnavailable(error, errorShape);
    }
  }
  accessFields.tenant = tenant.id;
  const { config } = tenant;
  const finish = (reply: Reply | Response) => respond(reply, config, errorShape);
  const fail = (status: ErrorStatus, headers?: Record<string, string>) =>
    finish(errorFor({ errorShape, config }, status, headers));
  if (url.pathname !== path) url.pathname = path;

  if (method === "OPTIONS") return finish(options(request, route, config));
  const row = route.methods.get(method);
  if (!row) return fail(405, { Allow: allowed(route) });

  const client = clientOf(request, { address, requestId }, row, tenant);
  const context: HandlerContext = {
    runtime,
    tenant,
    client,
    request,
    url,
    params,
    peer,
    cookies: request.headers.get("cookie"),
    accessFields,
  };
  if (isOutgrown && !servesHealth(row)) return fail(503);
  if (!mayCall(row, context)) return fail(isForPages(row) ? 403 : 404);
  try {
    return finish(await row.handler(context));
  } catch (error) {
    if (isUnknownKey(error, runtime.log)) return fail(503);
    runtime.log.error({ err: error, request_id: requestId, path: row.path }, "a request failed");
    return fail(isTemporaryFailure(error) ? 503 : 500);
  }
}

function clientOf(
  { headers }: ApiRequest,
  { address: ip, requestId }: Pick<ConnectionInfo, "address" | "requestId">,
  row: Address,
  tenant: Tenant,
): Client {
  const { mfa } = tenant.config;
  const cookies = headers.get("cookie");
  const requested = headers.get("x-language");
  // A form cannot send the header, so the language chosen on the page counts, or the browser's setting.
  const language =
    requested === null && isForPages(row)
      ? acceptedLanguage(languageInCookie(cookies) ?? headers.get("accept-language"))
      : requestedLanguage(requested);
  return {
    ip,
    source: sourceOf(ip),
    userAgent: (headers.get("user-agent") ?? "").slice(0, 512),
    language,
    requestId,
    origin: headers.get("origin"),
    thirdPartyStates: cookieValues(cookies, THIRD_PARTY_STATE_COOKIE),
    deviceCookie: cookieValues(cookies, mfa.device_trust_cookie_name).join("|") || null,
    markCookie: cookieValues(cookies, markCookieName(tenant))[0] ?? null,
  };
}

const isForPages = ({ access }: Address) => access === "same-origin" || access === "listed-origin";

function mayCall({ access }: Address, { request, runtime, tenant, peer }: HandlerContext): boolean {
  const { headers } = request;
  if (access === "same-origin") return isSameOrigin(headers, tenant.config);
  if (access === "listed-origin")
    return (
      isSameOrigin(headers, tenant.config) || isAllowedOrigin(headers.get("origin") ?? "", tenant.config)
    );
  if (access === "public") return true;
  // Development pages show data of every tenant, so they belong to the default tenant alone.
  return (
    tenant.id === runtime.tenant.id && tenant.config.mode === "development" && isLocalRequest(headers, peer)
  );
}

/** Whether an address is for balancers, which have to know that no other one is answered. */
const servesHealth = ({ path }: Pick<Address, "path">) => path.startsWith("/health/");

function allowed({ methods }: Route): string {
  return [...methods.keys(), ...(methods.has("GET") ? ["HEAD"] : []), "OPTIONS"].join(", ");
}

function options({ headers }: ApiRequest, route: Route, config: Config): Reply {
  const preflight = headers.has("access-control-request-method")
    ? preflightHeaders(
        headers.get("origin"),
        headers.get("access-control-request-headers"),
        config,
        route.errorShape,
      )
    : {};
  return { status: 204, headers: { Allow: allowed(route), ...preflight } };
}

const messages: Record<ErrorStatus, string> = {
  403: "Only same-origin requests are allowed.",
  404: "Not found.",
  405: "Method not allowed.",
  500: "Internal server error.",
  503: "The service is temporarily unavailable. Try again in a moment.",
};

/** Builds an error that no handler sends, in the shape of the interface. */
function errorFor(
  { errorShape, config }: { errorShape: ErrorShape; config: Config },
  status: ErrorStatus,
  headers: Record<string, string> = {},
): Reply {
  const retry: Record<string, string> = status === 503 ? { "Retry-After": String(RETRY_AFTER_SECONDS) } : {};
  return errorReplies[errorShape](status, { ...headers, ...retry }, config);
}

type ErrorStatus = 403 | 404 | 405 | 500 | 503;

const errorReplies: Record<
  ErrorShape,
  (status: ErrorStatus, headers: Record<string, string>, config: Config) => Reply
> = {
  plain: (status, headers) => plainError(status, messages[status], headers),
  admin: (status, headers) => plainError(status, messages[status], headers),
  authenticator: (status, headers) => authenticatorError(status, messages[status], headers),
  passkeys: (status, headers) => errorReply(status, undefined, "", headers),
  flow(status, headers, config) {
    const reply =
      status === 503
        ? flowError(config, "temporarily_unavailable")
        : status >= 500
          ? flowError(config, "technical_error")
          : flowError(config, "operation_not_permitted_error", { status });
    return { ...reply, headers: { ...reply.headers, ...headers } };
  },
};
