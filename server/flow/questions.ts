import { holds } from "../conditions/condition.ts";
import type { Tenant } from "../config/tenant.ts";
import type { Client } from "../context/client.ts";
import type { Runtime } from "../runtime.ts";
import { advance } from "./advance.ts";
import type { Action, AskingToEnter, Choice, Question } from "./define.ts";
import { parseInput } from "./inputs.ts";
import { findAction } from "./judge.ts";
import type { StateName } from "./names.ts";
import { go } from "./outcome.ts";
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

/** The names of choices that lead to a state which asks for something, in any state. */
const askingChoices = new Set(
  Object.values(states).flatMap(({ actions }) =>
    Object.entries(actions)
      .filter(([, action]) => action.chooses && action.to.some((to) => states[to as StateName].asks))
      .flatMap(([name, { aliases }]) => [name, ...aliases]),
  ),
);

/** Whether an action with this name, or the state that it chooses, asks for anything, in any state. */
export function mayAsk(actionName: string): boolean {
  return questions.has(actionName) || askingChoices.has(actionName);
}

/**
 * Returns what an action, or the state that it chooses, asks for together with its flow; null if that is nothing, or its input
 * is malformed.
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
  if (!action || !holds(action.when, view) || !parseInput(action.input(view), input).ok) return null;
  const now = new Date(Date.now() + runtime.platform.clockShift() + flow.clockAhead);
  if (action.asks) return action.asks({ ...asking, known: { view, now } }, input);
  return action.chooses ? questionOfChoice({ ...asking, now }, flow, action.chooses(view)) : null;
}

/** What the state asks for to which a choice leads, by the flow as the choice will have changed it. */
function questionOfChoice(
  { flowId, now, ...asking }: Pick<AskingToEnter, "runtime" | "tenant" | "client" | "flowId" | "now">,
  flow: RememberedFlow,
  { to, data }: Choice,
): Question<unknown> | null {
  const { asks, needs } = states[to];
  if (!asks) return null;
  const { config } = asking.tenant;
  const { record, facts } = advance(flow.record, go(to, { data }), { facts: flow.facts, config });
  if (needs.some((key) => record.data[key] === undefined)) return null;
  return asks({ ...asking, flowId, now, type: record.type, data: record.data, facts, config });
}
