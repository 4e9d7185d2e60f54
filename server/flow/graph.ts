import type { ErrorCode } from "./errors.ts";
import {
  BACK,
  type FlowType,
  flowTypes,
  NEXT,
  PROOF,
  proofStates,
  STAY,
  type StateName,
  stateNames,
  type Target,
} from "./names.ts";
import { planned } from "./plan.ts";
import { states } from "./states/index.ts";

/** One thing that can happen: an action, in a state, and where it leads. */
export interface Edge {
  flow: FlowType;
  from: StateName;
  action: string;
  to: Target;
}

/** One refusal that an action may give. */
export interface DeclaredError {
  state: StateName;
  action: string;
  code: ErrorCode;
}

/** States that a flow type can be in, first one first; found by following the declarations. */
export function statesOf(flow: FlowType): StateName[] {
  const [initial] = planned[flow];
  const found = new Set<StateName>([initial]);
  for (const state of found) {
    for (const target of targetsOf(flow, state)) found.add(target);
  }
  return [...found];
}

/** Every declared edge of a flow type. */
export function edgesOf(flow: FlowType): Edge[] {
  return statesOf(flow).flatMap((from) =>
    Object.entries(states[from].actions).flatMap(([action, { to }]) =>
      to.map((target) => ({ flow, from, action, to: target })),
    ),
  );
}

/** Every declared refusal. */
export function declaredErrors(): DeclaredError[] {
  return stateNames.flatMap((state) =>
    Object.entries(states[state].actions).flatMap(([action, { errors }]) =>
      errors.map((code) => ({ state, action, code })),
    ),
  );
}

/** Where a flow of this type is meant to arrive. */
const destinations: Record<FlowType, StateName> = {
  login: "success",
  registration: "success",
  profile: "profile_init",
  token_exchange: "success",
};

/** States from which the flow's destination cannot be reached, other than its ends: there should be none. */
export function deadEnds(flow: FlowType): StateName[] {
  const reaches = new Set<StateName>([destinations[flow]]);
  const all = statesOf(flow);
  for (let grown = true; grown; ) {
    const more = all.filter(
      (state) => !reaches.has(state) && targetsOf(flow, state).some((target) => reaches.has(target)),
    );
    for (const state of more) reaches.add(state);
    grown = more.length > 0;
  }
  return all.filter((state) => !reaches.has(state) && !isEnd(state));
}

/** Nothing can be called there any more. */
function isEnd(state: StateName): boolean {
  return Object.keys(states[state].actions).length === 0;
}

/** The states an action of `state` may lead to; the plan stands for all that it may name. */
function targetsOf(flow: FlowType, state: StateName): StateName[] {
  const targets = Object.values(states[state].actions).flatMap((action) => action.to);
  return targets.flatMap((target) => {
    if (target === NEXT) return planned[flow].filter((name) => name !== state);
    if (target === PROOF) return [...proofStates];
    return target === STAY || target === BACK ? [] : [target];
  });
}

/** The whole graph, as `GET /.well-known/flow-graph.json` answers it. */
export function graph() {
  return {
    flows: Object.fromEntries(
      flowTypes.map((flow) => [
        flow,
        { initial: planned[flow][0], states: statesOf(flow), planned: planned[flow], edges: edgesOf(flow) },
      ]),
    ),
    errors: declaredErrors(),
  };
}

/** The graph of a flow type as a Mermaid state diagram. `back` and `skip` are left out of it, for the eye's sake. */
export function diagram(flow: FlowType): string {
  const lines = ["stateDiagram-v2", `  [*] --> ${planned[flow][0]}`, "  state plan <<choice>>"];
  for (const { from, action, to } of edgesOf(flow)) {
    if (to === BACK || to === STAY || action === "skip") continue;
    lines.push(`  ${from} --> ${to === NEXT ? "plan" : to === PROOF ? "proof" : to}: ${action}`);
  }
  if (edgesOf(flow).some(({ to }) => to === PROOF)) {
    lines.push("  state proof <<choice>>", ...proofStates.map((state) => `  proof --> ${state}`));
  }
  // What the plan names before anything is proved is told by the first edges already.
  const [initial] = planned[flow];
  for (const state of planned[flow]) if (state !== initial) lines.push(`  plan --> ${state}`);
  for (const state of statesOf(flow)) if (isEnd(state)) lines.push(`  ${state} --> [*]`);
  return lines.join("\n");
}
