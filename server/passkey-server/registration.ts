import type { RequestContext } from "../context/context.ts";
import {
  type PasskeyErrorCode,
  type PasskeyRejection,
  rejectPasskeyRequest,
} from "../failures/passkey-server.ts";
import { type AttestationRejection, verifyWebAuthnAttestation } from "../webauthn/attestation.ts";
import { authenticatorName } from "../webauthn/authenticator-names.ts";
import { auditPasskeys, auditRejection } from "./audit.ts";
import { consumeChallenge, newChallenge, type Operation, openChallenge } from "./challenges.ts";
import { findDescriptors, insertCredential } from "./credential-records.ts";
import { readRegistrationResponse } from "./credential-responses.ts";
import { type CredentialKind, creationOptions, settingsOf } from "./options.ts";
import { acceptedOrigins, originMismatchDetails } from "./origins.ts";
import type { Process } from "./process.ts";
import { preloadSigningKey, signToken } from "./tokens.ts";
import { trustedModels } from "./trusted-models.ts";
import { findUserById, type StatedUser, saveUser } from "./users.ts";

/** A response to one kind is not accepted for the other, because the requirements on the authenticator differ. */
const ceremonies = {
  passkey: { operation: "registration", audited: "webauthn_registration" },
  mfa: { operation: "mfa_registration", audited: "mfa_registration" },
} as const satisfies Record<CredentialKind, { operation: Operation; audited: string }>;

/** Creates or updates the user, and opens a challenge for a new credential. */
export async function initializeRegistration(
  context: RequestContext<Process>,
  kind: CredentialKind,
  given: StatedUser,
): Promise<{ ok: true; publicKey: ReturnType<typeof creationOptions> }> {
  const { runtime, tenant } = context;
  preloadSigningKey(context);
  const challenge = newChallenge(context);
  const settings = settingsOf(tenant.config, kind);
  const { operation, audited } = ceremonies[kind];
  return runtime.database.write.transaction(async (tx) => {
    const user = await saveUser(tx, context, given);
    const exclude = await findDescriptors(tx, tenant.id, user.id, kind);
    await openChallenge(context, {
      operation,
      challenge,
      userId: user.id,
      allowed: null,
      userVerification: settings.user_verification,
      transactionId: null,
      seconds: settings.timeout,
    })(tx);
    await auditPasskeys(context, `${audited}_init_succeeded`, { actorUserId: user.userId })(tx);
    return { ok: true, publicKey: creationOptions(tenant.config, { challenge, user, exclude, kind }) };
  });
}

/**
 * Verifies the response to `initializeRegistration` and stores the credential. The challenge is consumed even if the
 * response is rejected.
 *
 * @param body RegistrationResponseJSON, unvalidated; no content makes this throw
 */
export async function finalizeRegistration(
  context: RequestContext<Process>,
  kind: CredentialKind,
  body: unknown,
): Promise<{ ok: true; token: string } | PasskeyRejection> {
  const { runtime, tenant, now } = context;
  const { operation, audited } = ceremonies[kind];

  const read = readRegistrationResponse(body);
  if (!read.ok) return rejectPasskeyRequest("malformed_attestation", { details: read.details });
  const { answer, clientData } = read;

  const consumed = await consumeChallenge(context, [operation], clientData.challenge);
  if (!consumed) {
    const rejection = rejectPasskeyRequest("unknown_registration_challenge");
    return auditRejection(context, `${audited}_final`, rejection, { credentialId: answer.id }, "public");
  }

  const user =
    consumed.userId === null ? null : await findUserById(runtime.database.read, tenant.id, consumed.userId);
  const facts = { actorUserId: user?.userId, credentialId: answer.id };
  const fail = (code: PasskeyErrorCode, details?: string) => {
    const rejection = rejectPasskeyRequest(code, details === undefined ? {} : { details });
    return auditRejection(context, `${audited}_final`, rejection, facts);
  };
  if (!user) return fail("user_not_found");
  if (consumed.expired) return fail("attestation_rejected", "the challenge has expired");

  const verdict = await verifyWebAuthnAttestation(answer, clientData, {
    challenge: consumed.challenge,
    origins: acceptedOrigins(tenant.config, clientData.origin),
    rpId: tenant.config.passkey_server.relying_party.id,
    requireUserPresence: true,
    // Checked below, because it has an error of its own.
    requireUserVerification: false,
    formats: tenant.config.passkey.attestation_formats,
    trustedModels: trustedModels(context),
    now,
  });
  if (!verdict.ok) {
    const foreignOrigin = originMismatchDetails(tenant.config, clientData.origin);
    return fail("attestation_rejected", foreignOrigin ?? rejectionDetails[verdict.reason]);
  }
  const { credential, attestationTrust } = verdict;
  if (tenant.config.passkey_server.attestation_required && attestationTrust !== "verified")
    return fail("attestation_rejected", "the attestation is not that of an accepted authenticator model");
  if (consumed.userVerification === "required" && !credential.userVerified) return fail("user_not_verified");

  // Sign before the write, so that no credential is stored without a token.
  const token = await signToken(context, {
    userId: user.userId,
    credentialId: credential.id,
    mfaOnly: kind === "mfa",
    userVerified: credential.userVerified,
  });
  const name = authenticatorName(credential.aaguid) ?? `cred-${credential.id}`;
  const stored = { ...credential, attestationTrust, mfaOnly: kind === "mfa", name };
  const conflict = await runtime.database.write.transaction(async (tx) => {
    const reason = await insertCredential(tx, context, user.id, stored);
    if (!reason) await auditPasskeys(context, `${audited}_final_succeeded`, facts)(tx);
    return reason;
  });
  return conflict ? fail(conflict) : { ok: true, token };
}

const rejectionDetails: Record<AttestationRejection, string> = {
  cross_origin: "the page was framed by another site",
  attestation_object_malformed: "the attestation object is malformed",
  attestation_format_refused: "attestation statements of this format are not accepted",
  not_verified: "type, challenge, origin, relying party, user presence or algorithm is invalid",
  credential_id_mismatch: "the response names another credential",
  credential_id_too_long: "the credential id is too long",
  public_key_refused: "the public key is not acceptable",
  attestation_statement_refused: "the attestation statement is invalid",
};
