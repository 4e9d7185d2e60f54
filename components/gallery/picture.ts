import type { FlowType } from "#server/flow/names";
import type { ActionName, ErrorCode, InputName, StateName } from "#server/flow/protocol-names";
import type { ActionDescriptor, FlowState, InputDescriptor } from "#server/flow/wire";
import declarations from "./declared.json" with { type: "json" };

/** What the server declares; `npm run docs` copies it. */
const declared = declarations as unknown as {
  states: Record<StateName, { flow: FlowType; actions: Omit<ActionDescriptor, "href">[] }>;
  errors: Record<ErrorCode, { on: "flow" | "input"; status: number; message: string }>;
};

/** How a state is drawn: what is otherwise than declared. A variant says only what is otherwise than in the first picture of its state. */
export interface Picture {
  /** The state, where the name of the picture does not begin with it. */
  of?: StateName;
  /** The actions that are offered, of those that the state declares; or those that are not. */
  only?: ActionName[];
  without?: ActionName[];
  payload?: FlowState["payload"];
  /** What is otherwise than declared, by action and input. Null: there is no such input. */
  inputs?: Partial<Record<ActionName, Partial<Record<InputName, Partial<InputDescriptor> | null>>>>;
  error?: ErrorCode;
  /** Errors of inputs. */
  refused?: Partial<Record<InputName, ErrorCode>>;
  /** Seconds until the next step is let through. */
  waits?: number;
}

const FLOW_ID = "f47ac10b-58cc-4372-a567-0e02b2c3d479";
export const CSRF_TOKEN = "k3JmP0aQ5sT8uVwXyZ1bC2dE4fG6hI7j";

/** Of several flows, the one that a state is mostly of, where that is not the first. */
const flows: Partial<Record<StateName, FlowType>> = { consent_answered: "consent" };

/** The flow in which a state is drawn. */
export const flowOf = (state: string): FlowType =>
  flows[state as StateName] ?? declared.states[state as StateName]?.flow ?? "login";

/** The state with everything that it declares. */
export function declaredState(name: StateName): FlowState {
  const { flow, actions } = declared.states[name];
  const descriptors = actions.map((action): [string, ActionDescriptor] => [
    action.action,
    { ...action, href: `/${flow}?action=${action.action}%40${FLOW_ID}` },
  ]);
  return {
    name,
    status: 200,
    payload: {},
    csrf_token: actions.length > 0 ? CSRF_TOKEN : "",
    actions: Object.fromEntries(descriptors),
    links: null,
  };
}

/** @param first the first picture of the state */
function draw(first: FlowState, picture: Picture): FlowState {
  const { only, without, payload, inputs = {}, error, refused, waits } = picture;
  const all =
    only || without ? { ...declaredState(first.name as StateName).actions, ...first.actions } : first.actions;
  const offered = Object.values(all).filter(
    ({ action }) =>
      (only?.includes(action as ActionName) ?? true) && !without?.includes(action as ActionName),
  );
  const shaped = offered.map((action) => withInputs(action, inputs[action.action as ActionName] ?? {}));
  const state: FlowState = {
    ...first,
    payload: payload ?? first.payload,
    actions: Object.fromEntries(shaped.map((action) => [action.action, action])),
  };
  if (refused) return withRefusedInputs(state, ({ name }) => refused[name as InputName]);
  if (waits) return tooFast(state, waits);
  return error ? withError(state, error) : state;
}

function withInputs(
  action: ActionDescriptor,
  changes: Record<string, Partial<InputDescriptor> | null>,
): ActionDescriptor {
  const inputs = new Map(Object.entries(action.inputs));
  for (const [name, change] of Object.entries(changes)) {
    if (change)
      inputs.set(name, {
        name,
        type: "string",
        required: true,
        hidden: false,
        ...inputs.get(name),
        ...change,
      });
    else inputs.delete(name);
  }
  return { ...action, inputs: Object.fromEntries(inputs) };
}

/** The state with an error of the whole step. */
function withError(state: FlowState, code: ErrorCode): FlowState {
  const { status, message } = declared.errors[code];
  return { ...state, status, error: { code, message } };
}

/**
 * The state with an error that a server has told, which may be of another version; then it is left out.
 *
 * @param sent names of the inputs that were sent, at which an error of an input is drawn
 */
export function withKnownError(
  state: FlowState,
  code: string | undefined,
  sent: readonly string[],
): FlowState {
  if (code === undefined || !Object.hasOwn(declared.errors, code)) return state;
  const known = code as ErrorCode;
  const isSentField = ({ name, type, hidden }: InputDescriptor) =>
    !hidden && type !== "boolean" && type !== "json" && sent.includes(name);
  const hasField = Object.values(state.actions).some(({ inputs }) => Object.values(inputs).some(isSentField));
  // Without a field, as of a passkey, the error of an input is drawn above all.
  if (declared.errors[known].on === "flow" || !hasField) return withError(state, known);
  return withRefusedInputs(state, (input) => (isSentField(input) ? known : undefined));
}

/** The state with an error at the inputs of which `codeOf` gives one. */
export function withRefusedInputs(
  state: FlowState,
  codeOf: (input: InputDescriptor) => ErrorCode | undefined,
): FlowState {
  const actions = Object.values(state.actions).map((action): [string, ActionDescriptor] => {
    const inputs = Object.entries(action.inputs).map(([name, input]): [string, InputDescriptor] => {
      const code = codeOf(input);
      return [name, code ? { ...input, error: { code, message: declared.errors[code].message } } : input];
    });
    return [action.action, { ...action, inputs: Object.fromEntries(inputs) }];
  });
  return withError({ ...state, actions: Object.fromEntries(actions) }, "form_data_invalid_error");
}

/** The state after more steps than its rates allow. */
export function tooFast(state: FlowState, seconds: number): FlowState {
  const payload = { ...state.payload, resend_after: seconds, retry_after: seconds };
  return withError({ ...state, payload }, "rate_limit_exceeded");
}

/** The answer that shows no state of a flow. */
export const failure = (code: ErrorCode): FlowState =>
  withError({ name: "error", status: 0, payload: {}, csrf_token: "", actions: {}, links: null }, code);

/** The longest name of a state that the name of a picture begins with. */
function stateOf(picture: string): StateName {
  const names = Object.keys(declared.states) as StateName[];
  const [name] = names
    .filter((name) => picture.startsWith(name))
    .sort((one, other) => other.length - one.length);
  if (!name) throw new Error(`The picture ${picture} is named after no state.`);
  return name;
}

/** Draws the pictures of a table. */
export function drawAll<Name extends string>(
  pictures: Record<StateName, Picture> & Record<Name, Picture>,
): Record<Name, FlowState> {
  const entries = Object.entries<Picture>(pictures).map(([name, picture]) => {
    const state = picture.of ?? stateOf(name);
    const first = draw(declaredState(state), pictures[state]);
    return [name, name === state ? first : draw(first, picture)];
  });
  return Object.fromEntries(entries);
}

/** An action that the server of this version does not declare. */
export function undeclared(
  action: string,
  description: string,
  inputs: Record<string, Partial<InputDescriptor>>,
) {
  const href = `/login?action=${action}%40${FLOW_ID}`;
  return withInputs({ action, href, description, inputs: {} }, inputs);
}
