import type { FlowType } from "#server/flow/names";
import type { StateName } from "#server/flow/protocol-names";
import { type Drawing, gallery } from "./gallery.ts";
import { declaredState, withKnownError } from "./picture.ts";

/** A state as a user was shown it. */
export interface ShownState {
  flow: FlowType;
  state: StateName;
  /** The actions that were offered. */
  actions: readonly string[];
  /** The code of the error that was shown. */
  error?: string | undefined;
  /** Names of the inputs that were sent. */
  inputs?: readonly string[] | undefined;
}

/**
 * Makes the drawing of a state that a user was shown. What is not recorded, which is every value, is that of the picture in
 * the gallery whose actions are the most alike.
 */
export function shownDrawing({ flow, state: name, actions, error, inputs = [] }: ShownState): Drawing {
  const offered = new Set(actions);
  const differences = ({ state }: Drawing) => {
    const drawn = Object.keys(state.actions);
    const common = drawn.filter((action) => offered.has(action)).length;
    return drawn.length + offered.size - 2 * common;
  };
  const alike = gallery
    .filter(({ state, step }) => state.name === name && state.error === undefined && step === undefined)
    .toSorted((one, other) => differences(one) - differences(other));
  const nearest = alike[0]?.state ?? declaredState(name);
  const descriptors = [...alike.map(({ state }) => state), declaredState(name)]
    .toReversed()
    .flatMap((state) => Object.entries(state.actions));
  const known = Object.fromEntries(descriptors.filter(([action]) => offered.has(action)));
  return {
    name,
    flow,
    state: withKnownError({ ...nearest, actions: known }, error, inputs),
    version: 7,
  };
}
