import type { ActionDescriptor, FlowState } from "../../flow/wire.ts";

/** Fills the fields of a state that have these names. Hidden inputs stay as they are. */
export function withFilledInputs(state: FlowState, values: Readonly<Record<string, unknown>>): FlowState {
  const filled = Object.entries(state.actions).map(([name, action]): [string, ActionDescriptor] => [
    name,
    {
      ...action,
      inputs: Object.fromEntries(
        Object.entries(action.inputs).map(([input, own]) => [
          input,
          Object.hasOwn(values, input) && !own.hidden ? { ...own, value: values[input] } : own,
        ]),
      ),
    },
  ]);
  return { ...state, actions: Object.fromEntries(filled) };
}

/** The fields that take an identifier, filled with what an application knows of the user. */
export function withLoginHint(state: FlowState, hint: string): FlowState {
  const kind = hint.includes("@") ? "email" : hint.startsWith("+") ? "phone" : "username";
  return withFilledInputs(state, { identifier: hint, [kind]: hint });
}
