import { spoken } from "../../../_parts/protocol-name.ts";
import type { GraphState, GraphStep } from "../../../_parts/state-graph.tsx";
import { words } from "../../../_words.ts";
import type { FunnelAnswer, FunnelState } from "./funnel-query.ts";

/** The funnel as a graph. */

/** From this part of those who entered a state on, it stands out. */
const MANY_GIVE_UP = 0.2;

/** What part of those who entered a state gave up in it. */
export const givenUpShare = ({ entered, given_up }: FunnelState): number =>
  entered === 0 ? 0 : given_up / entered;

export const percent = (part: number): string => `${Math.round(part * 100)} %`;

/** Draws ways as thick as they were taken, and marks states in which many give up. */
export function funnelGraph({ states, edges }: FunnelAnswer): { states: GraphState[]; steps: GraphStep[] } {
  const ways = Map.groupBy(
    edges.filter(({ from, to }) => from !== to),
    ({ from, to }) => `${from} ${to}`,
  );
  const counts = [...ways.values()].map((same) => same.reduce((sum, { count }) => sum + count, 0));
  const most = Math.max(1, ...counts);
  const drawn = new Map(states.map((state) => [state.state, state]));
  // A state that was entered in another period still ends a way of this one.
  const others = [...new Set(edges.flatMap(({ from, to }) => [from, to]))].filter((name) => !drawn.has(name));
  return {
    states: [
      ...states.map((state): GraphState => {
        const share = givenUpShare(state);
        return {
          id: state.state,
          label: spoken(state.state),
          note: words.funnel.note(state.entered, state.given_up, percent(share)),
          ...(share >= MANY_GIVE_UP ? { mark: "failed" } : {}),
        };
      }),
      ...others.map((id) => ({ id, label: spoken(id) })),
    ],
    steps: [...ways.values()].flatMap((same, index) => {
      const [first] = same;
      const count = counts[index] ?? 0;
      return first
        ? [{ from: first.from, to: first.to, label: count.toLocaleString("en"), weight: count / most }]
        : [];
    }),
  };
}
