import type { Databases } from "#db/client";
import type { Part } from "#db/part";
import { type Write, writeOf } from "#db/write";
import { audit } from "../../audit/audit.ts";
import type { AuditOutputs } from "../../audit/audit-output.ts";
import type { Config } from "../../config/schema.ts";
import type { RequestContext } from "../../context/context.ts";
import { type FactsJson, factsOfJson, type UserFacts } from "../../identity/facts.ts";
import type { Sealing } from "../../keys/vault.ts";
import type { OnPlatform } from "../../lib/platform.ts";
import { failureSubject, successPart } from "../../limits/failure-counters.ts";
import { usedPart } from "../../sessions/single-use.ts";
import { type AssertionRejection, verifyWebAuthnAssertion } from "../../webauthn/assertion.ts";
import { type AttestationRejection, verifyWebAuthnAttestation } from "../../webauthn/attestation.ts";
import type { AuthenticatorModels } from "../../webauthn/authenticator-metadata.ts";
import { authenticatorName } from "../../webauthn/authenticator-names.ts";
import type { CredentialId, NewCredential, StoredCredential } from "../../webauthn/credential-record.ts";
import type { Framing } from "../../webauthn/framing.ts";
import {
  type CredentialKind,
  type CredentialOwner,
  creationOptions,
  requestOptions,
} from "../../webauthn/options.ts";
import { ceremonyOrigins } from "../../webauthn/origins.ts";
import {
  type AuthenticationResponse,
  authenticationResponse,
  type ClientData,
  readClientData,
  registrationResponse,
} from "../../webauthn/responses.ts";
import {
  type Ceremony,
  type ConsumedChallenge,
  consumeChallenge,
  consumedPart,
  openChallenge,
  openedFor,
} from "../webauthn-challenges.ts";
import {
  type CredentialRow,
  credentialOwnerPart,
  credentialPart,
  isCredentialId,
  storedCredential,
  usedCredential,
} from "../webauthn-credentials.ts";
import { passkeyName } from "./passkey-name.ts";
import * as sealedChallenge from "./sealed-challenge.ts";
import { creationState } from "./user-handles.ts";

/** What this module takes of the process. */
type Process = OnPlatform & Databases & AuditOutputs & Sealing & AuthenticatorModels;

/** What an assertion must prove. */
export interface Proof {
  /** True if the assertion is a second factor, for which security keys are accepted. */
  secondFactor?: boolean;
  /** Requires user verification regardless of the configuration: possession alone would add no proof. */
  verified?: boolean;
}

/**
 * Creates request options, with a new challenge, for signing in with a passkey or for a second factor. The challenge is
 * valid once `write` has run.
 *
 * @param about `userId`: accepts only credentials of this account; `allowed`: the credentials listed to the browser,
 *   without security keys for a first factor. If it is absent or empty, any passkey is accepted, and the response
 *   identifies the account.
 */
export async function createRequestOptions(
  context: RequestContext<Process>,
  about: Proof & { flowId: string; userId?: string; allowed?: readonly CredentialId[] },
): Promise<{ options: { publicKey: PublicKeyCredentialRequestOptionsJSON }; write: Write }> {
  const { config } = context.tenant;
  const { secondFactor = false } = about;
  const allowed = (about.allowed ?? []).filter(({ mfaOnly }) => secondFactor || !mfaOnly);
  const { write, ...timed } = openChallenge(context, {
    flowId: about.flowId,
    ceremony: requestCeremony(about),
    ...(about.userId ? { userId: about.userId } : {}),
    allowed: allowed.map(({ id }) => id),
  });
  const userVerification = userVerificationOf(config, about);
  return {
    options: { publicKey: requestOptions(config, timed, { allowed, secondFactor, userVerification }) },
    write,
  };
}

/**
 * Creates options, with a new challenge, for creating a credential. The challenge is valid once `write` has run.
 *
 * @param about `user.id`: the account; `pending`: credentials of its registration, whose authenticators must not create
 *   another one, as those of the account's; `conditional`: the browser may
 *   create a passkey without a prompt, for example after a password manager has filled in a password
 */
export async function createCreationOptions(
  context: RequestContext<Process>,
  about: {
    flowId: string;
    user: Omit<CredentialOwner, "handle"> & { id: string };
    pending: readonly CredentialId[];
    kind: CredentialKind;
    conditional?: boolean;
  },
): Promise<{
  options: { publicKey: PublicKeyCredentialCreationOptionsJSON; mediation?: "conditional" };
  write: Write;
}> {
  const { conditional = false, kind, pending } = about;
  const { id: userId, ...shown } = about.user;
  const { write, ...timed } = openChallenge(context, {
    flowId: about.flowId,
    ceremony: kind === "passkey" && conditional ? "conditional_creation" : creationCeremonies[kind][0],
    userId,
  });
  const { handle, existing } = await creationState(context, userId);
  const publicKey = creationOptions(context.tenant.config, timed, {
    user: { ...shown, handle },
    exclude: [...existing, ...pending],
    kind,
  });
  return { options: { publicKey, ...(conditional ? { mediation: "conditional" as const } : {}) }, write };
}

/**
 * Creates request options with a sealed challenge, for a passkey login whose flow is not started yet. Nothing is stored.
 */
export function unstartedRequestOptions(context: sealedChallenge.ChallengeContext): {
  publicKey: PublicKeyCredentialRequestOptionsJSON;
} {
  const { config } = context.tenant;
  const timed = sealedChallenge.sealChallenge(context);
  const userVerification = userVerificationOf(config, {});
  return { publicKey: requestOptions(config, timed, { allowed: [], secondFactor: false, userVerification }) };
}

const requestCeremony = ({ secondFactor }: Proof): Ceremony =>
  secondFactor ? "second_factor_request" : "request";

const creationCeremonies = {
  passkey: ["creation", "conditional_creation"],
  security_key: ["security_key_creation"],
} as const satisfies Record<CredentialKind, readonly [Ceremony, ...Ceremony[]]>;

function userVerificationOf({ passkey, mfa }: Config, { secondFactor, verified }: Proof) {
  if (verified) return "required";
  return secondFactor ? mfa.security_keys.user_verification : passkey.user_verification;
}

export type VerifiedAssertion =
  | {
      ok: true;
      userId: string;
      credentialId: string;
      userVerified: boolean;
      /** Whether the key is proved to stay in a hardware authenticator. */
      hardwareProtected: boolean;
      /** The facts of the account, unless the proof is a second factor. */
      owner: UserFacts | null;
      /** Update the credential. They refuse with `passkey` if it or its counter was changed concurrently. */
      writes: Write[];
    }
  | {
      ok: false;
      reason: "malformed" | "challenge_unknown" | AssertionRejection;
      /** The credential's owner, for the audit log. Present only if the signature was valid. */
      userId?: string;
      credentialId?: string;
    }
  /** No account has this credential, so the browser may delete it. */
  | { ok: false; reason: "credential_unknown"; credentialId: string; userId?: never };

/** A readable response to request options, and what was found for it. */
export interface FoundAssertion {
  answer: AuthenticationResponse;
  clientData: ClientData;
  /** What its challenge was opened for; null if there is no such challenge, or if it was sealed. */
  consumed: ConsumedChallenge | null;
  /** Its sealed challenge, used for the first time; null if it has none. */
  sealed: sealedChallenge.OpenedSeal | null;
  credential: CredentialRow | null;
  owner: FactsJson | null;
}

/**
 * Asks for what a response to request options is judged by, and consumes its challenge: one of the flow, or a sealed one.
 * `verifyAssertion` judges what was found.
 *
 * @param response AuthenticationResponseJSON as the client sent it
 * @param condition SQL of whether to consume the challenge
 * @returns null if the response is malformed
 */
export function askForAssertion(
  context: sealedChallenge.ChallengeContext,
  { flowId, response }: { flowId: string; response: unknown },
  condition: string,
): { parts: Part[]; found(returned: object): FoundAssertion } | null {
  const tenantId = context.tenant.id;
  const answer = authenticationResponse.safeParse(response).data;
  const clientData = answer && readClientData(answer.response.clientDataJSON);
  if (!answer || !clientData) return null;
  const { challenge } = clientData;
  const sealed = sealedChallenge.openChallenge(context, challenge);
  const ceremonies: Ceremony[] = ["request", "second_factor_request"];
  return {
    parts: [
      sealed
        ? usedPart(tenantId, { id: challenge, ...sealed }, condition)
        : consumedPart({ tenantId, flowId, ceremonies, challenge }, condition),
      credentialPart(tenantId, answer.id),
      credentialOwnerPart(tenantId, answer.id),
    ],
    found(returned) {
      const { used, consumed = null, ...rest } = returned as Returned;
      const { credential, owner } = rest;
      return { answer, clientData, consumed, sealed: used ? sealed : null, credential, owner };
    },
  };
}

/** What the parts of `askForAssertion` return. */
interface Returned extends Pick<FoundAssertion, "credential" | "owner"> {
  used?: boolean;
  consumed?: ConsumedChallenge | null;
}

/**
 * Verifies the response to request options. Its challenge is consumed even if the response is rejected.
 *
 * @param found by `askForAssertion`
 * @param about the same as for the options. `userId`: the account that the flow has identified, if any
 * @param about.startedIn the origin of the page in whose frame the flow was started, if any
 */
export async function verifyAssertion(
  context: RequestContext<Process>,
  found: FoundAssertion | null,
  about: Proof & { userId?: string; startedIn?: string | undefined } = {},
): Promise<VerifiedAssertion> {
  if (!found) return { ok: false, reason: "malformed" };
  const { runtime, tenant, now } = context;
  const { webauthn } = tenant.config;
  const { answer, clientData, credential: row, owner: ownerFacts } = found;

  const { challenge } = clientData;
  const secondFactor = about.secondFactor === true;
  const opened = openedFor(found.consumed, now);
  // A challenge for one account is rejected for any other account, and if the flow has identified none.
  const userId = about.userId ?? null;
  const isOfFlow =
    opened?.ceremony === requestCeremony(about) && (opened.user_id === null || opened.user_id === userId);
  // A sealed one signs in. It proves nothing for an account that the flow knows already.
  const isSealed =
    found.sealed !== null &&
    sealedChallenge.isInTime(found.sealed, now) &&
    userId === null &&
    requestCeremony(about) === "request";
  if (!isOfFlow && !isSealed) return { ok: false, reason: "challenge_unknown" };

  const credential = row ? storedCredential(row) : null;
  if (!credential) return { ok: false, reason: "credential_unknown", credentialId: answer.id };

  const judged = await verifyWebAuthnAssertion(answer, clientData, credential, {
    challenge,
    origins: ceremonyOrigins(tenant.config),
    framing: framingOf(tenant.config, about),
    rpId: webauthn.relying_party.id,
    requireUserVerification: userVerificationOf(tenant.config, about) === "required",
    allowed: opened?.allowed ?? null,
    userId,
    secondFactor,
    signCount: webauthn.sign_count,
  });
  const owner = { userId: credential.userId, credentialId: credential.id };
  if (!judged.ok) {
    const authentic = judged.reason === "sign_count" || judged.reason === "mfa_only";
    return { ...judged, ...(authentic ? owner : {}) };
  }
  const { userVerified, signCountStale, signCount, backupState } = judged;
  const used = usedCredential(context, {
    id: credential.id,
    signCount,
    backupState,
    userVerified: userVerified && secondFactor,
    strict: webauthn.sign_count === "refuse",
    userHandle: accountHandleIn(answer, credential),
  });
  const proved = [
    { userId: owner.userId },
    ...(secondFactor || userVerified ? [{ secondFactorOf: owner.userId }] : []),
  ];
  const subject = proved.flatMap((of) => failureSubject(runtime.vault, tenant.id, of));
  const success = successPart({ tenantId: tenant.id, method: "passkey", subject, source: "" });
  const writes = [
    writeOf(used, success),
    ...(signCountStale ? [audit(context, "passkey_sign_count_stale", {}, credential.userId)] : []),
  ];
  // The account is known before a second factor is asked for.
  const facts = ownerFacts && !secondFactor ? factsOfJson(ownerFacts) : null;
  // What was proved of its model when it was created may have been refuted since.
  const isRefuted = runtime.authenticatorMetadata?.isRefuted(credential.aaguid ?? "") === true;
  const hardwareProtected = credential.hardwareProtected === true && !isRefuted;
  return { ok: true, ...owner, userVerified, hardwareProtected, owner: facts, writes };
}

/** The handle of the response, if it is the account's random one; null for any other. */
function accountHandleIn(
  { response }: AuthenticationResponse,
  { accountHandle }: StoredCredential,
): Buffer | null {
  const named = Buffer.from(response.userHandle ?? "", "base64url");
  return accountHandle?.equals(named) ? accountHandle : null;
}

const framingOf = (
  { embed }: Config,
  { startedIn = null }: { startedIn?: string | null | undefined },
): Framing => ({
  topOrigins: embed.origins,
  startedIn,
});

export type VerifiedAttestation =
  /** `insertCredential` writes the credential once the account exists. */
  | { ok: true; credential: NewCredential }
  | { ok: false; reason: "malformed" | "challenge_unknown" | "credential_taken" | AttestationRejection };

/**
 * Verifies the response to `createCreationOptions`. The challenge is consumed even if the response is rejected.
 *
 * @param about.startedIn as for `verifyAssertion`
 * @param about.response RegistrationResponseJSON as the client sent it; malformed input is rejected, never thrown
 */
export async function verifyAttestation(
  context: RequestContext<Process>,
  about: {
    flowId: string;
    response: unknown;
    userId: string;
    kind: CredentialKind;
    startedIn?: string | undefined;
  },
): Promise<VerifiedAttestation> {
  const { runtime, tenant, now } = context;
  const { webauthn, passkey, mfa } = tenant.config;
  const { kind } = about;

  const answer = registrationResponse.safeParse(about.response).data;
  const clientData = answer && readClientData(answer.response.clientDataJSON);
  if (!answer || !clientData) return { ok: false, reason: "malformed" };

  const { challenge } = clientData;
  const ceremonies = creationCeremonies[kind];
  const opened = await consumeChallenge(context, { flowId: about.flowId, ceremonies, challenge });
  if (opened?.user_id !== about.userId) return { ok: false, reason: "challenge_unknown" };

  const { user_verification } = kind === "passkey" ? passkey : mfa.security_keys;
  const judged = await verifyWebAuthnAttestation(answer, clientData, {
    challenge,
    origins: ceremonyOrigins(tenant.config),
    framing: framingOf(tenant.config, about),
    rpId: webauthn.relying_party.id,
    requireUserPresence: opened.ceremony !== "conditional_creation",
    requireUserVerification: user_verification === "required",
    formats: passkey.attestation_formats,
    trustedModels: runtime.authenticatorMetadata ? [runtime.authenticatorMetadata] : [],
    now,
  });
  if (!judged.ok) return judged;

  // Ensure the credential id is unused (WebAuthn Level 3 section 7.1 step 26); the primary key covers races.
  const { credential } = judged;
  if (await isCredentialId(runtime.database.read, tenant.id, credential.id))
    return { ok: false, reason: "credential_taken" };

  const name = authenticatorName(credential.aaguid) ?? (kind === "passkey" ? passkeyName(context) : null);
  return { ok: true, credential: { ...credential, mfaOnly: kind === "security_key", name } };
}
