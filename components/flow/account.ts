import type { ActionDescriptor, FlowState } from "#server/flow/wire";
import { isText, recordOf } from "./payload-readers.ts";

/** A call of an action, and the account that it was made on. */
export interface AccountCall {
  /** The state that was shown; not an account for calls of other pages. */
  account: FlowState;
  action: string;
  input: Record<string, unknown>;
  itemId: string | null;
}

/** Whether a state shows an account and its actions. */
export function isAccount(state: FlowState): boolean {
  return accountIdOf(state) !== undefined && Object.keys(state.actions).length > 0;
}

/** The id of the account that a state shows. */
export function accountIdOf({ payload }: FlowState): string | undefined {
  const { id } = recordOf(payload.user);
  return isText(id) ? id : undefined;
}

/** Whether an action is drawn once per item, which a hidden input names. */
export function isItemAction({ inputs }: ActionDescriptor): boolean {
  return Object.values(inputs).some(({ name, hidden }) => hidden && name.endsWith("_id"));
}
