import type { Write } from "#db/write";
import { holds } from "../conditions/condition.ts";
import { OverloadedError } from "../lib/overloaded-error.ts";
import { accountLanguage } from "../mail/mail-language.ts";
import type { Job, RequestContext } from "../runtime.ts";
import { type Advanced, advance, patch } from "./advance.ts";
import type { FlowRecord, WantedAction } from "./data.ts";
import { type Action, type Context, type Entered, offeredWhen, type State, type View } from "./define.ts";
import { type StepError, stepError } from "./errors.ts";
import { type Facts, factsOf, isPendingRegistration } from "./facts.ts";
import { preservedValues, sentInputs } from "./inputs.ts";
import { isOfSession, type StateName } from "./names.ts";
import type { ObservedInput, Reasons, Verdict } from "./observed-step.ts";
import { type Effects, type Outcome, reject, retryPayload } from "./outcome.ts";
import { type Performing, performing as performingForClients } from "./performing.ts";
import { rejectWithRedirect } from "./reject-with-redirect.ts";
import { identifiesPerson } from "./resume.ts";
import { states } from "./states/index.ts";
import type { StepFlow } from "./store.ts";
import { type Owner, viewOf } from "./view.ts";

/** Result of a step, before anything is written. */
export interface Judged extends Omit<Entered, "writes" | "jobs" | "error" | "data"> {
  record: FlowRecord;
  /** Facts that the step's writes change. */
  facts: Partial<Facts>;
  error: StepError | null;
  writes: Write[];
  jobs: Job[];
  /** Whether the step has identified the person, so that earlier resume secrets end. */
  identifies: boolean;
  verdict: Verdict;
  /** The inputs that the client has sent. */
  inputs: readonly ObservedInput[];
  /** The states that the plan has passed over. */
  passedOver: Reasons;
  /** The action to perform next, because the step completed the authentication that it requires. */
  proceedsWith: WantedAction | null;
}

/** What a step is judged by beside its flow. */
interface Judging {
  owner?: Owner | null;
  /** What the question of the action has found, or of the state that it chooses. */
  found?: unknown;
  /** The step stores the flow: the client has seen no state of it. */
  isFirst?: boolean;
  /** Those that the step is judged by. Default: those of the account as it was read. */
  facts?: Facts;
  performing?: Performing;
}

/**
 * Judges one action of a claimed flow: validates its input, runs it, and enters the next state. Writes nothing.
 *
 * @returns null if the action is not offered now
 */
export async function judge(
  request: RequestContext,
  flow: StepFlow,
  actionName: string,
  input: Record<string, unknown>,
  {
    owner = null,
    found = null,
    isFirst = false,
    performing = performingForClients,
    ...judging
  }: Judging = {},
): Promise<Judged | null> {
  const { record } = flow;
  if (isAccountDeleted(flow)) return null;
  const { config } = request.tenant;
  const { facts = factsOf(record.type, record.data, flow.user) } = judging;
  const view = viewOf(record, facts, config, owner);
  const named = findAction(states[record.state], actionName);
  if (!named || !holds(offeredWhen(named.action, view), view)) return null;
  const { name, action } = named;

  const schema = action.input(view);
  const inputs = sentInputs(schema, input);
  const parsed = performing.parse(schema, input);
  if (!parsed.ok) {
    const error: StepError = {
      code: "form_data_invalid_error",
      action: name,
      inputs: parsed.inputs,
      values: preservedValues(schema, input),
    };
    const verdict = "rejected_input";
    if (isFirst) {
      const entered = await enter(request, record, facts, { owner, performing });
      return { ...entered, error, verdict, inputs };
    }
    return {
      ...(renewsOnRequest(record) ? withoutPayload(record) : unchanged(record)),
      error,
      verdict,
      inputs,
    };
  }

  const context = contextOf(request, view, record);
  const performed = await run(performing, action, context, parsed.value, found);
  rejectLate(request);
  const device = await performing.device(request, record, performed);
  const situation = { facts: { ...facts, deviceTrusted: device === "trusted" }, config };
  const reached = advance(record, performed, situation);
  const outcome = isBlocked(reached)
    ? rejectBlocked(context, record.state, performing.writesOfBlocked(context, reached.record))
    : performed;
  const advanced = outcome === performed ? reached : advance(record, outcome, situation);
  const rejection = errorOf(outcome, name, preservedValues(schema, input));
  const own = outcome.kind === "reject" ? { writes: outcome.writes } : outcome.effects;
  const entered: Partial<Judged> =
    outcome.kind === "reject" && renewsOnRequest(record)
      ? withoutPayload(record)
      : advanced.enters
        ? await enter(request, advanced.record, advanced.facts, {
            owner,
            performing,
            found: action.chooses ? found : null,
          })
        : { ...unchanged(record), record: advanced.record };
  const {
    payload,
    secrets,
    once,
    cookieChanges,
    jobs = [],
  }: Effects = outcome.kind === "move" ? outcome.effects : {};
  const sessionId = request.session?.id ?? "";
  const wanted =
    outcome.kind === "move" && outcome.effects.proceedsAfterProof
      ? { action: name, input, sessionId }
      : record.wanted;
  return {
    ...entered,
    record: { ...(entered.record ?? advanced.record), wanted },
    ...(payload ? { payload: { ...entered.payload, ...payload } } : {}),
    secrets: { ...entered.secrets, ...secrets },
    once: { ...entered.once, ...once },
    cookieChanges: { ...cookieChanges, ...entered.cookieChanges },
    facts: outcome.kind === "move" ? (outcome.effects.facts ?? {}) : {},
    error: rejection ?? entered.error ?? null,
    verdict: rejection ? "error" : "performed",
    passedOver: advanced.passedOver,
    inputs,
    writes: [
      ...(own.writes ?? []),
      ...(device === "replaced" ? performing.writesOfReplaced(request, advanced.record) : []),
      ...(entered.writes ?? []),
    ],
    jobs: [...jobs, ...(entered.jobs ?? [])],
    identifies: identifiesPerson(record, advanced.record),
    proceedsWith: entered.replacement && wanted?.sessionId === sessionId ? wanted : null,
  };
}

/** The factor that a step would try to prove; null if the action is no such try, or is not offered now. */
export function triedFactor(view: View, actionName: string): string | null {
  const action = findAction(states[view.state], actionName)?.action;
  return action && holds(offeredWhen(action, view), view) ? action.proves(view) : null;
}

/**
 * The result of a step that is not performed, because its account or source has to wait. It shows what a rejected
 * attempt shows: a published client that sees options starts the next ceremony at once, without end.
 *
 * @param writes run although the step is not performed
 */
export function postpone(
  { record }: StepFlow,
  action: string,
  seconds: number,
  writes: Write[] = [],
): Judged {
  const error = stepError("rate_limit_exceeded", { payload: retryPayload(seconds) });
  const shown = renewsOnRequest(record) ? withoutPayload(record) : unchanged(record);
  return { ...shown, error: { ...error, action }, writes, verdict: "refused" };
}

/** The result of a step that changes nothing: the state shows the same payload. */
function unchanged(record: FlowRecord): Judged {
  return {
    record,
    facts: {},
    error: null,
    writes: [],
    jobs: [],
    payload: record.payload,
    secrets: record.secrets,
    identifies: false,
    verdict: "performed",
    passedOver: {},
    inputs: [],
    proceedsWith: null,
  };
}

/** Whether a rejected attempt leaves the state without a payload. */
export function renewsOnRequest({ state }: FlowRecord): boolean {
  return states[state].renews === "on_request";
}

/** The result of a step that leaves the state without a payload. */
export function withoutPayload(record: FlowRecord): Judged {
  return { ...unchanged(record), payload: {}, secrets: {} };
}

/** Whether the account was deleted concurrently. */
function isAccountDeleted({ record, user }: StepFlow): boolean {
  const { type, data } = record;
  if (user) return false;
  return isOfSession(type) || (data.factors.length > 0 && !isPendingRegistration({ type, data }));
}

/** Whether a step has proved a factor of a blocked account. Before that, the account answers like any other. */
function isBlocked({ record: { type, data }, facts }: Advanced): boolean {
  if (!facts.blocked || isOfSession(type) || isPendingRegistration({ type, data })) return false;
  return data.factors.length > 0;
}

/** Rejects the factor of a blocked account. Nothing that the step has prepared is written. */
function rejectBlocked(context: Context, state: StateName, writes: Write[]): Outcome {
  const rejection = { renew: true, writes };
  return state === "thirdparty"
    ? rejectWithRedirect(context.data, "account_blocked", rejection)
    : reject("account_blocked", rejection);
}

/**
 * Enters a state: runs its `enter`, with the data that it needs.
 *
 * @param details `found`: what the question of the state has found; null if it was not asked
 */
export async function enter(
  request: RequestContext,
  record: FlowRecord,
  facts: Facts,
  {
    owner = null,
    found = null,
    performing = performingForClients,
  }: Pick<Judging, "owner" | "found" | "performing"> = {},
): Promise<Judged> {
  const state = states[record.state];
  const view = viewOf(record, facts, request.tenant.config, owner);
  const { data, ...entered } = await performing.enter(state, contextOf(request, view, record), found);
  rejectLate(request);
  return {
    ...entered,
    record: data ? { ...record, data: patch(record.data, data) } : record,
    facts: {},
    error: entered.error ? { ...entered.error, entering: true } : null,
    writes: entered.writes ?? [],
    jobs: entered.jobs ?? [],
    payload: entered.payload ?? {},
    secrets: entered.secrets ?? {},
    identifies: false,
    verdict: "performed",
    passedOver: {},
    inputs: [],
    proceedsWith: null,
  };
}

async function run(
  performing: Performing,
  ...[action, context, input, found]: Parameters<Performing["run"]>
): Promise<Outcome> {
  try {
    return await performing.run(action, context, input, found);
  } catch (error) {
    // It was waiting, for instance in the queue of the hasher.
    if (error === context.request.signal.reason) rejectLate(context.request);
    throw error;
  }
}

/** @throws OverloadedError if judging has taken so long that the claim may be lost */
function rejectLate({ signal }: RequestContext): void {
  if (signal.aborted) throw new OverloadedError("judging a step took too long");
}

/** The action of a state with this name, or with this alias. */
export function findAction(state: State, name: string): { name: string; action: Action } | null {
  if (Object.hasOwn(state.actions, name)) return { name, action: state.actions[name] as Action };
  const aliased = Object.entries(state.actions).find(([, action]) => action.aliases.includes(name));
  return aliased ? { name: aliased[0], action: aliased[1] } : null;
}

function contextOf(request: RequestContext, view: View, record: FlowRecord): Context {
  const language = request.client.language ?? accountLanguage(view.facts);
  const client = { ...request.client, language };
  return { ...view, request: { ...request, client }, flowId: record.id, db: request.runtime.database.read };
}

function errorOf(outcome: Outcome, name: string, values: Record<string, string>): StepError | null {
  if (outcome.kind !== "reject") return null;
  return { ...stepError(outcome.code, outcome), action: name, values };
}
