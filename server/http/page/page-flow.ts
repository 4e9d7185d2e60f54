import type { Tenant } from "../../config/tenant.ts";
import {
  capabilitiesReport,
  REPORT_CAPABILITIES,
  type ReportedCapabilities,
} from "../../flow/capabilities.ts";
import { peek } from "../../flow/current.ts";
import { isOfChoice, mayBegin, unstartedStates } from "../../flow/first-state.ts";
import { type FlowType, isOfSession } from "../../flow/names.ts";
import { showError } from "../../flow/show.ts";
import type { FlowState } from "../../flow/wire.ts";
import { randomToken } from "../../lib/random-token.ts";
import type { IssuedSession } from "../../objects/session.ts";
import { supportNumber } from "../../recorder/support-number.ts";
import { inGroups } from "../../recorder/written-support-number.ts";
import { hasUnredeemedAuthorizationCode } from "../../sessions/authorization-codes.ts";
import { callFlow, type FlowAnswer, type FlowCall, ownerSession } from "../flow/call-flow.ts";
import type { HandlerContext } from "../table/handler-context.ts";
import { applicationRedirect } from "./authorization-code.ts";
import { askedNow } from "./destination.ts";
import { assertKnownHeldFlow, openHeldFlow, sealHeldFlow } from "./held-flow.ts";
import { openMovedFlow, sealMovedFlow } from "./moved-flow.ts";
import type { PageAnswer } from "./page-answer.ts";
import {
  assertKnownPageCookie,
  expiredPageCookie,
  flowCookie,
  openFlowCookie,
  openPageCookie,
  type PageFlow,
  pageCookie,
} from "./page-cookie.ts";
import { unstartedConsent, unstartedState } from "./unstarted-state.ts";

/** An answer for the page, with its headers and cookies. */
export interface PageReply {
  answer: PageAnswer;
  /** The flow whose state the answer shows, if any. */
  flowId?: string;
  headers: Record<string, string>;
  cookies: string[];
}

/** The support number of a flow, as a page shows it. */
export function supportNumberOf(
  { config }: Tenant,
  { flowId }: Pick<PageFlow, "flowId">,
): Pick<PageAnswer, "support_number"> {
  return config.recorder.enabled ? { support_number: inGroups(supportNumber(flowId)) } : {};
}

/** The version of the first state of a flow that is not started. */
export const UNSTARTED = 0;

/** How long the last state of a flow can be shown again. The engine reissues the session for as long. */
const FINISHED_FLOW_SECONDS = 60;

/** One action of the displayed state. */
interface PageStep {
  type: FlowType;
  action: string;
  /** Of the displayed state. */
  version: number;
  input: Record<string, unknown>;
  /** Id of the account that the page shows; the first step of a profile flow needs it, because the session may be another's. */
  account?: string | undefined;
  /** Capabilities of the browser, if the step may start a flow. Absent: all false. */
  capabilities?: ReportedCapabilities | undefined;
  /** As `startOnPage`, if the step may start a flow. */
  codeChallenge?: string | undefined;
  /** A choice that the same form carries; it is stored before the action. */
  first?: { action: string; input: Record<string, unknown> } | undefined;
}

/**
 * Starts a flow, in place of the browser's current one.
 *
 * @param capabilities of the browser; with them the answer shows the state after `preflight`
 * @param codeChallenge S256 challenge (RFC 7636, 4.2): the sign-in then ends with an authorization code in the payload of
 *   `success`, and without a session cookie
 */
export async function startOnPage(
  context: HandlerContext,
  { type, capabilities, codeChallenge }: Pick<PageStep, "type" | "capabilities" | "codeChallenge">,
): Promise<PageReply> {
  if (capabilities) return startWith(context, { type, codeChallenge, ...capabilitiesReport(capabilities) });
  const asked = await askedOnPage(context, type);
  const flowAnswer = await callFlow(context, { kind: "start", type, codeChallenge, ...asked });
  return reply(context, type, startedFlow(context, flowAnswer, codeChallenge), flowAnswer);
}

/**
 * Performs an action of the displayed state; rejected if the flow has moved on since. The first action starts the flow.
 */
export async function actOnPage(context: HandlerContext, step: PageStep): Promise<PageReply> {
  const { tenant, frame } = context;
  const { type, version } = step;
  const held = await storedFlow(context, type);
  // A reloaded frame asks for another sign-in, as `pageState` shows: the result of the finished flow was passed on.
  const flow = frame && held?.finished !== undefined && version === UNSTARTED ? null : held;
  if (version !== UNSTARTED) {
    if (!flow) {
      assertKnownFlow(context, type);
      return notPermitted();
    }
    const reply = await perform(context, flow, { ...step, version });
    return reply.answer.state.status === 410 && begins(step, tenant) && hasText(step.input)
      ? startWith(context, { ...step, codeChallenge: step.codeChallenge ?? flow.codeChallenge })
      : reply;
  }
  const current = flow && (await peekOnPage(context, type, flow));
  if (flow && current) {
    // Another page of this browser has started the flow, and it still asks what this page asks.
    const asksTheSame = unstartedStates(tenant, type).some((name) => name === current.state.name);
    return asksTheSame && (await isShownAccount(context, step))
      ? perform(context, flow, { ...step, version: current.version })
      : notPermitted();
  }
  return (await isFirstStep(context, step)) ? startWith(context, step) : notPermitted();
}

/** Whether an action can start a flow. */
function begins({ type, action }: Pick<PageStep, "type" | "action">, tenant: Tenant): boolean {
  return action === REPORT_CAPABILITIES || mayBegin(tenant, type, action);
}

/** Whether an action can be the first of a flow: one of the first state, or one of the account that the page shows. */
async function isFirstStep(context: HandlerContext, step: PageStep): Promise<boolean> {
  const isOfAccount = step.type === "profile" && step.action !== REPORT_CAPABILITIES;
  return isOfAccount ? isShownAccount(context, step) : begins(step, context.tenant);
}

/** Whether the account that the page shows is that of the session; another person may have signed in since. */
async function isShownAccount(
  context: HandlerContext,
  { type, action, account }: PageStep,
): Promise<boolean> {
  if (type !== "profile" || action === REPORT_CAPABILITIES) return true;
  const session = await ownerSession(context);
  return account !== undefined && session?.userId === account;
}

/** Whether the user has typed or chosen something that would be lost. */
function hasText(input: Record<string, unknown>): boolean {
  return Object.values(input).some((value) => typeof value === "string" && value !== "");
}

/** Starts a flow with an action, in place of the browser's current one. */
export async function startWith(
  context: HandlerContext,
  { type, action, input, first, codeChallenge, capabilities = {} }: Omit<PageStep, "version">,
): Promise<PageReply> {
  const codeVerifier = randomToken(context.runtime.platform);
  const begun = first ?? { action, input };
  const { choosing, ...asked } = await askedOnPage(context, type);
  // A user who identifies the account has no need to choose one.
  const chooses = action === REPORT_CAPABILITIES || isOfChoice(begun.action);
  const started = await callFlow(context, {
    kind: "start",
    type,
    codeChallenge,
    ...asked,
    ...(chooses && choosing !== undefined ? { choosing } : {}),
    ...(action === REPORT_CAPABILITIES ? {} : { capabilities }),
    first: { action: begun.action, input: withVerifier(begun, { codeVerifier }) },
  });
  const flow = startedFlow(context, started, codeChallenge, codeVerifier);
  return first && flow
    ? performAfter(context, flow, started, { type, action, input })
    : reply(context, type, flow, started);
}

/** The part of a step that a flow takes once it is started. */
type StartedStep = Pick<PageStep, "type" | "action" | "input" | "first"> & { version?: number | undefined };

async function perform(
  context: HandlerContext,
  flow: PageFlow,
  { first, ...step }: StartedStep,
): Promise<PageReply> {
  return first ? performBoth(context, flow, first, step) : call(context, flow, stepCall(flow, step));
}

/** Stores a choice, and then performs the action of the same form. */
async function performBoth(
  context: HandlerContext,
  flow: PageFlow,
  first: NonNullable<StartedStep["first"]>,
  step: Omit<StartedStep, "first">,
): Promise<PageReply> {
  return performAfter(context, flow, await callFlow(context, stepCall(flow, { ...step, ...first })), step);
}

/** Performs the action of a form whose choice was stored. */
async function performAfter(
  context: HandlerContext,
  flow: PageFlow,
  stored: FlowAnswer,
  step: Omit<StartedStep, "first">,
): Promise<PageReply> {
  const { answer } = stored;
  const chosen = await reply(context, step.type, flow, stored);
  if (answer.flowId === null || answer.state.error) return chosen;
  const acted = await perform(context, withSecretsOf(answer, flow), { ...step, version: answer.version });
  // An error without a state leaves the secrets of the step before.
  return acted.flowId === undefined ? { ...acted, cookies: [...chosen.cookies, ...acted.cookies] } : acted;
}

function stepCall(
  flow: PageFlow,
  { type, action, version, input }: Omit<StartedStep, "first">,
): Extract<FlowCall, { kind: "step" }> {
  const { flowId, token } = flow;
  const at = version === undefined ? {} : { version };
  return { kind: "step", type, action, ...at, input: withVerifier({ action, input }, flow), flowId, token };
}

const currentCall = (type: FlowType, { flowId, resume }: PageFlow): FlowCall => ({
  kind: "current",
  type,
  flowId,
  resume,
});

/** The flow with the secrets of a newer answer. */
function withSecretsOf({ resume, state }: FlowAnswer["answer"], flow: PageFlow): PageFlow {
  return { ...flow, token: state.csrf_token, resume: resume ?? flow.resume };
}

/**
 * Performs an action of the displayed state, also if the answer with the flow's newest token was lost. For a press that
 * no form of the flow's page stands behind, which the person could send again.
 *
 * @param flow the one that this browser holds
 */
export async function actAfterLostAnswer(
  context: HandlerContext,
  flow: PageFlow,
  step: Pick<PageStep, "type" | "action" | "version" | "input">,
): Promise<PageReply> {
  const acted = await perform(context, flow, step);
  if (!isNotPermitted(acted)) return acted;
  const { answer } = await callFlow(context, currentCall(step.type, flow));
  return answer.flowId === null ? acted : perform(context, withSecretsOf(answer, flow), step);
}

/** Actions that bind a third-party sign-in to this browser. Scripts never see the code verifier. */
const actionsWithVerifier = new Set([
  "thirdparty_oauth",
  "connect_thirdparty_oauth_provider",
  "exchange_token",
]);

function withVerifier(
  { action, input }: { action: string; input: Record<string, unknown> },
  { codeVerifier }: Pick<PageFlow, "codeVerifier">,
): Record<string, unknown> {
  return actionsWithVerifier.has(action) ? { ...input, code_verifier: codeVerifier } : input;
}

/** Returns the current state, for instance after a lost answer. Performs nothing. */
export async function currentOnPage(context: HandlerContext, type: FlowType): Promise<PageReply> {
  const flow = await storedFlow(context, type);
  if (!flow) assertKnownFlow(context, type);
  // A flow of another account is not continued.
  const isOwn = flow !== null && (!isOfSession(type) || (await peekOnPage(context, type, flow)) !== null);
  if (!isOwn && type === "consent") {
    const { runtime, tenant, cookies } = context;
    return withoutFlow(await unstartedConsent(runtime, tenant, cookies, await ownerSession(context)));
  }
  if (!isOwn) return withoutFlow(await unstartedOnPage(context, type));
  return call(context, flow, currentCall(type, flow));
}

async function call(context: HandlerContext, flow: PageFlow, request: FlowCall): Promise<PageReply> {
  return reply(context, request.type, flow, await callFlow(context, request), request.kind);
}

/** What an application asks of the user of this browser, with a call that starts a flow on our page. */
async function askedOnPage(
  { runtime, tenant, cookies, frame, otherOrigin }: HandlerContext,
  type: FlowType,
): Promise<
  Pick<Extract<FlowCall, { kind: "start" }>, "authorization" | "userCode" | "classes" | "choosing">
> {
  if (type === "consent") {
    const shown = await openPageCookie(runtime, tenant, "authorization", cookies);
    if (!shown) return {};
    return "request" in shown ? { authorization: shown.request } : { userCode: shown.userCode };
  }
  const signsIn = type === "login" || type === "registration";
  // A frame and a page of another origin have no destination.
  if (!signsIn || frame || otherOrigin) return {};
  const destination = await openPageCookie(runtime, tenant, "destination", cookies);
  const { classes, choosing } = askedNow(destination, Date.now() + runtime.platform.clockShift());
  return { ...(classes ? { classes } : {}), ...(choosing === undefined ? {} : { choosing }) };
}

function unstartedOnPage(context: HandlerContext, type: FlowType): Promise<FlowState> {
  const { runtime, tenant, client, cookies, frame, otherOrigin } = context;
  const browser = {
    cookies: frame || otherOrigin ? null : cookies,
    markCookie: client.markCookie,
    session: () => ownerSession(context),
  };
  return unstartedState(runtime, tenant, browser, type);
}

/** Reads the state of a flow; null if this browser cannot go on with it: it has expired, or its session has ended. */
export async function peekOnPage(context: HandlerContext, type: FlowType, flow: PageFlow) {
  const session = isOfSession(type) ? await ownerSession(context) : undefined;
  return peek(context.runtime, context.tenant, { type, ...flow, ...(session ? { session } : {}) });
}

function startedFlow(
  { runtime, frame }: HandlerContext,
  { answer }: FlowAnswer,
  codeChallenge: string | undefined,
  codeVerifier = randomToken(runtime.platform),
): PageFlow | null {
  const { flowId, resume, state } = answer;
  if (flowId === null || resume === undefined) return null;
  return {
    flowId,
    resume,
    token: state.csrf_token,
    codeVerifier,
    ...(frame ? { frame } : {}),
    ...(codeChallenge === undefined ? {} : { codeChallenge }),
  };
}

/** The flow that this browser holds: that of our page, of the frame, or of the page of another origin that makes the call. */
function storedFlow(context: HandlerContext, type: FlowType): Promise<PageFlow | null> {
  const { runtime, tenant, cookies, frame, otherOrigin } = context;
  return otherOrigin
    ? openHeldFlow(context, otherOrigin, type)
    : openFlowCookie(runtime, tenant, { type, frame, cookies });
}

/** @throws UnknownKeyError as `assertKnownPageCookie` */
function assertKnownFlow(context: HandlerContext, type: FlowType): void {
  const { runtime, tenant, cookies, frame, otherOrigin } = context;
  if (otherOrigin) assertKnownHeldFlow(context, otherOrigin);
  else assertKnownPageCookie(runtime, tenant, flowCookie(type, frame), cookies);
}

/** Gives a flow to what holds it: in a sealed cookie, or in the answer to a page of another origin. */
async function handOut(
  context: HandlerContext,
  type: FlowType,
  flow: PageFlow,
  seconds?: number,
): Promise<{ cookies: string[]; held: Pick<PageAnswer, "flow_token"> }> {
  const { runtime, tenant, frame, otherOrigin } = context;
  if (otherOrigin) {
    const { origin } = otherOrigin;
    const token = await sealHeldFlow(context, { type, origin, flow }, seconds);
    return { cookies: [], held: { flow_token: token } };
  }
  return { cookies: [await pageCookie(runtime, tenant, flowCookie(type, frame), flow, seconds)], held: {} };
}

/**
 * Seals the flow of a frame, so that another window of this service can go on with it.
 *
 * @returns null if this browser holds no flow of the frame
 */
export async function moveFlow(context: HandlerContext, type: FlowType): Promise<string | null> {
  const { frame } = context;
  const flow = frame ? await storedFlow(context, type) : null;
  return frame && flow ? sealMovedFlow(context, { type, frame, flow }) : null;
}

/** Goes on with a flow that another window has sealed, and shows its current state. */
export async function continueMovedFlow(
  context: HandlerContext,
  { type, token }: { type: FlowType; token: string },
): Promise<PageReply> {
  const { frame } = context;
  const flow = frame ? await openMovedFlow(context, { token, type, frame }) : null;
  if (!flow) return notPermitted();
  return call(context, flow, currentCall(type, flow));
}

/**
 * @param flow null if none could be started
 * @param kind a session that comes with `current` was issued before
 */
async function reply(
  context: HandlerContext,
  type: FlowType,
  flow: PageFlow | null,
  { answer, headers, cookies }: FlowAnswer,
  kind: FlowCall["kind"] = "start",
): Promise<PageReply> {
  const { tenant, frame, otherOrigin } = context;
  const { version, session } = answer;
  const state = { ...answer.state, csrf_token: "" };
  // An error without a state has not changed the flow or its secrets.
  if (!flow || answer.flowId === null) return { answer: { version, state }, headers, cookies };
  const { resume = flow.resume } = answer;
  const named = otherOrigin ? {} : supportNumberOf(tenant, flow);
  // A user who goes on with the account that is signed in has not signed in either, and the flow is over.
  const isOver =
    answer.state.name === "success" || (type === "login" && answer.state.name === "consent_answered");
  if (!isOver) {
    const token = answer.state.csrf_token;
    const out = await handOut(context, type, { ...flow, resume, token });
    return {
      answer: { version, state, ...named, ...out.held },
      flowId: flow.flowId,
      headers,
      cookies: [...cookies, ...out.cookies],
    };
  }

  // A frame passes the result to its page, another origin leads its visitor itself, and a browser without the session
  // goes nowhere.
  const isOwnPage = !frame && !otherOrigin;
  const goesOn = session !== undefined && isOwnPage;
  const redirectTo = goesOn ? await redirectAfterSignIn(context, session, flow, kind === "current") : null;
  const { redirectTo: _before, ...rest } = flow;
  const end = { token: "", finished: version, ...(redirectTo ? { redirectTo } : {}) };
  const out = await handOut(context, type, { ...rest, resume, ...end }, FINISHED_FLOW_SECONDS);
  return {
    answer: { version, state, ...named, ...(redirectTo ? { redirect_to: redirectTo } : {}), ...out.held },
    flowId: flow.flowId,
    headers,
    cookies: [...cookies, ...out.cookies, ...(isOwnPage ? [expiredPageCookie(tenant, "destination")] : [])],
  };
}

/**
 * Returns the address that the browser goes to after a sign-in: the one given before while its code is unredeemed, else
 * a new one. An error does not undo the sign-in.
 */
async function redirectAfterSignIn(
  context: HandlerContext,
  session: IssuedSession,
  { finished, redirectTo }: PageFlow,
  again: boolean,
): Promise<string | null> {
  try {
    if (finished === undefined) return await applicationRedirect(context, session, { again });
    if (redirectTo === undefined) return null;
    const carriesCode = new URL(redirectTo).searchParams.has("code");
    return !carriesCode || (await hasUnredeemedAuthorizationCode(context.runtime, context.tenant, session.id))
      ? redirectTo
      : null;
  } catch (error) {
    context.runtime.log.error(
      { err: error, request_id: context.client.requestId },
      "issuing an authorization code failed",
    );
    return null;
  }
}

/** Whether a step was rejected because the flow has moved on, or has other secrets. */
export function isNotPermitted({ answer: { state } }: PageReply): boolean {
  return state.name === "error" && state.status === 403;
}

const notPermitted = () => withoutFlow(showError("operation_not_permitted_error"));

/** A reply that shows no state of a flow of this browser. */
export function withoutFlow(state: FlowState): PageReply {
  return { answer: { version: UNSTARTED, state }, headers: {}, cookies: [] };
}
