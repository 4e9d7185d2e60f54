import type { WriteOfParts } from "#db/write";
import { type AuditDetails, audit, auditAttempt } from "../audit/audit.ts";
import type { PasskeyServerAuditType, PasskeyServerFailureType } from "../audit/audit-types.ts";
import type { ClientContext } from "../context/context.ts";
import type { PasskeyRejection } from "../failures/passkey-server.ts";
import type { Process } from "./process.ts";

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

/**
 * Who causes an event that changes nothing. `application`: a call with an API key, or the one response to a challenge
 * that such a call opened; its entries are never left out. `public`: any other client; its entries are limited by source.
 */
export type Caller = "application" | "public";

/** Returns the write of an entry, to run in the transaction of the audited change. */
export function auditPasskeys(
  context: ClientContext<Process>,
  type: Exclude<PasskeyServerAuditType, PasskeyServerFailureType>,
  facts: AuditFacts,
  caller: Caller = "application",
): WriteOfParts {
  const details = detailsOf(facts);
  return caller === "public" ? auditAttempt(context, type, details) : audit(context, type, details);
}

/** Writes and commits an entry for a rejected operation, and returns the rejection. */
export async function auditRejection(
  context: ClientContext<Process>,
  operation: AuditedOperation,
  rejection: PasskeyRejection,
  facts: AuditFacts,
  caller: Caller = "application",
): Promise<PasskeyRejection> {
  const entry = rejectionEntry(context, operation, rejection, facts, caller);
  await context.runtime.database.write.transaction(entry);
  return rejection;
}

/** Returns the write of an entry for a rejected operation: `reason` for programs, `error` as the client receives it. */
export function rejectionEntry(
  context: ClientContext<Process>,
  operation: AuditedOperation,
  { reason, error: { title, details: cause } }: PasskeyRejection,
  facts: AuditFacts,
  caller: Caller = "application",
): WriteOfParts {
  const type = `${operation}_failed` as const;
  const details = { ...detailsOf(facts), reason, error: cause === "" ? title : `${title}: ${cause}` };
  return caller === "public" ? auditAttempt(context, type, details) : audit(context, type, details);
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
