import type { Config } from "../config/schema.ts";
import { offeredAlgorithms } from "../webauthn/algorithms.ts";
import { userHandleOf } from "./user-handles.ts";
import type { PasskeyUser } from "./users.ts";

/** `passkey` signs in by itself; `mfa` is a second factor only. */
export type CredentialKind = "passkey" | "mfa";

/** An existing credential as listed in options (PublicKeyCredentialDescriptor, WebAuthn Level 3 section 5.8.3). */
export interface CredentialDescriptor {
  id: string;
  transports: readonly string[];
}

/** Returns the configuration of a credential kind. Times are in seconds. */
export function settingsOf({ passkey_server }: Config, kind: CredentialKind) {
  return kind === "mfa" ? passkey_server.mfa : passkey_server;
}

/** Returns the user verification that the response to a transaction must meet. */
export function transactionVerification({ passkey_server }: Config): UserVerificationRequirement {
  return passkey_server.transaction.user_verification ?? passkey_server.user_verification;
}

/** PublicKeyCredentialCreationOptionsJSON, WebAuthn Level 3 section 5.4; `icon` comes from Level 1. */
export function creationOptions(
  config: Config,
  about: {
    challenge: string;
    user: PasskeyUser;
    exclude: readonly CredentialDescriptor[];
    kind: CredentialKind;
  },
) {
  const { challenge, user, exclude, kind } = about;
  const { relying_party } = config.passkey_server;
  const settings = settingsOf(config, kind);
  const { attachment, resident_key_requirement: residentKey } = settings;
  return {
    rp: { id: relying_party.id, name: relying_party.display_name },
    user: {
      id: user.userHandle?.toString("base64url") ?? userHandleOf(user.userId),
      name: user.name,
      displayName: user.displayName,
      ...(user.icon === null ? {} : { icon: user.icon }),
    },
    challenge,
    pubKeyCredParams: offeredAlgorithms.map((alg) => ({ type: "public-key" as const, alg })),
    timeout: settings.timeout * 1000,
    ...(exclude.length === 0 ? {} : { excludeCredentials: credentialDescriptors(config, exclude) }),
    authenticatorSelection: {
      ...(attachment === "no_preference" ? {} : { authenticatorAttachment: attachment }),
      requireResidentKey: residentKey === "required",
      residentKey,
      userVerification: settings.user_verification,
    },
    attestation: settings.attestation_preference,
  };
}

/**
 * PublicKeyCredentialRequestOptionsJSON, WebAuthn Level 3 section 5.5.
 *
 * @param about `seconds`: lifetime of the challenge; `userVerification`: null omits the field
 */
export function requestOptions(
  config: Config,
  about: {
    challenge: string;
    seconds: number;
    allowed: readonly CredentialDescriptor[];
    userVerification: UserVerificationRequirement | null;
  },
) {
  const { challenge, seconds, allowed, userVerification } = about;
  return {
    challenge,
    timeout: seconds * 1000,
    rpId: config.passkey_server.relying_party.id,
    ...(allowed.length === 0 ? {} : { allowCredentials: credentialDescriptors(config, allowed) }),
    ...(userVerification === null ? {} : { userVerification }),
  };
}

/** Transports are listed only where configured: with them, some platforms start the wrong authenticator. */
function credentialDescriptors({ passkey_server }: Config, credentials: readonly CredentialDescriptor[]) {
  return credentials.map(({ id, transports }) => ({
    type: "public-key" as const,
    id,
    ...(passkey_server.send_transports && transports.length > 0 ? { transports: [...transports] } : {}),
  }));
}
