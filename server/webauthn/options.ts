import type { Config } from "../config/schema.ts";
import { offeredAlgorithms } from "./algorithms.ts";
import type { CredentialId } from "./credential-record.ts";

/** A passkey is a first factor by itself; a security key is a second factor. */
export type CredentialKind = "passkey" | "security_key";

/** The owner of a credential to be created. `handle`: `user.id` of the ceremony. */
export interface CredentialOwner {
  handle: Buffer;
  name: string;
  displayName: string;
}

/** A challenge and its timeout. */
interface TimedChallenge {
  challenge: string;
  timeoutSeconds: number;
}

/** PublicKeyCredentialRequestOptionsJSON, WebAuthn Level 3 section 5.5. */
export function requestOptions(
  { webauthn, passkey, mfa }: Config,
  { challenge, timeoutSeconds }: TimedChallenge,
  about: {
    allowed: readonly CredentialId[];
    secondFactor: boolean;
    userVerification: UserVerificationRequirement;
  },
): PublicKeyCredentialRequestOptionsJSON {
  const { allowed, secondFactor, userVerification } = about;
  // A hint makes the browser prefer one kind of authenticator: security keys, if the account has one.
  const hasSecurityKey = allowed.some(({ mfaOnly }) => mfaOnly);
  const keyHints = hasSecurityKey ? hintsFor[mfa.security_keys.authenticator_attachment] : [];
  return {
    challenge,
    timeout: timeoutSeconds * 1000,
    rpId: webauthn.relying_party.id,
    userVerification,
    ...(allowed.length > 0 ? { allowCredentials: allowed.map(descriptorOf) } : {}),
    ...hinting(secondFactor ? keyHints : passkey.hints),
  };
}

/** PublicKeyCredentialCreationOptionsJSON, WebAuthn Level 3 section 5.4. */
export function creationOptions(
  config: Config,
  { challenge, timeoutSeconds }: TimedChallenge,
  about: { user: CredentialOwner; exclude: readonly CredentialId[]; kind: CredentialKind },
): PublicKeyCredentialCreationOptionsJSON {
  const { id, display_name } = config.webauthn.relying_party;
  const { user, exclude, kind } = about;
  return {
    rp: { name: display_name, id },
    user: { id: user.handle.toString("base64url"), name: user.name, displayName: user.displayName },
    challenge,
    pubKeyCredParams: offeredAlgorithms.map((alg) => ({ type: "public-key" as const, alg })),
    timeout: timeoutSeconds * 1000,
    ...(exclude.length > 0 ? { excludeCredentials: exclude.map(descriptorOf) } : {}),
    ...optionsOfKind[kind](config),
  };
}

type KindOptions = Pick<
  PublicKeyCredentialCreationOptionsJSON,
  "authenticatorSelection" | "attestation" | "hints"
>;

const optionsOfKind: Record<CredentialKind, (config: Config) => KindOptions> = {
  passkey: ({ passkey }) => ({
    authenticatorSelection: {
      requireResidentKey: true,
      residentKey: "required",
      userVerification: passkey.user_verification,
    },
    attestation: passkey.attestation_preference,
    ...hinting(passkey.hints),
  }),
  security_key: ({ mfa: { security_keys } }) => ({
    authenticatorSelection: {
      ...attachmentOf(security_keys.authenticator_attachment),
      requireResidentKey: false,
      residentKey: "discouraged",
      userVerification: security_keys.user_verification,
    },
    attestation: security_keys.attestation_preference,
    ...hinting(hintsFor[security_keys.authenticator_attachment]),
  }),
};

type Attachment = Config["mfa"]["security_keys"]["authenticator_attachment"];

const attachmentOf = (attachment: Attachment) =>
  attachment === "no_preference" ? {} : { authenticatorAttachment: attachment };

/** Hints take precedence over the attachment (section 5.8.7), so the two must agree. */
const hintsFor: Record<Attachment, readonly string[]> = {
  "cross-platform": ["security-key"],
  platform: ["client-device"],
  no_preference: [],
};

const hinting = (hints: readonly string[]) => (hints.length > 0 ? { hints: [...hints] } : {});

const descriptorOf = ({ id, transports }: CredentialId) => ({
  type: "public-key" as const,
  id,
  ...(transports.length > 0 ? { transports } : {}),
});
