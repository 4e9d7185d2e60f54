import { type ChannelName, channelNames } from "../messages/channels.ts";

/** The closed list of the types of security events in the audit log, by the part of Stile that records them. */

/** Failures of signing in, which change nothing; `auditAttempt` records them. */
const signInFailureTypes = ["login_failure", "thirdparty_signin_signup_failed"] as const;

/** Events of an account. Where they are the same, the names are those of the published audit log. */
const accountTypes = [
  "authenticator_deregistered",
  "authenticator_registered",
  "authenticator_renamed",
  "authenticator_request_failed",
  "authenticator_request_succeeded",
  "consent_declined",
  "consent_given",
  "consent_withdrawn",
  "email_created",
  "email_deleted",
  "email_verified",
  "impersonation_ended",
  "impersonation_started",
  "login_success",
  "metadata_changed",
  "otp_created",
  "otp_creation_failed",
  "otp_deleted",
  "passkey_created",
  "passkey_deleted",
  "passkey_renamed",
  "passkey_sign_count_stale",
  "password_changed",
  "password_deleted",
  "phone_created",
  "phone_deleted",
  "phone_verified",
  "primary_email_changed",
  "profile_changed",
  "reauthentication_succeeded",
  "recovery_codes_created",
  "recovery_codes_deleted",
  "recovery_offered",
  "security_key_created",
  "security_key_deleted",
  "security_notification_sent",
  "session_binding_rejected",
  "session_bound",
  "session_created",
  "session_revoked",
  "thirdparty_linking_succeeded",
  "thirdparty_signin_succeeded",
  "thirdparty_signup_succeeded",
  "thirdparty_unlinked",
  "token_exchanged",
  "token_reused",
  "trusted_device_created",
  "trusted_device_revoked",
  "trusted_device_stolen",
  "user_blocked",
  "user_created",
  "user_deleted",
  "user_logged_out",
  "user_unblocked",
  "username_changed",
  "username_deleted",
] as const;

/** What becomes of messages. */
const messageTypes = channelNames.flatMap((channel) =>
  (["accepted", "failed", "queued", "withheld"] as const).map((outcome) => `${channel}_${outcome}` as const),
);

/** What operators do: by an API key, the `stile` command or the console. */
const administrationTypes = [
  "api_key_created",
  "api_key_deleted",
  "api_key_rejected",
  "console_changed",
  "console_entered",
  "console_entry_rejected",
  "console_role_granted",
  "console_role_revoked",
  "secrets_reseal_begun",
  "secrets_reseal_cancelled",
  "secrets_resealed",
  "signing_key_rotated",
  "tenant_changed",
  "tenant_created",
  "tenant_deleted",
  "users_exported",
  "users_imported",
  "webhook_changed",
  "webhook_created",
  "webhook_deleted",
  "webhook_disabled",
  "webhook_secret_rotated",
] as const;

const ceremonies = [
  "webauthn_registration",
  "webauthn_authentication",
  "webauthn_transaction",
  "mfa_registration",
  "mfa_authentication",
] as const;

/** Events of the passkey server. */
export const passkeyServerAuditTypes = [
  ...ceremonies.flatMap((ceremony) =>
    (["init", "final"] as const).flatMap((part) =>
      (["succeeded", "failed"] as const).map((outcome) => `${ceremony}_${part}_${outcome}` as const),
    ),
  ),
  "webauthn_credential_updated" as const,
  "webauthn_credential_deleted" as const,
  "webauthn_user_deleted" as const,
];

export const auditTypes = [
  ...signInFailureTypes,
  ...[...accountTypes, ...messageTypes].toSorted(),
  ...administrationTypes,
  ...passkeyServerAuditTypes,
  /** The last entry of a cause whose further failures are not recorded. */
  "audit_limit_reached" as const,
];

export type AuditType = (typeof auditTypes)[number];
export type SignInFailureType = (typeof signInFailureTypes)[number];
export type PasskeyServerAuditType = (typeof passkeyServerAuditTypes)[number];

/** Failures: events that are told by a reason of the closed list in `failure-reasons.ts`. */
export type FailureType = Extract<AuditType, `${string}_${"failed" | "failure" | "rejected" | "withheld"}`>;
export type PasskeyServerFailureType = Extract<FailureType, PasskeyServerAuditType>;

/** Failures that `auditAttempt` alone records. */
export type AttemptFailureType =
  | SignInFailureType
  | "otp_creation_failed"
  | "api_key_rejected"
  | "console_entry_rejected";

/** Events that `auditAttempt` records: they change nothing, so a client can cause them without end. */
export type AttemptType =
  | AttemptFailureType
  | PasskeyServerAuditType
  | `${ChannelName}_withheld`
  | "token_exchanged";
