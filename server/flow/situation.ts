import type { Config } from "../config/schema.ts";
import type { FlowData } from "./data.ts";
import type { Facts } from "./facts.ts";
import type { FlowType } from "./names.ts";

/** Input of the plan. */
export interface Situation {
  type: FlowType;
  data: FlowData;
  facts: Facts;
  config: Config;
}
