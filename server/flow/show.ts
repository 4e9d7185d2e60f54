import { explain, reasonName } from "../conditions/condition.ts";
import { firstIdentifier } from "../identity/identifiers.ts";
import type { FlowRecord } from "./data.ts";
import { type Action, offeredWhen, type State, type View } from "./define.ts";
import { type ErrorCode, errors, type StepError } from "./errors.ts";
import { recipientToVerify } from "./expected-codes.ts";
import { describeInputs } from "./inputs.ts";
import { linksOf } from "./links.ts";
import { isOfSession, type StateName } from "./names.ts";
import type { Reasons } from "./observed-step.ts";
import type { ActionDescriptor, FlowError, FlowState, IdentityPayload, InputDescriptor } from "./wire.ts";

/** The actions that a state offers, and why not the others. */
export interface Offer {
  offered: [string, Action][];
  withheld: Reasons;
}

/** Judges which actions a state offers. Each condition is judged once. */
export function offerOf(state: State, view: View): Offer {
  const offered: Offer["offered"] = [];
  const withheld: Record<string, string[]> = {};
  for (const [name, action] of Object.entries(state.actions)) {
    const { holds: isOffered, by } = explain(offeredWhen(action, view), view);
    if (isOffered) offered.push([name, action]);
    else withheld[name] = [...new Set(by.map(reasonName))];
  }
  return { offered, withheld };
}

/** Builds the flow state that a client sees. Pure. */
export function show(
  record: FlowRecord,
  view: View,
  state: State,
  error: StepError | null,
  token: string,
  { offered }: Pick<Offer, "offered"> = offerOf(state, view),
): FlowState {
  return {
    name: record.state,
    status: error ? errors[error.code].status : 200,
    payload: {
      ...identityOf(view),
      ...(view.impersonation ? { impersonation: view.impersonation } : {}),
      ...state.shows?.(view),
      ...record.payload,
      ...record.secrets,
      // The owner has to know what the proof will do; another page may have asked for it.
      ...(record.wanted ? { wanted_action: record.wanted.action } : {}),
      ...error?.payload,
    },
    csrf_token: token,
    actions: describeActions(record, view, error, { offered }),
    ...(error ? { error: describeError(error.code) } : {}),
    links: linksOf(view.config),
  };
}

/** Describes the actions that a state offers, by their names and aliases. Pure. */
export function describeActions(
  record: FlowRecord,
  view: View,
  error: StepError | null,
  { offered }: Pick<Offer, "offered">,
): FlowState["actions"] {
  return Object.fromEntries(
    offered.flatMap(([name, action]) => {
      const descriptor = describeAction(name, action, record, view, error);
      return [descriptor, ...action.aliases.map((alias) => aliasOf(descriptor, alias, record))].map(
        (described) => [described.action, described],
      );
    }),
  );
}

/** States that name no account: none was identified yet, or the payload holds the whole account. */
const withoutIdentity: readonly StateName[] = [
  "preflight",
  "account_choice",
  "login_init",
  "registration_init",
  "profile_init",
  "account_deleted",
  "consent_answered",
  "success",
] as const;

/**
 * Whose account a state is about: the identifier as it was typed, or the address that is being verified, never what the
 * account says; except to its owner who authenticates again or is asked by an application. And how this browser signed in to the account last, if it bears a
 * mark of the account.
 */
function identityOf({ type, state, data, facts }: View): IdentityPayload {
  if (withoutIdentity.includes(state)) return {};
  const { identifier, lastMethod } = data;
  const own = data.steppingUp || type === "consent" ? firstIdentifier(facts)?.value : null;
  const typed = isOfSession(type) ? own : identifier?.typed;
  const shown = recipientToVerify(state, data) ?? typed;
  return {
    ...(shown ? { identifier: shown } : {}),
    ...(lastMethod && type === "login"
      ? { last_method: "provider" in lastMethod ? lastMethod.provider : lastMethod.method }
      : {}),
  };
}

/** Builds the `error` state: no action is possible in this flow, or there is no flow. */
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

export function describeError(code: ErrorCode, message?: string): FlowError {
  return { code, message: message ?? errors[code].message };
}

function describeAction(
  name: string,
  action: Action,
  record: FlowRecord,
  view: View,
  error: StepError | null,
): ActionDescriptor {
  // A conflict while writing has no action: it is shown at every action that has its input.
  const ownError = error && (error.action ?? name) === name ? error : null;
  const { inputs, preserved } = describeInputs(action.input(view));
  const shown = Object.entries(inputs).map(([input, descriptor]): [string, InputDescriptor] => {
    const inputError = ownError?.inputs?.[input];
    return [
      input,
      {
        ...descriptor,
        ...(preserved.includes(input) ? { value: ownError?.values?.[input] ?? null } : {}),
        ...(inputError ? { error: describeError(inputError.code, inputError.message) } : {}),
      },
    ];
  });
  return {
    action: name,
    href: hrefOf(name, record),
    description: action.description,
    inputs: Object.fromEntries(shown),
  };
}

/** Describes an action under another name. */
function aliasOf(descriptor: ActionDescriptor, alias: string, record: FlowRecord): ActionDescriptor {
  return { ...descriptor, action: alias, href: hrefOf(alias, record), alias_of: descriptor.action };
}

function hrefOf(action: string, { type, id }: FlowRecord): string {
  return `/${type}?action=${action}%40${id}`;
}
