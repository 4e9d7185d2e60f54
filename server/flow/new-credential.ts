import { ConflictError } from "#db/errors";
import type { Write } from "#db/write";
import { holds } from "../conditions/condition.ts";
import { factsById } from "../identity/facts.ts";
import { lockUser } from "../identity/lock-user.ts";
import { type VerifiedAttestation, verifyAttestation } from "../methods/passkey/passkeys.ts";
import { type CredentialId, newCredential } from "../webauthn/credential-record.ts";
import type { CredentialKind } from "../webauthn/options.ts";
import type { FlowData } from "./data.ts";
import type { Context } from "./define.ts";
import { factsOf } from "./facts.ts";
import { mayAddCredential } from "./second-factor.ts";

/** Returns the owner of a new credential and the credentials of a registration that no account has yet. */
export function creationParameters({ flowId, data, facts }: Context<"userId">): {
  flowId: string;
  user: { id: string; name: string; displayName: string };
  pending: CredentialId[];
} {
  const name = facts.email ?? facts.username ?? data.userId;
  return {
    flowId,
    user: { id: data.userId, name, displayName: facts.username ?? name },
    pending: pendingCredentials(data),
  };
}

/** Verifies the response to the creation options of the state. */
export const verifyNewCredential = (
  { request, flowId, data }: Context<"userId">,
  response: unknown,
  kind: CredentialKind,
): Promise<VerifiedAttestation> =>
  verifyAttestation(request, { flowId, response, userId: data.userId, kind, startedIn: data.frameOrigin });

/** Returns the credentials of a pending registration. */
export function pendingCredentials({ pending }: Pick<FlowData, "pending">): CredentialId[] {
  const { credential, securityKey } = pending;
  return [credential, securityKey].flatMap((stored) => (stored ? [newCredential.parse(stored)] : []));
}

/**
 * Returns a write that checks `mayAddCredential` again before a credential or second factor is written, because another
 * flow may have enrolled a second factor concurrently. In a profile flow the factors of the session count.
 *
 * @throws ConflictError("second_factor") if the credential may no longer be added
 */
export function requireCredentialAddable({ type, request, data, config }: Context<"userId">): Write {
  const { id } = request.tenant;
  // With `step_up_after` 0 no reauthentication is required.
  const checks = type !== "profile" || config.session.step_up_after > 0;
  const factors = type === "profile" ? (request.session?.factors ?? []) : data.factors;
  return async (tx) => {
    await lockUser(tx, id, data.userId);
    const facts = factsOf(type, data, await factsById(tx, id, data.userId));
    if (checks && !holds(mayAddCredential, { data: { ...data, factors }, facts, config }))
      throw new ConflictError("second_factor");
  };
}
