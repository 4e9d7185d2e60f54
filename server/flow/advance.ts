import { type FlowData, type FlowRecord, type HistoryEntry, sticky } from "./data.ts";
import { type Facts, factsOf, isPendingRegistration } from "./facts.ts";
import { BACK, NEXT, STAY, type StateName } from "./names.ts";
import type { Outcome } from "./outcome.ts";
import { plan } from "./plan.ts";
import type { Situation } from "./situation.ts";

/** History longer than this forgets its oldest entry. */
export const historyLimit = 16;

export interface Advanced {
  record: FlowRecord;
  facts: Facts;
  /** Whether the state is to be entered: made anew what it shows. */
  enters: boolean;
}

/** The flow after an outcome. Pure; the meaning of every outcome is here and nowhere else. */
export function advance(
  record: FlowRecord,
  outcome: Outcome,
  situation: Omit<Situation, "data" | "type">,
): Advanced {
  const { config } = situation;
  if (outcome.kind === "refuse") return { record, facts: situation.facts, enters: outcome.renew };

  const { to, commits, effects } = outcome;
  // At registration the facts lie in the flow itself; of an account, the step says what its writes will make true.
  const factsAfter = ({ type, data }: FlowRecord): Facts =>
    isPendingRegistration({ type, data })
      ? factsOf(type, data, null)
      : { ...situation.facts, ...effects.facts };
  if (to === BACK) {
    const restored = restore(record);
    return { record: restored, facts: factsAfter(restored), enters: true };
  }

  const patched = patch(record.data, effects.data);
  const facts = factsAfter({ ...record, data: patched });
  if (to === STAY) return { record: { ...record, data: patched }, facts, enters: outcome.enters };

  const data =
    to === NEXT ? { ...patched, answered: [...new Set([...patched.answered, record.state])] } : patched;
  const target = to === NEXT ? head(plan({ type: record.type, data, facts, config })) : to;
  const history = commits ? upTo(target, lasting(record)) : remember(record, target);
  return { record: { ...record, state: target, data, history }, facts, enters: true };
}

/** Data with changes; a member that is set to undefined goes. */
export function patch(data: FlowData, changes: object = {}): FlowData {
  const merged = { ...data, ...changes };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== undefined)) as FlowData;
}

function head(states: StateName[]): StateName {
  const [first] = states;
  if (!first) throw new Error("the plan is empty: it has to end somewhere");
  return first;
}

function remember(record: FlowRecord, target: StateName): HistoryEntry[] {
  const { pending, ...rest } = record.data;
  const grown =
    target === record.state ? record.history : [...record.history, { state: record.state, data: rest }];
  return upTo(target, grown).slice(-historyLimit);
}

/** Going to a state that lies in the history returns there, so that no loop makes it grow. */
function upTo(target: StateName, history: HistoryEntry[]): HistoryEntry[] {
  const seen = history.findIndex((entry) => entry.state === target);
  return seen === -1 ? history : history.slice(0, seen);
}

/** What a proof leaves of the way back: nothing, but to the account that somebody who is signed in came from. */
function lasting({ type, history }: FlowRecord): HistoryEntry[] {
  return type === "profile" ? history.filter(({ state }) => state === "profile_init") : [];
}

function restore(record: FlowRecord): FlowRecord {
  const last = record.history.at(-1);
  if (!last) throw new Error("there is nothing to go back to");
  const kept = Object.fromEntries(sticky.map((key) => [key, record.data[key]]));
  return {
    ...record,
    state: last.state,
    data: patch(last.data as FlowData, kept),
    history: record.history.slice(0, -1),
  };
}
