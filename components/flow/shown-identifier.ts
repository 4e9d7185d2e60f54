import type { FlowState } from "#server/flow/wire";
import { type AccountCall, isAccount } from "./account.ts";
import { isText, listOf, nameOf, primaryAddressOf, recordOf } from "./payload-readers.ts";

type Input = Record<string, unknown>;

/** The identifier in an input, most specific first; null if it holds none. */
export function identifierIn(input: Input): string | null {
  return [input.email, input.identifier, input.username].find(isText) ?? null;
}

/**
 * The identifier to show in states after an action of the account page: that of the account owner, who may have to
 * authenticate again, or the address that a code was sent to. Null where it could be either.
 *
 * @param call the action, and the state that it was called in
 * @param next the state after it
 * @param subject the identifier before, for states outside the account page
 */
export function identifierAfterAccountAction(
  { account, action, input }: Pick<AccountCall, "account" | "action" | "input">,
  next: FlowState,
  subject: string | null,
): string | null {
  if (!isAccount(account)) return subject;
  const { user } = account.payload;
  const owner = primaryAddressOf(user) ?? nameOf(user);
  if (next.name !== "passcode_confirmation") return owner;
  if (action === "email_verify") {
    const address = listOf(recordOf(user).emails).find(({ id }) => id === input.email_id)?.address;
    return isText(address) ? address : null;
  }
  if (action !== "email_create") return owner;
  if (next.payload.performed_action === action) return identifierIn(input);
  // An account with a password never re-authenticates by passcode alone, so this passcode verifies the new address.
  return Object.hasOwn(account.actions, "password_update") ? identifierIn(input) : null;
}
