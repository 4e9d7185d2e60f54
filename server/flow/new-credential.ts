import { ConflictError } from "#db/errors";
import type { Write } from "#db/write";
import { credentialIds } from "../credentials/webauthn-credentials.ts";
import { factsById, lockUser } from "../identity/users.ts";
import { type CredentialId, newCredential } from "../webauthn/credential-record.ts";
import type { CredentialOwner } from "../webauthn/options.ts";
import type { FlowData } from "./data.ts";
import type { Context } from "./define.ts";
import { factsOf } from "./facts.ts";
import { mayAddCredential } from "./second-factor.ts";

/** For whom a credential is about to be made, and what they have already: what `openCreation` wants to know. */
export async function creationFor({ flowId, request, data, facts, db }: Context<"userId">): Promise<{
  flowId: string;
  user: CredentialOwner;
  exclude: CredentialId[];
}> {
  const name = facts.email ?? facts.username ?? data.userId;
  return {
    flowId,
    user: { id: data.userId, name, displayName: facts.username ?? name },
    exclude: [...(await credentialIds(db, request.tenant.id, data.userId)), ...pendingCredentials(data)],
  };
}

/** Credentials that registration has gathered and not yet written. */
export function pendingCredentials({ pending }: Pick<FlowData, "pending">): CredentialId[] {
  const { credential, securityKey } = pending;
  return [credential, securityKey].flatMap((kept) => (kept ? [newCredential.parse(kept)] : []));
}

/**
 * Goes before the credential or the second factor of an account is written: what let it be added has to hold still,
 * whatever another flow has added meanwhile. Of somebody who is signed in, what their session has shown counts.
 *
 * @returns a write that throws TakenError("second_factor") when it does not
 */
export function whileAddable({ type, request, data, config }: Context<"userId">): Write {
  const { id } = request.tenant;
  // Whether proofs grow old, and how many it takes, is the operator's to say.
  const asks = type !== "profile" || config.session.step_up_after > 0;
  const factors = type === "profile" ? (request.session?.factors ?? []) : data.factors;
  return async (tx) => {
    await lockUser(tx, id, data.userId);
    const facts = factsOf(type, data, await factsById(tx, id, data.userId));
    if (asks && !mayAddCredential({ data: { ...data, factors }, facts, config }))
      throw new ConflictError("second_factor");
  };
}
