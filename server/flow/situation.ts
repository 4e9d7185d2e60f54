import type { Condition } from "../conditions/condition.ts";
import type { Config } from "../config/schema.ts";
import type { FlowData } from "./data.ts";
import type { Facts } from "./facts.ts";
import type { FlowType, StateName } from "./names.ts";

/** Input of the plan: all that decides which states remain. */
export interface Situation {
  type: FlowType;
  data: FlowData;
  facts: Facts;
  config: Config;
}

/** A state of a plan, and when it is asked for. */
export interface PlannedStep {
  state: StateName;
  when: Condition<Situation>;
  /** What follows depends on the account, which the state identifies: the plan ends there. */
  ends?: true;
}
