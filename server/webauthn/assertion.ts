import { verifyAuthenticationResponse } from "@simplewebauthn/server";
import { algorithmOf } from "./cose-key.ts";
import type { StoredCredential } from "./credential-record.ts";
import type { AuthenticationResponse, ClientData } from "./responses.ts";
import { hasCanonicalEncoding } from "./signature-encoding.ts";

export interface ExpectedAssertion {
  /** base64url; taken before. */
  challenge: string;
  origins: readonly string[];
  rpId: string;
  requireUserVerification: boolean;
  /** Ids of credentials that were listed; null when any will do. */
  allowed: readonly string[] | null;
  /** The account that is being signed in to, where that is known. */
  userId: string | null;
  /** Handles by which authenticators may know the credential's owner; when left out, that of an account. */
  userHandles?: readonly string[];
  /** Whether another factor was shown before, so that a credential that is a second factor only will do. */
  secondFactor: boolean;
  /** What a signature counter that did not grow leads to. */
  signCount: "refuse" | "warn";
}

export type AssertionRejection =
  | "credential_not_allowed"
  | "user_mismatch"
  | "user_handle_missing"
  | "user_handle_mismatch"
  | "cross_origin"
  | "not_verified"
  | "backup_eligibility_changed"
  | "sign_count"
  | "mfa_only";

export type AssertionVerdict =
  | { ok: true; userVerified: boolean; signCount: number; backupState: boolean; signCountStale: boolean }
  | { ok: false; reason: AssertionRejection };

/**
 * Judges the answer to an authentication ceremony, WebAuthn Level 3 section 7.2 from step 5 on. Knows no database:
 * whether the challenge was open (step 11) and which credential this is (step 6) is for the caller to find out.
 */
export async function verifyWebAuthnAssertion(
  answer: AuthenticationResponse,
  clientData: ClientData,
  credential: StoredCredential,
  expected: ExpectedAssertion,
): Promise<AssertionVerdict> {
  // Ensure the credential is one of those that were asked for, if any were (step 5).
  if (expected.allowed && !expected.allowed.includes(credential.id)) return refuse("credential_not_allowed");

  // Ensure the credential belongs to the account that is being signed in to (step 6, the user was identified before).
  if (expected.userId !== null && credential.userId !== expected.userId) return refuse("user_mismatch");

  // Ensure the answer says whose it is, where nobody has said so before (step 6, the user was not identified before).
  const handle = answer.response.userHandle || null;
  if (expected.userId === null && handle === null) return refuse("user_handle_missing");

  // Ensure it says that it is of the credential's owner (step 6).
  const { userHandles = [userHandleOf(credential.userId)] } = expected;
  if (handle !== null && !userHandles.includes(handle)) return refuse("user_handle_mismatch");

  // Ensure the page was not framed by another site (steps 13 and 14): nobody may embed it.
  if (clientData.crossOrigin === true || clientData.topOrigin !== undefined) return refuse("cross_origin");

  // Ensure the signature has the one form it may have (section 6.5.5): the library reads others too.
  const signature = Buffer.from(answer.response.signature, "base64url");
  if (!hasCanonicalEncoding(algorithmOf(credential.publicKey), signature)) return refuse("not_verified");

  // Ensure type, challenge, origin, relying party, presence, verification, backup flags and signature are what they
  // must be (steps 10 to 12, 15 to 18, 20 and 21).
  const verified = await verify(answer, credential, expected);
  if (!verified) return refuse("not_verified");
  const { newCounter, userVerified, credentialDeviceType, credentialBackedUp } = verified;

  // Ensure the credential has not become eligible for backup, or ceased to be (step 19).
  if ((credentialDeviceType === "multiDevice") !== credential.backupEligible)
    return refuse("backup_eligibility_changed");

  // Ensure the counter grew, unless the authenticator does not count: otherwise there may be two of it (step 22).
  const counts = newCounter !== 0 || credential.signCount !== 0;
  const signCountStale = counts && newCounter <= credential.signCount;
  if (signCountStale && expected.signCount === "refuse") return refuse("sign_count");

  // Ensure the credential was not made to be a second factor only, unless that is what it is here.
  if (credential.mfaOnly && !expected.secondFactor) return refuse("mfa_only");

  return { ok: true, userVerified, signCount: newCounter, backupState: credentialBackedUp, signCountStale };
}

/** `user.id` of an account: the sixteen bytes of its UUID, base64url. */
export function userHandleOf(userId: string): string {
  return Buffer.from(userId.replaceAll("-", ""), "hex").toString("base64url");
}

const refuse = (reason: AssertionRejection) => ({ ok: false as const, reason });

/** The library throws for whatever is wrong; nothing of what it says is for the client. */
async function verify(
  answer: AuthenticationResponse,
  credential: StoredCredential,
  expected: ExpectedAssertion,
) {
  const { clientDataJSON, authenticatorData, signature } = answer.response;
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: {
        id: answer.id,
        rawId: answer.rawId,
        type: answer.type,
        clientExtensionResults: {},
        response: { clientDataJSON, authenticatorData, signature },
      },
      expectedChallenge: expected.challenge,
      expectedOrigin: [...expected.origins],
      expectedRPID: expected.rpId,
      requireUserVerification: expected.requireUserVerification,
      credential: {
        id: credential.id,
        publicKey: new Uint8Array(credential.publicKey),
        // The counter is judged above, after the signature: only an authentic one is worth an alarm.
        counter: 0,
      },
    });
    return verified ? authenticationInfo : null;
  } catch {
    return null;
  }
}
