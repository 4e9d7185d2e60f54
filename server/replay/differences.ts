import { type Condition, leavesIn } from "../conditions/condition.ts";
import type { ChangedSetting } from "../config/impersonal-settings.ts";
import { findAction } from "../flow/judge.ts";
import { type FlowType, isStateName } from "../flow/names.ts";
import { plannedSteps } from "../flow/plan.ts";
import { sentenceOf } from "../flow/reasons.ts";
import { states } from "../flow/states/index.ts";
import type { BundleStep } from "./bundle.ts";
import type { Performed, StepAnswer } from "./perform-again.ts";

/** Compares a step that was performed again with what was recorded of it. */

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

/** Where a difference is, and what could have caused it. */
interface Position {
  step: number;
  bundleStep: BundleStep;
  type: FlowType;
  changes: ChangedSetting[];
}

/** Makes a difference, with what decided then and now if it differs. */
export function difference(
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
export function differencesOf(
  position: Position,
  { action, from, recorded }: { action: string | null; from: string | null; recorded: StepAnswer },
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
