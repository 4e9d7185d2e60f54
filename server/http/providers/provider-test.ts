import {
  decidedTest,
  failedTest,
  type TriedProvider,
  triedProvider,
} from "../../admin/provider-test-outcome.ts";
import {
  endProviderTest,
  openProviderTest,
  PROVIDER_TEST_SECONDS,
  type TestResult,
  type TestTicket,
  takeTestTicket,
} from "../../admin/provider-tests.ts";
import type { Config } from "../../config/schema.ts";
import type { Tenant } from "../../config/tenant.ts";
import { CONSOLE_PATH, consoleOrigin, servesConsole } from "../../console/place.ts";
import { currentTime } from "../../database/current-time.ts";
import { isRandomToken } from "../../lib/random-token.ts";
import type { Runtime } from "../../runtime.ts";
import {
  THIRD_PARTY_REQUEST_SECONDS,
  type ThirdPartyRequest,
} from "../../thirdparty/authorization-requests.ts";
import { completeAuthorization, type ReceivedClaims, startAuthorization } from "../../thirdparty/oauth.ts";
import type { ProviderFacts } from "../../thirdparty/provider-facts.ts";
import { startSamlRequest } from "../../thirdparty/saml/authn-request.ts";
import { completeSamlSignIn } from "../../thirdparty/saml/sign-in.ts";
import { messagePage } from "../answer/message-page.ts";
import { missingAddress, providerTestNext, providerTestPage } from "../answer/messages.ts";
import { type Reply, redirect } from "../answer/reply.ts";
import { isOfConsole } from "../console/sign-in.ts";
import { presentedVisitor } from "../console/visitor.ts";
import { formError } from "../page/step.ts";
import { readText } from "../request/body.ts";
import { cookieValues, formatCookie, isSecure, thirdPartyStateCookie } from "../request/cookies.ts";
import { withinTenant } from "../request/tenant-path.ts";
import { type Handler, type HandlerContext, requestContextOf } from "../table/handler-context.ts";
import { isSameBrowser, otherBrowser, toThirdPartyError } from "./provider-return.ts";

/**
 * Test sign-ins at a provider (`server/admin/provider-tests.ts`). The browser goes from the host of the console, which reads its
 * session there, to the host of the tenant, which binds the provider's answer to it by the cookie of a sign-in. Where both are one
 * host, another cookie binds this way too; no host sets cookies of another one.
 */

const missing = ({ request, tenant }: HandlerContext): Reply =>
  messagePage(404, request.headers, tenant.config, missingAddress);

/**
 * `GET /api/console/provider-test/{test_id}`: leads the browser of the session that began a test to the host of the tenant. The cookie of
 * the console is `SameSite=Strict`, so that no other site opens a test.
 */
export const openProviderTestHandler: Handler = async (context) => {
  const { runtime, cookies, params, request } = context;
  const { test_id: id = "" } = params;
  if (!isOfConsole(context) || !/^[0-9a-f-]{36}$/.test(id)) return missing(context);
  if (request.method === "HEAD") return { status: 204 };
  const visitor = await presentedVisitor(runtime, cookies);
  const opened =
    visitor && (await openProviderTest(runtime, { id, consoleSessionId: visitor.consoleSessionId }));
  if (!opened) return missing(context);
  const { tenantId, ticket } = opened;
  const tenant = tenantId === runtime.tenant.id ? runtime.tenant : await runtime.tenants.byId(tenantId);
  if (!tenant) return missing(context);
  const page = `${tenant.config.base_url}${PROVIDER_TEST_PATH}?ticket=${ticket.named}`;
  return isBoundAt(runtime, tenant)
    ? redirect(303, page, { cookies: [ticketCookie(runtime.config, ticket.bound, PROVIDER_TEST_SECONDS)] })
    : redirect(303, `${page}.${ticket.bound}`);
};

const PROVIDER_TEST_PATH = "/thirdparty/test";

/** Whether tickets for a tenant are bound to the browser: the console is served at its host. */
const isBoundAt = ({ config }: Runtime, tenant: Tenant): boolean =>
  servesConsole(config, new URL(tenant.config.base_url).host);

/** `__Host-` prevents sibling hosts from planting a ticket (RFC 6265bis, 4.1.3.2). */
const ticketCookieName = (config: Config) => `${isSecure(config) ? "__Host-" : ""}stile-provider-test`;

const ticketCookie = (config: Config, value: string, maxAge: number) =>
  formatCookie(config, ticketCookieName(config), value, {
    maxAge,
    sameSite: "strict",
    secure: isSecure(config),
    path: "/",
  });

/** The tickets that a browser presents with the text in the address of the page. */
function ticketsOf({ runtime, tenant, cookies }: HandlerContext, text: string): TestTicket[] {
  const [named = "", ...halves] = text.split(".");
  const isBound = isBoundAt(runtime, tenant);
  if (!isRandomToken(named) || halves.length !== (isBound ? 0 : 1)) return [];
  const presented = isBound ? cookieValues(cookies, ticketCookieName(runtime.config)) : halves;
  return presented
    .filter(isRandomToken)
    .slice(0, MAX_HALVES)
    .map((bound) => ({ named, bound }));
}

/** Halves of a cookie, of which a planted one may be the first. */
const MAX_HALVES = 4;

/** The address of the page holds the ticket. */
const isolated = { "Referrer-Policy": "strict-origin", "X-Robots-Tag": "noindex, nofollow" };

/**
 * `GET /thirdparty/test?ticket=`: tells who is shown what the provider states, because the link could be given to another person.
 * It uses nothing up.
 */
export const providerTestPageHandler: Handler = async (context) => {
  const { tenant, url, request } = context;
  const [ticket = "", ...others] = url.searchParams.getAll("ticket");
  if (!ticket.split(".").every(isRandomToken) || others.length > 0) return missing(context);
  const press = { action: withinTenant(tenant.config, PROVIDER_TEST_PATH), fields: { ticket } };
  return messagePage(200, request.headers, tenant.config, providerTestPage(press), isolated);
};

/** `POST /thirdparty/test`: the press. The browser goes to the provider, as in a sign-in. */
export const startProviderTestHandler: Handler = async (context) => {
  const { runtime, tenant } = context;
  const text = await readText(context.request, "application/x-www-form-urlencoded");
  if (!text.ok) return formError(text.reason);
  const ticket = new URLSearchParams(text.value).get("ticket") ?? "";
  const tickets = ticketsOf(context, ticket);
  const test = tickets.length > 0 ? await takeTestTicket(runtime, tenant, tickets) : null;
  if (!test) return missing(context);
  const tried = triedProvider(tenant, test.provider);
  const page = resultPage(context, test.provider, test.id);
  if (!tried) {
    await endProviderTest(runtime, tenant, test.id, failedTest({ reason: "disabled" }));
    return onwards(context, page);
  }
  try {
    const { address, state, write } = await startedAt(context, tried, { testId: test.id, page });
    await runtime.database.write.transaction(write);
    return onwards(context, address, [
      thirdPartyStateCookie(tenant.config, state, THIRD_PARTY_REQUEST_SECONDS),
    ]);
  } catch (cause) {
    await endProviderTest(runtime, tenant, test.id, failedTest(loggedError(context, cause)));
    return onwards(context, page);
  }
};

/** A page that goes on by itself: browsers do not let a form lead to another origin by redirects (`form-action`). */
function onwards({ request, tenant }: HandlerContext, address: string, cookies: string[] = []): Reply {
  const headers = { Refresh: `0;url=${address}`, "Referrer-Policy": "no-referrer" };
  return {
    ...messagePage(200, request.headers, tenant.config, providerTestNext(address), headers),
    cookies,
  };
}

async function startedAt(
  context: HandlerContext,
  { tenant, oauth, saml }: TriedProvider,
  { testId, page }: { testId: string; page: string },
) {
  const request = { ...(await requestContextOf(context)), tenant };
  const about = { flowId: null, redirectTo: page, testId };
  if (saml) {
    const { redirectUrl, state, write } = await startSamlRequest(request, saml, about);
    return { address: redirectUrl, state, write };
  }
  const started = await startAuthorization(request, oauth, { ...about, privateState: { boundBy: "cookie" } });
  return { address: started.url, state: started.state, write: started.write };
}

/** The page of the console that shows the result. */
const resultPage = ({ runtime, tenant }: HandlerContext, provider: string, testId: string) =>
  `${consoleOrigin(runtime.config)}${CONSOLE_PATH}/${tenant.id}/providers/${encodeURIComponent(provider)}/test?id=${testId}`;

/** The answer of a provider to a test, in the protocol that it came by. */
export type TestAnswer =
  | { protocol: "oauth"; answer: URLSearchParams }
  | { protocol: "saml"; samlResponse: string };

/**
 * Receives the answer of a provider to a test: the code of a sign-in reads it, and what would become of it is stored for the operator.
 * No exchange token is made.
 *
 * @param about `state`: of the taken request
 */
export async function receiveTestAnswer(
  context: HandlerContext,
  { testId, request }: { testId: string; request: ThirdPartyRequest },
  about: { state: string } & TestAnswer,
): Promise<Reply> {
  const { runtime, tenant } = context;
  const received: ReceivedClaims[] = [];
  let result: TestResult;
  const sameBrowser = isSameBrowser(context, about.state);
  try {
    if (!sameBrowser) throw otherBrowser();
    const tried = triedProvider(tenant, providerIn(request.redirectTo));
    result = tried
      ? await decidedTest(runtime, tried, await factsOf(context, tried, request, about, received), received)
      : failedTest({ reason: "disabled" });
  } catch (cause) {
    result = failedTest(loggedError(context, cause), received);
  }
  await endProviderTest(runtime, tenant, testId, result);
  const expired = sameBrowser ? { cookies: [thirdPartyStateCookie(tenant.config, "", 0)] } : {};
  return redirect(303, request.redirectTo, expired);
}

/** The id of the provider in the address of the result, which is stored with the request. */
const providerIn = (page: string) => decodeURIComponent(new URL(page).pathname.split("/").at(-2) ?? "");

async function factsOf(
  { runtime }: HandlerContext,
  { tenant, oauth }: TriedProvider,
  request: ThirdPartyRequest,
  about: { state: string } & TestAnswer,
  received: ReceivedClaims[],
): Promise<ProviderFacts> {
  const keep = (claims: ReceivedClaims) => void received.push(claims);
  const context = { runtime, tenant };
  if (about.protocol === "saml") {
    const { samlResponse } = about;
    const now = await currentTime(runtime);
    return (await completeSamlSignIn(context, { samlResponse, request }, now, keep)).facts;
  }
  if (!oauth) throw otherBrowser();
  const { answer, state } = about;
  const { privateState } = request;
  return (await completeAuthorization(context, oauth, { answer, state, privateState }, keep)).facts;
}

/** The reason of a failure. The operator is shown no cause, which the log has. */
function loggedError({ runtime, client }: HandlerContext, cause: unknown) {
  const error = toThirdPartyError(cause);
  if (error.code === "server_error")
    runtime.log.error({ err: error.cause, request_id: client.requestId }, "a test sign-in failed");
  return error;
}
