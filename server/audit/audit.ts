import { schema } from "#db/client";
import type { Write } from "#db/write";
import type { RequestContext } from "../runtime.ts";

/** Types of security events in the audit log. */
export type AuditType =
  | PasskeyServerAuditType
  | "authenticator_registered"
  | "authenticator_renamed"
  | "authenticator_deregistered"
  | "authenticator_request_failed"
  | "authenticator_request_succeeded"
  | "email_created"
  | "email_deleted"
  | "email_verified"
  | "login_failure"
  | "login_success"
  | "otp_created"
  | "otp_deleted"
  | "passkey_created"
  | "passkey_deleted"
  | "passkey_sign_count_stale"
  | "password_changed"
  | "password_deleted"
  | "primary_email_changed"
  | "recovery_codes_created"
  | "security_key_created"
  | "security_key_deleted"
  | "security_notification_sent"
  | "session_revoked"
  | "thirdparty_linking_succeeded"
  | "thirdparty_signin_signup_failed"
  | "thirdparty_signin_succeeded"
  | "thirdparty_signup_succeeded"
  | "thirdparty_unlinked"
  | "trusted_device_stolen"
  | "user_created"
  | "user_deleted"
  | "user_logged_out"
  | "username_changed"
  | "username_deleted";

/** Types of events of the passkey server. */
export type PasskeyServerAuditType =
  | `${"webauthn_registration" | "webauthn_authentication" | "webauthn_transaction" | "mfa_registration" | "mfa_authentication"}_${"init" | "final"}_${"succeeded" | "failed"}`
  | "webauthn_credential_updated"
  | "webauthn_credential_deleted"
  | "webauthn_user_deleted";

/** Flat facts. They contain no secret, no credential and no identifier that a visitor entered. */
export type AuditDetails = Record<string, AuditValue | readonly AuditValue[]>;
type AuditValue = string | number | boolean | null;

/** Characters of a user agent that are stored. */
const MAX_USER_AGENT_LENGTH = 512;

/**
 * Returns the write of an audit log entry, which belongs into the transaction of the change that it records.
 *
 * @param userId the account that the event concerns, if any
 */
export function audit(
  { runtime, tenant, client, now }: Pick<RequestContext, "runtime" | "tenant" | "client" | "now">,
  type: AuditType,
  details: AuditDetails = {},
  userId: string | null = null,
): Write {
  const entry = {
    tenantId: tenant.id,
    id: runtime.platform.uuid(),
    type,
    userId,
    requestId: client.requestId,
    ipAddress: client.ip,
    userAgent: storable(client.userAgent.slice(0, MAX_USER_AGENT_LENGTH)),
    details: Object.fromEntries(Object.entries(details).map(([name, value]) => [name, storableValue(value)])),
    createdAt: now,
  };
  return async (tx) => {
    await tx.insert(schema.auditLogs).values(entry);
  };
}

function storableValue(value: AuditDetails[string]): unknown {
  if (typeof value === "string") return storable(value);
  return Array.isArray(value) ? value.map(storableValue) : value;
}

/** Replaces NUL and lone surrogates, which PostgreSQL rejects, so that a client cannot make the write fail. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\uFFFD");
}
