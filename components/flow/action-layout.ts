import type { ActionDescriptor, FlowState, InputDescriptor } from "#server/flow/wire";
import type { IconName } from "../ui/icon.tsx";
import type { Known } from "./view-context.ts";

/** Where the actions of a state stand on the page. Within a place they keep the server's order. */
export interface Arrangement {
  /** The way back, above everything. */
  back: ActionDescriptor | null;
  /** The action that has something to fill in. */
  form: ActionDescriptor | null;
  /** Switches that act as soon as they are turned. */
  toggles: ActionDescriptor[];
  /** Ways to go on that need nothing filled in. */
  choices: ActionDescriptor[];
  /** Rows of buttons, each of which is a way to go on. */
  picks: ActionDescriptor[];
  /** What has something to fill in and is not suggested: it opens when it is asked for. */
  folded: ActionDescriptor[];
  /** What is possible and not suggested. */
  quiet: ActionDescriptor[];
}

interface Look {
  place?: "back" | "quiet" | "folded";
  icon?: IconName;
  /** Something is lost by it, so it asks first. */
  confirms?: true;
}

/** What an action's descriptor cannot say about how it should look. An action that is not listed is a plain one. */
const looks: Record<string, Look> = {
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
 * Sorts the actions of a state, by what they ask for and by `looks`.
 *
 * @param ceremonial the action that a ceremony performs. What it sends nobody can type in, so it is no form.
 * @param performed the ceremony performs it in any case: it stands nowhere
 * @param known hidden inputs that the page fills in; what asks for others is not a person's to perform
 */
export function arrange(
  state: FlowState,
  ceremonial: string | null,
  performed: boolean,
  known: Known = {},
): Arrangement {
  const arrangement: Arrangement = {
    ...{ back: null, form: null },
    ...{ toggles: [], choices: [], picks: [], folded: [], quiet: [] },
  };
  for (const action of Object.values(state.actions)) {
    const visible = visibleInputs(action, known);
    if (action.action === ceremonial && (performed || visible.length > 0)) continue;
    if (!isPerformable(action, known)) continue;
    place(arrangement, action, visible);
  }
  return arrangement;
}

function place(arrangement: Arrangement, action: ActionDescriptor, visible: InputDescriptor[]): void {
  const { place } = lookOf(action);
  if (visible.length === 1 && visible[0]?.type === "boolean") arrangement.toggles.push(action);
  else if (visible.length === 1 && visible[0]?.allowed_values) arrangement.picks.push(action);
  else if (visible.length > 0) {
    if (place === "folded" || arrangement.form) arrangement.folded.push(action);
    else arrangement.form = action;
  } else if (place === "back") arrangement.back = action;
  else if (place === "quiet") arrangement.quiet.push(action);
  else arrangement.choices.push(action);
}

export function iconOf(action: ActionDescriptor): IconName | undefined {
  return lookOf(action).icon;
}

/** Whether an action asks first. What it is called tells of those that nobody has listed. */
export function asksFirst(action: ActionDescriptor): boolean {
  return lookOf(action).confirms ?? /_delete$/.test(action.action);
}

/** What there is for a person to enter or to choose. */
export function visibleInputs(action: ActionDescriptor, known: Known = {}): InputDescriptor[] {
  return Object.values(action.inputs).filter((input) => !input.hidden || isChoice(input, known));
}

/** An input without a field, for which a person chooses one of several values all the same. */
export function isChoice(input: InputDescriptor, known: Known): boolean {
  return (
    input.allowed_values !== undefined &&
    (input.value === undefined || input.value === null) &&
    !Object.hasOwn(known, input.name)
  );
}

/** The value of a hidden input: what it was preset with, else what the page knows. */
export function presetOf(input: InputDescriptor, known: Known): unknown {
  return input.value ?? (Object.hasOwn(known, input.name) ? known[input.name] : undefined);
}

/** Whether nothing is asked that nobody can enter. An absent boolean means no. */
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

/** Whether anything that the server refused is told beside a field of these actions. */
export function hasInputError(actions: ActionDescriptor[]): boolean {
  return actions.some((action) => Object.values(action.inputs).some((input) => !input.hidden && input.error));
}

/**
 * Seconds that the state asks to wait, and for what: for the action that was refused, else for the first one that
 * sends something again, else for the one that a ceremony would perform.
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

function lookOf(action: ActionDescriptor): Look {
  return (Object.hasOwn(looks, action.action) ? looks[action.action] : undefined) ?? {};
}
