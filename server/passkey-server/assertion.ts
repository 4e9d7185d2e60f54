import { commit } from "#db/commit";
import { ConflictError } from "#db/errors";
import { type WriteOfParts, writeOf } from "#db/write";
import { audit } from "../audit/audit.ts";
import type { RequestContext } from "../context/context.ts";
import {
  type PasskeyErrorCode,
  type PasskeyRejection,
  rejectPasskeyRequest,
} from "../failures/passkey-server.ts";
import { type AssertionRejection, verifyWebAuthnAssertion } from "../webauthn/assertion.ts";
import type { AuthenticationResponse, ClientData } from "../webauthn/responses.ts";
import type { ConsumedChallenge, Operation } from "./challenges.ts";
import { findOwnedCredential, type OwnedCredential, usedCredential } from "./credential-records.ts";
import { acceptedOrigins, originMismatchDetails } from "./origins.ts";
import type { Process } from "./process.ts";
import { userHandlesOf } from "./user-handles.ts";
import { isUserHandle } from "./users.ts";

export type AssertionVerdict =
  | {
      ok: true;
      credential: OwnedCredential;
      userVerified: boolean;
      /** To commit with the caller's. They throw ConflictError if the credential changed concurrently. */
      writes: WriteOfParts[];
    }
  /** `credential`: the claimed, unproven credential. */
  | (PasskeyRejection & { credential?: OwnedCredential });

/**
 * Verifies an authentication response for login, second factor and transaction.
 *
 * @param about the parsed response, and the challenge that it consumed
 */
export async function verifyPasskeyAssertion(
  context: RequestContext<Process>,
  about: { answer: AuthenticationResponse; clientData: ClientData; consumed: ConsumedChallenge },
): Promise<AssertionVerdict> {
  const { runtime, tenant } = context;
  const { answer, clientData, consumed } = about;
  const db = runtime.database.read;
  if (consumed.expired) return reject("the challenge has expired");

  const credential = await findOwnedCredential(db, tenant.id, answer.id);
  // The response must name a user if the application named none. In a transaction it may name one, which must exist.
  const handle = answer.response.userHandle || null;
  if (handle === null && consumed.userId === null)
    return rejectPasskeyRequest("unknown_user_handle", { details: "the response names no user" });
  if (handle !== null && (consumed.userId === null || consumed.operation === "transaction")) {
    const isOwner = credential !== null && handlesOf(credential).includes(handle);
    if (!isOwner && !(await isUserHandle(db, tenant.id, handle)))
      return rejectPasskeyRequest("unknown_user_handle", { details: "the user does not exist" });
  }

  if (!credential) return reject("the credential does not exist");

  const secondFactor = consumed.operation === "mfa_login";
  const { sign_count: signCount } = tenant.config.webauthn;
  const verdict = await verifyWebAuthnAssertion(answer, clientData, credential, {
    challenge: consumed.challenge,
    origins: acceptedOrigins(tenant.config, clientData.origin),
    rpId: tenant.config.passkey_server.relying_party.id,
    requireUserVerification: consumed.userVerification === "required",
    // An MFA credential is on no list for logins; without the list the reason is `mfa_only`.
    allowed: credential.mfaOnly && !secondFactor ? null : consumed.allowed,
    userId: consumed.userId,
    userHandles: handlesOf(credential),
    secondFactor,
    signCount,
  });
  if (!verdict.ok) {
    const foreignOrigin = originMismatchDetails(tenant.config, clientData.origin);
    const rejection = foreignOrigin
      ? reject(foreignOrigin)
      : rejectionFor(verdict.reason, consumed.operation);
    return { ...rejection, credential };
  }

  const { userVerified, backupState, signCount: counted, signCountStale } = verdict;
  const used = usedCredential(context, {
    id: credential.id,
    signCount: counted,
    backupState,
    userVerified: userVerified && secondFactor,
    strict: signCount === "refuse",
  });
  const facts = { actor_user_id: credential.owner.userId, credential_id: credential.id };
  const writes = [writeOf(used)];
  if (signCountStale) writes.push(audit(context, "passkey_sign_count_stale", facts));
  return { ok: true, credential, userVerified, writes };
}

const reject = (details: string) => rejectPasskeyRequest("assertion_rejected", { details });

/** The handles, in base64url, that responses of a credential may name its owner by. */
function handlesOf({ owner: { userId, userHandle } }: OwnedCredential): string[] {
  return [...(userHandle ? [userHandle.toString("base64url")] : []), ...userHandlesOf(userId)];
}

/**
 * Commits the writes of a verified assertion together.
 *
 * @returns a rejection, with nothing written, if the credential or the transaction changed concurrently
 */
export async function writeAssertion(
  context: RequestContext<Process>,
  ...writes: WriteOfParts[]
): Promise<PasskeyRejection | null> {
  try {
    await commit(context.runtime.database, writes);
    return null;
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    return reject(
      error.reason === "transaction"
        ? "the transaction was answered concurrently"
        : "the credential was used or removed concurrently",
    );
  }
}

const rejectionDetails: Record<Exclude<AssertionRejection, "mfa_only">, string> = {
  credential_not_allowed: "the credential is not in the list of allowed credentials",
  user_mismatch: "the credential belongs to another user",
  user_handle_missing: "the response names no user",
  user_handle_mismatch: "the response names another user",
  cross_origin: "the page was framed by another site",
  not_verified:
    "type, challenge, origin, relying party, user presence, user verification or signature is invalid",
  public_key_refused: "the public key of the credential is not acceptable: register the credential again",
  backup_eligibility_changed: "the backup eligibility of the credential changed",
  sign_count: "the signature counter did not increase",
};

function rejectionFor(reason: AssertionRejection, operation: Operation): PasskeyRejection {
  if (reason !== "mfa_only") return reject(rejectionDetails[reason]);
  const code: PasskeyErrorCode =
    operation === "transaction" ? "mfa_credential_at_transaction" : "mfa_credential_at_login";
  return rejectPasskeyRequest(code);
}
