import { sql } from "drizzle-orm";
import { failuresExpiry } from "#db/schema/flows";
import type { Config } from "../config/schema.ts";
import type { PurgeRules } from "../database/purge.ts";
import { retirement } from "../keys/signing-key-store.ts";

/** Returns the retention of every table with expiring rows, except sessions: see `endExpiredSessions`. */
export const purgeRules = ({ audit_log, webhooks }: Pick<Config, "audit_log" | "webhooks">): PurgeRules => ({
  deleted: {
    // Kept for a day to distinguish an expired flow from an unknown one.
    flows: { by: expiresAt, before: sql`now() - interval '24 hours'` },
    // The count of attempts outlives the code, for as long as its flow may last.
    passcodes: { by: expiresAt, before: sql`now() - interval '24 hours'` },
    // Of registrations that no account came of.
    user_handles: {
      by: expiresAt,
      before: sql`now()`,
      and: sql`not exists (select from users u where u.tenant_id = user_handles.tenant_id and u.id = user_handles.user_id)`,
    },
    webauthn_challenges: { by: expiresAt, before: sql`now()` },
    third_party_requests: { by: expiresAt, before: sql`now()` },
    exchange_tokens: { by: expiresAt, before: sql`now()` },
    seen_assertions: { by: expiresAt, before: sql`now()` },
    trusted_devices: { by: expiresAt, before: sql`now()` },
    handover_codes: { by: expiresAt, before: sql`now()` },
    passkey_challenges: { by: expiresAt, before: sql`now()` },
    transaction_confirmations: { by: expiresAt, before: sql`now() - interval '24 hours'` },
    // Applications read the outcome of a request for some time.
    authenticator_requests: { by: sql`valid_until`, before: sql`now() - interval '24 hours'` },
    failures: { by: failuresExpiry, before: sql`now() at time zone 'UTC'` },
    rate_limits: { by: sql`expire`, before: sql`(extract(epoch from now()) * 1000)::bigint` },
    // An interrupted import can be resumed for a month.
    user_imports: { by: sql`updated_at`, before: sql`now() - interval '30 days'` },
    mailbox: { by: createdAt, before: sql`now() - interval '7 days'` },
    audit_logs: { by: createdAt, before: ago(audit_log.retention), under: ["tenant_id"] },
    events: { by: createdAt, before: ago(webhooks.retention) },
    webhook_deliveries: {
      by: createdAt,
      before: ago(webhooks.retention),
      under: ["tenant_id", "webhook"],
    },
    webhook_attempts: { by: sql`at`, before: ago(webhooks.retention) },
    // A listener that was killed: `stile webhooks listen` moves its expiry on while it runs.
    webhooks: { by: expiresAt, before: sql`now()`, and: sql`is_listener` },
  },

  // After expiry the result of a transaction can no longer be redeemed.
  erased: {
    transaction_confirmations: {
      columns: sql`code_hash = null, sealed_result = null`,
      by: expiresAt,
      before: sql`now()`,
      and: sql`sealed_result is not null`,
    },
    // Deliveries are tried for less than two days. The last one to end erases the data; it may have been a listener's that stopped.
    events: {
      columns: sql`sealed_data = null`,
      by: createdAt,
      before: sql`now() - interval '49 hours'`,
      and: sql`sealed_data is not null`,
    },
    signing_keys: retirement,
    webhooks: {
      columns: sql`sealed_previous_secret = null, previous_secret_expires_at = null`,
      by: sql`previous_secret_expires_at`,
      before: sql`now()`,
    },
  },
});

const expiresAt = sql`expires_at`;
const createdAt = sql`created_at`;

const ago = (seconds: number) => sql`now() - ${seconds}::int * interval '1 second'`;
