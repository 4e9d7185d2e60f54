import { type SQL, sql } from "drizzle-orm";
import type { Logger } from "pino";
import type { Database } from "#db/client";
import type { Config } from "../config/schema.ts";

/** Rows that have served, per table. Times are the database's own. */
const served = ({ audit_log }: Config): Record<string, SQL> => ({
  // Kept for a day, so that an expired flow can be told from one that never was.
  flows: sql`expires_at < now() - interval '24 hours'`,
  // The count of tries outlives the code, as long as its flow may live.
  passcodes: sql`expires_at < now() - interval '24 hours'`,
  webauthn_challenges: sql`expires_at < now()`,
  third_party_requests: sql`expires_at < now()`,
  exchange_tokens: sql`expires_at < now()`,
  seen_assertions: sql`expires_at < now()`,
  trusted_devices: sql`expires_at < now()`,
  handover_codes: sql`expires_at < now()`,
  passkey_challenges: sql`expires_at < now()`,
  transaction_confirmations: sql`expires_at < now() - interval '24 hours'`,
  // Applications ask for a while what came of a request.
  authenticator_requests: sql`valid_until < now() - interval '24 hours'`,
  sessions: sql`expires_at < now()`,
  // Failures in a row bar a method until another one succeeds: forgetting them soon would give the tries back.
  failures: sql`last_at < now() - case when source <> '' or consecutive = 0 then interval '2 days' else interval '1 year' end`,
  mailbox: sql`created_at < now() - interval '7 days'`,
  audit_logs: sql`created_at < now() - ${audit_log.retention}::int * interval '1 second'`,
});

/** Parts that go before their rows, per table: what a code was good for, once nobody can redeem it. */
const spent: Record<string, { parts: SQL; condition: SQL }> = {
  transaction_confirmations: {
    parts: sql`code_hash = null, sealed_result = null`,
    condition: sql`sealed_result is not null and expires_at < now()`,
  },
};

/** Rows that one statement changes, so that none holds its locks for long. */
const BATCH = 5_000;

const INTERVAL_MS = 10 * 60_000;

/**
 * Deletes, for every tenant, what has served, and erases what is spent. Safe to run on several servers at once.
 *
 * @returns how many rows went
 */
export async function purgeExpired(database: Database, config: Config): Promise<number> {
  let total = 0;
  for (const [table, condition] of Object.entries(served(config)))
    total += await inBatches(database, sql`delete from ${sql.identifier(table)}`, table, condition);
  for (const [table, { parts, condition }] of Object.entries(spent))
    await inBatches(database, sql`update ${sql.identifier(table)} set ${parts}`, table, condition);
  return total;
}

/** @param change the statement up to its condition, which it must make untrue of a row */
async function inBatches(database: Database, change: SQL, table: string, condition: SQL): Promise<number> {
  let total = 0;
  for (let changed = BATCH; changed === BATCH; total += changed) {
    const result = await database.claim.execute(sql`
      ${change} where ctid = any (array(
        select ctid from ${sql.identifier(table)} where ${condition} limit ${BATCH} for update skip locked))`);
    changed = result.rowCount ?? 0;
  }
  return total;
}

/**
 * Purges every ten minutes, for the first time after one, until it is ended.
 *
 * @returns what ends it, once a purge under way is done
 */
export function startPurging(database: Database, config: Config, log: Logger): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  const purge = () => {
    running = purgeExpired(database, config).then(
      (rows) => log.debug({ rows }, "expired rows were deleted"),
      (error: unknown) => log.warn({ err: error }, "expired rows could not be deleted"),
    );
  };
  const first = setTimeout(purge, 60_000);
  const timer = setInterval(purge, INTERVAL_MS);
  first.unref();
  timer.unref();
  return async () => {
    clearTimeout(first);
    clearInterval(timer);
    await running;
  };
}
