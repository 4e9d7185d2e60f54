import type { Action } from "./define.ts";
import type { ErrorCode } from "./errors.ts";
import {
  BACK,
  type FlowType,
  flowTypes,
  NEXT,
  REAUTHENTICATE,
  reauthenticationStates,
  STAY,
  type StateName,
  stateNames,
  type Target,
} from "./names.ts";
import { plannableStates } from "./plan.ts";
import { states } from "./states/index.ts";

/** One transition: an action in a state, and its target. */
export interface Edge {
  flow: FlowType;
  from: StateName;
  action: string;
  to: Target;
}

/** One error that an action may return. */
export interface DeclaredError {
  state: StateName;
  action: string;
  code: ErrorCode;
}

/** Lists the states that a flow type can reach, the initial one first. */
export function statesOf(flow: FlowType): StateName[] {
  const [initial] = plannableStates[flow];
  const found = new Set<StateName>([initial]);
  for (const state of found) {
    for (const target of targetsOf(flow, state)) found.add(target);
  }
  return [...found];
}

/** Lists the actions that a flow type may offer in a state. */
function actionsOf(flow: FlowType, state: StateName): [string, Action][] {
  return Object.entries<Action>(states[state].actions).filter(([, { flows }]) => flows.includes(flow));
}

/** Lists every declared transition of a flow type. */
export function edgesOf(flow: FlowType): Edge[] {
  return statesOf(flow).flatMap((from) =>
    actionsOf(flow, from).flatMap(([action, { to }]) =>
      to.map((target) => ({ flow, from, action, to: target })),
    ),
  );
}

/** Lists every declared error. */
export function declaredErrors(): DeclaredError[] {
  return stateNames.flatMap((state) =>
    Object.entries(states[state].actions).flatMap(([action, { errors }]) =>
      errors.map((code) => ({ state, action, code })),
    ),
  );
}

/** Lists the actions that are offered under another name, too. */
function aliases(): { state: StateName; action: string; alias_of: string }[] {
  return stateNames.flatMap((state) =>
    Object.entries(states[state].actions).flatMap(([alias_of, action]) =>
      action.aliases.map((name) => ({ state, action: name, alias_of })),
    ),
  );
}

/** The state that a flow of each type must be able to reach. */
const destinations: Record<FlowType, StateName> = {
  login: "success",
  registration: "success",
  profile: "profile_init",
  token_exchange: "success",
  consent: "consent_answered",
};

/** Lists states, other than final ones, from which the destination is unreachable. Must be empty. */
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

/** A final state has no actions. */
function isEnd(state: StateName): boolean {
  return Object.keys(states[state].actions).length === 0;
}

/** Lists the states that actions of `state` may lead to; NEXT stands for every state that the plan may name. */
function targetsOf(flow: FlowType, state: StateName): StateName[] {
  const targets = actionsOf(flow, state).flatMap(([, action]) => action.to);
  return targets.flatMap((target) => {
    if (target === NEXT) return plannableStates[flow].filter((name) => name !== state);
    if (target === REAUTHENTICATE) return [...reauthenticationStates];
    return target === STAY || target === BACK ? [] : [target];
  });
}

/** Returns the whole graph, as served by `GET /.well-known/flow-graph.json`. */
export function graph() {
  return {
    flows: Object.fromEntries(
      flowTypes.map((flow) => [
        flow,
        {
          initial: plannableStates[flow][0],
          states: statesOf(flow),
          planned: plannableStates[flow],
          edges: edgesOf(flow),
        },
      ]),
    ),
    errors: declaredErrors(),
    aliases: aliases(),
  };
}

/** Draws a flow type as a Mermaid state diagram, without `back` and `skip`. */
export function diagram(flow: FlowType): string {
  const lines = ["stateDiagram-v2", `  [*] --> ${plannableStates[flow][0]}`, "  state plan <<choice>>"];
  for (const { from, action, to } of edgesOf(flow)) {
    if (to === BACK || to === STAY || action === "skip") continue;
    lines.push(`  ${from} --> ${to === NEXT ? "plan" : to === REAUTHENTICATE ? "proof" : to}: ${action}`);
  }
  if (edgesOf(flow).some(({ to }) => to === REAUTHENTICATE)) {
    lines.push("  state proof <<choice>>", ...reauthenticationStates.map((state) => `  proof --> ${state}`));
  }
  // The first edge already shows the initial state.
  const [initial] = plannableStates[flow];
  for (const state of plannableStates[flow]) if (state !== initial) lines.push(`  plan --> ${state}`);
  for (const state of statesOf(flow)) if (isEnd(state)) lines.push(`  ${state} --> [*]`);
  return lines.join("\n");
}
