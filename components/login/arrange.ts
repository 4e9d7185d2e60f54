import type { ActionDescriptor, FlowState, InputDescriptor } from "#server/flow/wire";
import type { IconName } from "../ui/icon.tsx";

/** Where the actions of a state stand on the page. Within a place they keep the server's order. */
export interface Arrangement {
  /** The way back, above everything. */
  back: ActionDescriptor | null;
  /** Actions with something to fill in. */
  forms: ActionDescriptor[];
  /** Switches that act as soon as they are turned. */
  toggles: ActionDescriptor[];
  /** Ways to go on that need nothing filled in. */
  choices: ActionDescriptor[];
  /** What is possible and not suggested. */
  quiet: ActionDescriptor[];
}

/** What an action's descriptor cannot say about how it should look. An action that is not listed is a plain one. */
const looks: Record<string, { place?: "back" | "quiet"; icon?: IconName }> = {
  back: { place: "back", icon: "back" },
  skip: { place: "quiet" },
  resend_passcode: { place: "quiet" },
  continue_to_passcode_confirmation_recovery: { place: "quiet" },
  webauthn_generate_request_options: { icon: "passkey" },
  webauthn_generate_creation_options: { icon: "passkey" },
  continue_to_passkey_registration: { icon: "passkey" },
  continue_to_password_login: { icon: "lock" },
  continue_to_password_registration: { icon: "lock" },
  continue_to_passcode_confirmation: { icon: "mail" },
};

/**
 * Sorts the actions of a state, by what they ask for and by `looks`.
 *
 * @param ceremonial the action that a ceremony performs. What it sends nobody can type in, so it is no form.
 * @param performed the ceremony performs it in any case: it stands nowhere
 */
export function arrange(state: FlowState, ceremonial: string | null, performed: boolean): Arrangement {
  const arrangement: Arrangement = { back: null, forms: [], toggles: [], choices: [], quiet: [] };
  for (const action of Object.values(state.actions)) {
    const place = lookOf(action).place;
    const visible = visibleInputs(action);
    if (action.action === ceremonial && (performed || visible.length > 0)) continue;
    if (visible.length === 1 && visible[0]?.type === "boolean") arrangement.toggles.push(action);
    else if (visible.length > 0) arrangement.forms.push(action);
    else if (place === "back") arrangement.back = action;
    else if (place === "quiet") arrangement.quiet.push(action);
    else arrangement.choices.push(action);
  }
  return arrangement;
}

export function iconOf(action: ActionDescriptor): IconName | undefined {
  return lookOf(action).icon;
}

export function visibleInputs(action: ActionDescriptor): InputDescriptor[] {
  return Object.values(action.inputs).filter((input) => !input.hidden);
}

/** Whether anything that the server refused is told beside a field of this state. */
export function hasInputError(actions: ActionDescriptor[]): boolean {
  return actions.some((action) => visibleInputs(action).some((input) => input.error));
}

/**
 * Seconds that the state asks to wait, and for what: for the action that was refused, else for the first one that
 * sends something again.
 */
export function waitOf(
  state: FlowState,
  performed: string | null,
): { seconds: number; action: string | null } | null {
  const seconds = state.payload.resend_after ?? state.payload.retry_after;
  if (typeof seconds !== "number" || !(seconds > 0)) return null;
  const names = Object.keys(state.actions);
  const action =
    names.find((name) => name === performed) ?? names.find((name) => name.startsWith("resend_")) ?? null;
  return { seconds: Math.ceil(seconds), action };
}

function lookOf(action: ActionDescriptor): { place?: "back" | "quiet"; icon?: IconName } {
  return (Object.hasOwn(looks, action.action) ? looks[action.action] : undefined) ?? {};
}
