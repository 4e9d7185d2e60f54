import type { Write } from "#db/write";
import { type AuditDetails, audit, type PasskeyServerAuditType } from "../audit/audit.ts";
import type { ClientContext } from "../runtime.ts";
import type { PasskeyRejection } from "./errors.ts";

/** The subject of an entry, as far as known. */
export interface AuditFacts {
  /** The application's id of the user. */
  actorUserId?: string | undefined;
  credentialId?: string | undefined;
  /** The application's id of the transaction. */
  transactionId?: string | undefined;
}

/** Operations by their names in the audit log, without the outcome. */
export type AuditedOperation = PasskeyServerAuditType extends infer Type
  ? Type extends `${infer Name}_succeeded`
    ? Name
    : never
  : never;

/** Returns the write of an entry, to run in the transaction of the audited change. */
export function auditPasskeys(
  context: ClientContext,
  type: PasskeyServerAuditType,
  facts: AuditFacts,
): Write {
  return audit(context, type, detailsOf(facts));
}

/** Writes and commits an entry for a rejected operation. */
export async function auditRejection(
  context: ClientContext,
  operation: AuditedOperation,
  { error: { title, details } }: PasskeyRejection,
  facts: AuditFacts,
): Promise<void> {
  const error = details === "" ? title : `${title}: ${details}`;
  const write = audit(context, `${operation}_failed`, { ...detailsOf(facts), error });
  await context.runtime.database.write.transaction(write);
}

/**
 * Writes and commits an entry for a response to an unknown challenge. Any client can send one, so entries are rate
 * limited by source.
 */
export async function auditUnknownChallenge(
  context: ClientContext,
  operation: AuditedOperation,
  rejection: PasskeyRejection,
  facts: AuditFacts,
): Promise<void> {
  const { runtime, tenant, client } = context;
  const rate = await runtime.rates.consume(tenant.id, "passkey_challenge", `${client.source}/unknown`);
  if (rate.ok) await auditRejection(context, operation, rejection, facts);
}

/** User ids of unknown users are arbitrary input, so they are truncated. */
const MAX_AUDITED_USER_ID_LENGTH = 255;

function detailsOf({ actorUserId, credentialId, transactionId }: AuditFacts): AuditDetails {
  return {
    actor_user_id: actorUserId?.slice(0, MAX_AUDITED_USER_ID_LENGTH) ?? null,
    ...(credentialId === undefined ? {} : { credential_id: credentialId }),
    ...(transactionId === undefined ? {} : { transaction_id: transactionId }),
  };
}
