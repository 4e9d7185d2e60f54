import { verifyAuthenticationResponse } from "@simplewebauthn/server";
import { readAuthenticatorData } from "./authenticator-data.ts";
import { importCredentialKey } from "./cose-key.ts";
import type { StoredCredential } from "./credential-record.ts";
import { type Framing, isAcceptedFraming, noFraming } from "./framing.ts";
import type { AuthenticationResponse, ClientData } from "./responses.ts";
import { hasEncodingOf } from "./signature-encoding.ts";
import { userHandlesOf } from "./user-handle.ts";

export interface ExpectedAssertion {
  /** base64url; the caller has consumed it. */
  challenge: string;
  origins: readonly string[];
  rpId: string;
  requireUserVerification: boolean;
  /** Accepted frames; default: none. */
  framing?: Framing;
  /** Ids of the credentials in `allowCredentials`; null if there were none. */
  allowed: readonly string[] | null;
  /** The account that is signing in, if it is known. */
  userId: string | null;
  /** Accepted user handles of the credential's owner; default: those of `userHandlesOf`. */
  userHandles?: readonly string[];
  /** Whether another factor was verified before, so that a security key is accepted. */
  secondFactor: boolean;
  /** What to do if the signature counter did not increase. */
  signCount: "refuse" | "warn";
}

export type AssertionRejection =
  | "credential_not_allowed"
  | "user_mismatch"
  | "user_handle_missing"
  | "user_handle_mismatch"
  | "cross_origin"
  | "not_verified"
  | "public_key_refused"
  | "backup_eligibility_changed"
  | "sign_count"
  | "mfa_only";

export type AssertionVerdict =
  | { ok: true; userVerified: boolean; signCount: number; backupState: boolean; signCountStale: boolean }
  | { ok: false; reason: AssertionRejection };

/**
 * Verifies the response of an authentication ceremony, WebAuthn Level 3 section 7.2 from step 5 on. Does not read the
 * database: the caller has consumed the challenge (step 11) and found the credential (step 6). What
 * `@simplewebauthn/server` accepts beyond the specification is rejected before it is called: see
 * `docs/decisions/0055-assertions-by-the-library.md`.
 *
 * @param clientData as `readClientData` returns it of this response
 */
export async function verifyWebAuthnAssertion(
  answer: AuthenticationResponse,
  clientData: ClientData,
  credential: StoredCredential,
  expected: ExpectedAssertion,
): Promise<AssertionVerdict> {
  // Ensure the credential is in `allowCredentials`, if that was given (step 5).
  if (expected.allowed && !expected.allowed.includes(credential.id)) return reject("credential_not_allowed");

  // Ensure the credential belongs to the account (step 6, the user was identified before).
  if (expected.userId !== null && credential.userId !== expected.userId) return reject("user_mismatch");

  // Ensure the response has a user handle, if the user is not known (step 6, the user was not identified before). A
  // security key has none; as a first factor it is rejected below, once its signature is verified.
  const handle = answer.response.userHandle || null;
  const isSecondFactorOnly = credential.mfaOnly && !expected.secondFactor;
  if (expected.userId === null && handle === null && !isSecondFactorOnly)
    return reject("user_handle_missing");

  // Ensure the user handle is that of the credential's owner (step 6). An imported credential has that of its origin.
  const { userHandles = userHandlesOf(credential) } = expected;
  if (handle !== null && !userHandles.includes(handle)) return reject("user_handle_mismatch");

  // Ensure the page was embedded by no other site than an accepted one (steps 13 and 14).
  if (!isAcceptedFraming(clientData, expected.framing ?? noFraming)) return reject("cross_origin");

  // Ensure the stored key is acceptable. Former versions stored others, and imports did.
  const key = importCredentialKey(credential.publicKey, "storage");
  if (!key) return reject("public_key_refused");

  // Ensure the authenticator data is exactly the parts that its flags name (section 6.1), and the signature has its one
  // encoding (section 6.5.5): the library reads others too.
  const { authenticatorData, signature } = answer.response;
  if (!readAuthenticatorData(Buffer.from(authenticatorData, "base64url"))) return reject("not_verified");
  if (!hasEncodingOf(key, Buffer.from(signature, "base64url"))) return reject("not_verified");

  // Ensure id, type, challenge, origin, relying party, presence, verification, backup flags and signature are valid
  // (section 5.1, steps 10 to 12, 15 to 18, 20 and 21).
  const verified = await verify(answer, credential, expected);
  if (!verified) return reject("not_verified");
  const { newCounter: signCount, userVerified, credentialDeviceType, credentialBackedUp } = verified;

  // Ensure the backup eligibility of the credential has not changed (step 19). Only authentic responses are reported.
  if ((credentialDeviceType === "multiDevice") !== credential.backupEligible)
    return reject("backup_eligibility_changed");

  // Ensure the counter increased, unless the authenticator has none: otherwise it may be cloned (step 22).
  const counts = signCount !== 0 || credential.signCount !== 0;
  const signCountStale = counts && signCount <= credential.signCount;
  if (signCountStale && expected.signCount === "refuse") return reject("sign_count");

  // Ensure a security key is not used as the first factor.
  if (isSecondFactorOnly) return reject("mfa_only");

  return { ok: true, userVerified, signCount, backupState: credentialBackedUp, signCountStale };
}

const reject = (reason: AssertionRejection) => ({ ok: false as const, reason });

/** The library throws for every error; its messages are not for the client. */
async function verify(
  { id, rawId, type, response }: AuthenticationResponse,
  credential: StoredCredential,
  expected: ExpectedAssertion,
) {
  const { clientDataJSON, authenticatorData, signature } = response;
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: {
        id,
        rawId,
        type,
        clientExtensionResults: {},
        response: { clientDataJSON, authenticatorData, signature },
      },
      expectedChallenge: expected.challenge,
      expectedOrigin: [...expected.origins],
      expectedRPID: expected.rpId,
      expectedTopOrigin: [...(expected.framing?.topOrigins ?? [])],
      requireUserVerification: expected.requireUserVerification,
      credential: {
        id: credential.id,
        publicKey: new Uint8Array(credential.publicKey),
        // The library compares the counter before it verifies the signature; only authentic responses are reported.
        counter: 0,
      },
    });
    return verified ? authenticationInfo : null;
  } catch {
    return null;
  }
}
