import { sha256 } from "../lib/sha256.ts";
import { readAuthenticatorData } from "./authenticator-data.ts";
import { importCredentialKey } from "./cose-key.ts";
import type { StoredCredential } from "./credential-record.ts";
import { type Framing, isAcceptedFraming, noFraming } from "./framing.ts";
import type { AuthenticationResponse, ClientData } from "./responses.ts";
import { userHandlesOf } from "./user-handle.ts";
import { verifySignature } from "./verify-signature.ts";

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
 * database: the caller has consumed the challenge (step 11) and found the credential (step 6).
 *
 * @param clientData as `readClientData` returns it of this response
 */
export function verifyWebAuthnAssertion(
  answer: AuthenticationResponse,
  clientData: ClientData,
  credential: StoredCredential,
  expected: ExpectedAssertion,
): AssertionVerdict {
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

  // Ensure the id is that of the credential that signed (section 5.1: `id` is `rawId` in base64url).
  if (answer.id !== answer.rawId) return reject("not_verified");

  // Ensure the ceremony was an authentication (step 10).
  if (clientData.type !== "webauthn.get") return reject("not_verified");

  // Ensure the challenge is the one that was consumed (step 11).
  if (clientData.challenge !== expected.challenge) return reject("not_verified");

  // Ensure the page has an accepted origin (step 12).
  if (!expected.origins.includes(clientData.origin)) return reject("not_verified");

  // Ensure the authenticator signed for this relying party (step 15).
  const bytes = Buffer.from(answer.response.authenticatorData, "base64url");
  const data = readAuthenticatorData(bytes);
  if (!data?.rpIdHash.equals(sha256(expected.rpId))) return reject("not_verified");

  // Ensure the user was present (step 16).
  if (!data.userPresent) return reject("not_verified");

  // Ensure the user was verified, if that is required (step 17).
  if (expected.requireUserVerification && !data.userVerified) return reject("not_verified");

  // Ensure only a credential that may be backed up is backed up (step 18).
  if (data.backedUp && !data.backupEligible) return reject("not_verified");

  // Ensure the stored key is acceptable. Former versions stored others, and imports did.
  const key = importCredentialKey(credential.publicKey, "storage");
  if (!key) return reject("public_key_refused");

  // Ensure the credential's key signed this data (steps 20 and 21).
  const clientDataHash = sha256(Buffer.from(answer.response.clientDataJSON, "base64url"));
  const signed = Buffer.concat([bytes, clientDataHash]);
  const signature = Buffer.from(answer.response.signature, "base64url");
  if (!verifySignature(key, signed, signature)) return reject("not_verified");

  // Ensure the backup eligibility of the credential has not changed (step 19). Only authentic responses are reported.
  if (data.backupEligible !== credential.backupEligible) return reject("backup_eligibility_changed");

  // Ensure the counter increased, unless the authenticator has none: otherwise it may be cloned (step 22).
  const { signCount, userVerified, backedUp: backupState } = data;
  const counts = signCount !== 0 || credential.signCount !== 0;
  const signCountStale = counts && signCount <= credential.signCount;
  if (signCountStale && expected.signCount === "refuse") return reject("sign_count");

  // Ensure a security key is not used as the first factor.
  if (isSecondFactorOnly) return reject("mfa_only");

  return { ok: true, userVerified, signCount, backupState, signCountStale };
}

const reject = (reason: AssertionRejection) => ({ ok: false as const, reason });
