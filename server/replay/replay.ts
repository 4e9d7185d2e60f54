import { setImmediate } from "node:timers/promises";
import { type Condition, explain, leavesIn, reasonName } from "../conditions/condition.ts";
import {
  type ChangedSetting,
  changedSettings,
  configOfImpersonal,
  impersonalSettings,
} from "../config/impersonal-settings.ts";
import type { Config } from "../config/schema.ts";
import { conflictOf } from "../flow/conflicts.ts";
import type { FlowRecord } from "../flow/data.ts";
import type { StepError } from "../flow/errors.ts";
import { factsOf } from "../flow/facts.ts";
import { firstRecord } from "../flow/first-state.ts";
import { findAction, type Judged, judge, postpone } from "../flow/judge.ts";
import { BACK, type FlowType, NEXT, STAY, type StateName, stateNames } from "../flow/names.ts";
import type { Reasons } from "../flow/observed-step.ts";
import type { Performing } from "../flow/performing.ts";
import { plannedSteps } from "../flow/plan.ts";
import { sentenceOf } from "../flow/reasons.ts";
import { conflictFlowType, judgeConflict, type Shown, settled, shownAfter } from "../flow/settled.ts";
import { describeActions, describeError } from "../flow/show.ts";
import { states } from "../flow/states/index.ts";
import { ID, type StepSkeleton } from "../flow/step-skeleton.ts";
import type { StepFlow } from "../flow/store.ts";
import { errorCodes } from "../flow/tell-observers.ts";
import { type Owner, viewOf } from "../flow/view.ts";
import { checksumsOf } from "../flow/without-values.ts";
import type { RequestContext, Runtime } from "../runtime.ts";
import type { Bundle, BundleStep } from "./bundle.ts";
import { dataOf, factsOfSkeleton, outcomeOf, ownerOf, userOf } from "./engine-inputs.ts";

/**
 * Performs a recorded flow again. The engine that performs steps of clients judges it; what that takes from outside is
 * what was recorded: nothing is read, run, hashed, sent or written.
 */

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

/** What differs: `inputs` are those of an action, `reasons` of a state or an action that is the same. */
export const differenceKinds = [
  "action",
  "state",
  "verdict",
  "error",
  "offered",
  "withheld",
  "inputs",
  "reasons",
  "unknown",
] as const;

export interface Reason {
  name: string;
  sentence: string;
}

export interface Difference {
  /** From 1. */
  step: number;
  kind: (typeof differenceKinds)[number];
  /** The action or the state that it is about. */
  about: string | null;
  recorded: string | null;
  now: string | null;
  /** What decided then, and what decides now, where that differs. */
  decidedThen: Reason[];
  decidedNow: Reason[];
  /** The settings that differ and that the condition reads. */
  settings: ChangedSetting[];
}

export interface ReplayedStep {
  action: string | null;
  from: string | null;
  /** Milliseconds since the flow was started; null if nothing was judged. */
  at: number | null;
  recorded: StepAnswer;
  /** Null: it was not performed, because nothing was judged then, or the flow takes another way before it. */
  now: StepAnswer | null;
}

export interface Replayed {
  version: string;
  type: FlowType;
  /** Null: none. One in what the flow does comes before one in reasons alone. */
  first: Difference | null;
  differences: Difference[];
  steps: ReplayedStep[];
  /** Settings that differ from those that the first step was judged by. */
  settings: ChangedSetting[];
}

/**
 * Performs a flow again and tells how it differs.
 *
 * @param config that it is performed against. Default: the recorded ones
 */
export async function replay(bundle: Bundle, config?: Config): Promise<Replayed> {
  const changed = config && impersonalSettings(config);
  const configs = bundle.settings.map((settings) => configOfImpersonal(changed ?? settings));
  // A setting that the recording version did not have stood at its default.
  const recordedSettings = changed
    ? bundle.settings.map((settings) => impersonalSettings(configOfImpersonal(settings)))
    : bundle.settings;
  const [first = {}] = recordedSettings;
  const steps: ReplayedStep[] = [];
  const differences: Difference[] = [];
  let record: FlowRecord | null = null;
  let hasLeft = false;
  for (const [index, step] of bundle.steps.entries()) {
    if (index % STEPS_IN_A_TURN === STEPS_IN_A_TURN - 1) await setImmediate();
    const { decided_by: decided } = step;
    const replayed: ReplayedStep = {
      action: step.action,
      from: step.from,
      at: decided?.at ?? null,
      recorded: recordedAnswer(step),
      now: null,
    };
    steps.push(replayed);
    if (!decided || hasLeft) continue;
    const position = {
      step: index + 1,
      bundleStep: step,
      type: bundle.type,
      changes: changed ? changedSettings(recordedSettings[step.settings] ?? first, changed) : [],
    };
    const performed = await performAgain(
      bundle.type,
      record,
      step,
      decided,
      configs[step.settings] as Config,
    );
    if ("unknown" in performed) {
      differences.push(difference(position, "unknown", { now: performed.unknown }));
      hasLeft = true;
      continue;
    }
    replayed.now = performed.answer;
    differences.push(...differencesOf(position, replayed, performed));
    record = performed.record;
    hasLeft = performed.answer.state !== step.state;
  }
  const inEffect = differences.find(({ kind }) => kind !== "reasons");
  return {
    version: bundle.version,
    type: bundle.type,
    first: inEffect ?? differences[0] ?? null,
    differences: differences.slice(0, MAX_DIFFERENCES),
    steps,
    settings: changed ? changedSettings(first, changed) : [],
  };
}

/** Steps that are performed in one go; sign-ins get their turn in between. */
const STEPS_IN_A_TURN = 50;

/** Differences that are told; a change of one condition may appear at each step. */
const MAX_DIFFERENCES = 200;

function recordedAnswer({ verdict, state, error, decided_by, not_offered }: BundleStep): StepAnswer {
  return {
    verdict,
    state,
    error,
    offered: Object.keys(decided_by?.offered ?? {}),
    notOffered: not_offered,
  };
}

/** A step that was performed again. */
interface Performed {
  answer: StepAnswer;
  record: FlowRecord;
  checksums: Record<string, string>;
  /** Why the action is offered now, or is not. */
  byAction: readonly string[];
}

type Again = Performed | { unknown: string };

async function performAgain(
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

const isStateName = (name: string): name is StateName => stateNames.includes(name as StateName);

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

/** Gives the engine what was recorded. */
function performingOf({ malformed, outcome, device, entered = [] }: StepSkeleton): Performing {
  const found = (state: string) => entered.find((one) => one.state === state);
  return {
    parse() {
      const codes = Object.entries(malformed ?? {}).map(([input, code]) => [input, { code }]);
      return malformed ? { ok: false, inputs: Object.fromEntries(codes) } : { ok: true, value: {} };
    },
    run() {
      if (!outcome) throw new Error("The step has no outcome.");
      return outcomeOf(outcome);
    },
    device: async () => device ?? "unknown",
    async enter({ name }) {
      const { data, error } = found(name) ?? {};
      return {
        ...(data ? { data: dataOf(data) } : {}),
        ...(error ? { error: stepErrorOf(error) } : {}),
      };
    },
    writesOfBlocked: () => [],
    writesOfReplaced: () => [],
  };
}

function stepErrorOf({
  code,
  inputs,
}: {
  code: string;
  inputs?: Record<string, string> | undefined;
}): StepError {
  const codes = Object.entries(inputs ?? {}).map(([input, of]) => [input, { code: of }]);
  return { code, ...(inputs ? { inputs: Object.fromEntries(codes) } : {}) } as StepError;
}

/** What a replay does not have: to use it is an error. */
const nothing = new Proxy(
  {},
  {
    get() {
      throw new Error("a replay uses nothing of a process");
    },
  },
) as Runtime;

function contextOf({ record, now }: StepFlow, owner: Owner | null, config: Config): RequestContext {
  const client = { language: null, deviceCookie: null } as RequestContext["client"];
  return {
    // The context of an action has the pool of the process, which no action asks here.
    runtime: { database: { read: nothing } } as unknown as Runtime,
    tenant: { id: ID, config },
    client,
    now,
    signal: new AbortController().signal,
    flowId: record.id,
    hasStoredWebhooks: false,
    ...(owner ? { session: owner.session } : {}),
  };
}

/** Where a difference is, and what could have caused it. */
interface Position {
  step: number;
  bundleStep: BundleStep;
  type: FlowType;
  changes: ChangedSetting[];
}

function difference(
  { step, changes }: Position,
  kind: Difference["kind"],
  {
    about = null,
    recorded = null,
    now = null,
    was = [],
    by = [],
    conditions = [],
  }: {
    about?: string | null;
    recorded?: string | null;
    now?: string | null;
    was?: readonly string[];
    by?: readonly string[];
    conditions?: readonly Condition<never>[];
  },
): Difference {
  const read = new Set(conditions.flatMap((condition) => leavesIn<never>(condition).map(({ of }) => of)));
  const named = changes.filter(({ name }) => read.has(name));
  const isSame = isSameSet(was, by);
  return {
    step,
    kind,
    about,
    recorded,
    now,
    decidedThen: isSame ? [] : was.map(reasonOf),
    decidedNow: by.map(reasonOf),
    // A circumstance does not tell which settings it reads.
    settings: named.length > 0 ? named : changes,
  };
}

const isSameSet = (one: readonly string[], other: readonly string[]) =>
  one.length === other.length && one.every((name) => other.includes(name));

const reasonOf = (name: string): Reason => ({ name, sentence: sentenceOf(name) });

/** How a step that was performed again differs from what was recorded, the gravest first. */
function differencesOf(
  position: Position,
  { action, from, recorded }: ReplayedStep,
  { answer: now, checksums, byAction }: Performed,
): Difference[] {
  const { type, bundleStep } = position;
  const conditionOf = (state: string | null, name: string): Condition<never>[] => {
    const found = state !== null && isStateName(state) ? findAction(states[state], name) : null;
    return found ? [found.action.when] : [];
  };
  const wasRefused = recorded.verdict === "refused" && recorded.state === null;
  const isRefused = now.verdict === "refused" && now.state === null;
  if (wasRefused !== isRefused) {
    const word = (refused: boolean) => (refused ? "not offered" : "offered");
    return [
      difference(position, "action", {
        about: action,
        recorded: word(wasRefused),
        now: word(isRefused),
        by: byAction,
        conditions: conditionOf(from, action ?? ""),
      }),
    ];
  }
  if (now.state !== recorded.state) {
    const planned = plannedSteps[type].filter(({ state }) => state === recorded.state || state === now.state);
    return [
      difference(position, "state", {
        recorded: recorded.state,
        now: now.state,
        was: recorded.notOffered.states[now.state ?? ""] ?? [],
        by: now.notOffered.states[recorded.state ?? ""] ?? [],
        conditions: planned.map(({ when }) => when as Condition<never>),
      }),
    ];
  }
  const found: Difference[] = [];
  for (const kind of ["verdict", "error"] as const)
    if (now[kind] !== recorded[kind])
      found.push(difference(position, kind, { recorded: recorded[kind], now: now[kind] }));
  const { offered = {} } = bundleStep.decided_by ?? {};
  const names = new Set([...recorded.offered, ...now.offered]);
  for (const name of names) {
    const [was, is] = [recorded.offered.includes(name), now.offered.includes(name)];
    const conditions = conditionOf(recorded.state, name);
    if (was !== is)
      found.push(
        difference(position, is ? "offered" : "withheld", {
          about: name,
          recorded: was ? "offered" : "not offered",
          now: is ? "offered" : "not offered",
          was: recorded.notOffered.actions[name] ?? [],
          by: now.notOffered.actions[name] ?? [],
          conditions,
        }),
      );
    else if (offered[name] !== checksums[name])
      found.push(difference(position, "inputs", { about: name, conditions }));
  }
  for (const group of ["actions", "states"] as const)
    for (const [name, by] of Object.entries(now.notOffered[group])) {
      const was = recorded.notOffered[group][name];
      if (!was || isSameSet(was, by)) continue;
      const conditions =
        group === "actions"
          ? conditionOf(recorded.state, name)
          : plannedSteps[type]
              .filter(({ state }) => state === name)
              .map(({ when }) => when as Condition<never>);
      found.push(difference(position, "reasons", { about: name, was, by, conditions }));
    }
  return found;
}
