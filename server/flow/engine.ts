import type { Tenant } from "../config/tenant.ts";
import type { Client } from "../context/client.ts";
import { factsById, type UserFacts } from "../identity/facts.ts";
import { startDeadline } from "../lib/deadline.ts";
import { randomToken } from "../lib/random-token.ts";
import { sha256 } from "../lib/sha256.ts";
import { timeOrderedUuid } from "../lib/uuid.ts";
import type { Session } from "../objects/session.ts";
import { beginSpan, within } from "../observability/spans.ts";
import { measuringWaits, noWaits } from "../observability/waits.ts";
import type { ContextClass } from "../openid/authentication-context.ts";
import type { WaitingAuthorization } from "../openid/waiting-authorization.ts";
import type { RequestContext, Runtime } from "../runtime.ts";
import { type Answer, errorAnswer, expired, notPermitted } from "./answer.ts";
import { capabilitiesOf, type ReportedCapabilities } from "./capabilities.ts";
import { answerToFailedClaim, answerToUnreadable, releaseClaim } from "./claims.ts";
import { isTenantGone } from "./conflicts.ts";
import type { FlowData, FlowRecord, WantedAction } from "./data.ts";
import type { Question } from "./define.ts";
import { factsOf } from "./facts.ts";
import { firstRecord } from "./first-state.ts";
import { type Judged, judge, postpone, triedFactor } from "./judge.ts";
import { loginFailure } from "./login-failure.ts";
import { type FlowType, isOfSession } from "./names.ts";
import type { Reasons, Verdict } from "./observed-step.ts";
import { retryPayload } from "./outcome.ts";
import { newTrace, type StepTrace, tracing } from "./performing.ts";
import { mayAsk, questionOf } from "./questions.ts";
import { offerOf, show, showError } from "./show.ts";
import { states } from "./states/index.ts";
import { stepAtOnce, timeOf } from "./step-at-once.ts";
import {
  admit,
  chargeOf,
  recordRefusal,
  refusedFor,
  secondsUntil,
  takeTurns,
  turnsOf,
} from "./step-limits.ts";
import { type Claim, claimFlow, type FlowKey, insertFlow, prepareFlow, type StoredFlow } from "./store.ts";
import { belongsTo, JUDGE_TIMEOUT_MS, openSealed, ownerOf, requestContextOf } from "./stored-flow.ts";
import { type Observed, type StepInProgress, tellObservers } from "./tell-observers.ts";
import { newToken } from "./tokens.ts";
import { type Owner, viewOf } from "./view.ts";
import { write } from "./write.ts";

/** What a flow starts with. */
export interface Beginning {
  /** Session of the request; a flow of a session requires it and belongs to its user. */
  session?: Session | undefined;
  /** The flow passes its session on by an authorization code that is bound to this S256 challenge (RFC 7636, 4.2). */
  codeChallenge?: string | undefined;
  /** The origin of the page in whose frame the flow runs. */
  frameOrigin?: string | undefined;
  /** The request that a consent flow is about. */
  authorization?: WaitingAuthorization | undefined;
  /** A consent flow that asks for the code of a device: the code, as far as it is known. */
  userCode?: string | undefined;
  /** The classes of authentication that the application asks for, one of which suffices. */
  classes?: readonly ContextClass[] | undefined;
  /** The accounts of the browser that the user of a login chooses from. */
  choice?: FlowData["choice"];
  /** Capabilities that the client reports with the first action: the flow begins after `preflight`. */
  capabilities?: ReportedCapabilities | undefined;
}

/** Starts a flow. */
export async function start(
  runtime: Runtime,
  tenant: Tenant,
  client: Client,
  type: FlowType,
  beginning: Omit<Beginning, "capabilities"> = {},
): Promise<Answer> {
  const refused = await refusedStart(runtime, tenant, client, type, beginning);
  if (refused) return refused;
  const { platform, database } = runtime;
  const { key, record, passedOver } = newFlow(runtime, tenant, type, beginning);
  const observed = stepInProgress(
    { flowId: key.flowId, isStart: true },
    { tenant, client, type, action: null },
  );
  const token = newToken(platform);
  const resume = randomToken(platform);
  const content = {
    record,
    tokenHash: sha256(token),
    resumeHash: sha256(resume),
    lifetimeSeconds: tenant.config.flow.lifetime,
  };
  const insert = async (): Promise<UserFacts | null> => {
    const { userId } = record.data;
    // The first state of a profile flow is not about the account yet.
    const user = userId && type === "consent" ? await factsById(database.read, tenant.id, userId) : null;
    await admit(runtime, () => insertFlow(database, key, content, platform.clockShift()));
    return user;
  };
  try {
    const user = await performing(observed, insert);
    const view = viewOf(record, factsOf(type, record.data, user), tenant.config);
    const offer = offerOf(states[record.state], view);
    const answer = {
      state: show(record, view, states[record.state], null, token, offer),
      version: record.version,
      flowId: record.id,
      resume,
      stored: { data: record.data, notOffered: { actions: offer.withheld, states: passedOver } },
    };
    const trace = newTrace({ record, user, now: new Date(record.data.enteredAt ?? Date.now()) });
    tellObservers(runtime, observed, { verdict: "started", answer, trace });
    return answer;
  } catch (error) {
    tellObservers(runtime, observed, { verdict: "failed", answer: null });
    return answerToFailedStart(error);
  } finally {
    observed.span?.end();
  }
}

/** The first action of a flow. */
export interface FirstStep {
  action: string;
  input: Record<string, unknown>;
}

/**
 * Starts a flow with its first action. It is judged as the step after a start would be, and the flow is stored once, in
 * the state that it leads to, by the statement that writes what it causes.
 *
 * @returns as `step`; if the action is not offered in the first state, nothing is written
 */
export async function begin(
  runtime: Runtime,
  tenant: Tenant,
  client: Client,
  type: FlowType,
  beginning: Beginning,
  first: FirstStep,
): Promise<Answer> {
  const refused = await refusedStart(runtime, tenant, client, type, beginning);
  if (refused) return refused;
  const { platform, database } = runtime;
  const { key, record } = newFlow(runtime, tenant, type, beginning);
  const { session } = beginning;
  const waiting = refusedStep(runtime, key, session);
  if (waiting) return waiting;
  const observed = stepInProgress(
    { flowId: key.flowId, isStart: true },
    { tenant, client, type, action: first.action },
  );
  const resume = randomToken(platform);
  const lifetimeSeconds = tenant.config.flow.lifetime;
  const charge = chargeOf(tenant, client, first.action);
  const facts = factsOf(type, record.data, null);
  // An account's actions depend on the account, which is read with the session.
  const known = isOfSession(type) ? null : { record, facts, clockAhead: 0, resume: null };
  const asking = { runtime, tenant, client, flowId: key.flowId };
  const question = questionOf(asking, first.action, first.input, known);
  const deadline = startDeadline(JUDGE_TIMEOUT_MS);
  const call = { type, ...first, ...(session ? { session } : {}) };
  const performFirst = async () => {
    const begun = { record, resume, lifetimeSeconds };
    const flow = await admit(runtime, () =>
      prepareFlow(database, key, begun, platform.clockShift(), charge, question?.parts ?? []),
    );
    observed.found = flow;
    const exclusive = { key, claim: null, flow, question, signal: deadline.signal, resume };
    return performAction(runtime, tenant, client, call, exclusive);
  };
  try {
    const performed = await performing(observed, performFirst);
    tellObservers(runtime, observed, performed);
    return performed.answer;
  } catch (error) {
    tellObservers(runtime, observed, { verdict: "failed", answer: null });
    return answerToFailedStart(error);
  } finally {
    observed.span?.end();
    deadline.end();
  }
}

/** The answer to a step of a client that goes on although its budget is used up; null if it may be performed. */
function refusedStep(runtime: Runtime, key: FlowKey, session: Session | undefined): Answer | null {
  const seconds = refusedFor(runtime, key, session);
  if (seconds === null) return null;
  return errorAnswer(showError("rate_limit_exceeded", { payload: retryPayload(seconds) }));
}

/** @throws any error but that of a tenant which was deleted meanwhile */
function answerToFailedStart(error: unknown): Answer {
  if (isTenantGone(error)) return errorAnswer(showError("not_found"));
  throw error;
}

/** The answer to a start that is refused; null if the flow may start. */
async function refusedStart(
  { rates }: Runtime,
  { id, config }: Tenant,
  { source }: Client,
  type: FlowType,
  { session, authorization, userCode }: Beginning,
): Promise<Answer | null> {
  if (isOfSession(type) && !session) return errorAnswer(showError("unauthorized"));
  const takesCode = userCode !== undefined && config.openid.enabled && config.openid.device_flow;
  if (type === "consent" && !authorization && !takesCode) return expired();
  if (type === "token_exchange" && !config.saml.enabled) return errorAnswer(showError("forbidden"));
  const rate = await rates.consume(id, "flow_start", source);
  if (rate.ok) return null;
  return errorAnswer(showError("rate_limit_exceeded", { payload: retryPayload(rate.retryAfterSeconds) }));
}

function newFlow(
  { platform }: Runtime,
  tenant: Tenant,
  type: FlowType,
  beginning: Beginning,
): { key: FlowKey; record: FlowRecord; passedOver: Reasons } {
  const flowId = timeOrderedUuid(platform);
  const capabilities = beginning.capabilities && capabilitiesOf(beginning.capabilities);
  const { record: first, passedOver } = firstRecord(tenant, type, flowId, { ...beginning, capabilities });
  const record = { ...first, data: { ...first.data, enteredAt: Date.now() + platform.clockShift() } };
  return { key: { tenantId: tenant.id, flowId, type }, record, passedOver };
}

/** A call to perform an action. */
export interface StepCall {
  type: FlowType;
  flowId: string;
  action: string;
  token: string;
  /** The version that the caller displays. Without it, only the token shows that a caller is out of date. */
  version?: number;
  input: Record<string, unknown>;
  session?: Session;
}

/**
 * Performs one action. If it completes a reauthentication, the action that required it is performed too.
 *
 * @returns a state of the flow with a new token; or state `error`, with the flow unchanged
 * @throws unexpected errors; the flow is unchanged
 */
export async function step(
  runtime: Runtime,
  tenant: Tenant,
  client: Client,
  call: StepCall,
): Promise<Answer> {
  const performed = await perform(runtime, tenant, client, call);
  return performed.proceedsWith
    ? proceed(runtime, tenant, client, call, { ...performed, ...performed.proceedsWith })
    : performed.answer;
}

/** What a step was answered, and the action that it lets the user perform now, with the session that it issued. */
interface Performed {
  answer: Answer;
  /** Null: nothing was read of a flow. */
  verdict: Verdict | null;
  /** Those that the client has sent; absent if the action was not judged. */
  inputs?: Judged["inputs"];
  judged?: Observed["judged"];
  /** What the step was decided by; absent if nothing was judged. */
  trace?: StepTrace;
  /** Whether the flow was changed, which ends a claim of it. */
  isWritten?: true;
  proceedsWith?: { wanted: WantedAction; session: Session };
}

/** One step: claim, judge, write. */
async function perform(runtime: Runtime, tenant: Tenant, client: Client, call: StepCall): Promise<Performed> {
  const { flowId, action, type, session } = call;
  if (isOfSession(type) && !session) return { answer: errorAnswer(showError("unauthorized")), verdict: null };
  const key: FlowKey = { tenantId: tenant.id, flowId, type };
  const refused = refusedStep(runtime, key, session);
  if (refused) return { answer: refused, verdict: null };
  const observed = stepInProgress({ flowId, isStart: false }, { tenant, client, type, action });
  try {
    const performed = await performing(observed, () =>
      performKnown(runtime, tenant, client, call, { key, observed }),
    );
    tellObservers(runtime, observed, performed);
    return performed;
  } catch (error) {
    tellObservers(runtime, observed, { verdict: "failed", answer: null });
    throw error;
  } finally {
    observed.span?.end();
  }
}

/** A step by the flow as this process remembers it, or else by the flow as its claim reads it. */
async function performKnown(
  runtime: Runtime,
  tenant: Tenant,
  client: Client,
  call: StepCall,
  { key, observed }: { key: FlowKey; observed: StepInProgress },
): Promise<Performed> {
  const { flowId, action, input } = call;
  const tokenHash = sha256(call.token);
  const remembered = runtime.rememberedFlows.recall(tokenHash, key);
  const isShown = call.version === undefined || call.version === remembered?.record.version;
  const known = isShown ? remembered : null;
  if (known) observed.found = { record: known.record, now: timeOf(runtime, known) };
  const deadline = startDeadline(JUDGE_TIMEOUT_MS);
  // A question may count an attempt, so it is asked when the attempt may be judged, and by the time then.
  const takesTurn = known !== null && mayAsk(action);
  const turn = takesTurn ? await takeTurns(runtime, turnsOf({ tenant, client }, known)) : undefined;
  try {
    if (known && !takesTurn) {
      const step = { key, tokenHash, action, input, known, signal: deadline.signal };
      const stepped = await stepAtOnce(runtime, tenant, client, step);
      const verdict = stepped?.answer.state.error ? "error" : "performed";
      if (stepped) return { ...stepped, verdict, isWritten: true };
    }
    const { version } = call;
    const claim = { id: runtime.platform.uuid(), tokenHash, instanceId: runtime.instanceId, version };
    const asking = { runtime, tenant, client, flowId };
    const question = turn === null ? null : questionOf(asking, action, input, known);
    const prepared = { key, claim, question, turn, signal: deadline.signal, observed };
    return await performClaimed(runtime, tenant, client, call, prepared);
  } finally {
    deadline.end();
    turn?.();
  }
}

/** A step before its flow is claimed. */
interface PreparedStep extends Pick<ExclusiveFlow, "key" | "question" | "signal" | "turn"> {
  claim: Claim & { instanceId: string; version: number | undefined };
  observed: StepInProgress;
}

async function performClaimed(
  runtime: Runtime,
  tenant: Tenant,
  client: Client,
  call: StepCall,
  { claim, observed, ...prepared }: PreparedStep,
): Promise<Performed> {
  const { database, platform } = runtime;
  const { key, question } = prepared;
  const charge = chargeOf(tenant, client, call.action);
  let flow: StoredFlow | null;
  try {
    flow = await admit(runtime, () =>
      claimFlow(database, key, claim, platform.clockShift(), charge, question?.parts),
    );
  } catch (error) {
    return { answer: answerToUnreadable(runtime, error), verdict: "refused" };
  }
  if (!flow) {
    const { answer, isKnown } = await answerToFailedClaim(runtime, key);
    return { answer, verdict: isKnown ? "refused" : null };
  }
  observed.found = flow;
  let performed: Performed | null = null;
  try {
    if (!belongsTo(flow, call.session)) return rejected();
    performed = await performAction(runtime, tenant, client, call, { ...prepared, claim, flow });
    return performed;
  } finally {
    if (!performed?.isWritten) await releaseClaim(runtime, key, claim.id);
  }
}

/** A flow that no other step can change: claimed, or not stored yet. */
interface ExclusiveFlow {
  key: FlowKey;
  /** Null: the step stores the flow, and gives out `resume`. */
  claim: Claim | null;
  flow: StoredFlow;
  /** What the action has asked for together with the flow. */
  question: Question<unknown> | null;
  /** Ends the turn that the step has taken; null if none was granted, undefined if it takes one now. */
  turn?: (() => void) | null | undefined;
  /** The time limit of judging. */
  signal: AbortSignal;
  resume?: string;
}

/** Judges an action and writes what it leads to. */
async function performAction(
  runtime: Runtime,
  tenant: Tenant,
  client: Client,
  call: Pick<StepCall, "type" | "action" | "input" | "session">,
  { key, claim, flow, question, turn, signal, resume }: ExclusiveFlow,
): Promise<Performed> {
  let endTurn: (() => void) | null = null;
  try {
    const request = requestContextOf(runtime, tenant, client, flow, call.session, signal);
    openSealed(runtime, key, flow);
    const mayTake = turn === undefined && !flow.exhaustedUntil;
    endTurn = mayTake ? await takeTurns(runtime, turnsOf(request, flow)) : null;
    const hasTurn = endTurn !== null || (turn && !flow.exhaustedUntil);
    const owner = await ownerOf(runtime, tenant, flow, call.session);
    const found = question?.found(flow.asked) ?? null;
    const trace = newTrace(flow, { owner });
    trace.isPostponed = !hasTurn;
    const judging = { owner, found, isFirst: claim === null, performing: tracing(trace) };
    const judged = hasTurn
      ? await judge(request, flow, call.action, call.input, judging)
      : refuse(request, key, flow, call, owner);
    if (!judged) return { ...rejected(), trace };
    const view = viewOf(flow.record, factsOf(call.type, flow.record.data, flow.user), tenant.config, owner);
    const method = triedFactor(view, call.action);
    const writing = { claim, owner, trace, ...(resume ? { resume } : {}) };
    const written = await write(request, key, flow, judged, writing);
    if (!written) return rejected();
    trace.ownerAfter = owner;
    const { proceedsWith: wanted, replacement: session } = judged;
    const proceeds = wanted !== null && session !== undefined && written.session !== undefined;
    // A write may have met a concurrent change, which rejects the action.
    const verdict = written.state.error && !judged.error ? "error" : judged.verdict;
    return {
      answer: written,
      verdict,
      inputs: judged.inputs,
      judged: {
        method,
        reason: judged.writes.find(({ reason }) => reason !== undefined)?.reason ?? null,
        signIn: judged.signIn ?? null,
      },
      trace,
      isWritten: true,
      ...(proceeds ? { proceedsWith: { wanted, session } } : {}),
    };
  } finally {
    endTurn?.();
  }
}

/**
 * Refuses a step that exceeds a budget or got no turn. Of the tries to prove a factor that exceed a budget, the first
 * until it is renewed has an entry in the audit log.
 */
function refuse(
  request: RequestContext,
  key: FlowKey,
  flow: StoredFlow,
  { action, session }: Pick<StepCall, "action" | "session">,
  owner: Owner | null,
): Judged {
  const { record, user, exhaustedUntil } = flow;
  const seconds = secondsUntil(flow);
  if (!exhaustedUntil) return postpone(flow, action, seconds);
  const view = viewOf(record, factsOf(record.type, record.data, user), request.tenant.config, owner);
  const method = triedFactor(view, action);
  const isFirst = recordRefusal(request.runtime, key, session, exhaustedUntil, method);
  if (method === null || !isFirst) return postpone(flow, action, seconds);
  const entry = loginFailure({ ...view, request }, { method, reason: "rate_limited" });
  return postpone(flow, action, seconds, [entry]);
}

/**
 * Performs the action that required reauthentication, as a step of its own with the new session: it is judged as if the
 * client had called it again. The reauthentication stands, whatever becomes of the action.
 */
async function proceed(
  runtime: Runtime,
  tenant: Tenant,
  client: Client,
  { type, flowId }: StepCall,
  { answer: reauthenticated, wanted, session }: { answer: Answer; wanted: WantedAction; session: Session },
): Promise<Answer> {
  const { action, input } = wanted;
  const call = { type, flowId, action, token: reauthenticated.state.csrf_token, input, session };
  const naming = (answer: Answer): Answer => {
    const { state } = answer;
    return { ...answer, state: { ...state, payload: { ...state.payload, performed_action: action } } };
  };
  let answer: Answer;
  try {
    ({ answer } = await perform(runtime, tenant, client, call));
  } catch (error) {
    return naming({ ...reauthenticated, failure: error });
  }
  // The account has changed, and the action is no longer offered.
  if (answer.flowId === null) return reauthenticated;
  const ended = answer.cookieChanges?.session === "ended";
  const issued = ended ? undefined : (answer.session ?? reauthenticated.session);
  const shown = { ...answer, ...(issued ? { session: issued } : {}) };
  // It requires reauthentication again: `session.step_up_after` is short, or a second factor was added concurrently.
  return answer.state.payload.wanted_action === undefined ? naming(shown) : shown;
}

const rejected = (): Performed => ({ answer: notPermitted(), verdict: "refused" });

const stepInProgress = (
  of: Pick<StepInProgress, "flowId" | "isStart">,
  by: Pick<StepInProgress, "tenant" | "client" | "type" | "action">,
): StepInProgress => ({
  ...of,
  ...by,
  startedAt: performance.now(),
  waits: noWaits(),
  span: beginSpan("step"),
  found: null,
});

/** Performs a step, measured and traced. */
const performing = <Result>({ waits, span }: StepInProgress, work: () => Promise<Result>) =>
  within(span, () => measuringWaits(waits, work));
