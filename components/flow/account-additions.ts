import type { FlowState } from "#server/flow/wire";
import { isText, listOf, recordOf } from "./payload-readers.ts";

type Payload = FlowState["payload"];

/** Action → ids of the items that it can add. */
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
 * The action that added an item to the account since it was last shown. The last step performed does not decide: it
 * can also be a re-authentication.
 */
export function additionTo(before: FlowState, now: FlowState): string | null {
  const isNew = (items: (payload: Payload) => string[]) => {
    const earlier = new Set(items(before.payload));
    return items(now.payload).some((id) => !earlier.has(id));
  };
  return Object.keys(additions).find((action) => additions[action] && isNew(additions[action])) ?? null;
}

function ids(items: unknown): string[] {
  return listOf(items).flatMap(({ id }) => (isText(id) ? [id] : []));
}
