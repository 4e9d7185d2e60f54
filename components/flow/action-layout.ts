import type { ActionName } from "#server/flow/protocol-names";
import type { ActionDescriptor, FlowState, InputDescriptor } from "#server/flow/wire";
import type { IconName } from "../ui/icon.tsx";
import type { Known } from "./view-context.ts";

/** The place of each action of a state on the page. Within a place they keep the server's order. */
export interface ActionLayout {
  /** The action that goes back, at the top. */
  back: ActionDescriptor | null;
  /** The action with fields. */
  form: ActionDescriptor | null;
  /** Switches that are sent when they are changed. */
  toggles: ActionDescriptor[];
  /** Actions without fields. */
  choices: ActionDescriptor[];
  /** Rows of buttons, each of which performs the action with another value. */
  picks: ActionDescriptor[];
  /** Actions with fields that are not suggested: they open on request. */
  folded: ActionDescriptor[];
  /** Actions without fields that are not suggested. */
  quiet: ActionDescriptor[];
}

interface ActionStyle {
  place?: "back" | "quiet" | "folded";
  icon?: IconName;
  /** The action is destructive and asks for confirmation. */
  confirms?: true;
}

/** How actions are drawn, where their descriptors do not determine it. */
const actionStyles: Partial<Record<ActionName, ActionStyle>> = {
  back: { place: "back", icon: "back" },
  skip: { place: "quiet" },
  resend_passcode: { place: "quiet" },
  continue_to_passcode_confirmation_recovery: { place: "quiet" },
  continue_to_login_otp: { place: "quiet" },
  continue_to_login_security_key: { place: "quiet" },
  continue_to_login_authenticator: { place: "quiet" },
  recovery_code_validate: { place: "folded" },
  webauthn_generate_request_options: { icon: "passkey" },
  webauthn_generate_creation_options: { icon: "passkey" },
  continue_to_passkey_registration: { icon: "passkey" },
  continue_to_password_login: { icon: "lock" },
  continue_to_password_registration: { icon: "lock" },
  continue_to_passcode_confirmation: { icon: "mail" },
  continue_to_otp_secret_creation: { icon: "phone" },
  continue_to_security_key_creation: { icon: "key" },
  disconnect_thirdparty_oauth_provider: { confirms: true },
  recovery_codes_create: { confirms: true },
  session_delete_others: { confirms: true },
};

/**
 * Sorts the actions of a state by their inputs and by `actionStyles`.
 *
 * @param ceremonial the action that a ceremony performs; its inputs cannot be typed, so it has no form
 * @param performed whether the ceremony always performs it, so that it is not drawn
 * @param known hidden inputs that the page fills in; an action that requires other hidden inputs is not drawn
 */
export function layOutActions(
  state: FlowState,
  ceremonial: string | null,
  performed: boolean,
  known: Known = {},
): ActionLayout {
  const layout: ActionLayout = {
    ...{ back: null, form: null },
    ...{ toggles: [], choices: [], picks: [], folded: [], quiet: [] },
  };
  for (const action of Object.values(state.actions)) {
    const visible = visibleInputs(action, known);
    if (action.action === ceremonial && (performed || visible.length > 0)) continue;
    if (!isPerformable(action, known)) continue;
    place(layout, action, visible);
  }
  return layout;
}

function place(layout: ActionLayout, action: ActionDescriptor, visible: InputDescriptor[]): void {
  const { place } = styleOf(action);
  if (visible.length === 1 && visible[0]?.type === "boolean") layout.toggles.push(action);
  else if (visible.length === 1 && visible[0]?.allowed_values) layout.picks.push(action);
  else if (visible.length > 0) {
    if (place === "folded" || layout.form) layout.folded.push(action);
    else layout.form = action;
  } else if (place === "back") layout.back = action;
  else if (place === "quiet") layout.quiet.push(action);
  else layout.choices.push(action);
}

export function iconOf(action: ActionDescriptor): IconName | undefined {
  return styleOf(action).icon;
}

/** Whether an action asks for confirmation. Actions that are not listed are judged by their names. */
export function asksFirst(action: ActionDescriptor): boolean {
  return styleOf(action).confirms ?? /_delete$/.test(action.action);
}

/** The inputs that the user fills in or chooses. */
export function visibleInputs(action: ActionDescriptor, known: Known = {}): InputDescriptor[] {
  return Object.values(action.inputs).filter((input) => !input.hidden || isChoice(input, known));
}

/** Whether a hidden input offers values for the user to choose from. */
export function isChoice(input: InputDescriptor, known: Known): boolean {
  return (
    input.allowed_values !== undefined &&
    (input.value === undefined || input.value === null) &&
    !Object.hasOwn(known, input.name)
  );
}

/** The value of a hidden input: its preset, else the value known to the page. */
export function presetOf(input: InputDescriptor, known: Known): unknown {
  return input.value ?? (Object.hasOwn(known, input.name) ? known[input.name] : undefined);
}

/** Whether all required hidden inputs have values. An absent boolean means false. */
export function isPerformable(action: ActionDescriptor, known: Known): boolean {
  return Object.values(action.inputs).every(
    (input) =>
      !input.hidden ||
      !input.required ||
      input.type === "boolean" ||
      isChoice(input, known) ||
      (presetOf(input, known) ?? null) !== null,
  );
}

/** Whether the error of an action is shown beside a field. */
export function hasInputError(actions: ActionDescriptor[]): boolean {
  return actions.some((action) => Object.values(action.inputs).some((input) => !input.hidden && input.error));
}

/**
 * The seconds that the state asks to wait, and the action they apply to: the action performed, else the first one
 * that resends something, else the one that a ceremony would perform.
 */
export function waitOf(
  state: FlowState,
  performed: string | null,
  ceremonial: string | null = null,
): { seconds: number; action: string | null } | null {
  const seconds = state.payload.resend_after ?? state.payload.retry_after;
  if (typeof seconds !== "number" || !(seconds > 0)) return null;
  const names = Object.keys(state.actions);
  const action =
    names.find((name) => name === performed) ??
    names.find((name) => name.startsWith("resend_")) ??
    ceremonial;
  return { seconds: Math.ceil(seconds), action };
}

function styleOf(action: ActionDescriptor): ActionStyle {
  return Object.hasOwn(actionStyles, action.action) ? (actionStyles[action.action as ActionName] ?? {}) : {};
}
