import { type SQL, sql } from "drizzle-orm";
import type { Logger } from "pino";
import type { Database } from "#db/client";

/** What expires in the database. Conditions use the database's clock. */
export interface PurgeRules {
  /** Condition, per table, on which a row is deleted. */
  deleted: Readonly<Record<string, SQL>>;
  /** Columns, per table, that are erased before their row is deleted. */
  erased: Readonly<Record<string, { columns: SQL; condition: SQL }>>;
}

/** Rows that one statement changes, so that none holds its locks for long. */
const BATCH = 5_000;

const INTERVAL_MS = 10 * 60_000;

/**
 * Deletes, for every tenant, what has served, and erases what is spent. Safe to run on several servers at once.
 *
 * @returns how many rows went
 */
export async function purgeExpired(database: Database, rules: PurgeRules): Promise<number> {
  let total = 0;
  for (const [table, condition] of Object.entries(rules.deleted))
    total += await inBatches(database, sql`delete from ${sql.identifier(table)}`, table, condition);
  for (const [table, { columns, condition }] of Object.entries(rules.erased))
    await inBatches(database, sql`update ${sql.identifier(table)} set ${columns}`, table, condition);
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
export function startPurging(purgeExpired: () => Promise<number>, log: Logger): () => Promise<void> {
  let running: Promise<void> = Promise.resolve();
  const purge = () => {
    running = purgeExpired().then(
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
