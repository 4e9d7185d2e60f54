import { type FlowData, type FlowRecord, type HistoryEntry, keptOnBack } from "./data.ts";
import { type Facts, factsOf, isPendingRegistration } from "./facts.ts";
import { BACK, NEXT, STAY, type StateName } from "./names.ts";
import type { Reasons } from "./observed-step.ts";
import type { Outcome } from "./outcome.ts";
import { nextState } from "./plan.ts";
import type { Situation } from "./situation.ts";

/** A longer history drops its oldest entry. */
export const MAX_HISTORY_ENTRIES = 16;

export interface Advanced {
  record: FlowRecord;
  facts: Facts;
  /** Whether the state must be entered, which renews its payload. */
  enters: boolean;
  /** The states that the plan has passed over. */
  passedOver: Reasons;
}

/** Applies an outcome to a flow. Pure. Only this function defines the meaning of outcomes. */
export function advance(
  record: FlowRecord,
  outcome: Outcome,
  situation: Omit<Situation, "data" | "type">,
): Advanced {
  const { config } = situation;
  if (outcome.kind === "reject")
    return { record, facts: situation.facts, enters: outcome.renew, passedOver: {} };

  const { to, commits, effects } = outcome;
  // A pending registration keeps its facts in the flow; for an account, the step declares what its writes change.
  const factsAfter = ({ type, data }: FlowRecord): Facts =>
    isPendingRegistration({ type, data })
      ? factsOf(type, data, null)
      : { ...situation.facts, ...effects.facts };
  if (to === BACK) {
    const restored = restore(record);
    return { record: restored, facts: factsAfter(restored), enters: true, passedOver: {} };
  }

  const patched = patch(record.data, effects.data);
  const facts = factsAfter({ ...record, data: patched });
  if (to === STAY) {
    const stayed = { ...record, data: patched };
    return { record: stayed, facts, enters: outcome.enters, passedOver: {} };
  }

  const data =
    to === NEXT
      ? { ...patched, completedStates: [...new Set([...patched.completedStates, record.state])] }
      : patched;
  const chosen =
    to === NEXT ? nextState({ type: record.type, data, facts, config }) : { state: to, passedOver: {} };
  const { state: target, passedOver } = chosen;
  const history = commits
    ? truncateBefore(target, historyAfterCommit(record))
    : pushHistory(
        effects.via
          ? { ...record, history: pushHistory(record, effects.via), state: effects.via, data }
          : record,
        target,
      );
  return { record: { ...record, state: target, data, history }, facts, enters: true, passedOver };
}

/** Returns data with changes applied; a member set to undefined is removed. */
export function patch(data: FlowData, changes: object = {}): FlowData {
  const merged = { ...data, ...changes };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== undefined)) as FlowData;
}

function pushHistory(record: FlowRecord, target: StateName): HistoryEntry[] {
  const { pending, capabilities, rememberMe, enteredAt, ...rest } = record.data;
  const grown =
    target === record.state ? record.history : [...record.history, { state: record.state, data: rest }];
  return truncateBefore(target, grown).slice(-MAX_HISTORY_ENTRIES);
}

/** Cuts the history before the target if it contains it, so that loops do not make it grow. */
function truncateBefore(target: StateName, history: HistoryEntry[]): HistoryEntry[] {
  const seen = history.findIndex((entry) => entry.state === target);
  return seen === -1 ? history : history.slice(0, seen);
}

/** History that a commit keeps: none, except the profile page in a profile flow. */
function historyAfterCommit({ type, history }: FlowRecord): HistoryEntry[] {
  return type === "profile" ? history.filter(({ state }) => state === "profile_init") : [];
}

function restore(record: FlowRecord): FlowRecord {
  const last = record.history.at(-1);
  if (!last) throw new Error("The history is empty.");
  const kept = Object.fromEntries(keptOnBack.map((key) => [key, record.data[key]]));
  return {
    ...record,
    state: last.state,
    data: patch(last.data as FlowData, kept),
    history: record.history.slice(0, -1),
  };
}
