import type { Config } from "../config/schema.ts";
import type { FlowData } from "./data.ts";
import type { Facts } from "./facts.ts";
import type { FlowType } from "./names.ts";

/** Input of the plan: all that decides which states remain. */
export interface Situation {
  type: FlowType;
  data: FlowData;
  facts: Facts;
  config: Config;
}
