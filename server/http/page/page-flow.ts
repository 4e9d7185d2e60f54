import { firstState, peek } from "../../flow/engine.ts";
import type { FlowType } from "../../flow/names.ts";
import { showError } from "../../flow/show.ts";
import type { FlowState } from "../../flow/wire.ts";
import { randomToken } from "../../lib/random-token.ts";
import { hasUnredeemedCode } from "../../sessions/authorization-codes.ts";
import type { IssuedSession } from "../../sessions/session.ts";
import { callFlow, type FlowAnswer, type FlowCall, ownSession } from "../flow/call-flow.ts";
import type { HandlerContext } from "../handler-context.ts";
import { applicationRedirect } from "./authorization-code.ts";
import { expiredPageCookie, openPageCookie, type PageFlow, pageCookie } from "./page-cookie.ts";

/** What our own page is told. The flow's token stays in the sealed cookie. */
export interface PageAnswer {
  /** Of the state that is drawn; a step must name the newest. 0 is the first state of a flow not yet started. */
  version: number;
  state: FlowState;
  /** Where the person goes now. */
  redirect_to?: string;
}

/** An answer for the page, with the headers and cookies that go with it. */
export interface PageReply {
  answer: PageAnswer;
  headers: Record<string, string>;
  cookies: string[];
}

/** The version of a state that was drawn from the declarations alone. */
export const UNSTARTED = 0;

/** How long the end of a flow can be shown again: as long as the engine hands the session out again. */
const FAREWELL_SECONDS = 60;

/** Starts a flow, in place of the one there may be. */
export async function startOnPage(context: HandlerContext, type: FlowType): Promise<PageReply> {
  const flowAnswer = await callFlow(context, { kind: "start", type });
  return reply(context, type, startedFlow(context, flowAnswer), flowAnswer);
}

/**
 * Performs an action of the state that the page drew. The first action of all starts the flow that it is about.
 *
 * @param step `version`: that of the drawn state; when the flow has moved on since, it is refused
 */
export async function actOnPage(
  context: HandlerContext,
  { type, ...step }: { type: FlowType; action: string; version: number; input: Record<string, unknown> },
): Promise<PageReply> {
  const flow = await openPageCookie(context.runtime, context.tenant, type, context.cookies);
  if (step.version !== UNSTARTED) {
    if (!flow) return refusal();
    const input = withVerifier(step, flow);
    return call(context, flow, {
      kind: "step",
      type,
      ...step,
      input,
      flowId: flow.flowId,
      token: flow.token,
    });
  }
  if (flow && (await isUnderWay(context, type, flow))) return refusal();

  const started = await callFlow(context, { kind: "start", type });
  const fresh = startedFlow(context, started);
  if (!fresh) return reply(context, type, null, started);
  return call(context, fresh, {
    kind: "step",
    type,
    action: step.action,
    input: withVerifier(step, fresh),
    flowId: fresh.flowId,
    token: fresh.token,
  });
}

/** Actions that bind a sign-in elsewhere to this browser: the page never learns the verifier that does it. */
const bound = new Set(["thirdparty_oauth", "connect_thirdparty_oauth_provider", "exchange_token"]);

function withVerifier(
  { action, input }: { action: string; input: Record<string, unknown> },
  { codeVerifier }: PageFlow,
): Record<string, unknown> {
  return bound.has(action) ? { ...input, code_verifier: codeVerifier } : input;
}

/** Shows the state as it is now, whatever answers were lost. Performs nothing. */
export async function currentOnPage(context: HandlerContext, type: FlowType): Promise<PageReply> {
  const flow = await openPageCookie(context.runtime, context.tenant, type, context.cookies);
  // Whoever has signed in since as somebody else starts anew.
  if (!flow || (type === "profile" && !(await isUnderWay(context, type, flow))))
    return {
      answer: { version: UNSTARTED, state: firstState(context.tenant, type) },
      headers: {},
      cookies: [],
    };
  return call(context, flow, { kind: "current", type, flowId: flow.flowId, resume: flow.resume });
}

async function call(context: HandlerContext, flow: PageFlow, request: FlowCall): Promise<PageReply> {
  return reply(context, request.type, flow, await callFlow(context, request), request.kind);
}

/** Whether a flow can be gone on with, by whoever asks. */
async function isUnderWay(context: HandlerContext, type: FlowType, flow: PageFlow): Promise<boolean> {
  const session = type === "profile" ? await ownSession(context) : undefined;
  const asked = { type, ...flow, ...(session ? { session } : {}) };
  return (await peek(context.runtime, context.tenant, asked)) !== null;
}

function startedFlow({ runtime }: HandlerContext, { answer }: FlowAnswer): PageFlow | null {
  const { flowId, resume, state } = answer;
  if (flowId === null || resume === undefined) return null;
  const codeVerifier = randomToken(runtime.platform);
  return { flowId, resume, token: state.csrf_token, codeVerifier };
}

/**
 * @param flow null when none could be started
 * @param kind a session that comes with `current` was handed out before
 */
async function reply(
  context: HandlerContext,
  type: FlowType,
  flow: PageFlow | null,
  { answer, headers, cookies }: FlowAnswer,
  kind: FlowCall["kind"] = "start",
): Promise<PageReply> {
  const { runtime, tenant } = context;
  const { version, session } = answer;
  const state = { ...answer.state, csrf_token: "" };
  // A refusal that shows no state has left the flow, and its token, as they were.
  if (!flow || answer.flowId === null) return { answer: { version, state }, headers, cookies };
  if (!session) {
    const sealed = await pageCookie(runtime, tenant, type, { ...flow, token: answer.state.csrf_token });
    return { answer: { version, state }, headers, cookies: [...cookies, sealed] };
  }

  const redirectTo = await wayBack(context, session, flow, kind === "current");
  const { redirectTo: _before, ...rest } = flow;
  const finished: PageFlow = { ...rest, token: "", finished: version, ...(redirectTo ? { redirectTo } : {}) };
  return {
    answer: { version, state, ...(redirectTo ? { redirect_to: redirectTo } : {}) },
    headers,
    cookies: [
      ...cookies,
      await pageCookie(runtime, tenant, type, finished, FAREWELL_SECONDS),
      expiredPageCookie(tenant, "destination"),
    ],
  };
}

/**
 * Where the person goes now: what they were told before, for as long as it leads anywhere, else a new hand-over.
 * Whoever has signed in is signed in, even if the way back to the application cannot be made.
 */
async function wayBack(
  context: HandlerContext,
  session: IssuedSession,
  { finished, redirectTo }: PageFlow,
  again: boolean,
): Promise<string | null> {
  try {
    if (finished === undefined) return await applicationRedirect(context, session, { again });
    if (redirectTo === undefined) return null;
    const carriesCode = new URL(redirectTo).searchParams.has("code");
    return !carriesCode || (await hasUnredeemedCode(context.runtime, context.tenant, session.id))
      ? redirectTo
      : null;
  } catch (error) {
    context.runtime.log.error(
      { err: error, request_id: context.client.requestId },
      "a session could not be handed over",
    );
    return null;
  }
}

function refusal(): PageReply {
  return {
    answer: { version: UNSTARTED, state: showError("operation_not_permitted_error") },
    headers: {},
    cookies: [],
  };
}
