import { sendSignal } from "@simplewebauthn/browser";
import type { FlowState } from "#server/flow/wire";
import { isText, listOf, nameOf, primaryAddressOf, recordOf } from "./payload-readers.ts";

export type Signal = Parameters<typeof sendSignal>[0];

/**
 * The signals of a state for the browser's passkey manager (WebAuthn Level 3, 5.1.10): an unknown passkey, or,
 * after authentication, the accepted passkeys and the user's current names.
 *
 * @param relyingParty the relying party id
 */
export function signalsOf({ payload, actions }: FlowState, relyingParty: string): Signal[] {
  const unknown = recordOf(payload.unknown_credential);
  if (isText(unknown.credential_id)) {
    const rpID = isText(unknown.rp_id) ? unknown.rp_id : relyingParty;
    return [{ signalName: "unknownCredential", rpID, credentialID: unknown.credential_id }];
  }
  const user = recordOf(payload.user);
  return handlesIn(payload).flatMap((userID) => signalsUnder({ rpID: relyingParty, userID }, user, actions));
}

function signalsUnder(
  ids: { rpID: string; userID: string },
  user: Record<string, unknown>,
  actions: FlowState["actions"],
): Signal[] {
  const userName = primaryAddressOf(user) ?? nameOf(user);
  const userDisplayName = nameOf(user);
  return [
    // A missing list may mean that passkeys are disabled for now, so no credential is reported as removed.
    ...(Array.isArray(user.passkeys) || Object.hasOwn(actions, "webauthn_credential_create")
      ? [{ signalName: "allAcceptedCredentials" as const, ...ids, allAcceptedCredentialIDs: idsOf(user) }]
      : []),
    ...(userName !== null && userDisplayName !== null
      ? [{ signalName: "currentUserDetails" as const, ...ids, userName, userDisplayName }]
      : []),
  ];
}

/** Sends the signals of a state. Unsupported signals and failures are ignored. */
export function sendSignals(state: FlowState, relyingParty: string): void {
  for (const signal of signalsOf(state, relyingParty)) sendSignal(signal).catch(() => {});
}

function idsOf(user: Record<string, unknown>): string[] {
  return [...listOf(user.passkeys), ...listOf(user.security_keys)].map(({ id }) => id).filter(isText);
}

/** The handles of the account's passkeys; a server of a former version names none. */
function handlesIn({ user_handles: handles, user }: Record<string, unknown>): string[] {
  const named = Array.isArray(handles) ? handles.filter(isText) : [];
  const own = handleOf(recordOf(user).id);
  return named.length > 0 || own === null ? named : [own];
}

/** The user handle that former versions gave an account: the sixteen bytes of its id, in base64url. */
function handleOf(id: unknown): string | null {
  const digits = isText(id) ? id.replaceAll("-", "") : "";
  if (!/^[0-9a-f]{32}$/i.test(digits)) return null;
  const bytes = digits.match(/../g) ?? [];
  return btoa(String.fromCharCode(...bytes.map((byte) => Number.parseInt(byte, 16))))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");
}
