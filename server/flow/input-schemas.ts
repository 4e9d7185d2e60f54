import type { Config } from "../config/schema.ts";
import { flowData } from "./data.ts";
import type { InputSchema, View } from "./define.ts";
import { noFacts } from "./facts.ts";
import { statesOf } from "./graph.ts";
import { type FlowType, flowTypes, type StateName } from "./names.ts";
import { states } from "./states/index.ts";

/** The input of one action of a state, with the flows that offer it. */
export interface ActionInput {
  state: StateName;
  action: string;
  description: string;
  aliases: readonly string[];
  input: InputSchema;
}

/** Lists the actions of a state with their inputs under a configuration, for an account without anything. */
export function actionInputs(state: StateName, config: Config): ActionInput[] {
  const [type = flowTypes[0]] = flowTypes.filter((flow) => statesOf(flow).includes(state));
  return Object.entries(states[state].actions).map(([action, { description, aliases, input }]) => ({
    state,
    action,
    description,
    aliases,
    input: input(viewFor(type, state, config)),
  }));
}

/** A view with empty data, to describe inputs. */
function viewFor(type: FlowType, state: StateName, config: Config): View {
  const data = flowData.parse({});
  const owner = { account: null, fresh: true, impersonation: null };
  return { type, state, config, data, facts: noFacts, ...owner, previous: null };
}
