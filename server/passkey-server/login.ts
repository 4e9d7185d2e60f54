import type { RequestContext } from "../context/context.ts";
import {
  type PasskeyErrorCode,
  type PasskeyRejection,
  rejectPasskeyRequest,
} from "../failures/passkey-server.ts";
import { verifyPasskeyAssertion, writeAssertion } from "./assertion.ts";
import { type AuditFacts, auditPasskeys, auditRejection, type Caller } from "./audit.ts";
import {
  consumeChallenge,
  newChallenge,
  type Operation,
  openChallenge,
  rejectTooManyChallenges,
} from "./challenges.ts";
import { findDescriptors } from "./credential-records.ts";
import { readAuthenticationResponse } from "./credential-responses.ts";
import { type CredentialDescriptor, type CredentialKind, requestOptions, settingsOf } from "./options.ts";
import type { Process } from "./process.ts";
import { preloadSigningKey, signToken } from "./tokens.ts";
import { findUser, type PasskeyUser } from "./users.ts";

const ceremonies = {
  passkey: { operation: "login", audited: "webauthn_authentication", noCredentials: "no_login_credentials" },
  mfa: { operation: "mfa_login", audited: "mfa_authentication", noCredentials: "no_suitable_credentials" },
} as const satisfies Record<
  CredentialKind,
  { operation: Operation; audited: string; noCredentials: PasskeyErrorCode }
>;

export type OpenedLogin = { ok: true; publicKey: ReturnType<typeof requestOptions> } | PasskeyRejection;

/**
 * Opens a challenge for signing in with a discoverable passkey. No API key is needed.
 *
 * @param caller `application`: authenticated by an API key, and not rate limited, because one source serves many users;
 *   `public`: any other caller, rate limited by source
 */
export async function initializeDiscoverableLogin(
  context: RequestContext<Process>,
  caller: Caller,
): Promise<OpenedLogin> {
  const tooMany = caller === "public" && (await rejectTooManyChallenges(context));
  return tooMany || open(context, "passkey", null, [], caller);
}

/**
 * Opens a challenge for a user named by the application: for signing in with a passkey, or for any of the user's
 * credentials as the second factor.
 *
 * @param userId the application's id of the user
 */
export async function initializeLogin(
  context: RequestContext<Process>,
  kind: CredentialKind,
  userId: string,
): Promise<OpenedLogin> {
  const { runtime, tenant } = context;
  const { audited, noCredentials } = ceremonies[kind];
  const db = runtime.database.read;
  const user = await findUser(db, tenant.id, userId);
  const allowed = user && (await findDescriptors(db, tenant.id, user.id, kind === "mfa" ? null : kind));
  if (user && allowed && allowed.length > 0) return open(context, kind, user, allowed);
  const rejection = rejectPasskeyRequest(user ? noCredentials : "user_not_found");
  return auditRejection(context, `${audited}_init`, rejection, { actorUserId: userId });
}

async function open(
  context: RequestContext<Process>,
  kind: CredentialKind,
  user: PasskeyUser | null,
  allowed: readonly CredentialDescriptor[],
  caller: Caller = "application",
): Promise<OpenedLogin> {
  const { runtime, tenant } = context;
  preloadSigningKey(context);
  const challenge = newChallenge(context);
  const { timeout: seconds, user_verification: userVerification } = settingsOf(tenant.config, kind);
  const { operation, audited } = ceremonies[kind];
  await runtime.database.write.transaction(async (tx) => {
    await openChallenge(context, {
      operation,
      challenge,
      userId: user?.id ?? null,
      allowed: user && allowed.map(({ id }) => id),
      userVerification,
      transactionId: null,
      seconds,
    })(tx);
    await auditPasskeys(context, `${audited}_init_succeeded`, { actorUserId: user?.userId }, caller)(tx);
  });
  return {
    ok: true,
    publicKey: requestOptions(tenant.config, { challenge, seconds, allowed, userVerification }),
  };
}

/**
 * Verifies the response to a login. The challenge is consumed even if the response is rejected.
 *
 * @param body AuthenticationResponseJSON, unvalidated; no content makes this throw
 */
export async function finalizeLogin(
  context: RequestContext<Process>,
  kind: CredentialKind,
  body: unknown,
): Promise<{ ok: true; token: string } | PasskeyRejection> {
  const { operation, audited } = ceremonies[kind];
  const read = readAuthenticationResponse(body);
  if (!read.ok) return rejectPasskeyRequest("malformed_assertion", { details: read.details });
  const { answer, clientData } = read;

  const consumed = await consumeChallenge(context, [operation], clientData.challenge);
  // Only applications open challenges for a named user.
  const caller = consumed?.userId ? "application" : "public";
  const fail = (rejection: PasskeyRejection, facts: AuditFacts) =>
    auditRejection(context, `${audited}_final`, rejection, facts, caller);
  if (!consumed) return fail(rejectPasskeyRequest("unknown_login_challenge"), { credentialId: answer.id });

  const verdict = await verifyPasskeyAssertion(context, { answer, clientData, consumed });
  const userId = verdict.credential?.owner.userId;
  const facts = { actorUserId: userId, credentialId: answer.id };
  if (!verdict.ok) return fail(verdict, facts);

  const { credential, userVerified, writes } = verdict;
  // Sign before the write, so that no sign-in is recorded without a token.
  const token = await signToken(context, {
    userId: credential.owner.userId,
    credentialId: credential.id,
    mfaOnly: credential.mfaOnly,
    userVerified,
  });
  const rejection = await writeAssertion(
    context,
    ...writes,
    auditPasskeys(context, `${audited}_final_succeeded`, facts),
  );
  return rejection ? fail(rejection, facts) : { ok: true, token };
}
