import type { Tenant } from "../../config/tenant.ts";
import { recordRejection } from "../../sessions/device-binding/bind-session.ts";
import type { FoundSession } from "../../sessions/sessions.ts";
import {
  type FindSession,
  findLiveSessions,
  type PresentedTokens,
  type VerifiedSession,
  verifySession,
} from "../../sessions/verify-session.ts";
import type { RequestHeaders } from "../request/api-request.ts";
import { cookieValues } from "../request/cookies.ts";
import type { HandlerContext } from "../table/handler-context.ts";
import { boundValues, challengeAhead, expiredBoundCookie } from "./bound-cookie.ts";
import { skippedReason } from "./skipped-reason.ts";

/**
 * The session of a request, from `Authorization: Bearer` (RFC 6750, 2.1) or the session cookie. A session that is bound to a
 * device needs the bound cookie too; without it the answer says so, and the audit log.
 *
 * @param touch whether this counts as use of the session, for its idle timeout
 * @param find reads the session, in place of its own statement
 */
export async function presentedSession(
  context: HandlerContext,
  { touch, find }: { touch: boolean; find?: FindSession },
): Promise<VerifiedSession> {
  const { runtime, tenant, answerWith } = context;
  const presented = presentedTokens(context);
  const verified = await verifySession(runtime, tenant, presented, { touch, find });
  if (verified.ok) {
    const challenge = challengeAhead(context, verified.session);
    if (challenge !== null) answerWith.headers["Secure-Session-Challenge"] = challenge;
  } else if (verified.reason === "binding_required") {
    answerWith.headers["WWW-Authenticate"] = BINDING_REQUIRED;
    // A browser renews a cookie that it has not; it would keep one of another session.
    if (presented.bound.length > 0) answerWith.cookies.push(expiredBoundCookie(tenant.config));
    await recordRefusedCookie({ ...context, headers: context.request.headers }, verified);
  }
  return verified;
}

/**
 * Records that a session cookie was refused without its bound cookie, with what the request says of it.
 *
 * @param context `headers`: of the request
 */
export function recordRefusedCookie(
  {
    headers,
    ...context
  }: Pick<HandlerContext, "runtime" | "tenant" | "client"> & { headers: RequestHeaders },
  { session, now }: Extract<VerifiedSession, { reason: "binding_required" }>,
): Promise<void> {
  const reason = skippedReason({ headers }, session.id) ?? "missing";
  return recordRejection({ ...context, now }, session, reason);
}

/** RFC 6750, 3. The error is our own. */
const BINDING_REQUIRED = 'Bearer error="binding_required"';

/** Every live session that a request names, in the header or in a cookie. A logout ends them all. */
export function everyPresentedSession(context: HandlerContext): Promise<FoundSession[]> {
  return findLiveSessions(context.runtime, context.tenant, presentedTokens(context));
}

function presentedTokens({ tenant, request, cookies }: HandlerContext) {
  const [, bearer] = /^Bearer +([^ ]+)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
  return { bearer, ...cookieTokens(tenant, cookies) };
}

/** The session tokens of a `Cookie` header. */
export function cookieTokens(tenant: Tenant, cookies: string | null) {
  return {
    cookies: cookieValues(cookies, tenant.config.session.cookie.name),
    bound: boundValues(tenant, cookies),
  } satisfies PresentedTokens;
}
