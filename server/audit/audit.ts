import { schema } from "#db/client";
import type { Write } from "#db/write";
import type { RequestContext } from "../runtime.ts";

/** What is worth keeping for whoever looks after the service. */
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

/** What happens at the passkey server, by the names that its audit log has for it. */
export type PasskeyServerAuditType =
  | `${"webauthn_registration" | "webauthn_authentication" | "webauthn_transaction" | "mfa_registration" | "mfa_authentication"}_${"init" | "final"}_${"succeeded" | "failed"}`
  | "webauthn_credential_updated"
  | "webauthn_credential_deleted";

/** Flat facts. They hold no secret, no credential and no identifier that a visitor typed. */
export type AuditDetails = Record<string, AuditValue | readonly AuditValue[]>;
type AuditValue = string | number | boolean | null;

/** A browser's name for itself is kept up to so many characters. */
const longestUserAgent = 512;

/**
 * A line of the audit log, written with the change that it tells of.
 *
 * @param userId the account it is about, if there is one
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
    userAgent: storable(client.userAgent.slice(0, longestUserAgent)),
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

/** PostgreSQL takes neither NUL nor half a surrogate pair; what a client sends must not fail the step that tells of it. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\uFFFD");
}
