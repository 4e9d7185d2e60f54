import type { Tenant } from "../config/tenant.ts";
import type { Client } from "../context/client.ts";
import type { Runtime } from "../runtime.ts";
import type { Action, Question } from "./define.ts";
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

/** Whether an action with this name asks for anything, in any state. */
export function mayAsk(actionName: string): boolean {
  return questions.has(actionName);
}

/**
 * Returns what an action asks for together with its flow; null if it asks for nothing, or its input is malformed.
 *
 * @param flow as far as this process knows it: it has saved it last, or is going to store it
 */
export function questionOf(
  asking: { runtime: Runtime; tenant: Tenant; client: Client; flowId: string },
  actionName: string,
  input: Record<string, unknown>,
  flow: RememberedFlow | null = null,
): Question<unknown> | null {
  if (!flow) return questions.get(actionName)?.({ ...asking, known: null }, input) ?? null;
  const { runtime, tenant } = asking;
  const view = viewOf(flow.record, flow.facts, tenant.config);
  const action = findAction(states[flow.record.state], actionName)?.action;
  if (!action?.when(view) || !parseInput(action.input(view), input).ok) return null;
  const now = new Date(Date.now() + runtime.platform.clockShift() + flow.clockAhead);
  return action.asks?.({ ...asking, known: { view, now } }, input) ?? null;
}
