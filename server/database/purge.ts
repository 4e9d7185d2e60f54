import { setTimeout as wait } from "node:timers/promises";
import { type SQL, sql } from "drizzle-orm";
import type { Logger } from "pino";
import type { Database } from "#db/client";

/** The expired rows of a table. Conditions use the database's clock. */
export interface Expired {
  /** What orders the rows, an expression that an index has: the oldest are found first, without reading others. */
  by: SQL;
  /** Rows with a lower value of `by` have expired. */
  before: SQL;
  /** A further condition, that of a partial index or one that few rows fail. */
  and?: SQL;
  /** Columns that come before `by` in the index. Rows are looked for under each of their values. */
  under?: readonly string[];
}

/** Rules for expired data. */
export interface PurgeRules {
  /** Table → rows that are deleted. */
  deleted: Readonly<Record<string, Expired>>;
  /** Table → columns that are erased before the row is deleted. The change must end the condition. */
  erased: Readonly<Record<string, Expired & { columns: SQL }>>;
}

/** Rows that one statement changes, to keep its locks and its share of the disk short. */
const BATCH_ROWS = 1_000;

const FIRST_PURGE_MS = 60_000;
export const PURGE_INTERVAL_MS = 10 * 60_000;

/**
 * Deletes expired rows and erases expired columns of all tenants. Several servers may run it concurrently.
 *
 * @param ending ends it after the batch that runs
 * @returns the number of deleted rows
 */
export async function purgeExpired(
  database: Database,
  rules: PurgeRules,
  ending?: AbortSignal,
): Promise<number> {
  const change = (statement: SQL, table: string, rows: Expired) =>
    changeInBatches(database, statement, table, rows, ending);
  let total = 0;
  for (const [table, rows] of Object.entries(rules.deleted))
    total += await change(sql`delete from ${sql.identifier(table)}`, table, rows);
  for (const [table, { columns, ...rows }] of Object.entries(rules.erased))
    await change(sql`update ${sql.identifier(table)} set ${columns}`, table, rows);
  return total;
}

/**
 * Runs a statement in batches until it has changed all expired rows.
 *
 * @param change the statement up to its condition
 * @returns the number of changed rows
 */
async function changeInBatches(
  database: Database,
  change: SQL,
  table: string,
  { by, before, and, under = [] }: Expired,
  ending: AbortSignal | undefined,
): Promise<number> {
  if (ending?.aborted) return 0;
  const name = sql.identifier(table);
  let total = 0;
  for (const place of await placesOf(database, table, under)) {
    const conditions = [
      sql`${by} < ${before}`,
      ...(and ? [and] : []),
      ...under.map((column, index) => sql`${sql.identifier(column)} = ${place[index]}`),
    ];
    // Each batch begins where the one before it ended, or it would pass the rows that are already deleted.
    let from: string | null = null;
    for (let changed = BATCH_ROWS; changed === BATCH_ROWS && !ending?.aborted; total += changed) {
      const began = performance.now();
      const after: SQL[] = from === null ? [] : [sql`${by} >= ${from}`];
      const { rows } = await database.claim.execute<{ changed: number; last: string | null }>(sql`
        with expired as materialized (
          select ctid as row, ${by} as at from ${name} where ${sql.join([...conditions, ...after], sql` and `)}
          order by ${by} limit ${BATCH_ROWS} for update skip locked),
        changed as (${change} where ctid = any (array(select row from expired)) returning 1)
        select (select count(*)::int from changed) as changed, (select max(at)::text from expired) as last`);
      changed = rows[0]?.changed ?? 0;
      from = rows[0]?.last ?? null;
      // Half of the time is left to sign-ins.
      if (changed === BATCH_ROWS)
        await wait(performance.now() - began, undefined, ending && { signal: ending }).catch(() => {});
    }
  }
  return total;
}

/** The values of columns, each found by one probe of their index. Without columns, one place without values. */
async function placesOf(
  { claim }: Database,
  table: string,
  columns: readonly string[],
): Promise<readonly (readonly string[])[]> {
  if (columns.length === 0) return [[]];
  const name = sql.identifier(table);
  const of = (alias: string) =>
    sql.join(
      columns.map((column) => sql`${sql.identifier(alias)}.${sql.identifier(column)}`),
      sql`, `,
    );
  const { rows } = await claim.execute<{ place: string[] }>(sql`
    with recursive place as (
      (select ${of("first")} from ${name} first order by ${of("first")} limit 1)
      union all
      select ${of("next")} from place cross join lateral (
        select ${of("other")} from ${name} other where (${of("other")}) > (${of("place")})
        order by ${of("other")} limit 1) next)
    select array[${sql.join(
      columns.map((column) => sql`${sql.identifier(column)}::text`),
      sql`, `,
    )}] as place from place`);
  return rows.map(({ place }) => place);
}

/**
 * Purges periodically, first after `FIRST_PURGE_MS`, then every `PURGE_INTERVAL_MS`.
 *
 * @param purgeExpired ends soon once its signal aborts
 * @returns a function that stops it and waits for the end of a running purge
 */
export function startPurging(
  purgeExpired: (ending: AbortSignal) => Promise<number>,
  log: Logger,
): () => Promise<void> {
  const ending = new AbortController();
  let running: Promise<void> = Promise.resolve();
  const purge = () => {
    running = purgeExpired(ending.signal).then(
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
    ending.abort();
    await running;
  };
}
