import type { Config } from "../config/schema.ts";
import { type ErrorCode, errors } from "./errors.ts";
import type { FlowError, FlowState } from "./wire.ts";

/** Returns a state with the error codes that the deployment's clients know (`compatibility.error_codes`). */
export function publishedState(state: FlowState, config: Config): FlowState {
  return mapErrors(state, (error) => ({ ...error, code: publishedCode(error.code, config) }));
}

/** Returns the same state with the precise code of each error beside, as `detail_code`: for our page. */
export function detailedState(state: FlowState, config: Config): FlowState {
  return mapErrors(state, (error) => ({
    ...error,
    code: publishedCode(error.code, config),
    detail_code: error.code,
  }));
}

function publishedCode(code: string, { compatibility }: Config): string {
  if (compatibility.error_codes === "precise" || !Object.hasOwn(errors, code)) return code;
  const definition = errors[code as ErrorCode];
  return "published" in definition ? definition.published : code;
}

function mapErrors(state: FlowState, map: (error: FlowError) => FlowError): FlowState {
  if (!state.error) return state;
  const actions = Object.entries(state.actions).map(([name, action]) => {
    const inputs = Object.entries(action.inputs).map(([input, descriptor]) => [
      input,
      descriptor.error ? { ...descriptor, error: map(descriptor.error) } : descriptor,
    ]);
    return [name, { ...action, inputs: Object.fromEntries(inputs) }];
  });
  return { ...state, error: map(state.error), actions: Object.fromEntries(actions) };
}
