import { ConflictError } from "#db/errors";
import type { Write } from "#db/write";
import { audit } from "../audit/audit.ts";
import type { RequestContext } from "../runtime.ts";
import { type AssertionRejection, verifyWebAuthnAssertion } from "../webauthn/assertion.ts";
import type { AuthenticationResponse, ClientData } from "../webauthn/responses.ts";
import type { Operation, TakenChallenge } from "./challenges.ts";
import { findOwnedCredential, type OwnedCredential, updateUsedCredential } from "./credential-records.ts";
import { type PasskeyErrorCode, type PasskeyRejection, rejectPasskeyRequest } from "./errors.ts";
import { acceptedOrigins, originMismatchDetails } from "./origins.ts";
import { userHandlesOf, userIdsOf } from "./user-handles.ts";
import { findUsers } from "./users.ts";

export type AssertionVerdict =
  | {
      ok: true;
      credential: OwnedCredential;
      userVerified: boolean;
      /** Belongs to the transaction that goes on; throws TakenError when the credential or its counter moved on. */
      write: Write;
    }
  /** `credential`: what the answer claims to be of, and may not be. */
  | (PasskeyRejection & { credential?: OwnedCredential });

/**
 * Judges the answer to a request of the passkey server, for login, second factor and transaction alike.
 *
 * @param about what was read from the body, and the challenge that it took
 */
export async function verifyPasskeyAssertion(
  context: RequestContext,
  about: { answer: AuthenticationResponse; clientData: ClientData; taken: TakenChallenge },
): Promise<AssertionVerdict> {
  const { runtime, tenant } = context;
  const { answer, clientData, taken } = about;
  const db = runtime.database.read;
  if (taken.expired)
    return rejectPasskeyRequest("assertion_rejected", { details: "the challenge has expired" });

  // Where the application named nobody the answer has to; at a transaction it may, and then it has to be somebody.
  const handle = answer.response.userHandle || null;
  if (handle === null && taken.userId === null)
    return rejectPasskeyRequest("unknown_user_handle", { details: "the answer names no user" });
  if (handle !== null && (taken.userId === null || taken.operation === "transaction")) {
    const named = await findUsers(db, tenant.id, userIdsOf(handle));
    if (named.length === 0)
      return rejectPasskeyRequest("unknown_user_handle", { details: "there is no such user" });
  }

  const credential = await findOwnedCredential(db, tenant.id, answer.id);
  if (!credential)
    return rejectPasskeyRequest("assertion_rejected", { details: "there is no such credential" });

  const secondFactor = taken.operation === "mfa_login";
  const { sign_count: signCount } = tenant.config.webauthn;
  const judged = await verifyWebAuthnAssertion(answer, clientData, credential, {
    challenge: taken.challenge,
    origins: acceptedOrigins(tenant.config, clientData.origin),
    rpId: tenant.config.passkey_server.relying_party.id,
    requireUserVerification: taken.userVerification === "required",
    // One that is a second factor only is on no other list, and refused as what it is.
    allowed: credential.mfaOnly && !secondFactor ? null : taken.allowed,
    userId: taken.userId,
    userHandles: userHandlesOf(credential.owner.userId),
    secondFactor,
    signCount,
  });
  if (!judged.ok) {
    const elsewhere = originMismatchDetails(tenant.config, clientData.origin);
    const rejection = elsewhere
      ? rejectPasskeyRequest("assertion_rejected", { details: elsewhere })
      : rejectionFor(judged.reason, taken.operation);
    return { ...rejection, credential };
  }

  const { userVerified, backupState, signCount: counted, signCountStale } = judged;
  const write: Write = async (tx) => {
    await updateUsedCredential(tx, context, {
      id: credential.id,
      signCount: counted,
      backupState,
      userVerified: userVerified && secondFactor,
      strict: signCount === "refuse",
    });
    const facts = { actor_user_id: credential.owner.userId, credential_id: credential.id };
    if (signCountStale) await audit(context, "passkey_sign_count_stale", facts)(tx);
  };
  return { ok: true, credential, userVerified, write };
}

/**
 * Writes what an assertion led to, in one transaction.
 *
 * @returns a refusal, with nothing written, when the credential, its counter or the transaction moved on meanwhile
 */
export async function writeAssertion(
  context: RequestContext,
  ...writes: Write[]
): Promise<PasskeyRejection | null> {
  try {
    await context.runtime.database.write.transaction(async (tx) => {
      for (const write of writes) await write(tx);
    });
    return null;
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    const details =
      error.reason === "transaction"
        ? "the transaction was answered meanwhile"
        : "the credential was used or removed meanwhile";
    return rejectPasskeyRequest("assertion_rejected", { details });
  }
}

const rejectionDetails: Record<Exclude<AssertionRejection, "mfa_only">, string> = {
  credential_not_allowed: "the credential is not one of those that were asked for",
  user_mismatch: "the credential is not the user's",
  user_handle_missing: "the answer names no user",
  user_handle_mismatch: "the answer names another user",
  cross_origin: "the page was in a frame of another site",
  not_verified:
    "type, challenge, origin, relying party, presence, verification or signature are not what they must be",
  backup_eligibility_changed: "the credential was eligible for backup and is not, or the other way round",
  sign_count: "the signature counter did not grow",
};

function rejectionFor(fault: AssertionRejection, operation: Operation): PasskeyRejection {
  if (fault !== "mfa_only")
    return rejectPasskeyRequest("assertion_rejected", { details: rejectionDetails[fault] });
  const code: PasskeyErrorCode =
    operation === "transaction" ? "mfa_credential_at_transaction" : "mfa_credential_at_login";
  return rejectPasskeyRequest(code);
}
