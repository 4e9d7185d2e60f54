import type { Config } from "../config/schema.ts";
import { offeredAlgorithms } from "../webauthn/cose-key.ts";
import { userHandleOf } from "./user-handles.ts";
import type { PasskeyUser } from "./users.ts";

/** Whether a credential signs in by itself, or stands beside another factor. */
export type CredentialKind = "passkey" | "mfa";

/** What a browser is told of a credential that exists. */
export interface CredentialDescriptor {
  id: string;
  transports: readonly string[];
}

/** The configuration of a kind. Times are in seconds. */
export function settingsOf({ passkey_server }: Config, kind: CredentialKind) {
  return kind === "mfa" ? passkey_server.mfa : passkey_server;
}

/** PublicKeyCredentialCreationOptionsJSON, WebAuthn Level 3 section 5.4; `icon` is of Level 1. */
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
      id: userHandleOf(user.userId),
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
 * @param about `seconds`: the life of the challenge; `userVerification`: null leaves it out
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

/** Some platforms start the wrong authenticator when they are told of transports, so they are told only where configured. */
function credentialDescriptors({ passkey_server }: Config, credentials: readonly CredentialDescriptor[]) {
  return credentials.map(({ id, transports }) => ({
    type: "public-key" as const,
    id,
    ...(passkey_server.send_transports && transports.length > 0 ? { transports: [...transports] } : {}),
  }));
}
