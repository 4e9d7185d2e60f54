import { sql } from "drizzle-orm";
import { schema } from "#db/client";
import type { Write } from "#db/write";
import { counterRow } from "../limits/rate-limits.ts";
import type { RequestContext } from "../runtime.ts";

/** Types of security events in the audit log. */
export type AuditType = PasskeyServerAuditType | SignInFailureType | AccountAuditType | "audit_limit_reached";

/** Failures of signing in, which change nothing; `auditAttempt` records them. */
export type SignInFailureType = "login_failure" | "thirdparty_signin_signup_failed";

type AccountAuditType =
  | "authenticator_registered"
  | "authenticator_renamed"
  | "authenticator_deregistered"
  | "authenticator_request_failed"
  | "authenticator_request_succeeded"
  | "email_created"
  | "email_deleted"
  | "email_verified"
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

type AuditContext = Pick<RequestContext, "runtime" | "tenant" | "client" | "now">;

const { auditLogs, rateLimits } = schema;

/**
 * Returns the write of an audit log entry, which belongs into the transaction of the change that it records.
 *
 * @param userId the account that the event concerns, if any
 */
export function audit(
  context: AuditContext,
  type: Exclude<AuditType, SignInFailureType | "audit_limit_reached">,
  details: AuditDetails = {},
  userId: string | null = null,
): Write {
  const entry = entryOf(context, type, details, userId);
  return async (tx) => {
    await tx.insert(auditLogs).values(entry);
  };
}

const WINDOW_SECONDS = 3600;

/** Who causes an attempt: a source, a user at a source who has proved a factor, or a user with a session. */
export type AttemptCause = { source: string } | { account: string; source: string } | { account: string };

/**
 * Returns the write of an entry for an event that changed nothing, so that a client can cause it without end. In an
 * hour, `audit_log.attempts_per_hour` such entries of one cause are written, then one of the type `audit_limit_reached`,
 * then none. Entry and count are one statement, so concurrent events on any number of servers cannot exceed the limit.
 *
 * @param about `userId`: the account that the event concerns, if any; `cause`: by default the source of the request
 */
export function auditAttempt(
  context: AuditContext,
  type: SignInFailureType | PasskeyServerAuditType,
  details: AuditDetails,
  about: { userId?: string | null; cause?: AttemptCause } = {},
): Write {
  const { tenant, client, now } = context;
  const limit = tenant.config.audit_log.attempts_per_hour;
  const { userId = null, cause = { source: client.source } } = about;
  const key = counterRow("audit", WINDOW_SECONDS, JSON.stringify([tenant.id, cause]));
  const entry = entryOf(context, type, details, userId);
  const by = "account" in cause ? cause.account : null;
  const last = { type: "audit_limit_reached", userId: by, details: { ...cause, per_hour: limit } };
  const windowIsOver = sql`counter.expire <= ${now.getTime()}::bigint`;
  const whichOf = (recorded: unknown, instead: unknown, type: "text" | "uuid" | "jsonb") =>
    sql`case when points <= ${limit}::int then ${recorded}::${sql.raw(type)} else ${instead}::${sql.raw(type)} end`;
  const statement = sql`
    with counted as (
      insert into ${rateLimits} as counter (key, points, expire)
      values (${key}, 1, ${now.getTime() + WINDOW_SECONDS * 1000}::bigint)
      on conflict (key) do update set
        points = case when ${windowIsOver} then 1 else counter.points + 1 end,
        expire = case when ${windowIsOver} then excluded.expire else counter.expire end
      where ${windowIsOver} or counter.points <= ${limit}::int
      returning points)
    insert into ${auditLogs}
      (tenant_id, id, request_id, ip_address, user_agent, created_at, type, user_id, details)
    select ${entry.tenantId}::uuid, ${entry.id}::uuid, ${entry.requestId}, ${entry.ipAddress}, ${entry.userAgent},
      ${entry.createdAt}::timestamptz, ${whichOf(entry.type, last.type, "text")},
      ${whichOf(entry.userId, last.userId, "uuid")},
      ${whichOf(JSON.stringify(entry.details), JSON.stringify(last.details), "jsonb")}
    from counted`;
  return async (tx) => {
    await tx.execute(statement);
  };
}

/** Characters of a user agent that are stored. */
const MAX_USER_AGENT_LENGTH = 512;

function entryOf(
  { runtime, tenant, client, now }: AuditContext,
  type: AuditType,
  details: AuditDetails,
  userId: string | null,
): typeof auditLogs.$inferInsert {
  return {
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
}

function storableValue(value: AuditDetails[string]): unknown {
  if (typeof value === "string") return storable(value);
  return Array.isArray(value) ? value.map(storableValue) : value;
}

/** Replaces NUL and lone surrogates, which PostgreSQL rejects, so that a client cannot make the write fail. */
function storable(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\uFFFD");
}
