import { audit } from "../audit/audit.ts";
import { failureSubject, refundFailure } from "../limits/failures.ts";
import type { Scope, Write } from "../runtime.ts";
import { type AssertionFault, judgeAssertion, userHandleOf } from "./assertion.ts";
import { type AttestationFault, judgeAttestation } from "./attestation.ts";
import { offeredAlgorithms } from "./cose-key.ts";
import { assertionAnswer, readClientData, registrationAnswer } from "./webauthn-answer.ts";
import { openChallenge, takeChallenge } from "./webauthn-challenges.ts";
import {
  type CredentialId,
  findCredential,
  type NewCredential,
  updateCredential,
} from "./webauthn-credentials.ts";

/**
 * Options for signing in with a passkey, and the challenge in them, which is open once `write` is written.
 *
 * @param about `userId`: only this account's passkeys will do; `allowed`: the browser is told which ones. Without
 *   them any passkey will, and the answer says whose it is. An empty list is none.
 */
export async function openRequest(
  scope: Scope,
  about: { flowId: string; userId?: string; allowed?: readonly CredentialId[] },
): Promise<{ options: { publicKey: PublicKeyCredentialRequestOptionsJSON }; write: Write }> {
  const { passkey, webauthn } = scope.tenant.config;
  const passkeys = (about.allowed ?? []).filter(({ mfaOnly }) => !mfaOnly);
  const { challenge, timeoutSeconds, write } = openChallenge(scope, {
    flowId: about.flowId,
    ceremony: "request",
    ...(about.userId ? { userId: about.userId } : {}),
    allowed: passkeys.map(({ id }) => id),
  });
  const publicKey = {
    challenge,
    timeout: timeoutSeconds * 1000,
    rpId: webauthn.relying_party.id,
    userVerification: passkey.user_verification,
    ...(passkeys.length > 0 ? { allowCredentials: passkeys.map(descriptorOf) } : {}),
  };
  return { options: { publicKey }, write };
}

/**
 * Options for creating a passkey, and the challenge in them, which is open once `write` is written.
 *
 * @param about `user.id` is the account's UUID; `exclude` names credentials whose authenticators shall not make another
 */
export async function openCreation(
  scope: Scope,
  about: {
    flowId: string;
    user: { id: string; name: string; displayName: string };
    exclude: readonly CredentialId[];
  },
): Promise<{ options: { publicKey: PublicKeyCredentialCreationOptionsJSON }; write: Write }> {
  const { passkey, webauthn } = scope.tenant.config;
  const { id, name, displayName } = about.user;
  const { challenge, timeoutSeconds, write } = openChallenge(scope, {
    flowId: about.flowId,
    ceremony: "creation",
    userId: id,
  });
  const publicKey = {
    rp: { name: webauthn.relying_party.display_name, id: webauthn.relying_party.id },
    user: { id: userHandleOf(id), name, displayName },
    challenge,
    pubKeyCredParams: offeredAlgorithms.map((alg) => ({ type: "public-key" as const, alg })),
    timeout: timeoutSeconds * 1000,
    ...(about.exclude.length > 0 ? { excludeCredentials: about.exclude.map(descriptorOf) } : {}),
    authenticatorSelection: {
      requireResidentKey: true,
      residentKey: "required" as const,
      userVerification: passkey.user_verification,
    },
    attestation: passkey.attestation_preference,
  };
  return { options: { publicKey }, write };
}

const descriptorOf = ({ id, transports }: CredentialId) => ({
  type: "public-key" as const,
  id,
  ...(transports.length > 0 ? { transports } : {}),
});

export type VerifiedAssertion =
  | {
      ok: true;
      userId: string;
      credentialId: string;
      userVerified: boolean;
      /** Belongs to the step that goes on; throws TakenError("passkey") when the credential or its counter moved on. */
      write: Write;
    }
  | {
      ok: false;
      reason: "malformed" | "challenge_unknown" | "credential_unknown" | AssertionFault;
      /** Whose passkey it is, once its signature was found right: for the audit log. */
      userId?: string;
      credentialId?: string;
    };

/**
 * Verifies the answer to `openRequest`. The challenge is used up, whatever comes of it.
 *
 * @param about `userId`: the account that this flow has come to be about, if it has
 * @param about.response AuthenticationResponseJSON, as the client sent it; nothing in it makes this throw
 */
export async function verifyAssertion(
  scope: Scope,
  about: { flowId: string; response: unknown; userId?: string },
): Promise<VerifiedAssertion> {
  const { runtime, tenant } = scope;
  const { webauthn, passkey } = tenant.config;

  const answer = assertionAnswer.safeParse(about.response).data;
  const clientData = answer && readClientData(answer.response.clientDataJSON);
  if (!answer || !clientData) return { ok: false, reason: "malformed" };

  const { challenge } = clientData;
  const opened = await takeChallenge(scope, { flowId: about.flowId, ceremony: "request", challenge });
  // A challenge that was opened for one account is none for another, nor for whoever it may be.
  const userId = about.userId ?? null;
  if (!opened || (opened.userId !== null && opened.userId !== userId))
    return { ok: false, reason: "challenge_unknown" };

  const credential = await findCredential(runtime.database.read, tenant.id, answer.id);
  if (!credential) return { ok: false, reason: "credential_unknown" };

  const judged = await judgeAssertion(answer, clientData, credential, {
    challenge,
    origins: webauthn.relying_party.origins,
    rpId: webauthn.relying_party.id,
    requireUserVerification: passkey.user_verification === "required",
    allowed: opened.allowed,
    userId,
    signCount: webauthn.sign_count,
  });
  const owner = { userId: credential.userId, credentialId: credential.id };
  if (!judged.ok) {
    const authentic = judged.reason === "sign_count" || judged.reason === "mfa_only";
    return { ...judged, ...(authentic ? owner : {}) };
  }
  const { userVerified, signCountStale, signCount, backupState } = judged;
  const write: Write = async (tx) => {
    const strict = webauthn.sign_count === "refuse";
    await updateCredential(tx, scope, { id: credential.id, signCount, backupState, strict });
    const subject = failureSubject(runtime.vault, tenant.id, owner);
    await refundFailure(tx, { tenantId: tenant.id, method: "passkey", subject, source: "" });
    if (signCountStale) await audit(scope, "passkey_sign_count_stale", {}, credential.userId)(tx);
  };
  return { ok: true, ...owner, userVerified, write };
}

export type VerifiedAttestation =
  /** `insertCredential` writes it, as soon as the account exists. */
  | { ok: true; credential: NewCredential }
  | { ok: false; reason: "malformed" | "challenge_unknown" | "credential_taken" | AttestationFault };

/**
 * Verifies the answer to `openCreation`. The challenge is used up, whatever comes of it.
 *
 * @param about.response RegistrationResponseJSON, as the client sent it; nothing in it makes this throw
 */
export async function verifyAttestation(
  scope: Scope,
  about: { flowId: string; response: unknown; userId: string },
): Promise<VerifiedAttestation> {
  const { runtime, tenant } = scope;
  const { webauthn, passkey } = tenant.config;

  const answer = registrationAnswer.safeParse(about.response).data;
  const clientData = answer && readClientData(answer.response.clientDataJSON);
  if (!answer || !clientData) return { ok: false, reason: "malformed" };

  const { challenge } = clientData;
  const opened = await takeChallenge(scope, { flowId: about.flowId, ceremony: "creation", challenge });
  if (opened?.userId !== about.userId) return { ok: false, reason: "challenge_unknown" };

  const judged = await judgeAttestation(answer, clientData, {
    challenge,
    origins: webauthn.relying_party.origins,
    rpId: webauthn.relying_party.id,
    requireUserVerification: passkey.user_verification === "required",
  });
  if (!judged.ok) return judged;

  // Ensure nobody has this credential yet (WebAuthn Level 3 section 7.1 step 26); the table's key sees to the rest.
  const { credential } = judged;
  const taken = await findCredential(runtime.database.read, tenant.id, credential.id);
  if (taken) return { ok: false, reason: "credential_taken" };

  return { ok: true, credential };
}
