import { currentTime } from "../../database/current-time.ts";
import { logOut } from "../../sessions/log-out.ts";
import { findProviderSignOut, takeNamedSessions } from "../../sessions/provider-sessions.ts";
import { RELAY_STATE_PREFIX } from "../../thirdparty/saml/authn-request.ts";
import { type RedirectMessage, readRedirect } from "../../thirdparty/saml/redirect-binding.ts";
import { registerMessage } from "../../thirdparty/saml/replay-cache.ts";
import {
  logoutResponseUrl,
  receiveLogoutRequest,
  receiveLogoutResponse,
} from "../../thirdparty/saml/single-logout.ts";
import { messagePage } from "../answer/message-page.ts";
import { signedOut } from "../answer/messages.ts";
import { plainError, type Reply, redirect } from "../answer/reply.ts";
import { expiredPageCookies } from "../page/page-cookie.ts";
import { everyPresentedSession } from "../session/presented-session.ts";
import { expiredSessionCookies } from "../session/session-cookie.ts";
import type { Handler, HandlerContext } from "../table/handler-context.ts";
import { samlDisabledError } from "./saml.ts";
import { returnFromProvider } from "./sign-out.ts";

/**
 * `GET /saml/logout`: single logout (SAML Profiles 2.0, 4.4). A browser brings the provider's answer to our request, or its
 * request to end sessions here. Nothing is read of a message that the provider has not signed.
 */
export const samlLogoutHandler: Handler = async (context) => {
  const { runtime, tenant, client, request, url } = context;
  const disabled = samlDisabledError(tenant.config);
  if (disabled) return disabled;
  if (request.method === "HEAD") return { status: 204 };
  // Verification needs no authentication.
  const rate = await runtime.rates.consume(tenant.id, "flow_start", `saml/${client.source}`);
  if (!rate.ok)
    return plainError(429, "Too many requests.", { "Retry-After": String(rate.retryAfterSeconds) });
  const message = readRedirect(url.search);
  if (!message) return rejected(context, "malformed");
  return message.name === "SAMLRequest"
    ? handleLogoutRequest(context, message)
    : handleLogoutResponse(context, message);
};

/** Ends the sessions that a provider names, and answers that they have ended. */
async function handleLogoutRequest(context: HandlerContext, message: RedirectMessage): Promise<Reply> {
  const { runtime, tenant, request } = context;
  const now = await currentTime(runtime);
  const received = await receiveLogoutRequest({ runtime, tenant }, message, now);
  if (!received.ok) return rejected(context, received.reason);
  const { provider, named, seen } = received;
  const presented = await everyPresentedSession(context);
  // In one transaction, so that a request is not used up by an end that fails.
  const sessions = await runtime.database.write.transaction(async (tx) => {
    if (!(await registerMessage(tx, tenant, seen))) return null;
    const meant = await takeNamedSessions(tx, tenant, named);
    await logOut(tx, context, { found: meant.map((session) => ({ session, now })) });
    return meant;
  });
  if (!sessions) return rejected(context, "replay");
  const isOfBrowser = presented.some(({ session }) => sessions.some(({ id }) => id === session.id));
  const cookies = isOfBrowser ? [...expiredSessionCookies(tenant.config), ...expiredPageCookies(tenant)] : [];
  const answer = { provider, inResponseTo: received.request.id, relayState: message.relayState };
  const location = await logoutResponseUrl({ runtime, tenant }, answer, now);
  return location === null
    ? { ...messagePage(200, request.headers, tenant.config, signedOut(undefined)), cookies }
    : redirect(303, location, { cookies });
}

/** Takes the answer to our request, and sends the browser where the sign-out was to lead. */
async function handleLogoutResponse(context: HandlerContext, message: RedirectMessage): Promise<Reply> {
  const { runtime, tenant } = context;
  const { relayState } = message;
  const now = await currentTime(runtime);
  const state = relayState?.startsWith(RELAY_STATE_PREFIX)
    ? relayState.slice(RELAY_STATE_PREFIX.length)
    : null;
  const signOut = state === null ? null : await findProviderSignOut({ runtime, tenant }, state, now);
  if (state === null || !signOut) return rejected(context, "unknown_state");
  const { provider } = signOut;
  const received = await receiveLogoutResponse({ runtime, tenant }, message, { provider, state }, now);
  if (!received.ok) {
    logRejection(context, received.reason);
    // The user is signed out here, and some providers do not sign their answers.
    return messagePage(400, context.request.headers, tenant.config, signedOut(undefined));
  }
  if (!received.success)
    runtime.log.warn({ tenant: tenant.id, provider }, "the provider says that its session has not ended");
  return returnFromProvider(context, state, now);
}

/** The same answer for every reason, so that an attacker learns nothing from it; the log has the reason. */
function rejected(context: HandlerContext, reason: string): Reply {
  logRejection(context, reason);
  return plainError(400, "The message could not be verified.");
}

function logRejection({ runtime, tenant, client }: HandlerContext, reason: string): void {
  runtime.log.warn(
    { tenant: tenant.id, request_id: client.requestId, reason },
    "a message of SAML single logout was not accepted",
  );
}
