import type { Config } from "../config.ts";
import type { FlowRecord } from "./data.ts";
import type { View } from "./define.ts";
import type { Facts } from "./facts.ts";

/** What guards and descriptors see of a flow. */
export function viewOf(record: FlowRecord, facts: Facts, config: Config): View {
  const { type, state, data, history } = record;
  return { type, state, data, facts, config, canGoBack: history.length > 0 };
}
