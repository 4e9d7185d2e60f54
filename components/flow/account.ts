import type { FlowState } from "#server/flow/wire";
import { isText, listOf, recordOf } from "./payload-readers.ts";

/** Whether a state shows somebody their account, and what they can do about it. */
export function isAccount({ payload, actions }: FlowState): boolean {
  return isText(recordOf(payload.user).id) && Object.keys(actions).length > 0;
}

type Payload = FlowState["payload"];

/** Action → what there is of the things that it adds, each by a name that is its own. */
const additions: Record<string, (payload: Payload) => string[]> = {
  email_create: ({ user }) => ids(recordOf(user).emails),
  email_verify: ({ user }) =>
    ids(listOf(recordOf(user).emails).filter((email) => email.is_verified === true)),
  webauthn_credential_create: ({ user }) => ids(recordOf(user).passkeys),
  security_key_create: ({ user }) => ids(recordOf(user).security_keys),
  continue_to_otp_secret_creation: ({ user }) =>
    recordOf(recordOf(user).mfa_config).auth_app_set_up === true ? ["app"] : [],
};

/**
 * What has been added to an account since it was last shown, by the action that adds such a thing. The step that
 * ends it says nothing: the same one may have proved who somebody is.
 */
export function additionTo(before: FlowState, now: FlowState): string | null {
  const isNew = (things: (payload: Payload) => string[]) => {
    const known = new Set(things(before.payload));
    return things(now.payload).some((id) => !known.has(id));
  };
  return Object.keys(additions).find((action) => additions[action] && isNew(additions[action])) ?? null;
}

function ids(things: unknown): string[] {
  return listOf(things).flatMap(({ id }) => (isText(id) ? [id] : []));
}
