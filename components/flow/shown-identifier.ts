import type { FlowState } from "#server/flow/wire";
import { isAccount } from "./account.ts";
import { isText, listOf, nameOf, primaryAddressOf, recordOf } from "./payload-readers.ts";

type Input = Record<string, unknown>;

/** What people name themselves by, most particular first; null where the input is about something else. */
export function namedIn(input: Input): string | null {
  return [input.email, input.identifier, input.username].find(isText) ?? null;
}

/**
 * Whom the states after an action of the account page are about: its owner, who may have to prove it once more, or
 * the address that a code was sent to. Where it could be either, nobody is named.
 *
 * @param account the state that the action was performed in
 * @param reached the state that it has led to
 * @param subject whom the states before were about, where the account was left already
 */
export function subjectBeyond(
  account: FlowState,
  action: string,
  input: Input,
  reached: FlowState,
  subject: string | null,
): string | null {
  if (!isAccount(account)) return subject;
  const { user } = account.payload;
  const owner = primaryAddressOf(user) ?? nameOf(user);
  if (reached.name !== "passcode_confirmation") return owner;
  if (action === "email_verify") {
    const meant = listOf(recordOf(user).emails).find(({ id }) => id === input.email_id)?.address;
    return isText(meant) ? meant : null;
  }
  if (action !== "email_create") return owner;
  // Whoever has a password is never asked for a code alone to prove who they are, so this one confirms.
  return Object.hasOwn(account.actions, "password_update") ? namedIn(input) : null;
}
