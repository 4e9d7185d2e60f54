import type { Action } from "./define.ts";
import { declaredErrors, edgesOf } from "./graph.ts";
import {
  BACK,
  type FlowType,
  flowTypes,
  NEXT,
  reauthenticationStates,
  STAY,
  type StateName,
} from "./names.ts";
import type { ObservedStep } from "./observed-step.ts";
import { states } from "./states/index.ts";

/** What runs have taken of the state graph: edges as `flow state action target`, errors as `state action code`. */
export interface FlowCoverage {
  edges: Set<string>;
  errors: Set<string>;
}

/** How much of the graph was taken. */
export interface CoverageReport {
  /** Share of edges and errors together, in whole percent, rounded down. */
  percent: number;
  edges: { taken: number; declared: number };
  errors: { taken: number; declared: number };
  /** Edges and errors that were not taken, in the form of `FlowCoverage`. */
  untaken: string[];
}

/** Adds the edge or the errors of a step. */
export function addStep(
  taken: FlowCoverage,
  { type, from, action, to: state, errors }: Pick<ObservedStep, "type" | "from" | "action" | "to" | "errors">,
): void {
  if (from === null || action === null || state === "error") return;
  const { actions } = states[from];
  const found = Object.entries<Action>(actions).find(
    ([name, { aliases }]) => name === action || aliases.includes(action),
  );
  if (!found) return;
  const [name, { to }] = found;
  if (errors.length > 0 && state === from) {
    for (const code of errors) taken.errors.add(`${from} ${name} ${code}`);
    return;
  }
  const proves = (reauthenticationStates as readonly string[]).includes(state);
  const named = to.find((target) => target === state || (proves && target === "PROOF"));
  const target = named ?? to.find((one) => one === NEXT || one === STAY || one === BACK);
  taken.edges.add(`${type} ${from} ${name} ${target}`);
}

/** Measures a coverage against everything that these types of flow declare. */
export function measureCoverage(taken: FlowCoverage, flows: readonly FlowType[] = flowTypes): CoverageReport {
  const edges = new Set(
    flows.flatMap(edgesOf).map(({ flow, from, action, to }) => `${flow} ${from} ${action} ${to}`),
  );
  const mayOffer = (state: StateName, action: string) =>
    flows.some((flow) => edgesOf(flow).some((edge) => edge.from === state && edge.action === action));
  const errors = new Set(
    declaredErrors()
      .filter(({ state, action }) => mayOffer(state, action))
      .map(({ state, action, code }) => `${state} ${action} ${code}`),
  );
  const count = (declared: Set<string>, covered: Set<string>) => ({
    taken: [...declared].filter((one) => covered.has(one)).length,
    declared: declared.size,
  });
  const [ofEdges, ofErrors] = [count(edges, taken.edges), count(errors, taken.errors)];
  const share = (ofEdges.taken + ofErrors.taken) / Math.max(1, edges.size + errors.size);
  return {
    percent: Math.floor(100 * share),
    edges: ofEdges,
    errors: ofErrors,
    untaken: [
      ...[...edges].filter((edge) => !taken.edges.has(edge)),
      ...[...errors].filter((error) => !taken.errors.has(error)),
    ],
  };
}

const TAKEN = "stroke:#1a7f37,stroke-width:3px";
const UNTAKEN = "stroke:#8b949e,stroke-dasharray:4";

/**
 * Draws the edges of one type of flow as a Mermaid flowchart: taken ones thick and green, others dashed and grey. Steps
 * that stay, go back or skip are counted by `measureCoverage` and not drawn, so that the picture stays readable.
 */
export function drawCoverage(taken: FlowCoverage, flow: FlowType): string {
  const lines = ["flowchart LR", "  NEXT{{plan}}"];
  const styles = { taken: [] as number[], untaken: [] as number[] };
  const drawn = edgesOf(flow).filter(({ action, to }) => to !== BACK && to !== STAY && action !== "skip");
  for (const [index, { from, action, to }] of drawn.entries()) {
    lines.push(`  ${from} -->|${action}| ${to}`);
    styles[taken.edges.has(`${flow} ${from} ${action} ${to}`) ? "taken" : "untaken"].push(index);
  }
  if (styles.taken.length > 0) lines.push(`  linkStyle ${styles.taken.join(",")} ${TAKEN}`);
  if (styles.untaken.length > 0) lines.push(`  linkStyle ${styles.untaken.join(",")} ${UNTAKEN}`);
  return lines.join("\n");
}
