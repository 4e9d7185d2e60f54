import type { FlowType, StateName } from "./names.ts";
import type { FlowState } from "./wire.ts";

/** A step that was written: the action, the state that it was performed in, and the state that it answered. */
export interface ObservedStep {
  type: FlowType;
  from: StateName;
  action: string;
  state: FlowState;
}
