import { type SQL, sql } from "drizzle-orm";
import type { Logger } from "pino";
import type { Database } from "#db/client";

/** Rules for expired data. Conditions use the database's clock. */
export interface PurgeRules {
  /** Table → condition on which a row is deleted. */
  deleted: Readonly<Record<string, SQL>>;
  /** Table → columns that are erased before the row is deleted. */
  erased: Readonly<Record<string, { columns: SQL; condition: SQL }>>;
}

/** Rows that one statement changes, to keep its locks short. */
const BATCH_ROWS = 5_000;

const FIRST_PURGE_MS = 60_000;
const PURGE_INTERVAL_MS = 10 * 60_000;

/**
 * Deletes expired rows and erases expired columns of all tenants. Several servers may run it concurrently.
 *
 * @returns the number of deleted rows
 */
export async function purgeExpired(database: Database, rules: PurgeRules): Promise<number> {
  let total = 0;
  for (const [table, condition] of Object.entries(rules.deleted))
    total += await changeInBatches(database, sql`delete from ${sql.identifier(table)}`, table, condition);
  for (const [table, { columns, condition }] of Object.entries(rules.erased))
    await changeInBatches(database, sql`update ${sql.identifier(table)} set ${columns}`, table, condition);
  return total;
}

/**
 * Runs a statement in batches until it changes no more rows.
 *
 * @param change the statement up to its condition, which must no longer match a changed row
 * @returns the number of changed rows
 */
async function changeInBatches(
  database: Database,
  change: SQL,
  table: string,
  condition: SQL,
): Promise<number> {
  let total = 0;
  for (let changed = BATCH_ROWS; changed === BATCH_ROWS; total += changed) {
    const result = await database.claim.execute(sql`
      ${change} where ctid = any (array(
        select ctid from ${sql.identifier(table)} where ${condition} limit ${BATCH_ROWS} for update skip locked))`);
    changed = result.rowCount ?? 0;
  }
  return total;
}

/**
 * Purges periodically, first after `FIRST_PURGE_MS`, then every `PURGE_INTERVAL_MS`.
 *
 * @returns a function that stops it and waits for a running purge
 */
export function startPurging(purgeExpired: () => Promise<number>, log: Logger): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  const purge = () => {
    running = purgeExpired().then(
      (rows) => log.debug({ rows }, "deleted expired rows"),
      (error: unknown) => log.warn({ err: error }, "deleting expired rows failed"),
    );
  };
  const first = setTimeout(purge, FIRST_PURGE_MS);
  const timer = setInterval(purge, PURGE_INTERVAL_MS);
  first.unref();
  timer.unref();
  return async () => {
    clearTimeout(first);
    clearInterval(timer);
    await running;
  };
}
