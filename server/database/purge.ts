import { setTimeout as wait } from "node:timers/promises";
import { getTableName, type SQL, type SQLChunk, sql } from "drizzle-orm";
import type { Logger } from "pino";
import type { Database } from "#db/client";
import { isDistributed } from "#db/distribution";
import { isDatabaseUnreachable } from "#db/errors";
import { type Expiry, type RetentionSetting, rulesOf } from "#db/schema/table";
import { columnOf, type RuledTable, tables } from "#db/tables";
import type { Config } from "../config/schema.ts";
import { measure } from "../observability/metrics.ts";
import { placements } from "./distribute.ts";
import { forReachableTenants } from "./reachable-tenants.ts";

/** The settings that say how long rows are kept. */
export type RetentionConfig = Pick<Config, "audit_log" | "funnel" | "webhooks">;

/** Rows that one statement changes, to keep its locks and its share of the disk short. */
const BATCH_ROWS = 1_000;

const FIRST_PURGE_MS = 60_000;
export const PURGE_INTERVAL_MS = 10 * 60_000;

/**
 * Deletes expired rows and erases expired columns of all tenants, as the tables declare it. Several servers may run it
 * concurrently.
 *
 * @param ending ends it after the batch that runs
 * @returns the number of deleted rows
 * @throws AggregateError if some tables failed; the others are purged all the same, while the database is reachable
 */
export async function purgeExpired(
  database: Database,
  config: RetentionConfig,
  ending?: AbortSignal,
): Promise<number> {
  let total = 0;
  const failures: unknown[] = [];
  for (const table of tables) {
    try {
      total += await purgeTable(database, table, config, ending);
    } catch (error) {
      if (isDatabaseUnreachable(error)) throw error;
      failures.push(error);
    }
  }
  if (failures.length > 0) throw new AggregateError(failures, "expired rows of some tables are not deleted");
  return total;
}

/** Returns the number of deleted rows. */
async function purgeTable(
  database: Database,
  table: RuledTable,
  config: RetentionConfig,
  ending: AbortSignal | undefined,
): Promise<number> {
  const { purge, erase } = rulesOf(table);
  if (erase) {
    const columns = Object.entries(erase.columns).map(
      ([name, value]) => sql`${nameOf(table, name)} = ${value ?? sql`null`}`,
    );
    const change = sql`update ${table} set ${sql.join(columns, sql`, `)}`;
    await changeInBatches(database, change, expiredOf(table, erase, config), ending);
  }
  if (!purge) return 0;
  return changeInBatches(database, sql`delete from ${table}`, expiredOf(table, purge, config), ending);
}

/** The expired rows of a table, as SQL. Conditions use the database's clock. */
interface Expired {
  table: RuledTable;
  by: SQL;
  before: SQL;
  and?: SQL | undefined;
  under: SQLChunk[];
}

function expiredOf(table: RuledTable, rule: Expiry<string>, config: RetentionConfig): Expired {
  return {
    table,
    by: sql`${typeof rule.by === "string" ? nameOf(table, rule.by) : rule.by}`,
    before: "before" in rule ? rule.before : ago(rule.after, config),
    and: rule.and,
    under: (rule.under ?? []).map((name) => nameOf(table, name)),
  };
}

const nameOf = (table: RuledTable, column: string) => sql.identifier(columnOf(table, column).name);

/** The time a while ago; without a while, now. */
function ago(after: string | undefined, { audit_log, funnel, webhooks }: RetentionConfig): SQL {
  if (after === undefined) return sql`now()`;
  const retention: Record<RetentionSetting, number> = {
    "audit_log.retention": audit_log.retention,
    "funnel.retention": funnel.retention,
    "webhooks.retention": webhooks.retention,
  };
  const seconds = new Map(Object.entries(retention)).get(after);
  return seconds === undefined
    ? sql`now() - ${sql.raw(`interval '${after}'`)}`
    : sql`now() - ${seconds}::int * interval '1 second'`;
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
  { table, by, before, and, under }: Expired,
  ending: AbortSignal | undefined,
): Promise<number> {
  if (ending?.aborted) return 0;
  if (await isDistributed(database))
    return changeOnNodes(database, change, { table, by, before, and, under });
  let total = 0;
  for (const place of await placesOf(database, table, under)) {
    const conditions = [
      sql`${by} < ${before}`,
      ...(and ? [and] : []),
      ...under.map((column, index) => sql`${column} = ${place[index]}`),
    ];
    // Each batch begins where the one before it ended, or it would pass the rows that are already deleted.
    let from: string | null = null;
    for (let changed = BATCH_ROWS; changed === BATCH_ROWS && !ending?.aborted; total += changed) {
      const began = performance.now();
      const after: SQL[] = from === null ? [] : [sql`${by} >= ${from}`];
      const { rows } = await database.claim.execute<{ changed: number; last: string | null }>(sql`
        with expired as materialized (
          select ctid as row, ${by} as at from ${table} where ${sql.join([...conditions, ...after], sql` and `)}
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

/** The same in a distributed database, whose nodes change their rows at once: no place of a row is known beyond its node. */
async function changeOnNodes(
  database: Database,
  change: SQL,
  { table, by, before, and }: Expired,
): Promise<number> {
  const conditions = [sql`${by} < ${before}`, ...(and ? [and] : [])];
  const isOfTenants = placements.get(getTableName(table)) === "with_tenant";
  const { rowCount } = await forReachableTenants(database, (within) => {
    const all = isOfTenants ? [...conditions, within(sql`tenant_id`)] : conditions;
    return database.claim.execute(sql`${change} where ${sql.join(all, sql` and `)}`);
  });
  return rowCount ?? 0;
}

/** The values of columns, each found by one probe of their index. Without columns, one place without values. */
async function placesOf(
  { claim }: Database,
  table: RuledTable,
  columns: readonly SQLChunk[],
): Promise<readonly (readonly string[])[]> {
  if (columns.length === 0) return [[]];
  const of = (alias: string) =>
    sql.join(
      columns.map((column) => sql`${sql.identifier(alias)}.${column}`),
      sql`, `,
    );
  const { rows } = await claim.execute<{ place: string[] }>(sql`
    with recursive place as (
      (select ${of("first")} from ${table} first order by ${of("first")} limit 1)
      union all
      select ${of("next")} from place cross join lateral (
        select ${of("other")} from ${table} other where (${of("other")}) > (${of("place")})
        order by ${of("other")} limit 1) next)
    select array[${sql.join(
      columns.map((column) => sql`${column}::text`),
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
    const startedAt = performance.now();
    const ended = (outcome: "done" | "failed") =>
      measure("purges", (performance.now() - startedAt) / 1_000, { "stile.outcome": outcome });
    running = purgeExpired(ending.signal).then(
      (rows) => {
        ended("done");
        measure("purged", rows, {});
        log.debug({ rows }, "deleted expired rows");
      },
      (error: unknown) => {
        ended("failed");
        log.warn({ err: error }, "deleting expired rows failed");
      },
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
