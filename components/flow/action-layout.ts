import type { ActionName, ErrorCode } from "#server/flow/protocol-names";
import type { ActionDescriptor, FlowState, InputDescriptor } from "#server/flow/wire";
import type { IconName } from "../ui/icon.tsx";
import type { PageValues } from "./view-context.ts";

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
  valueButtons: ActionDescriptor[];
  /** Actions with fields that are not suggested: each is in a disclosure. */
  collapsed: ActionDescriptor[];
  /** Actions without fields that are not suggested: drawn as links. */
  links: ActionDescriptor[];
}

interface ActionStyle {
  place?: "back" | "link" | "collapsed";
  icon?: IconName;
  /** The user confirms the action first, because it is destructive. */
  needsConfirmation?: true;
  /** Shown only where scripts run. */
  needsScript?: true;
}

/** How actions are drawn, where their descriptors do not determine it. */
const actionStyles: Partial<Record<ActionName, ActionStyle>> = {
  back: { place: "back", icon: "back" },
  account_other: { place: "link" },
  skip: { place: "link" },
  resend_passcode: { place: "link" },
  continue_to_passcode_confirmation_recovery: { place: "link" },
  recovery_code_validate: { place: "collapsed" },
  account_forget: { place: "collapsed" },
  webauthn_generate_request_options: { icon: "passkey", needsScript: true },
  webauthn_generate_creation_options: { icon: "passkey" },
  continue_to_passkey_registration: { icon: "passkey" },
  continue_to_password_login: { icon: "lock" },
  continue_to_password_registration: { icon: "lock" },
  continue_to_passcode_confirmation: { icon: "mail" },
  continue_to_phone_confirmation: { icon: "phone" },
  continue_to_phone_creation: { icon: "phone" },
  continue_to_otp_secret_creation: { icon: "phone" },
  continue_to_security_key_creation: { icon: "key" },
  webauthn_credential_create: { needsScript: true },
  security_key_create: { needsScript: true },
  picture_update: { needsScript: true },
  application_revoke: { needsConfirmation: true },
  disconnect_thirdparty_oauth_provider: { needsConfirmation: true },
  recovery_codes_create: { needsConfirmation: true },
  session_delete_others: { needsConfirmation: true },
};

/** Errors that no other input to the form mends → the action that does. */
const remedies: Partial<Record<ErrorCode, ActionName>> = {
  passcode_max_attempts_reached: "resend_passcode",
};

/** The only action that leads on from the error of a state, beside leaving it; null where its form may be tried again. */
export function remedyOf({ error, actions }: FlowState): ActionDescriptor | null {
  const code = error?.code ?? "";
  const name = Object.hasOwn(remedies, code) ? remedies[code as ErrorCode] : undefined;
  return (name && Object.hasOwn(actions, name) ? actions[name] : undefined) ?? null;
}

/**
 * Sorts the actions of a state by their inputs and by `actionStyles`. An alias is not drawn beside its action.
 *
 * @param ceremonyAction the action that a ceremony performs; its inputs cannot be typed, so it has no form
 * @param isHidden whether the ceremony always performs it, so that it is not drawn
 * @param pageValues values of hidden inputs that the page fills in; an action that requires other hidden inputs is
 *   not drawn
 */
export function layOutActions(
  state: FlowState,
  ceremonyAction: string | null,
  isHidden: boolean,
  pageValues: PageValues = {},
): ActionLayout {
  const layout: ActionLayout = {
    back: null,
    form: null,
    toggles: [],
    choices: [],
    valueButtons: [],
    collapsed: [],
    links: [],
  };
  for (const action of Object.values(state.actions)) {
    if (action.alias_of !== undefined) continue;
    const visible = visibleInputs(action, pageValues);
    if (action.action === ceremonyAction && (isHidden || visible.length > 0)) continue;
    if (!isPerformable(action, pageValues)) continue;
    place(layout, action, visible);
  }
  const remedy = remedyOf(state);
  if (remedy) {
    layout.form = null;
    layout.links = layout.links.filter((action) => action !== remedy);
    layout.choices.unshift(remedy);
  }
  // The way to the choice of a method says more than the way back, and leads to the same state.
  if (Object.hasOwn(state.actions, "continue_to_login_method_chooser" satisfies ActionName))
    layout.back = null;
  return layout;
}

function place(layout: ActionLayout, action: ActionDescriptor, visible: InputDescriptor[]): void {
  const { place } = styleOf(action);
  if (visible.length === 1 && visible[0]?.type === "boolean") layout.toggles.push(action);
  else if (place === "collapsed") layout.collapsed.push(action);
  else if (visible.length === 1 && visible[0]?.allowed_values) layout.valueButtons.push(action);
  else if (visible.length > 0) {
    if (layout.form) layout.collapsed.push(action);
    else layout.form = action;
  } else if (place === "back") layout.back = action;
  else if (place === "link") layout.links.push(action);
  else layout.choices.push(action);
}

export function iconOf(action: ActionDescriptor): IconName | undefined {
  return styleOf(action).icon;
}

/** Whether an action is shown only where scripts run. */
export function needsScript(action: ActionDescriptor): boolean {
  return styleOf(action).needsScript ?? false;
}

/** The class, after a space, of what is shown only where scripts run, because each of its actions is. */
export function scriptedClass(actions: ActionDescriptor[]): string {
  return actions.length > 0 && actions.every(needsScript) ? " stile-with-script" : "";
}

/** Whether the user has to confirm an action. For actions that are not listed, the name decides. */
export function needsConfirmation(action: ActionDescriptor): boolean {
  return styleOf(action).needsConfirmation ?? /_delete$/.test(action.action);
}

/** The inputs that the user fills in or chooses. */
export function visibleInputs(action: ActionDescriptor, pageValues: PageValues = {}): InputDescriptor[] {
  return Object.values(action.inputs).filter((input) => !input.hidden || isChoice(input, pageValues));
}

/** Whether a hidden input offers values for the user to choose from. */
export function isChoice(input: InputDescriptor, pageValues: PageValues): boolean {
  return (
    input.allowed_values !== undefined &&
    (input.value === undefined || input.value === null) &&
    !Object.hasOwn(pageValues, input.name)
  );
}

/** The value of a hidden input: its preset, else the value that the page fills in. */
export function presetOf(input: InputDescriptor, pageValues: PageValues): unknown {
  return input.value ?? (Object.hasOwn(pageValues, input.name) ? pageValues[input.name] : undefined);
}

/** Whether all required hidden inputs have values. An absent boolean means false. */
export function isPerformable(action: ActionDescriptor, pageValues: PageValues): boolean {
  return Object.values(action.inputs).every(
    (input) =>
      !input.hidden ||
      !input.required ||
      input.type === "boolean" ||
      isChoice(input, pageValues) ||
      (presetOf(input, pageValues) ?? null) !== null,
  );
}

/** Whether the error of an action is shown beside a field. */
export function hasInputError(actions: ActionDescriptor[]): boolean {
  return actions.some((action) => Object.values(action.inputs).some((input) => !input.hidden && input.error));
}

/**
 * The seconds that the state asks to wait, and the action they apply to: the action performed, else the first one
 * that resends something, else the one that a ceremony would perform, else the one with fields, else the only choice.
 */
export function waitOf(
  state: FlowState,
  performed: string | null,
  ...likely: (string | undefined)[]
): { seconds: number; action: string | null } | null {
  const seconds = state.payload.resend_after ?? state.payload.retry_after;
  if (typeof seconds !== "number" || !(seconds > 0)) return null;
  const names = Object.keys(state.actions);
  const action =
    names.find((name) => name === performed) ??
    names.find((name) => name.startsWith("resend_")) ??
    likely.find((name) => name !== undefined);
  return { seconds: Math.ceil(seconds), action: action ?? null };
}

function styleOf(action: ActionDescriptor): ActionStyle {
  const name = action.action as ActionName;
  // Another way to sign in is a link by its name.
  if (name.startsWith("continue_to_login_")) return { place: "link" };
  return Object.hasOwn(actionStyles, name) ? (actionStyles[name] ?? {}) : {};
}
