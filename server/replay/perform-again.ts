import { explain, reasonName } from "../conditions/condition.ts";
import type { Config } from "../config/schema.ts";
import { conflictOf } from "../flow/conflicts.ts";
import type { FlowRecord } from "../flow/data.ts";
import type { StepError } from "../flow/errors.ts";
import { factsOf } from "../flow/facts.ts";
import { firstRecord } from "../flow/first-state.ts";
import { findAction, type Judged, judge, postpone } from "../flow/judge.ts";
import { BACK, type FlowType, isStateName, NEXT, STAY } from "../flow/names.ts";
import type { Reasons } from "../flow/observed-step.ts";
import type { Performing } from "../flow/performing.ts";
import { conflictFlowType, judgeConflict, type Shown, settled, shownAfter } from "../flow/settled.ts";
import { describeActions, describeError } from "../flow/show.ts";
import { states } from "../flow/states/index.ts";
import { ID, type StepSkeleton } from "../flow/step-skeleton.ts";
import type { StepFlow } from "../flow/store.ts";
import { errorCodes } from "../flow/tell-observers.ts";
import { type Owner, viewOf } from "../flow/view.ts";
import { checksumsOf } from "../flow/without-values.ts";
import type { RequestContext } from "../runtime.ts";
import type { BundleStep } from "./bundle.ts";
import { contextOf, dataOf, factsOfSkeleton, ownerOf, performingOf, userOf } from "./engine-inputs.ts";

/** Performs one step of a recorded flow again: the engine that performs steps of clients judges it. */

/** What a step was answered, as far as the engine decides it. */
export interface StepAnswer {
  verdict: string;
  /** Null: the answer shows no state of the flow. */
  state: string | null;
  error: string | null;
  /** Offered actions. */
  offered: string[];
  /** By action, and by state that the plan passed over. */
  notOffered: { actions: Reasons; states: Reasons };
}

/** A step that was performed again. */
export interface Performed {
  answer: StepAnswer;
  record: FlowRecord;
  checksums: Record<string, string>;
  /** Why the action is offered now, or is not. */
  byAction: readonly string[];
}

type Again = Performed | { unknown: string };

/**
 * Performs a step again.
 *
 * @param chained the flow after the step before; null before the first one
 * @returns `unknown`: why this version cannot perform it
 */
export async function performAgain(
  type: FlowType,
  chained: FlowRecord | null,
  step: BundleStep,
  decided: StepSkeleton,
  config: Config,
): Promise<Again> {
  const unknown = unknownNameIn(step, decided);
  if (unknown !== null) return { unknown };
  try {
    const begun = decided.begins ? beginAgain(type, decided.begins, config) : null;
    const before = begun?.record ?? chained;
    if (!before) return { unknown: "The bundle does not begin with the first step of a flow." };
    if (begun && step.action === null) return started(begun.record, begun.passedOver, decided, config);
    // A payload may have been renewed since the step before.
    return await stepAgain({ ...before, version: decided.version }, step, decided, config);
  } catch {
    return { unknown: "What is recorded of the step is not what this version judges by." };
  }
}

/** A name that this version does not have, told as a sentence; null if it has all. */
function unknownNameIn({ from, state }: BundleStep, { outcome, entered = [] }: StepSkeleton): string | null {
  const targets = outcome && "to" in outcome ? [outcome.to, outcome.via] : [];
  const named = [from, state, ...targets, ...entered.map((one) => one.state)];
  const missing = named.find((name) => name && !isStateName(name) && !relative.includes(name));
  return missing ? `This version has no state ${missing}.` : null;
}

const relative: readonly string[] = [NEXT, STAY, BACK];

function beginAgain(type: FlowType, begins: Record<string, unknown>, config: Config) {
  const data = dataOf(begins);
  const { userId, sessionId = ID, completedStates = [], capabilities } = data;
  const session = userId === undefined ? undefined : ({ id: sessionId, userId } as never);
  return firstRecord({ id: ID, config }, type, ID, {
    ...data,
    session,
    capabilities: completedStates.includes("preflight") ? capabilities : undefined,
  });
}

function started(record: FlowRecord, passedOver: Reasons, { user }: StepSkeleton, config: Config): Performed {
  const shown = shownAfter(record, userOf(user), { changed: {}, config, owner: null });
  return performedBy(record, shown, { verdict: "started", error: null, passedOver, byAction: [] });
}

function performedBy(
  record: FlowRecord,
  { view, offer }: Shown,
  {
    verdict,
    error,
    passedOver,
    byAction,
  }: { verdict: string; error: StepError | null; passedOver: Reasons; byAction: readonly string[] },
): Performed {
  const actions = describeActions(record, view, error, offer);
  const [code = null] = errorCodes({ actions, ...(error ? { error: describeError(error.code) } : {}) });
  return {
    record,
    checksums: checksumsOf(actions),
    byAction,
    answer: {
      verdict,
      state: record.state,
      error: code,
      offered: offer.offered.map(([name]) => name),
      notOffered: { actions: offer.withheld, states: passedOver },
    },
  };
}

async function stepAgain(
  before: FlowRecord,
  step: BundleStep,
  decided: StepSkeleton,
  config: Config,
): Promise<Again> {
  const now = new Date(decided.at);
  const user = userOf(decided.user);
  const owner = decided.owner ? ownerOf(decided.owner, now, config) : null;
  const facts = decided.facts && factsOfSkeleton(decided.facts);
  const flow = { record: before, user, now } as StepFlow;
  const request = contextOf(flow, owner, config);
  const performing = performingOf(decided);
  const actionName = step.action ?? "";
  const view = viewOf(before, facts ?? factsOf(before.type, before.data, user), config, owner);
  const named = findAction(states[before.state], actionName);
  const byAction = named
    ? [...new Set(explain(named.action.when, view).by.map(reasonName))]
    : ["This version has no such action in this state."];

  const isFirst = decided.begins !== undefined;
  const judging = { owner, isFirst, performing, ...(facts ? { facts } : {}) };
  const judged = decided.postponed
    ? postpone(flow, actionName, 0)
    : await judge(request, flow, actionName, {}, judging);
  if (!judged) {
    const answer = { verdict: "refused", state: null, error: "operation_not_permitted_error" };
    const none = { offered: [], notOffered: { actions: {}, states: {} } };
    return { answer: { ...answer, ...none }, record: before, checksums: {}, byAction };
  }
  const written = await afterConflict(request, before, judged, { decided, owner, performing });
  if (!written) return { unknown: `This version has no conflict ${decided.conflict?.name}.` };
  const { record } = settled(before, written, now);
  const ownerAfter = decided.ownerAfter ? ownerOf(decided.ownerAfter, now, config) : owner;
  const shown = shownAfter(record, decided.conflict ? userOf(decided.conflict.user) : user, {
    changed: { ...facts, ...written.facts },
    config,
    owner: ownerAfter,
  });
  const isConflict = written !== judged && !judged.error;
  return performedBy(record, shown, {
    verdict: isConflict ? "error" : judged.verdict,
    error: written.error,
    passedOver: written.passedOver,
    byAction,
  });
}

/** The step as it was written: with the conflict that it met. Null if this version does not know the conflict. */
async function afterConflict(
  request: RequestContext,
  before: FlowRecord,
  judged: Judged,
  { decided, owner, performing }: { decided: StepSkeleton; owner: Owner | null; performing: Performing },
): Promise<Judged | null> {
  if (!decided.conflict) return judged;
  const conflict = conflictOf(decided.conflict.name, conflictFlowType(before));
  const user = userOf(decided.conflict.user);
  return conflict && judgeConflict(request, before, conflict, { user, owner, performing });
}
