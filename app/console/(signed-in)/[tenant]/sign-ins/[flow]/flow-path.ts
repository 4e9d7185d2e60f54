import type { graph } from "#server/flow/graph";
import type { FlowType, StateName } from "#server/flow/names";
import type { AdminOperations } from "../../../../../../packages/server/src/interface.ts";
import { spoken } from "../../../../_parts/protocol-name.ts";
import type { GraphState, GraphStep } from "../../../../_parts/state-graph.tsx";
import { words } from "../../../../_words.ts";

/** The path of a flow in the graph of states. */

export type Flow = AdminOperations["getFlow"]["answer"];
export type Step = Flow["path"][number];

/** Every declared state and edge, as `GET /.well-known/flow-graph.json` answers it. */
export type DeclaredGraph = ReturnType<typeof graph>;

interface Drawing {
  states: GraphState[];
  steps: GraphStep[];
}

/** Targets of edges that are no state. */
const NEXT = "NEXT";
const notDrawn = new Set(["STAY", "BACK"]);

/** Whether a step was performed. The others leave the flow in its state. */
export const isPerformed = ({ verdict }: Step): boolean => verdict === "started" || verdict === "performed";

/**
 * Draws the states that a flow has passed.
 *
 * @param declared adds the other ways that led out of them, one action far
 */
export function pathGraph({ path, type, outcome }: Flow, declared?: DeclaredGraph): Drawing {
  const passed = [
    ...new Set(path.flatMap(({ from, state }) => [from, state]).filter((name) => name !== null)),
  ];
  const failures = Map.groupBy(
    path.filter((step) => !isPerformed(step)),
    ({ from, state }) => from ?? state ?? "",
  );
  const last = path.at(-1)?.state ?? null;
  const states: GraphState[] = passed.map((id) => {
    const count = failures.get(id)?.length ?? 0;
    const mark = id !== last ? "passed" : outcome === "rejected" ? "failed" : "last";
    return { id, label: spoken(id), mark, ...(count > 0 ? { note: words.flow.failures(count) } : {}) };
  });
  const steps = joined(
    path.flatMap(({ from, state, action }) =>
      from !== null && state !== null && from !== state
        ? [{ from, to: state, label: action === null ? "" : spoken(action), isPassed: true }]
        : [],
    ),
  );
  if (!declared) return { states, steps };
  const edges = (declared.flows[type as keyof DeclaredGraph["flows"]]?.edges ?? []).filter(
    ({ from, to }) => passed.includes(from) && !notDrawn.has(to) && from !== to,
  );
  const others = joined(
    edges
      .filter(({ from, to }) => !steps.some((step) => step.from === from && step.to === to))
      .map(({ from, to, action }) => ({ from, to: String(to), label: spoken(action) })),
  );
  const reached = [...new Set(others.map(({ to }) => to))].filter((to) => !passed.includes(to));
  return {
    states: [
      ...states,
      ...reached.map((id) => ({ id, label: id === NEXT ? words.flow.plan : spoken(id.toLowerCase()) })),
    ],
    steps: [...steps, ...others],
  };
}

/** One step for each pair of states, with all actions that lead from one to the other. */
function joined(steps: readonly GraphStep[]): GraphStep[] {
  const pairs = Map.groupBy(steps, ({ from, to }) => `${from} ${to}`);
  return [...pairs.values()].flatMap((same) => {
    const [first] = same;
    const labels = [...new Set(same.map(({ label }) => label))];
    const label = labels.length > 2 ? words.flow.actions(labels.length) : labels.join(", ");
    return first ? [{ ...first, label }] : [];
  });
}

/** The actions that the state after a step has offered: those that are declared for it, less those that were withheld. */
export function offeredActions(
  { state, not_offered }: Step,
  type: string,
  declared: DeclaredGraph,
): string[] {
  const withheld = new Set(not_offered.actions.map(({ name }) => name));
  const edges = declared.flows[type as keyof DeclaredGraph["flows"]]?.edges ?? [];
  const actions = edges.flatMap(({ from, action }) => (from === state ? [action] : []));
  return [...new Set(actions)].filter((action) => !withheld.has(action));
}

/** The names of the type of a flow and of one of its states; null where this version does not know them. */
export function declaredIn(
  declared: DeclaredGraph,
  type: string,
  state: string | null,
): { flow: FlowType; state: StateName } | null {
  const flow = (Object.keys(declared.flows) as FlowType[]).find((name) => name === type);
  const known = flow && declared.flows[flow]?.states.find((name) => name === state);
  return flow && known ? { flow, state: known } : null;
}
