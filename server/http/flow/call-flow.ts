import type { Config } from "../../config/schema.ts";
import type { Tenant } from "../../config/tenant.ts";
import type { CookieChanges } from "../../context/client.ts";
import type { Answer } from "../../flow/answer.ts";
import { accountChoice } from "../../flow/browser-choice.ts";
import { current } from "../../flow/current.ts";
import { type Beginning, begin, type FirstStep, type StepCall, start, step } from "../../flow/engine.ts";
import { publishedState } from "../../flow/error-codes.ts";
import { isOfChoice } from "../../flow/first-state.ts";
import { type FlowType, isOfSession } from "../../flow/names.ts";
import { retryPayload } from "../../flow/outcome.ts";
import { showError } from "../../flow/show.ts";
import { isActionName } from "../../flow/states/index.ts";
import type { FlowState } from "../../flow/wire.ts";
import { isUnknownKey } from "../../keys/unknown-key.ts";
import type { IssuedSession, Session } from "../../objects/session.ts";
import { isOnItsDevice } from "../../sessions/device-binding/binding.ts";
import { actorOf } from "../../sessions/impersonation.ts";
import { endReplacedSessions } from "../../sessions/log-out.ts";
import { wordsHeader } from "../../theme/own-words.ts";
import { json, type Reply } from "../answer/reply.ts";
import { isTemporaryFailure, RETRY_AFTER_SECONDS } from "../answer/temporary-failure.ts";
import { isObject, isSaidToBeJson, readJson, readObject } from "../request/body.ts";
import { deviceCookie, markCookie, thirdPartyStateCookie } from "../request/cookies.ts";
import { isDisallowedOrigin } from "../request/origin.ts";
import { boundValues } from "../session/bound-cookie.ts";
import { everyPresentedSession, presentedSession } from "../session/presented-session.ts";
import { expiredSessionCookies, sessionHeaders } from "../session/session-cookie.ts";
import type { Handler, HandlerContext } from "../table/handler-context.ts";
import { parseActionBody, parseBeginning, parseFlowParameters } from "./request.ts";

/** A call of the engine, by REST or by tRPC. */
export type FlowCall =
  /** Starts a flow; with `first`, by its first action. */
  | ({
      kind: "start";
      type: FlowType;
      codeChallenge?: string | undefined;
      /** Identifies the authorization request that a consent flow is about. */
      authorization?: string | undefined;
      /** Without one: the code of a device, as far as it is known. */
      userCode?: string | undefined;
      /** Identifies the authorization request for which the user of a login chooses an account. */
      choosing?: string | undefined;
      first?: FirstStep | undefined;
    } & Pick<Beginning, "capabilities" | "classes">)
  | ({ kind: "step" } & Omit<StepCall, "session">)
  | { kind: "current"; type: FlowType; flowId: string; resume: string };

/** An answer of the engine, with its headers and cookies. */
export interface FlowAnswer {
  answer: Answer;
  headers: Record<string, string>;
  cookies: string[];
}

/**
 * Calls the engine for every interface, so that all interfaces give the same answers. Errors are flow states; the cause
 * of an unexpected error is logged and not sent. No other function sets the headers and cookies of a flow answer.
 */
export async function callFlow(context: HandlerContext, call: FlowCall): Promise<FlowAnswer> {
  const { tenant } = context;
  let answer: Answer;
  try {
    answer = await perform(context, call);
    if (answer.failure !== undefined)
      answer = withError(answer, unexpectedError(context, answer.failure, call));
  } catch (error) {
    answer = { state: unexpectedError(context, error, call), version: 0, flowId: null };
  }
  noteAccess(context, call, answer);
  const { headers, cookies } = answer.session
    ? sessionHeaders(context, answer.session, await endPresentedSessions(context, answer.session))
    : { headers: {}, cookies: [] };
  return {
    answer,
    headers: { ...headers, ...retryAfter(answer.state) },
    cookies: [...cookies, ...changedCookies(tenant, answer.cookieChanges)],
  };
}

/** Completes the line of the access log. */
function noteAccess({ accessFields }: HandlerContext, call: FlowCall, { state, flowId }: Answer): void {
  const action = actionOf(call);
  Object.assign(accessFields, {
    flow: flowId ?? ("flowId" in call ? call.flowId : undefined),
    flow_type: call.type,
    action: action === undefined ? undefined : loggableAction(action),
    state: state.name,
    error: action === undefined ? state.error?.code : preciseError(state, action),
  });
}

/** The action that a call performs, if it performs one. */
function actionOf(call: FlowCall): string | undefined {
  if (call.kind === "step") return call.action;
  return call.kind === "start" ? call.first?.action : undefined;
}

/** The code of an error, that of an input before the general one that a state has with it. */
function preciseError({ actions, error }: FlowState, action: string): string | undefined {
  const inputs = Object.hasOwn(actions, action) ? Object.values(actions[action]?.inputs ?? {}) : [];
  const [ofInput] = inputs.flatMap((input) => input.error ?? []);
  return (ofInput ?? error)?.detail_code ?? (ofInput ?? error)?.code;
}

/** The name of an action as logs and traces may contain it: a client can send any text. */
const loggableAction = (action: string) => (isActionName(action) ? action : "unknown");

/** Makes the answer to an unexpected error, and logs its cause. */
function unexpectedError({ runtime, client }: HandlerContext, error: unknown, call: FlowCall): FlowState {
  const later = { payload: retryPayload(RETRY_AFTER_SECONDS) };
  if (isUnknownKey(error, runtime.log)) return showError("temporarily_unavailable", later);
  const temporary = isTemporaryFailure(error);
  runtime.log[temporary ? "warn" : "error"](
    { err: error, request_id: client.requestId, flow_type: call.type, call: call.kind },
    "a flow request failed",
  );
  return temporary ? showError("temporarily_unavailable", later) : showError("technical_error");
}

/** A state with the error that another one reports, so that its session and its actions reach the client. */
function withError(answer: Answer, { status, payload, error }: FlowState): Answer {
  const { state } = answer;
  const shown = { ...state, status, payload: { ...state.payload, ...payload }, ...(error ? { error } : {}) };
  return { ...answer, state: shown };
}

/** Cookies that a step sets beside the session cookie, and the removal of the session cookie. */
function changedCookies(
  tenant: Tenant,
  { device, mark, thirdPartyState, session }: CookieChanges = {},
): string[] {
  const { config } = tenant;
  return [
    ...(device ? [deviceCookie(config, device.value, device.seconds)] : []),
    ...(mark ? [markCookie(tenant, mark.value, mark.seconds)] : []),
    ...(thirdPartyState
      ? [thirdPartyStateCookie(config, thirdPartyState.value, thirdPartyState.seconds)]
      : []),
    ...(session === "ended" ? expiredSessionCookies(config) : []),
  ];
}

async function perform(context: HandlerContext, call: FlowCall): Promise<Answer> {
  const { runtime, tenant } = context;
  const isAboutSession = isOfSession(call.type) || isOfChoice(actionOf(call) ?? "");
  const session = isAboutSession ? await ownerSession(context) : undefined;
  // What an operator does as the user is recorded as done by the operator.
  const client = session ? { ...context.client, ...actorOf(session) } : context.client;
  switch (call.kind) {
    case "start": {
      const { type, first, capabilities } = call;
      const beginning = {
        capabilities,
        session,
        codeChallenge: call.codeChallenge ?? context.frame?.codeChallenge,
        frameOrigin: context.frame?.origin,
        classes: call.classes,
        userCode: call.userCode,
        authorization: await waitingAuthorization(context, call, session),
        choice: await choiceOf(context, call),
      };
      return first
        ? begin(runtime, tenant, client, type, beginning, first)
        : start(runtime, tenant, client, type, beginning);
    }
    case "step":
      return step(runtime, tenant, client, { ...call, ...(session ? { session } : {}) });
    case "current":
      return current(runtime, tenant, client, { ...call, ...(session ? { session } : {}) });
  }
}

/** The authorization request that a consent flow is about, if there is one that waits. */
async function waitingAuthorization(
  { runtime, tenant }: HandlerContext,
  { type, authorization }: { type: FlowType; authorization?: string | undefined },
  session: Session | undefined,
): Promise<Beginning["authorization"]> {
  if (type !== "consent" || !session || authorization === undefined) return undefined;
  return (await runtime.openid.waitingAuthorization(tenant, authorization, session.userId)) ?? undefined;
}

/** The accounts of the browser that the user of a login chooses from, where an application asks for that. */
async function choiceOf(
  context: HandlerContext,
  { type, choosing }: { type: FlowType; choosing?: string | undefined },
): Promise<Beginning["choice"]> {
  if (type !== "login" || choosing === undefined) return undefined;
  const { runtime } = context;
  const now = new Date(Date.now() + runtime.platform.clockShift());
  return accountChoice({ ...context, now }, choosing, await ownerSession(context));
}

/** The session whose user a flow belongs to. */
export async function ownerSession(context: HandlerContext): Promise<Session | undefined> {
  const verified = await presentedSession(context, { touch: true });
  return verified.ok ? verified.session : undefined;
}

/**
 * Ends the sessions that the browser had before, including planted ones (session fixation; OWASP ASVS 7.2.4).
 *
 * @returns whether one of them came without its bound cookie
 */
async function endPresentedSessions(
  context: HandlerContext,
  issued: IssuedSession,
): Promise<{ couldNotRenew: boolean }> {
  const { runtime, tenant, client, cookies } = context;
  try {
    const presented = await everyPresentedSession(context);
    const bound = boundValues(tenant, cookies);
    await endReplacedSessions(context, presented, issued);
    return {
      couldNotRenew: presented.some(
        ({ session, now }) => session.boundAt !== null && !isOnItsDevice(tenant, session, bound, now),
      ),
    };
  } catch (error) {
    // The sign-in stands; an earlier session expires on its own.
    runtime.log.error({ err: error, request_id: client.requestId }, "ending the previous sessions failed");
    return { couldNotRenew: false };
  }
}

/** RFC 9110, 10.2.3 */
function retryAfter({ status, payload }: FlowState): Record<string, string> {
  return (status === 429 || status === 503) && typeof payload.retry_after === "number"
    ? { "Retry-After": String(payload.retry_after) }
    : {};
}

/** An error state that is sent without calling the engine. */
export function flowError(config: Config, ...error: Parameters<typeof showError>): Reply {
  return reply(showError(...error), config);
}

/** A flow state, with the error codes that the deployment's clients know. */
function reply(state: FlowState, config: Config, more: Pick<Reply, "headers" | "cookies"> = {}): Reply {
  return json(state.status, publishedState(state, config), more);
}

/** `POST /login`, `/registration`, `/profile`: starts a flow, also by its first action, or performs `?action=<name>@<flow id>`. */
export function flowHandler(type: FlowType): Handler {
  return async (context) => {
    const { request, tenant, url } = context;
    const { config } = tenant;
    if (isDisallowedOrigin(request.headers, config))
      return flowError(config, "operation_not_permitted_error");
    const parameter = parseFlowParameters(url.searchParams, type);
    if (parameter.kind === "malformed") return flowError(config, "form_data_invalid_error");
    if (parameter.kind === "start") {
      const body = await readJson(request);
      if (!body.ok && isSaidToBeJson(request.headers)) return bodyError(config, body.reason);
      // Whatever else published clients send with a start is ignored.
      const beginning = parseBeginning(body.ok && isObject(body.value) ? body.value : {}, type);
      if (beginning === null) return flowError(config, "form_data_invalid_error");
      const shown = show(context, await callFlow(context, { ...parameter, ...beginning, type }));
      return !body.ok && body.reason === "too_large" ? closing(shown) : shown;
    }
    const body = await readObject(request);
    if (!body.ok) return bodyError(config, body.reason);
    const actionBody = parseActionBody(body.value);
    if (actionBody === null) return flowError(config, "form_data_invalid_error");
    const { action, flowId } = parameter;
    return show(context, await callFlow(context, { kind: "step", type, flowId, action, ...actionBody }));
  };
}

function show({ tenant }: HandlerContext, { answer, headers, cookies }: FlowAnswer): Reply {
  const { config } = tenant;
  return reply(answer.state, config, { headers: { ...headers, ...wordsHeader(config) }, cookies });
}

function bodyError(config: Config, reason: "too_large" | "malformed"): Reply {
  if (reason === "malformed") return flowError(config, "form_data_invalid_error");
  return closing(flowError(config, "form_data_invalid_error", { status: 413 }));
}

/** The rest of the body stays unread, so the connection cannot be reused. */
function closing(reply: Reply): Reply {
  return { ...reply, headers: { ...reply.headers, Connection: "close" } };
}
