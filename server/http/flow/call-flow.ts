import type { CookieChanges } from "../../client.ts";
import type { Config } from "../../config/schema.ts";
import type { Answer } from "../../flow/answer.ts";
import { current, start, step } from "../../flow/engine.ts";
import type { FlowType } from "../../flow/names.ts";
import { showError } from "../../flow/show.ts";
import type { FlowState } from "../../flow/wire.ts";
import { endReplacedSessions } from "../../sessions/log-out.ts";
import type { IssuedSession, Session } from "../../sessions/session.ts";
import { readObject } from "../body.ts";
import { deviceCookie, expiredSessionCookie, sessionCookie, thirdPartyStateCookie } from "../cookies.ts";
import type { Handler, HandlerContext } from "../handler-context.ts";
import { isForeign, provenanceOf } from "../origin.ts";
import { json, type Reply } from "../reply.ts";
import { everyPresentedSession, presentedSession } from "../session/presented-session.ts";
import { parseAsked, parseEnvelope } from "./request.ts";

/** What is asked of a flow, by whichever interface. */
export type FlowCall =
  | { kind: "start"; type: FlowType }
  | {
      kind: "step";
      type: FlowType;
      flowId: string;
      action: string;
      token: string;
      /** The version the caller drew; without one, the token alone tells a stale caller. */
      version?: number;
      input: Record<string, unknown>;
    }
  | { kind: "current"; type: FlowType; flowId: string; resume: string };

/** An answer of the engine, with the headers and cookies that go with it. */
export interface FlowAnswer {
  answer: Answer;
  headers: Record<string, string>;
  cookies: string[];
}

/**
 * Asks the engine. Every interface comes through here, so that all of them answer alike: a refusal is a state, and
 * so is what nobody expected, whose cause is logged and not shown.
 */
export async function callFlow(context: HandlerContext, call: FlowCall): Promise<FlowAnswer> {
  const { runtime, tenant, client } = context;
  let answer: Answer;
  try {
    answer = await perform(context, call);
  } catch (error) {
    runtime.log.error(
      { err: error, request_id: client.requestId, flow: call.type, call: call.kind },
      "a flow request failed",
    );
    answer = { state: showError("technical_error"), version: 0, flowId: null };
  }
  if (answer.session) await endPresentedSessions(context, answer.session);
  const { headers, cookies } = answer.session
    ? sessionHeaders(tenant.config, answer.session)
    : { headers: {}, cookies: [] };
  return {
    answer,
    headers: { ...headers, ...retryAfter(answer.state) },
    cookies: [...cookies, ...keptCookies(tenant.config, answer.cookieChanges)],
  };
}

/** The cookies of what a browser is to keep beside its session. */
function keptCookies(config: Config, { device, thirdPartyState, session }: CookieChanges = {}): string[] {
  return [
    ...(device ? [deviceCookie(config, device.value, device.seconds)] : []),
    ...(thirdPartyState
      ? [thirdPartyStateCookie(config, thirdPartyState.value, thirdPartyState.seconds)]
      : []),
    ...(session === "ended" ? [expiredSessionCookie(config)] : []),
  ];
}

async function perform(context: HandlerContext, call: FlowCall): Promise<Answer> {
  const { runtime, tenant, client } = context;
  const session = call.type === "profile" ? await ownSession(context) : undefined;
  switch (call.kind) {
    case "start":
      return start(runtime, tenant, client, call.type, session);
    case "step":
      return step(runtime, tenant, client, { ...call, ...(session ? { session } : {}) });
    case "current":
      return current(runtime, tenant, client, { ...call, ...(session ? { session } : {}) });
  }
}

/** Whose account a profile flow is to manage. */
export async function ownSession(context: HandlerContext): Promise<Session | undefined> {
  const verified = await presentedSession(context, { touch: true });
  return verified.valid ? verified.session : undefined;
}

/**
 * Ends the sessions that the browser had before, whether its owner's or ones that somebody planted there: whoever
 * holds a copy of a token is out with it (session fixation; OWASP ASVS 7.2.4).
 */
async function endPresentedSessions(context: HandlerContext, issued: IssuedSession): Promise<void> {
  const { runtime, client } = context;
  try {
    await endReplacedSessions(context, await everyPresentedSession(context), issued);
  } catch (error) {
    // The sign-in stands; an earlier session expires on its own.
    runtime.log.error({ err: error, request_id: client.requestId }, "ending the previous sessions failed");
  }
}

/**
 * How a session is handed to its browser: `X-Session-Lifetime` in seconds, `X-Session-Retention`, and the token in
 * the session cookie or, where the tenant wants that, in `X-Auth-Token` instead.
 */
export function sessionHeaders(
  config: Config,
  session: IssuedSession,
): { headers: Record<string, string>; cookies: string[] } {
  const headers = {
    "X-Session-Lifetime": String(session.lifetimeSeconds),
    "X-Session-Retention": session.retention,
  };
  if (config.session.enable_auth_token_header)
    return { headers: { ...headers, "X-Auth-Token": session.token }, cookies: [] };
  const maxAge = session.retention === "session" ? undefined : session.lifetimeSeconds;
  return { headers, cookies: [sessionCookie(config, session.token, maxAge)] };
}

/** RFC 9110, 10.2.3 */
function retryAfter({ status, payload }: FlowState): Record<string, string> {
  return status === 429 && typeof payload.retry_after === "number"
    ? { "Retry-After": String(payload.retry_after) }
    : {};
}

/** A refusal that was given before the engine was asked; nothing has changed. */
export function refuseFlow(...refusal: Parameters<typeof showError>): Reply {
  const state = showError(...refusal);
  return json(state.status, state);
}

/** `POST /login` and its like: starts a flow, or performs `?action=<name>@<flow id>`. */
export function flowHandler(type: FlowType): Handler {
  return async (context) => {
    const { request, tenant, url } = context;
    if (isForeign(provenanceOf(request.headers), tenant.config))
      return refuseFlow("operation_not_permitted_error");
    const asked = parseAsked(url.searchParams);
    if (asked.kind === "malformed") return refuseFlow("form_data_invalid_error");
    // The body of a start means nothing, and is not read.
    if (asked.kind === "start") return show(await callFlow(context, { kind: "start", type }));

    const body = await readObject(request);
    if (!body.ok) return refuseBody(body.reason);
    const envelope = parseEnvelope(body.value);
    if (envelope === null) return refuseFlow("form_data_invalid_error");
    const { action, flowId } = asked;
    return show(await callFlow(context, { kind: "step", type, flowId, action, ...envelope }));
  };
}

function show({ answer, headers, cookies }: FlowAnswer): Reply {
  return json(answer.state.status, answer.state, { headers, cookies });
}

function refuseBody(problem: "too_large" | "malformed"): Reply {
  if (problem === "malformed") return refuseFlow("form_data_invalid_error");
  const reply = refuseFlow("form_data_invalid_error", { status: 413 });
  // The rest of the body stays unread, so the connection can carry no further request.
  return { ...reply, headers: { ...reply.headers, Connection: "close" } };
}
