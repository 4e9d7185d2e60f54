import type { Action, Asking, Question } from "./define.ts";
import { states } from "./states/index.ts";

/** What actions ask for, by each of their names: it is asked before the state is known, so it is that of all states. */
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

/** Returns what an action asks for together with its flow; null if it asks for nothing, or its input is malformed. */
export function questionOf(
  asking: Asking,
  action: string,
  input: Record<string, unknown>,
): Question<unknown> | null {
  return questions.get(action)?.(asking, input) ?? null;
}
