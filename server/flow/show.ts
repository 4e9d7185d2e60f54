import type { FlowRecord } from "./data.ts";
import type { Action, State, View } from "./define.ts";
import { type ErrorCode, errors, type Problem } from "./errors.ts";
import { describeInputs } from "./inputs.ts";
import type { ActionDescriptor, FlowError, FlowState, InputDescriptor } from "./wire.ts";

/** The flow state that a client sees. Pure. */
export function show(
  record: FlowRecord,
  view: View,
  state: State,
  problem: Problem | null,
  token: string,
): FlowState {
  const offered = Object.entries(state.actions).filter(([, action]) => action.when(view));
  return {
    name: record.state,
    status: problem ? errors[problem.code].status : 200,
    payload: { ...state.shows?.(view), ...record.payload, ...record.secrets, ...problem?.payload },
    csrf_token: token,
    actions: Object.fromEntries(
      offered.map(([name, action]) => [name, describeAction(name, action, record, view, problem)]),
    ),
    ...(problem ? { error: describeError(problem.code) } : {}),
    links: null,
  };
}

/** A refusal that belongs to no state: nothing can be done in this flow, or there is none. */
export function showError(
  code: ErrorCode,
  details: { status?: number; payload?: Record<string, unknown> } = {},
): FlowState {
  return {
    name: "error",
    status: details.status ?? errors[code].status,
    payload: details.payload ?? {},
    csrf_token: "",
    actions: {},
    error: describeError(code),
    links: null,
  };
}

function describeError(code: ErrorCode, message?: string): FlowError {
  return { code, message: message ?? errors[code].message };
}

function describeAction(
  name: string,
  action: Action,
  record: FlowRecord,
  view: View,
  problem: Problem | null,
): ActionDescriptor {
  // A conflict met while writing belongs to no action that was called: it stands wherever its input is.
  const refused = problem && (problem.action ?? name) === name ? problem : null;
  const { inputs, preserved } = describeInputs(action.input(view));
  const shown = Object.entries(inputs).map(([input, descriptor]): [string, InputDescriptor] => {
    const fault = refused?.inputs?.[input];
    return [
      input,
      {
        ...descriptor,
        ...(preserved.includes(input) ? { value: refused?.values?.[input] ?? null } : {}),
        ...(fault ? { error: describeError(fault.code, fault.message) } : {}),
      },
    ];
  });
  return {
    action: name,
    href: `/${record.type}?action=${name}%40${record.id}`,
    description: action.description,
    inputs: Object.fromEntries(shown),
  };
}
