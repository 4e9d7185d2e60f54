import type { Tenant } from "../config/tenant.ts";
import type { Client } from "../context/client.ts";
import type { Runtime } from "../runtime.ts";
import type { Action, Asking, Question } from "./define.ts";
import { parseInput } from "./inputs.ts";
import { findAction } from "./judge.ts";
import type { RememberedFlow } from "./remembered-flows.ts";
import { states } from "./states/index.ts";
import { viewOf } from "./view.ts";

/** What actions ask for, by each of their names: where the state is not known, it is that of all states. */
const questions = new Map<string, NonNullable<Action["asks"]>>();

for (const { name: state, actions } of Object.values(states)) {
  for (const [name, { asks, aliases }] of Object.entries(actions)) {
    if (asks === null) continue;
    for (const each of [name, ...aliases]) {
      const other = questions.get(each);
      if (other && other !== asks) throw new Error(`${each} asks for something else in ${state}`);
      questions.set(each, asks);
    }
  }
}

/**
 * Returns what an action asks for together with its flow; null if it asks for nothing, or its input is malformed.
 *
 * @param remembered the flow, if this process has saved it last
 */
export function questionOf(
  asking: { runtime: Runtime; tenant: Tenant; client: Client; flowId: string },
  action: string,
  input: Record<string, unknown>,
  remembered: RememberedFlow | null = null,
): Question<unknown> | null {
  const known = remembered && knownOf(asking, action, input, remembered);
  const named = remembered && findAction(states[remembered.record.state], action);
  const asks = named ? named.action.asks : questions.get(action);
  return asks?.({ ...asking, known }, input) ?? null;
}

/** What is known of the flow; null if it does not offer the action, or not with this input. */
function knownOf(
  { runtime, tenant }: Pick<Asking, "runtime" | "tenant">,
  actionName: string,
  input: Record<string, unknown>,
  { record, facts, clockAhead }: RememberedFlow,
): Asking["known"] {
  const view = viewOf(record, facts, tenant.config);
  const action = findAction(states[record.state], actionName)?.action;
  if (!action?.when(view) || !parseInput(action.input(view), input).ok) return null;
  return { view, now: new Date(Date.now() + runtime.platform.clockShift() + clockAhead) };
}
