import { states } from "./states/index.ts";
import { pointsOf, STEP_POINTS } from "./step-points.ts";

/** The cost of an action by state, as JSON for the statement that claims a flow; the state is not known before. */
const costsByAction = new Map<string, string>();
{
  const byAction = new Map<string, Record<string, number>>();
  for (const state of Object.values(states)) {
    for (const [name, { aliases, costs }] of Object.entries(state.actions)) {
      const cost = costs.reduce((sum, kind) => sum + pointsOf[kind], STEP_POINTS);
      for (const known of [name, ...aliases])
        byAction.set(known, { ...byAction.get(known), [state.name]: cost });
    }
  }
  for (const [name, byState] of byAction) costsByAction.set(name, JSON.stringify(byState));
}

/** Returns the cost of an action in each state that offers it, as JSON; a step of any other name costs `STEP_POINTS`. */
export function stepCosts(action: string): string {
  return costsByAction.get(action) ?? "{}";
}
