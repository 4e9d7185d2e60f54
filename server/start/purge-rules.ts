import { sql } from "drizzle-orm";
import type { Config } from "../config/schema.ts";
import type { PurgeRules } from "../database/purge.ts";
import { retirement } from "../keys/signing-key-store.ts";

/** Returns the retention of every table with expiring rows, except sessions: see `endExpiredSessions`. */
export const purgeRules = ({ audit_log, webhooks }: Pick<Config, "audit_log" | "webhooks">): PurgeRules => ({
  deleted: {
    // Kept for a day to distinguish an expired flow from an unknown one.
    flows: sql`expires_at < now() - interval '24 hours'`,
    // The count of attempts outlives the code, for as long as its flow may last.
    passcodes: sql`expires_at < now() - interval '24 hours'`,
    webauthn_challenges: sql`expires_at < now()`,
    third_party_requests: sql`expires_at < now()`,
    exchange_tokens: sql`expires_at < now()`,
    seen_assertions: sql`expires_at < now()`,
    trusted_devices: sql`expires_at < now()`,
    handover_codes: sql`expires_at < now()`,
    passkey_challenges: sql`expires_at < now()`,
    transaction_confirmations: sql`expires_at < now() - interval '24 hours'`,
    // Applications read the outcome of a request for some time.
    authenticator_requests: sql`valid_until < now() - interval '24 hours'`,
    // Consecutive failures block a method until another one succeeds. Deleting them early would allow new attempts.
    failures: sql`last_at < now() - case when source not in ('', 'known') or consecutive = 0 then interval '2 days' else interval '1 year' end`,
    rate_limits: sql`expire < extract(epoch from now()) * 1000`,
    // An interrupted import can be resumed for a month.
    user_imports: sql`updated_at < now() - interval '30 days'`,
    mailbox: sql`created_at < now() - interval '7 days'`,
    audit_logs: sql`created_at < now() - ${audit_log.retention}::int * interval '1 second'`,
    events: sql`created_at < now() - ${webhooks.retention}::int * interval '1 second'`,
    webhook_deliveries: sql`created_at < now() - ${webhooks.retention}::int * interval '1 second'`,
    webhook_attempts: sql`at < now() - ${webhooks.retention}::int * interval '1 second'`,
    // A listener that was killed: `stile webhooks listen` moves its expiry on while it runs.
    webhooks: sql`is_listener and expires_at < now()`,
  },

  // After expiry the result of a transaction can no longer be redeemed.
  erased: {
    transaction_confirmations: {
      columns: sql`code_hash = null, sealed_result = null`,
      condition: sql`sealed_result is not null and expires_at < now()`,
    },
    // Deliveries are tried for less than two days. The last one to end erases the data; it may have been a listener's that stopped.
    events: {
      columns: sql`sealed_data = null`,
      condition: sql`sealed_data is not null and created_at < now() - interval '49 hours'`,
    },
    signing_keys: retirement,
    webhooks: {
      columns: sql`sealed_previous_secret = null, previous_secret_expires_at = null`,
      condition: sql`previous_secret_expires_at < now()`,
    },
  },
});
