import { HashQueueFullError } from "../credentials/password-hasher.ts";
import type { Job } from "../jobs/jobs.ts";
import type { Scope, Write } from "../runtime.ts";
import { advance } from "./advance.ts";
import type { FlowRecord } from "./data.ts";
import type { Action, Context, Entered, State, View } from "./define.ts";
import { type Problem, problemOf } from "./errors.ts";
import { type Facts, factsOf } from "./facts.ts";
import { parseInput, preservedValues } from "./inputs.ts";
import { type Outcome, tooFast } from "./outcome.ts";
import { states } from "./states/index.ts";
import type { StoredFlow } from "./store.ts";
import { viewOf } from "./view.ts";

/** What a step comes to, before any of it is written. */
export interface Judged extends Omit<Entered, "writes" | "jobs" | "problem"> {
  record: FlowRecord;
  /** What the step's writes will have made true, beyond what was read. */
  facts: Partial<Facts>;
  problem: Problem | null;
  writes: Write[];
  jobs: Job[];
}

/**
 * Judges one action on a claimed flow. Reads, hashes and waits as it must; changes nothing.
 *
 * @returns null when the action is not offered now
 */
export async function judge(
  scope: Scope,
  flow: StoredFlow,
  actionName: string,
  input: Record<string, unknown>,
): Promise<Judged | null> {
  const { record } = flow;
  // Somebody deleted the account while its owner was on the way in.
  if (record.type === "login" && record.data.factors.length > 0 && !flow.user) return null;
  const { config } = scope.tenant;
  const facts = factsOf(record.type, record.data, flow.user);
  const view = viewOf(record, facts, config);
  const found = findAction(states[record.state], actionName);
  if (!found?.action.when(view)) return null;
  const [name, { action }] = [found.name, found];

  const schema = action.input(view);
  const parsed = parseInput(schema, input);
  if (!parsed.ok) {
    const problem: Problem = {
      code: "form_data_invalid_error",
      action: name,
      inputs: parsed.inputs,
      values: preservedValues(schema, input),
    };
    return { record, facts: {}, problem, writes: [], jobs: [], payload: record.payload };
  }

  const outcome = await run(action, contextOf(scope, view, record), parsed.value);
  scope.signal.throwIfAborted();
  const advanced = advance(record, outcome, { facts, config });
  const refused = problemIn(outcome, name, preservedValues(schema, input));
  const own = outcome.kind === "refuse" ? { writes: outcome.writes } : outcome.effects;
  const entered: Partial<Judged> = advanced.enters
    ? await enter(scope, advanced.record, advanced.facts)
    : { payload: record.payload };
  return {
    ...entered,
    record: advanced.record,
    facts: outcome.kind === "move" ? (outcome.effects.facts ?? {}) : {},
    problem: refused ?? entered.problem ?? null,
    writes: [...(own.writes ?? []), ...(entered.writes ?? [])],
    jobs: [...("jobs" in own ? (own.jobs ?? []) : []), ...(entered.jobs ?? [])],
  };
}

/** Enters a state: what it ensures is made where it is missing. */
export async function enter(scope: Scope, record: FlowRecord, facts: Facts): Promise<Judged> {
  const state = states[record.state];
  const missing = state.needs.find((key) => record.data[key] === undefined);
  if (missing) throw new Error(`${state.name} was entered without ${missing}`);
  const view = viewOf(record, facts, scope.tenant.config);
  const entered = (await state.enter?.(contextOf(scope, view, record))) ?? {};
  scope.signal.throwIfAborted();
  return {
    ...entered,
    record,
    facts: {},
    problem: entered.problem ?? null,
    writes: entered.writes ?? [],
    jobs: entered.jobs ?? [],
    payload: entered.payload ?? {},
  };
}

/** Runs an action. No room left for hashing is a refusal, and no fault. */
async function run(action: Action, context: Context, input: unknown): Promise<Outcome> {
  try {
    return await action.run(context, input);
  } catch (error) {
    // Waiting for a place until the step's time is over is the same.
    if (error instanceof HashQueueFullError || isTimeout(error, context)) {
      return tooFast(1);
    }
    throw error;
  }
}

function isTimeout(error: unknown, { scope: { signal } }: Context): boolean {
  return signal.aborted && error === signal.reason;
}

function findAction(state: State, name: string): { name: string; action: Action } | null {
  if (Object.hasOwn(state.actions, name)) return { name, action: state.actions[name] as Action };
  const aliased = Object.entries(state.actions).find(([, action]) => action.aliases.includes(name));
  return aliased ? { name: aliased[0], action: aliased[1] } : null;
}

function contextOf(scope: Scope, view: View, record: FlowRecord): Context {
  return { ...view, scope, flowId: record.id, db: scope.runtime.database.read };
}

function problemIn(outcome: Outcome, name: string, values: Record<string, string>): Problem | null {
  if (outcome.kind !== "refuse") return null;
  return { ...problemOf(outcome.code, outcome), action: name, values };
}
