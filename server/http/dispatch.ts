import type { Config } from "../config/schema.ts";
import type { Tenant } from "../config/tenant.ts";
import { isUnknownKey } from "../keys/unknown-key.ts";
import type { AccessFields } from "../observability/access-fields.ts";
import type { Runtime } from "../runtime.ts";
import { currentRuntime } from "../runtime-slot.ts";
import { findRoute } from "./addresses.ts";
import { preflightHeaders } from "./answer/cors.ts";
import { forReader } from "./answer/error-page.ts";
import { type ErrorStatus, refusal } from "./answer/refusal.ts";
import { plainError, type Reply } from "./answer/reply.ts";
import { isTemporaryFailure } from "./answer/temporary-failure.ts";
import { complete, toResponse } from "./answer/to-response.ts";
import { rejectPageRequest } from "./page/page-requests.ts";
import { passkeyTenant } from "./passkeys/tenant.ts";
import { type ApiRequest, webRequest } from "./request/api-request.ts";
import { clientOf } from "./request/client.ts";
import { sourceOf } from "./request/client-address.ts";
import { isLocalRequest } from "./request/host.ts";
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
 * Answers a request to the API: with a complete reply, or with a response where the body is a stream or binary. Each step
 * below gives what the next one needs, or the answer.
 *
 * @returns null for an address outside the API
 */
export async function dispatch(
  request: ApiRequest,
  connection: ConnectionInfo,
  runtime: Runtime = currentRuntime(),
): Promise<Reply | Response | null> {
  const call: Call = { request, connection, runtime };
  await noticeLaterRelease(call);
  const place = await find(call);
  if ("answer" in place) return place.answer;
  const route = routeOf(call, place);
  if (route === null) return outsideTheApi(call, place);
  if ("answer" in route) return route.answer;
  const owner = await ownerOf(call, place, route);
  if ("answer" in owner) return owner.answer;
  const operation = operationOf(call, owner);
  if ("answer" in operation) return operation.answer;
  return perform(call, owner, operation);
}

/** A request with what answers it. */
interface Call {
  request: ApiRequest;
  connection: ConnectionInfo;
  runtime: Runtime;
}

/** The end of the steps. */
interface Ended {
  answer: Reply | Response;
}

/** Where an answer comes from, which decides how it looks. */
interface Origin {
  config: Config;
  errorShape: ErrorShape;
  /** The tenant of the host or path; null before it is known. */
  located: Located | null;
}

/** Liveness says nothing of the database, and readiness asks it by itself. */
async function noticeLaterRelease({ request, runtime }: Call): Promise<void> {
  if (!servesHealth({ path: request.url.pathname })) await runtime.standing.refresh();
}

/** Finds the tenant of the host and the path within it. */
async function find(call: Call): Promise<Located | Ended> {
  const { request, runtime } = call;
  const origin: Origin = { config: runtime.config, errorShape: "plain", located: null };
  try {
    const located = await locate(runtime, request.headers.get("host"), request.url.pathname);
    if (located !== null) return located;
  } catch (error) {
    return tenantUnavailable(call, origin, error);
  }
  return ended(call, origin, plainError(421, "Unknown host name (BASE_URL, STILE_SERVER_HOSTS)."));
}

/** The route of a tenant's path. */
interface FoundRoute {
  tenant: Tenant;
  route: Route;
  params: Record<string, string>;
}

/** Finds the route of a path; null outside the API. */
function routeOf(call: Call, located: Located): FoundRoute | Ended | null {
  const { request, runtime } = call;
  const found = findRoute(located.path, methodOf(request));
  if (found === null) return null;
  const { accessFields } = call.connection;
  if (accessFields && "route" in found) accessFields.route = found.route.path;
  const { tenant } = located;
  if (!tenant) {
    const origin: Origin = { config: runtime.config, errorShape: "plain", located };
    return ended(call, origin, plainError(404, "Unknown tenant."));
  }
  if ("unknown" in found)
    return refused(call, { config: tenant.config, errorShape: found.unknown, located }, 404);
  return { tenant, ...found };
}

/** Answers what may be a page; null if it is none of the API. */
async function outsideTheApi(call: Call, located: Located): Promise<Reply | Response | null> {
  const { request, connection, runtime } = call;
  const config = located.tenant?.config ?? runtime.config;
  const origin: Origin = { config, errorShape: "plain", located };
  if (isOutgrown(call)) return refused(call, { ...origin, config: runtime.config }, 503).answer;
  const { method, url, headers } = request;
  const source = sourceOf(connection.address);
  const reply = await rejectPageRequest(runtime, { method, url, headers, source, ...located });
  return reply && respond(call, origin, reply);
}

/** The tenant that answers, with the route. */
interface Owner extends FoundRoute {
  origin: Origin;
}

/** Finds the tenant that answers: the passkey server's own paths name one. */
async function ownerOf(call: Call, located: Located, found: FoundRoute): Promise<Owner | Ended> {
  const { runtime, connection, request } = call;
  const { errorShape } = found.route;
  let { tenant } = found;
  if (errorShape === "passkeys") {
    const origin: Origin = { config: runtime.config, errorShape, located };
    try {
      const named = await passkeyTenant(runtime, located, found.params.tenant_id ?? "");
      if ("error" in named) return ended(call, { ...origin, errorShape: "plain" }, named.error);
      tenant = named.tenant;
    } catch (error) {
      return tenantUnavailable(call, origin, error);
    }
  }
  if (connection.accessFields) connection.accessFields.tenant = tenant.id;
  if (request.url.pathname !== located.path) request.url.pathname = located.path;
  return { ...found, tenant, origin: { config: tenant.config, errorShape, located } };
}

/** Finds the operation of the method, and judges whether this client may call it. */
function operationOf(call: Call, owner: Owner): { row: Address; context: HandlerContext } | Ended {
  const { request, connection, runtime } = call;
  const { route, params, tenant, origin } = owner;
  if (request.method === "OPTIONS") return ended(call, origin, options(request, route, tenant.config));
  const row = route.methods.get(methodOf(request));
  if (!row) return refused(call, origin, 405, { Allow: allowed(route) });
  const { peer, accessFields = {} } = connection;
  const context: HandlerContext = {
    runtime,
    tenant,
    client: clientOf(request, connection, isForPages(row), tenant),
    request,
    url: request.url,
    params,
    peer,
    cookies: request.headers.get("cookie"),
    accessFields,
    answerWith: { headers: {}, cookies: [] },
  };
  if (isOutgrown(call) && !servesHealth(row)) return refused(call, origin, 503);
  if (!mayCall(row, context)) return refused(call, origin, isForPages(row) ? 403 : 404);
  return { row, context };
}

async function perform(
  call: Call,
  { origin }: Owner,
  { row, context }: { row: Address; context: HandlerContext },
): Promise<Reply | Response> {
  const { runtime, connection } = call;
  try {
    return respond(call, origin, withAdditions(await row.handler(context), context.answerWith));
  } catch (error) {
    if (isUnknownKey(error, runtime.log)) return refused(call, origin, 503).answer;
    const line = { err: error, request_id: connection.requestId, path: row.path };
    runtime.log.error(line, "a request failed");
    return refused(call, origin, isTemporaryFailure(error) ? 503 : 500).answer;
  }
}

function withAdditions(
  reply: Reply | Response,
  { headers, cookies }: HandlerContext["answerWith"],
): Reply | Response {
  if (!(reply instanceof Response))
    return {
      ...reply,
      headers: { ...reply.headers, ...headers },
      cookies: [...cookies, ...(reply.cookies ?? [])],
    };
  for (const [name, value] of Object.entries(headers)) reply.headers.set(name, value);
  for (const cookie of cookies) reply.headers.append("Set-Cookie", cookie);
  return reply;
}

/** Completes an answer: for a person in a browser an error is a page. */
function respond(
  { request, connection: { requestId } }: Call,
  { config, errorShape, located }: Origin,
  reply: Reply | Response,
): Reply | Response {
  const home = located?.tenant ? withinTenant(located.tenant.config, "/") : null;
  const shown =
    reply instanceof Response ? reply : forReader(reply, request.headers, { errorShape, config, home });
  return complete(request, shown, { config, requestId, errorShape });
}

const ended = (call: Call, origin: Origin, reply: Reply | Response): Ended => ({
  answer: respond(call, origin, reply),
});

function refused(call: Call, origin: Origin, status: ErrorStatus, headers?: Record<string, string>): Ended {
  return ended(call, origin, refusal(origin, status, headers));
}

function tenantUnavailable(call: Call, origin: Origin, error: unknown): Ended {
  const { runtime, connection } = call;
  if (!isUnknownKey(error, runtime.log))
    runtime.log.error({ err: error, request_id: connection.requestId }, "finding the tenant failed");
  return ended(call, { ...origin, errorShape: "plain" }, refusal(origin, 503));
}

const isOutgrown = ({ runtime }: Call) => runtime.standing.outgrownBy !== null;

const methodOf = ({ method }: ApiRequest) => (method === "HEAD" ? "GET" : method);

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
