import type { FlowState } from "#server/flow/wire";

/** Whether an answer is an error without a state of the flow: an error and no actions. */
export function isErrorAnswer(state: FlowState): boolean {
  return state.error !== undefined && Object.keys(state.actions).length === 0;
}
