import type { Write } from "#db/write";
import { type AuditDetails, audit, type PasskeyServerAuditType } from "../audit/audit.ts";
import type { ClientContext } from "../runtime.ts";
import type { PasskeyRejection } from "./errors.ts";

/** What an entry is about, as far as that is known. */
export interface AuditFacts {
  /** What the application calls the user. */
  actorUserId?: string | undefined;
  credentialId?: string | undefined;
  /** The application's id of the transaction. */
  transactionId?: string | undefined;
}

/** Operations by the names that the audit log has for them, without what came of them. */
export type AuditedOperation = PasskeyServerAuditType extends infer Type
  ? Type extends `${infer Name}_succeeded`
    ? Name
    : never
  : never;

/** An entry that is written with the change it tells of. */
export function auditPasskeys(scope: ClientContext, type: PasskeyServerAuditType, facts: AuditFacts): Write {
  return audit(scope, type, detailsOf(facts));
}

/** Tells of something that was refused, by itself: what was to be written is not. */
export async function auditRejection(
  scope: ClientContext,
  operation: AuditedOperation,
  { error: { title, details } }: PasskeyRejection,
  facts: AuditFacts,
): Promise<void> {
  const error = details === "" ? title : `${title}: ${details}`;
  const write = audit(scope, `${operation}_failed`, { ...detailsOf(facts), error });
  await scope.runtime.database.write.transaction(write);
}

/**
 * Tells of an answer to a challenge that there is not. Anybody can make one up, so that is noted only as often as a
 * source may open challenges.
 */
export async function auditUnknownChallenge(
  scope: ClientContext,
  operation: AuditedOperation,
  rejection: PasskeyRejection,
  facts: AuditFacts,
): Promise<void> {
  const { runtime, tenant, client } = scope;
  const noted = await runtime.rates.consume("passkey_challenge", `${tenant.id}/${client.source}/unknown`);
  if (noted.ok) await auditRejection(scope, operation, rejection, facts);
}

/** Whoever asks may call a user what they like; so much of it is kept. */
const MAX_AUDITED_USER_ID_LENGTH = 255;

function detailsOf({ actorUserId, credentialId, transactionId }: AuditFacts): AuditDetails {
  return {
    actor_user_id: actorUserId?.slice(0, MAX_AUDITED_USER_ID_LENGTH) ?? null,
    ...(credentialId === undefined ? {} : { credential_id: credentialId }),
    ...(transactionId === undefined ? {} : { transaction_id: transactionId }),
  };
}
